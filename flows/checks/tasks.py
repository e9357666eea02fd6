"""Checks the tasks of applications with the gates of `generators/sites/gates.py`, in a browser.

The reference is carried out and replayed, and the resulting state is compared with the expectation. Two further
attempts answer at once and click at random; a second visit shows whether the start is deterministic. Nothing is
stored.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from flows.job.evaluation import RUN_ID
from flows.job.provenance import code_version
from flows.resources.browsers import Browsers
from generators.browser.protocol import Session
from generators.policy.model.try_account import Account
from generators.policy.protocol import Decision, Policy, PolicyCard, PolicyInput
from generators.policy.reference import ReferencePolicy
from generators.policy.scripted import ScriptedPolicy
from generators.rollout.episode_recorder import Attempt
from generators.rollout.limits import make_limits
from generators.rollout.rollout import rollout
from generators.sites.gates import (
    Attempted,
    Failing,
    Gate,
    expectation_gates,
    leak_gates,
    untried_gates,
)
from generators.sites.protocol import Judge, Outcome, Problem, Site
from generators.sites.state import ServerState
from generators.verify.replay import replay
from schemas.base import Record
from schemas.configuration.config import RunConfig
from schemas.episodes.action import Answer, Click
from schemas.episodes.episode import Episode, PolicyKind
from schemas.episodes.observation import Observation
from schemas.episodes.viewport import draw_viewport
from schemas.errors import RolloutFailure
from schemas.tasks.task import Task

RANDOM_CLICKS = 8
"""Clicks of the random clicker before it answers."""


class TaskGates(Record):
    """The results of the gates for one task."""

    task_id: str
    """The task."""
    template: str
    """Its template."""
    seed: int
    """Its seed."""
    failing: tuple[tuple[Gate, str], ...]
    """The gates that it fails, each with the finding; empty: it passes all."""
    untried: tuple[tuple[Gate, str], ...] = ()
    """The gates that do not apply to it, each with the reason."""


@dataclass
class WatchedSite:
    """A site that records the states read from it and the reason of its judgement."""

    site: Site
    """The site, which handles every call."""
    states: list[ServerState] = field(default_factory=list)
    """The states in the order of reading; empty where the page is the judge."""
    because: str = ""
    """The reason of its judgement; empty if it gave no reason."""

    def __getattr__(self, name: str) -> object:
        return getattr(self.site, name)

    async def state(self, problem: Problem) -> ServerState | None:
        """Return the site's state, and record it."""
        state = await self.site.state(problem)
        if state is not None:
            self.states.append(state)
        return state

    async def outcome(
        self, problem: Problem, session: Session, *, answer: str | None = None
    ) -> Outcome:
        """Return the site's outcome, and record its reason."""
        outcome = await self.site.outcome(problem, session, answer=answer)
        self.because = outcome.because or self.because
        return outcome


class _RandomClicker:
    """Clicks interactive elements at random, and then ends the task."""

    card = PolicyCard(name="random", kind=PolicyKind.SCRIPTED)

    def __init__(self, random: Random) -> None:
        self._random = random
        self._left = RANDOM_CLICKS

    async def act(self, turn: PolicyInput) -> Decision:
        self._left -= 1
        boxes = [one.bbox for one in turn.observation.elements if one.interactive and one.visible]
        if self._left < 0 or not boxes:
            return Decision(action=Answer())
        left, top, width, height = self._random.choice(boxes)
        seen = turn.observation
        x = min(max(left + width / 2, 0), seen.width - 1)
        y = min(max(top + height / 2, 0), seen.height - 1)
        return Decision(action=Click(x=x, y=y))


async def attempt_watched(
    config: RunConfig, browsers: Browsers, task: Task, make: Callable[[], Policy]
) -> tuple[Episode, WatchedSite]:
    """Attempt a task, and return the episode with the record of its site in the last try."""
    watched = WatchedSite(browsers.sites[task.site])
    size = draw_viewport(config, watched.site.area(task.template_id), seed=task.task_id)

    def make_policy(account: Account) -> Policy:
        del account
        watched.states.clear()
        return make()

    episode = await rollout(
        Attempt(
            run_id=RUN_ID,
            unit_id=RUN_ID,
            task=task,
            attempt=0,
            viewport_width=size.width,
            viewport_height=size.height,
            device_scale_factor=size.scale,
            code_version=code_version(config, [task]),
        ),
        site=watched,  # type: ignore[arg-type]  # the rest is the site
        sessions=browsers.sessions,
        make_policy=make_policy,
        limits=make_limits(task, config.limits),
    )
    return episode, watched


def gated_tasks(browsers: Browsers, tasks: Sequence[Task]) -> list[Task]:
    """Return the tasks that are judged by a server's state instead of the page."""
    return [task for task in tasks if browsers.sites[task.site].judge is Judge.SERVER]


@dataclass(frozen=True, slots=True)
class GateKeeper:
    """Checks tasks with the gates."""

    config: RunConfig
    """The viewport and the limits of attempts."""
    browsers: Browsers
    """Sites and sessions."""

    async def check(self, task: Task) -> TaskGates:
        """Return the results of the gates for a task."""
        try:
            failing = [one async for one in self._failing_engine(task)]
        except RolloutFailure as failure:
            failing = [Failing(Gate.ORACLE_MAX, f"the task cannot be opened: {failure.message}")]
        return TaskGates(
            task_id=task.task_id,
            template=task.template_id,
            seed=task.seed,
            failing=tuple((one.gate, one.because) for one in failing),
            untried=tuple((one.gate, one.because) for one in untried_gates(task)),
        )

    async def _failing_engine(self, task: Task) -> AsyncIterator[Failing]:
        if task.reference is None or task.expect is None:
            yield Failing(Gate.ORACLE_MAX, "the task has no reference")
            return
        steps = task.reference
        episode, watched = await attempt_watched(
            self.config, self.browsers, task, lambda: ReferencePolicy(steps)
        )
        if episode.failure_message is not None or len(watched.states) < 2:  # noqa: PLR2004 - both
            yield Failing(Gate.ORACLE_MAX, f"the reference fails: {episode.failure_message}")
            return
        if episode.reward != 1:
            yield Failing(Gate.ORACLE_MAX, f"the reference is not rewarded: {watched.because}")
        attempted = Attempted(watched.states[0], watched.states[-1], episode.answer)
        async for one in expectation_gates(task, attempted):
            yield one
        async for one in self._from_outside(task):
            yield one
        if episode.reward == 1:
            replayed = await replay(
                task, episode, sites=self.browsers.sites, sessions=self.browsers.replays
            )
            if not replayed.reproduced:
                yield Failing(Gate.REPLAYABILITY, replayed.because)

    async def _from_outside(self, task: Task) -> AsyncIterator[Failing]:
        """Yield failures that need no reference: leaks, nondeterministic starts, rewards for doing nothing."""
        start, again = await self._look(task), await self._look(task)
        for one in leak_gates(task, start[1]):
            yield one
        for what, first, second in (
            ("states", start[2], again[2]),
            ("documents", start[0].page.dom_sha256, again[0].page.dom_sha256),
            ("forms", start[0].page.form_sha256, again[0].page.form_sha256),
        ):
            if first != second:
                because = f"two visits begin with different {what}"
                if task.site in self.config.sites:
                    because += f"; `stepmill sites check {task.site}` prints where, for the tasks that it tries"
                yield Failing(Gate.EPISODE_DETERMINISM, because)
        for gate, name, make in (
            (Gate.FLOOR_GAP, "answering at once", lambda: ScriptedPolicy([Answer()])),
            (Gate.CANARY_FLOOR, "a random clicker", lambda: _RandomClicker(Random(task.task_id))),
        ):
            other, _ = await attempt_watched(self.config, self.browsers, task, make)
            if other.reward:
                yield Failing(gate, f"{name} is rewarded")

    async def _look(self, task: Task) -> tuple[Observation, str, object]:
        """Return the observation of a start page, its text, and the state behind it."""
        site = self.browsers.sites[task.site]
        size = draw_viewport(self.config, site.area(task.template_id), seed=task.task_id)
        async with site.open(task) as visit:
            spec = visit.session_spec(
                viewport_width=size.width, viewport_height=size.height, task=task
            )
            async with self.browsers.sessions.session(spec) as session:
                await session.open(visit.start_url)
                problem = await site.begin(visit, session)
                state = await site.state(problem)
                root = await session.reader.read()
                return await session.observe(), root.text, state and state.value
