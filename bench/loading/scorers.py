"""Plays tasks with a scorer of elements: a function from a goal and what is seen to an action.

A page in virtual time does the same after the same actions, as replays show. So a book keeps what
was seen after which actions of a task, and an episode that another scorer has played before, action
by action, is looked up in it; the browser plays only what is new.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from bench.loading.attempts import make_attempt
from generators.browser.chromium import Chromium
from generators.policy.protocol import Decision, Policy, PolicyCard, PolicyInput
from generators.policy.teacher.policy import TeacherPolicy
from generators.rollout.limits import Limits
from generators.rollout.rollout import rollout
from generators.sites.miniwob import MiniWob
from schemas.base import JsonObject, canonical_json
from schemas.configuration.config import RunConfig
from schemas.episodes.action import ACTION
from schemas.episodes.episode import Episode, PolicyKind, StopReason

SESSIONS = 8
"""Episodes that are played at once."""

TEACHER_STEPS = 30
"""The most actions of the teacher."""

Look = tuple[list[JsonObject], list[JsonObject]]
"""Elements and sights, as the published `observations` hold them."""

Moment = tuple[list[JsonObject], list[JsonObject], JsonObject]
"""A look and the action after it."""

Choose = Callable[[str, list[JsonObject], list[JsonObject], list[Moment]], JsonObject]
"""From a goal, elements, sights and the moments before to the next action."""


class Chore(NamedTuple):
    """A task to be played."""

    template: str
    seed: int


class ScorerPolicy:
    """A `Policy` that does what a scorer chooses."""

    card = PolicyCard(name="scorer", kind=PolicyKind.SCRIPTED)

    def __init__(self, choose: Choose) -> None:
        self._choose = choose
        self.goal = ""
        self.past: list[Moment] = []

    async def act(self, turn: PolicyInput) -> Decision:
        """Return the action that the scorer chooses."""
        self.goal, seen = turn.instruction, turn.observation
        elements = [one.model_dump(mode="json") for one in seen.elements]
        sights = [one.model_dump(mode="json") for one in seen.sights or ()]
        action = self._choose(self.goal, elements, sights, self.past)
        self.past.append((elements, sights, action))
        return Decision(action=ACTION.validate_python(action))


class Book:
    """What was seen after which actions of a task, and which actions ended it."""

    def __init__(self) -> None:
        self._goals: dict[Chore, str] = {}
        self._looks: dict[tuple[Chore, str], Look] = {}
        self._ends: dict[tuple[Chore, str], bool] = {}

    def write(self, chore: Chore, policy: ScorerPolicy, *, success: bool | None) -> None:
        """Keep an episode; None: it ended at its limit, so the next action is open."""
        self._goals[chore] = policy.goal
        for at, (elements, sights, _) in enumerate(policy.past):
            self._looks[chore, _actions(policy.past[:at])] = elements, sights
        if success is not None:
            self._ends[chore, _actions(policy.past)] = success

    def foresee(self, chore: Chore, choose: Choose, steps: int) -> bool | None:
        """Return whether the scorer succeeds within so many actions; None: nobody has played that."""
        past: list[Moment] = []
        while len(past) < steps:
            look = self._looks.get((chore, _actions(past)))
            if look is None:
                return None
            past.append((*look, choose(self._goals[chore], *look, past)))
            if (success := self._ends.get((chore, _actions(past)))) is not None:
                return success
        return False


def count_actions(episode: Episode) -> int:
    """Return how many actions an episode has up to the task's end; an answer that follows it does not count."""
    ends = (at for at, step in enumerate(episode.steps, 1) if step.terminated)
    return next(ends, episode.n_steps)


def _actions(past: Iterable[Moment]) -> str:
    return canonical_json([action for *_, action in past])


class Stage:
    """A browser on which tasks of MiniWoB++ are played, and the book of what was played."""

    def __init__(self, site: MiniWob, chromium: Chromium, config: RunConfig) -> None:
        self._site = site
        self._chromium = chromium
        self._config = config
        self._free = asyncio.Semaphore(SESSIONS)
        self.book = Book()
        self.played = 0
        """Episodes that the browser played."""

    async def teacher_steps(self, chores: Iterable[Chore]) -> dict[Chore, int]:
        """Return how many actions the teacher takes for each task that it solves, up to the task's end."""
        steps: dict[Chore, int] = {}

        async def solve(chore: Chore) -> None:
            episode = await self._play(chore, TeacherPolicy, TEACHER_STEPS)
            if self._succeeded(chore, episode):
                steps[chore] = count_actions(episode)

        async with asyncio.TaskGroup() as group:
            for chore in chores:
                group.create_task(solve(chore))
        return steps

    async def successes(self, choose: Choose, steps: Mapping[Chore, int]) -> dict[Chore, bool]:
        """Return which tasks a scorer solves, each within so many actions."""
        out: dict[Chore, bool] = {}

        async def play(chore: Chore, steps: int) -> None:
            foreseen = self.book.foresee(chore, choose, steps)
            out[chore] = await self._try(chore, choose, steps) if foreseen is None else foreseen

        async with asyncio.TaskGroup() as group:
            for chore, most in steps.items():
                group.create_task(play(chore, most))
        return out

    async def _try(self, chore: Chore, choose: Choose, steps: int) -> bool:
        policies: list[ScorerPolicy] = []

        def make() -> ScorerPolicy:
            policies.append(ScorerPolicy(choose))
            return policies[-1]

        episode = await self._play(chore, make, steps)
        success = self._succeeded(chore, episode)
        ended = episode.stop_reason in (StopReason.FINISHED, StopReason.ANSWERED)
        self.book.write(chore, policies[-1], success=success if ended else None)
        return success

    async def _play(self, chore: Chore, make: Callable[[], Policy], steps: int) -> Episode:
        """Return an episode of a task.

        Raises:
            SystemExit: it failed, for a reason that is no scorer's.
        """
        async with self._free:
            episode = await rollout(
                make_attempt(
                    self._site, chore.template, chore.seed, seed=chore.seed, config=self._config
                ),
                site=self._site,
                sessions=self._chromium,
                make_policy=lambda _: make(),
                limits=Limits(steps=steps, seconds=600, stuck_steps=steps + 1),
            )
        if episode.failure_kind:
            raise SystemExit(f"{chore.template}, seed {chore.seed}: {episode.failure_message}")
        self.played += 1
        return episode

    def _succeeded(self, chore: Chore, episode: Episode) -> bool:
        threshold = self._site.threshold(chore.template)
        least = 1.0 if threshold is None else threshold.reward
        return episode.done and episode.reward is not None and episode.reward >= least
