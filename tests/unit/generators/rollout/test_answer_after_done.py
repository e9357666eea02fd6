"""A teacher is asked once more after the site's end, and its answer ends the episode; nobody else is."""

import pytest
from support.browsers.scripted_rollouts import (
    LIMITS,
    RUNNING,
    WON,
    attempt_it,
    clicks,
    pages,
    scripted_task,
)
from support.browsers.scripted_session import ScriptedSessions

from generators.policy.protocol import Decision, PolicyCard, PolicyInput
from generators.policy.scripted import ScriptedPolicy
from generators.verify.derived_columns import outcome_defects
from schemas.episodes.action import Action, Answer, Click, NoAction
from schemas.episodes.episode import Episode, PolicyKind, StopReason
from schemas.errors import FailureKind


class Ending:
    """A policy that clicks, and answers as soon as the site has reported the end."""

    def __init__(self, end: Action, *, is_asked: bool = True) -> None:
        self.card = PolicyCard(name="ending", kind=PolicyKind.TEACHER, answers_after_done=is_asked)
        self._end = end

    async def act(self, turn: PolicyInput) -> Decision:
        is_over = bool(turn.history) and turn.history[-1].terminated
        return Decision(action=self._end if is_over else Click(x=5 + len(turn.history), y=5))


async def _attempt(end: Action, *, is_asked: bool = True, steps: int = 10) -> Episode:
    limits = LIMITS.model_copy(update={"steps": steps})
    sessions = ScriptedSessions(pages(RUNNING, RUNNING, WON, WON))
    return await attempt_it(
        sessions, limits=limits, make_policy=lambda _: Ending(end, is_asked=is_asked)
    )


@pytest.mark.parametrize("steps", [2, 10])
async def test_the_answer_of_a_teacher_ends_the_episode_at_its_limit_of_steps_too(
    steps: int,
) -> None:
    episode = await _attempt(Answer(text="42"), steps=steps)
    taken = episode.steps[:-1]

    assert [type(step.action) for step in episode.steps] == [Click, Click, Answer, NoAction]
    assert (episode.stop_reason, episode.answer) == (StopReason.FINISHED, "42")
    assert [(step.reward, step.terminated) for step in taken] == [
        (0.0, False),
        (1.0, True),
        (1.0, True),
    ]
    assert (episode.reward, episode.done, episode.n_steps) == (1.0, True, 3)
    assert not [*outcome_defects(scripted_task(max_steps=2), episode, taken)]


async def test_others_are_not_asked() -> None:
    episode = await _attempt(Answer(text="42"), is_asked=False)
    scripted = await attempt_it(
        ScriptedSessions(pages(RUNNING, WON, WON)),
        make_policy=lambda _: ScriptedPolicy(clicks(9)),
    )

    assert (episode.n_steps, episode.answer) == (2, None)
    assert (scripted.n_steps, scripted.answer) == (1, None)


async def test_another_action_than_an_answer_fails_the_policy() -> None:
    episode = await _attempt(Click(x=9, y=9))

    assert episode.failure_kind == FailureKind.POLICY
    assert episode.failure_message == "expected an answer after the end, got 'click'"


async def test_an_answer_after_the_end_with_another_outcome_is_a_defect() -> None:
    episode = await _attempt(Answer())
    taken = [*episode.steps[:-1]]
    lied = [*taken[:-1], taken[-1].model_copy(update={"reward": 0.5})]
    early = [taken[0].model_copy(update={"terminated": True}), *taken[1:]]

    assert "the answer after the site's end has another outcome" in [
        *outcome_defects(scripted_task(), episode, lied)
    ]
    assert "something was done after the site said it is done" in [
        *outcome_defects(scripted_task(), episode, early)
    ]


async def test_more_actions_than_the_task_allows_are_a_defect_with_the_answer_too() -> None:
    episode = await _attempt(Answer())
    taken = episode.steps[:-1]

    assert "3 actions, but the task allows 1" in [
        *outcome_defects(scripted_task(max_steps=1), episode, taken)
    ]
