"""What a rollout and a replay hand to the site, to the session and to the policy, and what they measure."""

import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

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
from support.browsers.scripted_session import ScriptedSession, ScriptedSessions
from support.browsers.scripted_site import ORIGIN, ScriptedSite

from generators.browser.protocol import ClockSpec, Session, SessionSpec
from generators.policy.model.try_account import Account
from generators.policy.protocol import Decision, PolicyCard, PolicyInput
from generators.policy.scripted import ScriptedPolicy
from generators.rollout.episode_recorder import Attempt
from generators.rollout.rollout import rollout
from generators.sites.protocol import Outcome, Problem, Visit
from generators.verify.replay import replay
from schemas.episodes.action import Click
from schemas.episodes.call import Call
from schemas.episodes.episode import Episode, PolicyKind, StopReason
from schemas.errors import FailureKind
from schemas.tasks.task import Task


class StrictSite(ScriptedSite):
    """A site that answers for its own visit, session and problem alone."""

    def __init__(self) -> None:
        super().__init__()
        self.visits: list[Visit] = []
        self.problems: list[Problem] = []
        self.sessions: list[Session] = []

    @asynccontextmanager
    async def open(self, task: Task) -> AsyncIterator[Visit]:
        async with super().open(task) as visit:
            self.visits.append(visit)
            yield visit

    async def begin(self, visit: Visit, session: Session) -> Problem:
        assert visit is self.visits[-1]
        self.sessions.append(session)
        self.problems.append(await super().begin(visit, session))
        return self.problems[-1]

    async def outcome(
        self, problem: Problem, session: Session, *, answer: str | None = None
    ) -> Outcome:
        assert problem is self.problems[-1]
        assert session is self.sessions[-1]
        return await super().outcome(problem, session, answer=answer)


class Specified(ScriptedSessions):
    """Sessions that remember what they were made from and where they went."""

    def __init__(self, *values: object) -> None:
        super().__init__(pages(*values))
        self.specs: list[SessionSpec] = []
        self.urls: list[str] = []

    @contextlib.asynccontextmanager
    async def session(self, spec: SessionSpec) -> AsyncIterator[ScriptedSession]:
        self.specs.append(spec)
        async with super().session(spec) as session:
            opened = session.open

            async def open_and_tell(url: str) -> None:
                self.urls.append(url)
                await opened(url)

            session.open = open_and_tell  # type: ignore[method-assign]
            yield session


def spec_at(scale: float) -> SessionSpec:
    """Return what a session of the scripted site is made from."""
    return SessionSpec(
        viewport_width=90,
        viewport_height=70,
        device_scale_factor=scale,
        allowed_origins=(ORIGIN,),
        clock=ClockSpec(),
        chance="3",
    )


async def rolled_out(sessions: Specified, site: StrictSite, *, scale: float = 1.0) -> Episode:
    return await rollout(
        Attempt(
            run_id="run",
            unit_id="unit",
            task=scripted_task(),
            attempt=0,
            viewport_width=90,
            viewport_height=70,
            device_scale_factor=scale,
            code_version="test",
        ),
        site=site,
        sessions=sessions,
        make_policy=lambda _: ScriptedPolicy(clicks(2)),
        limits=LIMITS,
    )


@pytest.mark.parametrize("scale", [1.0, 2.0])
async def test_a_rollout_has_one_visit_one_problem_and_the_attempts_viewport(scale: float) -> None:
    site, sessions = StrictSite(), Specified(RUNNING, RUNNING, WON)

    episode = await rolled_out(sessions, site, scale=scale)

    assert (episode.done, episode.failure_message) == (True, None)
    assert (len(site.visits), len(site.problems)) == (1, 1)
    assert sessions.specs == [spec_at(scale)]
    assert sessions.urls == [ORIGIN + "/"]


@pytest.mark.parametrize("scale", [1.0, 2.0])
async def test_a_replay_has_one_visit_one_problem_and_the_episodes_viewport(scale: float) -> None:
    episode = await rolled_out(Specified(RUNNING, RUNNING, WON), StrictSite(), scale=scale)
    site, sessions = StrictSite(), Specified(RUNNING, RUNNING, WON)

    found = await replay(scripted_task(), episode, sites={"scripted": site}, sessions=sessions)

    assert found.because == "all 3 states agree"
    assert (len(site.visits), len(site.problems)) == (1, 1)
    assert sessions.specs == [spec_at(scale)]
    assert sessions.urls == [ORIGIN + "/"]


class Watching:
    """A policy that keeps what it is shown."""

    def __init__(self, *, privileged: bool) -> None:
        self.card = PolicyCard(name="watching", kind=PolicyKind.SCRIPTED, privileged=privileged)
        self.turns: list[PolicyInput] = []
        self.steps: list[int] = []

    async def act(self, turn: PolicyInput) -> Decision:
        self.turns.append(turn)
        self.steps.append(len(turn.history))
        return Decision(action=Click(x=1 + len(turn.history), y=1))


@pytest.mark.parametrize("privileged", [False, True])
async def test_a_policy_is_shown_the_goal_the_steps_and_the_page_and_no_more(
    *, privileged: bool
) -> None:
    policy = Watching(privileged=privileged)

    episode = await attempt_it(
        ScriptedSessions(pages(RUNNING, RUNNING, WON)), make_policy=lambda _: policy
    )

    assert policy.steps == [0, 1]
    for number, turn in enumerate(policy.turns):
        assert turn.instruction == "Do number 3."
        assert turn.observation.screenshot == episode.steps[number].screenshot
        assert (turn.reader is not None) is privileged
    assert [step.action for step in policy.turns[1].history] == [Click(x=1, y=1)]


async def test_a_site_that_breaks_before_the_page_is_the_sites_failure() -> None:
    class Broken(ScriptedSite):
        @asynccontextmanager
        async def open(self, task: Task) -> AsyncIterator[Visit]:
            raise OSError(f"no page for {task.template_id}")
            yield Visit.model_construct()

    episode = await attempt_it(ScriptedSessions(pages(RUNNING)), site=Broken())

    assert (episode.stop_reason, episode.failure_kind) == (StopReason.FAILED, "site")
    assert episode.failure_message == "visiting: OSError: no page for pages"
    assert (episode.steps, episode.reward, episode.reward_before) == ((), None, None)


async def test_a_policy_that_does_nothing_has_failed() -> None:
    class Idle:
        card = PolicyCard(name="idle", kind=PolicyKind.SCRIPTED)

        async def act(self, turn: PolicyInput) -> Decision:
            del turn
            return Decision(action={"type": "none"})  # type: ignore[arg-type]

    episode = await attempt_it(ScriptedSessions(pages(RUNNING)), make_policy=lambda _: Idle())

    assert episode.failure_kind == FailureKind.POLICY
    assert episode.failure_message == "expected an action from the policy, got none"


async def test_the_policys_time_is_that_of_its_own_decision() -> None:
    class Slow:
        card = PolicyCard(name="slow", kind=PolicyKind.SCRIPTED)

        def __init__(self, account: Account) -> None:
            self._account = account

        async def act(self, turn: PolicyInput) -> Decision:
            self._account.stopwatch._begun -= 5 + 5 * len(turn.history)  # it thought so long
            return Decision(action=Click(x=1 + len(turn.history), y=1))

    episode = await attempt_it(ScriptedSessions(pages(RUNNING, RUNNING, WON)), make_policy=Slow)

    first, second, last = (step.think_ms for step in episode.steps)
    assert 5_000 <= first < 10_000 <= second < 15_000
    assert last == 0.0


async def test_tokens_are_counted_over_all_calls_of_a_try() -> None:
    class Asking:
        card = PolicyCard(name="asking", kind=PolicyKind.MODEL)

        def __init__(self, account: Account) -> None:
            self._account = account

        async def act(self, turn: PolicyInput) -> Decision:
            number = len(turn.history)
            self._account.calls.append(
                Call(
                    step=number,
                    call=number,
                    role="policy",
                    prompt_tokens=60,
                    completion_tokens=40,
                    at=self._account.stopwatch.now,
                )
            )
            return Decision(action=Click(x=1 + number, y=1))

    limits = LIMITS.model_copy(update={"tokens": 300})
    sessions = ScriptedSessions(pages(*[RUNNING] * 9))

    episode = await attempt_it(sessions, make_policy=Asking, limits=limits)

    assert (episode.stop_reason, episode.n_steps) == (StopReason.TOKEN_LIMIT, 3)
    assert [call.step for call in episode.calls] == [0, 1, 2]
    assert [step.truncated for step in episode.steps] == [False, False, True, False]
