"""The loop and its boundary: every attempt ends, every end is an episode that says why."""

import asyncio
import pickle
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NoReturn

import pytest
from support.browsers.scripted_rollouts import (
    LIMITS,
    RUNNING,
    WON,
    Thinker,
    attempt_it,
    clicks,
    pages,
    scripted_task,
)
from support.browsers.scripted_session import Page, ScriptedSessions
from support.browsers.scripted_site import ScriptedSite

from generators.browser.protocol import Session, SessionSpec
from generators.engine.stopwatch import Stopwatch
from generators.policy.model.try_account import Account
from generators.policy.scripted import ScriptedPolicy
from generators.rollout.limits import make_limits
from generators.rollout.rollout import ENVIRONMENT_TRIES
from generators.sites.protocol import Judge, Outcome, Problem, Threshold, Visit
from schemas.configuration.sections import LimitsSection
from schemas.episodes.action import Answer, Click, NoAction
from schemas.episodes.call import Call
from schemas.episodes.episode import Episode, StopReason, steps_sha256
from schemas.errors import FailureKind, NoBrowser, RolloutFailure
from schemas.tables.tables import to_row
from schemas.tasks.task import Task

NOW = datetime.now(UTC)


async def test_an_episode_has_one_row_more_than_actions() -> None:
    episode = await attempt_it(ScriptedSessions(pages(RUNNING, RUNNING, WON)), clicks(2))

    assert episode.stop_reason is StopReason.FINISHED
    assert (episode.n_steps, len(episode.steps)) == (2, 3)
    assert [step.step for step in episode.steps] == [0, 1, 2]
    assert isinstance(episode.steps[-1].action, NoAction)
    assert [step.terminated for step in episode.steps] == [False, True, False]
    assert [step.state_changed for step in episode.steps] == [True, True, None]
    assert (episode.reward_before, episode.reward, episode.done) == (0.0, 1.0, True)
    assert episode.instruction == "Do number 3."
    assert episode.content_sha256 == steps_sha256(episode.steps)
    assert episode.trainable


async def test_nothing_is_done_after_the_first_done() -> None:
    sessions = ScriptedSessions(pages(RUNNING, WON, RUNNING))

    episode = await attempt_it(sessions, clicks(5))

    assert (episode.n_steps, episode.reward, episode.done) == (1, 1.0, True)


async def test_an_answer_ends_the_episode_and_is_kept() -> None:
    episode = await attempt_it(ScriptedSessions(pages(RUNNING)), [Answer(text="42")])

    assert (episode.stop_reason, episode.answer, episode.done) == (StopReason.ANSWERED, "42", False)


async def test_the_step_limit_is_the_lower_of_the_tasks_and_the_runs() -> None:
    task = scripted_task(max_steps=2)
    limits = make_limits(task, LimitsSection(steps=5))

    episode = await attempt_it(
        ScriptedSessions(pages(*[RUNNING] * 9)), clicks(9), limits=limits, task=task
    )

    assert (episode.stop_reason, episode.n_steps) == (StopReason.STEP_LIMIT, 2)
    assert [step.truncated for step in episode.steps] == [False, True, False]


async def test_the_same_action_on_the_same_picture_is_stuck() -> None:
    episode = await attempt_it(ScriptedSessions(pages(RUNNING)), [Click(x=1, y=1)] * 9)

    assert (episode.stop_reason, episode.n_steps) == (StopReason.STUCK, LIMITS.stuck_steps)


async def test_other_actions_on_the_same_picture_are_not_stuck() -> None:
    episode = await attempt_it(ScriptedSessions(pages(RUNNING)), clicks(5))

    assert (episode.stop_reason, episode.n_steps) == (StopReason.ANSWERED, 6)


async def test_all_times_of_an_episode_come_from_one_stopwatch() -> None:
    broken = [*pages(RUNNING), Page(colour=(0, 0, 0), value=RUNNING, breaks=FailureKind.BROWSER)]  # type: ignore[arg-type]
    stopwatches: list[Stopwatch] = []

    def make(account: Account) -> ScriptedPolicy:
        stopwatches.append(account.stopwatch)
        return ScriptedPolicy(clicks(1))

    episode = await attempt_it(ScriptedSessions(broken, pages(RUNNING, WON)), make_policy=make)

    assert stopwatches[0] is stopwatches[1], "the second try has the stopwatch of the first"
    assert episode.started_at == stopwatches[0].started
    lasted = (episode.ended_at - episode.started_at).total_seconds()
    assert lasted == episode.wall_seconds


@pytest.mark.parametrize("reason", StopReason)
def test_limits_truncate_and_nothing_else_does(reason: StopReason) -> None:
    limits = {"step_limit", "time_limit", "token_limit", "stuck"}

    assert reason.truncates == (reason.value in limits)


async def test_a_policy_that_raises_is_its_own_failure_and_not_tried_again() -> None:
    sessions = ScriptedSessions(pages(RUNNING))

    episode = await attempt_it(sessions, make_policy=lambda _: Thinker(ValueError("no idea")))

    assert episode.stop_reason is StopReason.FAILED
    assert episode.failure_kind == "policy"
    assert episode.failure_message == "thinker: ValueError: no idea"
    assert episode.trainable, "the failure is the policy's"
    assert sessions.opened == 1


async def test_a_broken_page_is_an_episode_not_an_exception() -> None:
    broken = [Page(colour=(0, 0, 0), value=RUNNING, breaks=FailureKind.BROWSER)]  # type: ignore[arg-type]
    sessions = ScriptedSessions(broken)

    episode = await attempt_it(sessions)

    assert (episode.stop_reason, episode.failure_kind) == (StopReason.FAILED, "browser")
    assert not episode.trainable
    assert episode.steps == ()
    assert sessions.opened == ENVIRONMENT_TRIES == 3
    assert episode.tries is not None
    assert len(episode.tries) == ENVIRONMENT_TRIES - 1


async def test_a_failure_of_the_browser_is_tried_again_in_a_fresh_session() -> None:
    broken = [*pages(RUNNING), Page(colour=(0, 0, 0), value=RUNNING, breaks=FailureKind.BROWSER)]  # type: ignore[arg-type]
    sessions = ScriptedSessions(broken, pages(RUNNING, WON))

    episode = await attempt_it(sessions, clicks(1))

    assert (episode.done, sessions.opened) == (True, 2)
    assert to_row(episode)["tries"] == (
        '[{"failure_kind":"browser","failure_message":"the page breaks","n_steps":1}]'
    )
    assert (
        '"tries":[{"failure_kind":"browser","failure_message":"the page breaks","n_steps":1}]'
        in (episode.model_dump_json())
    )


@pytest.mark.parametrize("kind", sorted({*FailureKind} - {FailureKind.BROWSER, FailureKind.SITE}))
async def test_what_the_page_did_once_is_not_tried_again(kind: FailureKind) -> None:
    broken = [*pages(RUNNING), Page(colour=(0, 0, 0), value=RUNNING, breaks=kind)]  # type: ignore[arg-type]
    sessions = ScriptedSessions(broken, pages(RUNNING, WON))

    episode = await attempt_it(sessions, clicks(1))

    assert (episode.failure_kind, episode.tries, sessions.opened) == (kind, None, 1)


async def test_a_page_without_a_goal_is_a_page_failure() -> None:
    episode = await attempt_it(ScriptedSessions(pages(None)))

    assert (episode.failure_kind, episode.failure_message) == ("page", "the page has no value")


async def test_the_action_that_broke_the_page_is_on_record() -> None:
    episode = await attempt_it(ScriptedSessions(pages(RUNNING, None)), clicks(1))

    assert episode.failure_kind == "page"
    assert [step.action.type for step in episode.steps] == ["click"]
    step = episode.steps[0]
    assert step.action_error == "no outcome: None"
    assert (step.act_ms, step.reward, step.terminated) == (0, None, False)
    assert step.think_ms > 0


async def test_an_action_is_recorded_as_it_was_carried_out_on_whole_pixels() -> None:
    episode = await attempt_it(ScriptedSessions(pages(RUNNING, WON)), [Click(x=5.4, y=5.0)])

    assert episode.steps[0].action == Click(x=6, y=5)


async def test_a_defect_of_ours_is_named_as_such() -> None:
    class Broken(ScriptedSessions):
        def session(self, spec: SessionSpec) -> NoReturn:
            raise KeyError(spec)

    episode = await attempt_it(Broken(pages(RUNNING)))

    assert episode.failure_kind == "internal"
    assert not episode.trainable


@dataclass
class Unguarded:
    """A site that lets through what its page says; the rest of it is the scripted one."""

    goal: str
    reward: float = 0.0

    name, version, repeatable, judge = "scripted", "1", True, Judge.PAGE

    def has_template(self, template_id: str) -> bool:
        return bool(template_id)

    def area(self, template_id: str) -> tuple[int, int] | None:
        del template_id
        return None

    def threshold(self, template_id: str) -> Threshold | None:
        return ScriptedSite().threshold(template_id)

    def open(self, task: Task) -> AbstractAsyncContextManager[Visit]:
        return ScriptedSite().open(task)

    async def state(self, problem: Problem) -> None:
        del problem

    async def begin(self, visit: Visit, session: Session) -> Problem:
        del visit, session
        return Problem.model_construct(goal=self.goal, nonce="1")

    async def outcome(
        self, problem: Problem, session: Session, *, answer: str | None = None
    ) -> Outcome:
        del problem, session, answer
        return Outcome.model_construct(reward=self.reward, done=False)


@pytest.mark.parametrize(
    "site", [Unguarded("half \ud83d"), Unguarded("Do it.", reward=float("nan"))]
)
async def test_what_no_row_can_hold_costs_the_episode_and_not_the_run(site: Unguarded) -> None:
    def make(booked: Account) -> ScriptedPolicy:
        booked.calls.append(Call(step=0, call=0, role="policy", prompt_tokens=7, at=NOW))
        return ScriptedPolicy(clicks(1))

    episode = await attempt_it(ScriptedSessions(pages(RUNNING)), make_policy=make, site=site)

    assert (episode.stop_reason, episode.failure_kind) == (StopReason.FAILED, "page")
    assert str(episode.failure_message).startswith("recording the episode: ")
    assert (episode.steps, episode.instruction, episode.reward) == ((), "", None)
    assert not episode.trainable
    assert episode.prompt_tokens == 7, "what was asked is paid all the same"
    assert Episode.model_validate_json(episode.model_dump_json()) == episode


async def test_a_failure_that_quotes_half_a_character_is_on_record_as_what_it_was() -> None:
    class Throwing(Unguarded):
        async def begin(self, *_: object) -> Problem:
            raise RolloutFailure(FailureKind.PAGE, f"the page threw: {self.goal}")

    sessions = ScriptedSessions(pages(RUNNING))
    episode = await attempt_it(sessions, site=Throwing("half \ud83d"))

    assert episode.failure_message == "the page threw: half \ufffd"
    assert sessions.opened == 1


async def test_no_browser_at_all_is_a_refusal_and_no_episode() -> None:
    class Absent(ScriptedSessions):
        def session(self, spec: SessionSpec) -> NoReturn:
            raise NoBrowser(f"no Chromium found for {spec}")

    with pytest.raises(NoBrowser):
        await attempt_it(Absent(pages(RUNNING)))


async def test_cancellation_is_not_a_failure() -> None:
    rolling = asyncio.create_task(
        attempt_it(ScriptedSessions(pages(RUNNING)), make_policy=lambda _: Thinker())
    )
    await asyncio.sleep(0.05)
    rolling.cancel()

    with pytest.raises(asyncio.CancelledError):
        await rolling


async def test_a_click_outside_the_viewport_is_told_to_the_policy() -> None:
    episode = await attempt_it(ScriptedSessions(pages(RUNNING)), [Click(x=100, y=1)])

    assert episode.steps[0].action_error == "that is outside the viewport"


async def test_a_fresh_policy_is_made_for_each_try() -> None:
    made: list[ScriptedPolicy] = []

    def make() -> ScriptedPolicy:
        made.append(ScriptedPolicy(clicks(1)))
        return made[-1]

    broken = [*pages(RUNNING), Page(colour=(0, 0, 0), value=RUNNING, breaks=FailureKind.SITE)]  # type: ignore[arg-type]
    await attempt_it(ScriptedSessions(broken, pages(RUNNING, WON)), make_policy=lambda _: make())

    assert len(made) == 2


def test_a_failure_survives_pickling() -> None:
    failure = pickle.loads(pickle.dumps(RolloutFailure(FailureKind.PAGE, "it broke")))  # noqa: S301 - our own bytes

    assert (failure.kind, failure.message) == (FailureKind.PAGE, "it broke")
