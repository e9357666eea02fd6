"""What the flywheel bench could lie about: its arms, its interval, what is looked up, what is held."""

import ast
import sys
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from effort import THOROUGH
from support.episodes.factories import make_episode

from bench.flywheel import (
    MAX_SECONDS,
    PAGE,
    TRAININGS,
    Played,
    draw_all,
    plan_chores,
    rates_of,
    summarise,
    take_script,
)
from bench.loading.scorers import Book, Chore, Moment, ScorerPolicy, count_actions
from bench.measuring.arms import (
    HELD_OUT_SEEDS,
    LEFT_OUT,
    OLD,
    TODAY,
    Rates,
    Recorded,
    draw_arms,
    interval,
    refuse_leaks,
)
from schemas.base import JsonObject
from schemas.episodes.episode import StopReason

TEXT = PAGE.read_text(encoding="utf-8")
SCRIPT = take_script(TEXT)
NAMES = [f"t{number}" for number in range(20)]
CHORE = Chore("a", HELD_OUT_SEEDS)
ANSWER: JsonObject = {"type": "answer", "text": ""}


def _recorded(*, rejected: int = 8) -> dict[str, Recorded]:
    return {
        f"{name} {number}": Recorded(name, number, number >= rejected, 2, 0)
        for name in NAMES[:3]
        for number in range(20)
    }


def _page(*names: str) -> list[dict[str, Any]]:
    return [
        {
            "role": "button",
            "name": name,
            "tag": "button",
            "text": name,
            "bbox": [10.0, 60.0 + 30 * row, 60.0, 20.0],
            "value": None,
            "interactive": True,
            "visible": 1.0,
            "covered": False,
        }
        for row, name in enumerate(names)
    ]


def _goal(wanted: str) -> str:
    return f'Click on the "{wanted}" button.'


def _lesson(random: Random) -> dict[str, Any]:
    """Return an episode of one step: the button that the goal names is clicked."""
    names = ["".join(random.choices("abcdefgh", k=5)) for _ in range(4)]
    wanted = random.randrange(4)
    action = SCRIPT.click(_page(*names)[wanted])
    return {"goal": _goal(names[wanted]), "steps": [(_page(*names), [], action)]}


def _old(*, rejected: int = 2, learnt: int = 3) -> dict[str, Recorded]:
    """Return an older teacher's episodes: of the same templates, fewer of them rejected, each of more steps."""
    return {
        f"old {key}": one._replace(learnt=learnt)
        for key, one in _recorded(rejected=rejected).items()
    }


def _summarise(played: Played, recorded: dict[str, Recorded], *, seconds: float = 1) -> Any:
    draws = [draw_all(recorded, {}, seed) for seed in range(TRAININGS)]
    return summarise(played, recorded, draws, seconds=seconds)


def _played(verified: Sequence[float], unverified: Sequence[float]) -> Played:
    rates: dict[str, Rates] = {}
    for arm, each in (("verified", verified), ("unverified", unverified)):
        templates = [*NAMES, *LEFT_OUT]
        rates[arm] = {name: [rate] * TRAININGS for name, rate in zip(templates, each, strict=True)}
    return Played(rates, {"verified": 1.0}, chores=260, episodes=500)


def test_the_script_of_the_page_imports_nothing_of_ours() -> None:
    code = TEXT.partition("```python no-run\n")[2].partition("```")[0]
    named = {
        name
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [alias.name for alias in node.names]
        )
    }

    assert {name.split(".")[0] for name in named} - set(sys.stdlib_module_names) == {
        "numpy",
        "pyarrow",
    }


@pytest.mark.parametrize("page", ["# Training\n", TEXT.replace("python no-run", "python")])
def test_a_page_without_the_script_is_refused(page: str) -> None:
    with pytest.raises(SystemExit, match="expected one block"):
        take_script(page)


def test_the_script_learns_what_its_episodes_do() -> None:
    random = Random(0)
    lessons = [_lesson(random) for _ in range(160 if THOROUGH else 80)]
    asked = [_lesson(random) for _ in range(20)]

    weights = SCRIPT.train(lessons, 0)

    right = [
        SCRIPT.choose(weights, one["goal"], *one["steps"][0][:2], []) == one["steps"][0][2]
        for one in asked
    ]
    assert sum(right) >= 18


def test_a_step_that_is_no_candidate_is_not_learnt() -> None:
    elements = _page("one", "two")
    beside = {"type": "click", "x": 150.0, "y": 200.0}
    typed = {"type": "type", "text": "three"}

    assert SCRIPT.example(_goal("one"), [(elements, [], SCRIPT.click(elements[1]))], 0)[1] == 1
    for action in (beside, typed, {"type": "wait", "ms": 500}, {"type": "none"}):
        assert SCRIPT.example(_goal("one"), [(elements, [], action)], 0) is None


def test_the_arms_have_as_many_episodes_of_each_template() -> None:
    recorded = _recorded()
    arms = draw_arms(recorded, 1)

    for name in NAMES[:3]:
        for arm in ("verified", "unverified"):
            assert sum(recorded[key].template == name for key in arms[arm]) == 12
    assert all(recorded[key].accepted for key in arms["verified"])
    assert not all(recorded[key].accepted for key in arms["unverified"])
    assert len(set(arms["unverified"])) == len(arms["unverified"])
    assert draw_arms(recorded, 2)["unverified"] != arms["unverified"]


def test_an_arm_of_verified_episodes_has_no_more_steps_than_the_unverified() -> None:
    shorter = {
        key: one if one.accepted else one._replace(learnt=1) for key, one in _recorded().items()
    }
    arms = draw_arms(shorter, 0)

    most = sum(shorter[key].learnt for key in arms["unverified"])
    steps = sum(shorter[key].learnt for key in arms["equal_steps"])
    assert most - 2 < steps <= most < sum(shorter[key].learnt for key in arms["verified"])
    assert set(arms["equal_steps"]) < set(arms["verified"])


@pytest.mark.parametrize("learnt", [1, 3], ids=["fewer steps", "more steps"])
def test_two_teachers_teach_the_same_number_of_accepted_steps(learnt: int) -> None:
    recorded, old = _recorded(), _old(learnt=learnt)
    everything = recorded | old
    arms = draw_all(recorded, old, 1)

    least = min(12 * 3 * 2, 18 * 3 * learnt)
    for arm, rows in ((TODAY, recorded), (OLD, old)):
        assert least - 3 < sum(everything[key].learnt for key in arms[arm]) <= least
        assert len(set(arms[arm])) == len(arms[arm])
        assert set(arms[arm]) <= {key for key, one in rows.items() if one.accepted}
    assert draw_all(recorded, old, 2) != draw_all(recorded, old, 1) == arms


def test_without_old_rows_no_teachers_are_compared() -> None:
    assert {TODAY, OLD}.isdisjoint(draw_all(_recorded(), {}, 1))
    assert "old_difference" not in _summarise(_played([0.5] * 26, [0.5] * 26), _recorded())


def test_how_far_today_is_ahead_of_old_rows_is_told_by_part() -> None:
    recorded, old = _recorded(), _old()
    worse = {name: [0.25] * TRAININGS for name in LEFT_OUT}
    played = _played([0.5] * 26, [0.5] * 26)
    same = played.rates["verified"]
    rates = {**played.rates, TODAY: same, OLD: {**same, **worse}}
    draws = [draw_all(recorded, old, seed) for seed in range(TRAININGS)]

    found: Any = summarise(played._replace(rates=rates), recorded | old, draws, seconds=1)

    assert found["old_difference_held_out_seeds"] == {"mean": 0.0, "low": 0.0, "high": 0.0}
    assert found["old_difference_left_out_skills"] == {"mean": 0.25, "low": 0.25, "high": 0.25}
    assert found["arms"][OLD]["steps"] == found["arms"][TODAY]["steps"] == 72
    assert found["held"] is False


def test_rows_in_which_nothing_was_rejected_are_refused() -> None:
    with pytest.raises(SystemExit, match="include_rejected"):
        draw_arms(_recorded(rejected=0), 0)


@pytest.mark.parametrize(
    ("template", "seed"), [(LEFT_OUT[0], 0), (NAMES[0], HELD_OUT_SEEDS)], ids=["skill", "seed"]
)
def test_rows_of_what_is_played_are_refused(template: str, seed: int) -> None:
    kept = Recorded(NAMES[0], HELD_OUT_SEEDS - 1, accepted=True, learnt=1, wrong=0)
    refuse_leaks([kept])

    with pytest.raises(SystemExit, match="the rows have"):
        refuse_leaks([kept, kept._replace(template=template, seed=seed)])


def test_what_is_played_are_other_seeds_and_every_skill_that_is_left_out() -> None:
    chores = plan_chores(NAMES[:2] * 3, 2, 4)

    assert len(chores) == len(set(chores)) == 2 * 2 + 4 * len(LEFT_OUT)
    assert {chore.template for chore in chores} == {*NAMES[:2], *LEFT_OUT}
    assert min(chore.seed for chore in chores) == HELD_OUT_SEEDS


def test_an_interval_holds_what_templates_and_trainings_leave_open() -> None:
    same = interval({name: [0.25, 0.25] for name in NAMES})
    one_template = interval({name: [float(name == "t0")] * 2 for name in NAMES})
    one_training = interval({name: [0.0, 0.5] for name in NAMES})

    assert same == (0.25, 0.25, 0.25)
    assert one_template.low == 0.0 < one_template.mean == 0.05 < one_template.high
    assert (one_training.low, one_training.high) == (0.0, 0.5)


def test_the_share_of_tasks_solved_is_by_template_and_training() -> None:
    chores = [Chore("a", 1), Chore("a", 2), Chore("b", 1)]
    trainings = [dict.fromkeys(chores, True), dict.fromkeys(chores, False) | {chores[0]: True}]

    assert rates_of(trainings) == {"a": [1.0, 0.5], "b": [1.0, 0.0]}


def test_each_line_is_missed_alone() -> None:
    few, many = [0.4] * 26, [0.7] * 26
    one_better = [1.0, *few[1:]]

    def held(verified: Sequence[float], unverified: Sequence[float], seconds: float) -> object:
        return _summarise(_played(verified, unverified), _recorded(), seconds=seconds)["held"]

    assert held(many, few, MAX_SECONDS)
    assert not held(many, few, MAX_SECONDS + 1)
    assert not held(few, few, 1)
    assert not held(few, many, 1)
    assert not held(one_better, few, 1)


def test_the_share_of_mistakes_is_of_the_steps_that_are_learnt() -> None:
    recorded = {key: one._replace(wrong=not one.accepted) for key, one in _recorded().items()}

    arms = _summarise(_played([0.5] * 26, [0.5] * 26), recorded)["arms"]

    assert (arms["verified"]["steps"], arms["verified"]["mistakes"]) == (72, 0.0)
    assert arms["unverified"]["accepted"] < arms["unverified"]["episodes"] == 36
    assert 0.1 < arms["unverified"]["mistakes"] < 0.3


def _policy(*actions: JsonObject) -> ScorerPolicy:
    """Return a policy that has done these, each on a page of its own."""
    policy = ScorerPolicy(_always(ANSWER))
    policy.goal = "a goal"
    policy.past = [([{"name": str(at)}], [], action) for at, action in enumerate(actions)]
    return policy


def _always(*actions: JsonObject) -> Any:
    def choose(
        goal: str, elements: list[JsonObject], sights: list[JsonObject], past: list[Moment]
    ) -> JsonObject:
        assert (goal, sights) == ("a goal", [])
        assert elements == [{"name": str(len(past))}]
        return actions[len(past)]

    return choose


def test_only_an_episode_that_was_played_action_by_action_is_looked_up() -> None:
    one, two = SCRIPT.click(_page("one")[0]), SCRIPT.click(_page("one", "two")[1])
    book = Book()
    assert book.foresee(CHORE, _always(one, two), 2) is None
    book.write(CHORE, _policy(one, two), success=True)
    book.write(CHORE, _policy(one, ANSWER), success=False)
    book.write(CHORE, _policy(two, two), success=None)

    assert book.foresee(CHORE, _always(one, two), 2) is True
    assert book.foresee(CHORE, _always(one, ANSWER), 2) is False
    assert book.foresee(CHORE, _always(one, two), 1) is False
    assert book.foresee(CHORE, _always(two, two), 2) is False
    assert book.foresee(CHORE, _always(two, two, one), 3) is None
    assert book.foresee(CHORE, _always(two, one, one), 3) is None
    assert book.foresee(CHORE._replace(seed=1), _always(one, two), 2) is None


def test_an_answer_after_the_end_gives_a_scorer_no_further_action() -> None:
    episode = make_episode(n_steps=2)
    action, *rest = episode.steps
    answered = [action.model_copy(update={"terminated": True}), *rest]

    assert count_actions(episode.model_copy(update={"steps": tuple(answered)})) == 1
    assert count_actions(episode) == 2
    assert count_actions(make_episode(n_steps=2, stop_reason=StopReason.ANSWERED)) == 2
