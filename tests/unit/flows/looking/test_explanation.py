"""An attempt is explained: what became of it, what was expected and found, and where it went wrong."""

from typing import Any

import pytest
from support.episodes.factories import make_episode, make_task, make_verdict
from support.episodes.shop_steps import (
    HOME,
    LAMP,
    LAMP_LIST,
    ON_LAMPS,
    ON_SAVE,
    TASK,
    shop_episode,
    write,
)

from flows.looking.explanation import DifferenceKind, Explanation, Mistake, explain
from schemas.episodes.action import Answer
from schemas.episodes.episode import Episode, StopReason
from schemas.episodes.mistake import InjectedMistake
from schemas.episodes.state_delta import Delta
from schemas.tasks.expectation import Expectation
from schemas.tasks.task import Task
from schemas.verdicts.full_episode import FullEpisode
from schemas.verdicts.step_label import Label, StepLabel
from schemas.verdicts.verdict import Acceptance

REJECTED = Acceptance(
    accepted=False, rejected_because=("outcome: failed: not done",), assurance="none", split=""
)
ACCEPTED = Acceptance(accepted=True, assurance="probed", split="")


def _whole(
    episode: Episode,
    *,
    task: Task = TASK,
    acceptance: Acceptance = REJECTED,
    labels: tuple[Label | None, ...] | None = None,
) -> FullEpisode:
    told = None if labels is None else tuple(StepLabel(label=one) for one in labels)
    return FullEpisode(episode, task, acceptance, told)


def _shop(*writes: Delta, won: bool = False) -> Episode:
    """Return an episode in which the lamp's page is opened and saved as often as something is written."""
    actions = [ON_LAMPS, ON_LAMPS, *[ON_SAVE] * len(writes)]
    states = [HOME, LAMP_LIST, LAMP, *[LAMP] * len(writes)]
    made = shop_episode(actions, states, dict(enumerate(writes, 2)), won=won)
    whole = writes[-1] if writes else Delta()
    return made.model_copy(update={"delta": whole, "reward": 1.0 if won else 0.0})


def _changed(episode: Episode, number: int, **changes: Any) -> Episode:
    steps = list(episode.steps)
    steps[number] = steps[number].model_copy(update=changes)
    return episode.model_copy(update={"steps": tuple(steps)})


def test_a_wrong_value_on_the_server_is_told_with_the_step_that_wrote_it() -> None:
    told = explain(_whole(_shop(Delta(), write(5, 8))))

    assert told.outcome == "The task was not done: after 4 actions the site ended it: 1 wrong."
    assert list(map(str, told.unmet)) == ["lamp row 1 · price: expected 9, found 8"]
    assert told.first_mistake == Mistake(
        step=3, why="on the server, lamp row 1 · price: expected 9, found 8"
    )
    assert told.reasons[0].text == "outcome: failed: not done"
    assert "did not find it done" in told.reasons[0].meaning


def test_an_accepted_attempt_has_no_mistake_and_nothing_unmet() -> None:
    told = explain(_whole(_shop(write(5, 9), won=True), acceptance=ACCEPTED))

    assert told.outcome.startswith("Accepted")
    assert [one.kind for one in told.differences] == [DifferenceKind.AS_EXPECTED]
    assert (told.first_mistake, told.reasons, told.unmet) == (None, (), ())


def test_where_nothing_was_done_the_end_is_the_mistake_and_says_what_is_missing() -> None:
    told = explain(_whole(_shop()))

    assert told.outcome.endswith("1 missing.")
    assert told.first_mistake is not None
    assert told.first_mistake.step == 1
    assert "lamp row 1 · price: expected 9, found no such change" in told.first_mistake.why


@pytest.mark.parametrize(
    ("labels", "step"),
    [
        ((Label.MISTAKE, Label.ON_PATH), 0),
        ((Label.MISTAKE, Label.RECOVERY, Label.MISTAKE), 2),
        ((Label.ON_PATH, Label.ON_PATH, Label.ON_PATH), 2),
    ],
)
def test_a_mistake_that_was_mended_is_passed_over(labels: tuple[Label, ...], step: int) -> None:
    told = explain(_whole(_shop(Delta()), labels=labels))

    assert told.first_mistake is not None
    assert told.first_mistake.step == step


def test_the_verifiers_words_are_told_where_there_is_a_verdict() -> None:
    episode = _shop(Delta())
    rows = [{"step": 1, "label": "mistake", "because": "the goal names 'Lamp' instead"}]
    verdict = make_verdict(episode, verifier="steps").model_copy(
        update={"evidence": {"steps": rows}}
    )
    labels = (Label.ON_PATH, Label.MISTAKE, Label.ON_PATH)

    told = explain(_whole(episode, labels=labels), [verdict])

    assert told.first_mistake == Mistake(step=1, why="the goal names 'Lamp' instead")


def test_a_mistake_made_on_purpose_and_a_failed_action_are_told() -> None:
    typo = _changed(_shop(), 0, injected_mistake=InjectedMistake.TYPO)
    failed = _changed(_shop(), 0, action_error="no such tab")

    first, second = (explain(_whole(one)).first_mistake for one in (typo, failed))

    assert first == Mistake(step=0, why="it typed a wrong letter (a mistake made on purpose)")
    assert second == Mistake(step=0, why="the action could not be carried out: no such tab")


def test_a_mistake_on_purpose_that_cost_nothing_is_not_the_reason() -> None:
    idle = _changed(_shop(), 0, injected_mistake=InjectedMistake.IDLED)

    told = explain(_whole(idle, labels=(Label.REDUNDANT, Label.ON_PATH))).first_mistake

    assert told is not None
    assert told.step == 1


def test_an_answer_that_differs_is_the_mistake_of_its_step() -> None:
    task = TASK.model_copy(update={"expect": Expectation(answer="42")})
    episode = _changed(_shop(), 1, action=Answer(text="41")).model_copy(update={"answer": "41"})

    told = explain(_whole(episode, task=task))

    assert told.first_mistake == Mistake(step=1, why='it answered "41", where "42" is expected')
    assert "the policy ended it with its answer: 1 wrong" in told.outcome


def test_a_page_that_judges_itself_tells_its_reward_and_its_goal() -> None:
    task = make_task()
    episode = make_episode(task).model_copy(update={"reward": 0.25})
    held = REJECTED.model_copy(update={"min_reward": 0.5})

    told = explain(_whole(episode, task=task, acceptance=held))

    assert "the page's reward is 0.25 where 0.5 is needed" in told.outcome
    [one] = told.differences
    assert (one.kind, one.found) == (DifferenceKind.WRONG, "0.25")
    assert one.expected == "0.5 or more, for its goal “Click the button.”"


@pytest.mark.parametrize(
    ("stop", "said"),
    [
        (StopReason.STEP_LIMIT, "limit on actions"),
        (StopReason.STUCK, "repeated"),
        (StopReason.TOKEN_LIMIT, "limit on tokens"),
    ],
)
def test_an_attempt_that_was_stopped_says_by_what(stop: StopReason, said: str) -> None:
    told = explain(_whole(_shop().model_copy(update={"stop_reason": stop, "done": False})))

    assert said in told.outcome
    assert told.first_mistake is not None
    assert said in told.first_mistake.why


def test_an_attempt_that_broke_blames_no_step_of_the_policy() -> None:
    broke = {"stop_reason": StopReason.FAILED, "failure_kind": "page", "failure_message": "spun"}
    episode = make_episode().model_copy(update={**broke, "reward": None, "done": False})

    told = explain(_whole(episode, task=make_task()))

    assert told.outcome == "The attempt broke after 2 actions, by the page: spun"
    assert (told.first_mistake, told.differences) == (None, ())


def test_a_solved_attempt_that_the_rule_refuses_names_the_step_of_the_reason() -> None:
    because = ("seen: failed: step 1: the text 'x'", "novelty: not judged")
    refused = ACCEPTED.model_copy(update={"accepted": False, "rejected_because": because})

    told = explain(_whole(_shop(write(5, 9), won=True), acceptance=refused))

    assert "the attempt was not accepted, by `seen`." in told.outcome
    assert told.first_mistake == Mistake(step=1, why="seen found no ground for it: the text 'x'")
    assert [one.meaning[:4] for one in told.reasons] == ["It r", "This"]


def test_a_threshold_stands_in_the_verdict_where_the_rule_does_not_tell_it() -> None:
    task = make_task()
    episode = make_episode(task).model_copy(update={"reward": 0.9})
    own = {"reward": 0.9, "min_reward": 0.8}
    verdict = make_verdict(episode).model_copy(update={"evidence": own})

    assert "not done" in explain(_whole(episode, task=task)).outcome
    assert "was done" in explain(_whole(episode, task=task), [verdict]).outcome


def test_where_no_delta_was_kept_the_explanation_says_so() -> None:
    told = explain(_whole(_shop().model_copy(update={"delta": None})))

    assert "what it changed on the server is not recorded" in told.outcome
    assert told.differences == ()


def test_a_value_at_a_place_without_a_change_is_told_where_nothing_else_is_missing() -> None:
    task = TASK.model_copy(update={"expect": Expectation(values={"/lang": "de"})})

    told = explain(_whole(_shop(), task=task))

    assert list(map(str, told.differences)) == ['/lang: expected "de", found no change there']


def test_a_verifier_of_a_plug_in_has_a_meaning_too() -> None:
    because = ("mine: failed: no",)
    told = explain(
        _whole(_shop(), acceptance=REJECTED.model_copy(update={"rejected_because": because}))
    )

    assert told.reasons[0].meaning == "A verifier of the run's rule did not pass it."


def test_an_explanation_is_a_record() -> None:
    told = explain(_whole(_shop(Delta(), write(5, 8))))

    assert Explanation.model_validate_json(told.model_dump_json()) == told
