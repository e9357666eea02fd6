"""Whether an episode is reproducible: its task is visited again and its actions are carried out again.

The task alone determines the visit; the episode supplies only the viewport and the actions. The replay uses
no policy and does not adapt. It runs in a fresh context and compares with the record

* at the start: the columns and the capsule about the visit, the goal, and the reward before the first
  action;
* before each action and in the final row, which must exist: URL, title, form state, focus, scroll and, on
  repeatable sites, the whole DOM; the elements and sights; the picture;
* after each action: its error, its target, the text of dialogs, the downloads, the changes of the server's state
  where the record has them, the reward and `done`, and whether the next observation differs;
* at the end: the episode's reward, `done` and answer, and, for sites with a server's state, its hashes
  before and after and the changes.

Parts that the site masks are not compared, and the finding names them. Everything else must be equal except
the pictures: a rasteriser does not promise equal bytes, so pictures are compared by their pixels
(`generators/verify/pictures.py`), and the share of pictures equal byte by byte is the score. The verifier
repeats a diverged replay, up to `MAX_REPLAYS` in all, before it calls the episode diverged. The finding
lists every try: whether it agreed, and where it diverged. A replay that cannot be carried out is an error,
not a divergence. If one replay diverged and the next breaks, the verifier abstains, so that the first
result is kept.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from generators.browser.protocol import Session, Sessions
from generators.sites.protocol import Outcome, Problem, Site, Visit
from generators.sites.state import ServerState, StateChange
from generators.verify.differences import (
    ADDED_COLUMNS,
    Parts,
    compare,
    compare_capsule,
    compare_shown,
    compare_targets,
    compare_way,
    locate,
)
from generators.verify.pictures import compare_pictures
from schemas.base import JsonObject, Record
from schemas.configuration.masks import Masks
from schemas.episodes.action import Answer, NoAction
from schemas.episodes.episode import Episode, Step
from schemas.episodes.observation import Effect, Observation
from schemas.errors import RolloutFailure
from schemas.page_facts import NO_FACTS, says_nothing
from schemas.tasks.task import Task
from schemas.verdicts.verdict import Finding, Status

MAX_REPLAYS = 2
"""Times an episode is replayed before it is called diverged."""

_NO_EFFECT = Effect(act_ms=0.0)
_NO_OUTCOME = Outcome(reward=None, done=False)


class StepReplay(Record):
    """How one step of a replay compares with the record."""

    step: int
    """The step's number in the episode."""
    differs: tuple[str, ...] = ()
    """The differences, each as `what: recorded → found`."""
    picture_equal: bool
    """Whether the picture equals the recorded one byte by byte."""
    picture_cells: float
    """Share of the picture's cells that differ from the recorded one's, 0–1."""
    picture_levels: float
    """Mean difference of its pixels' channels, levels of 255."""


class ReplayResult(Record):
    """How a whole replay compares with the record."""

    supported: bool
    """Whether the episode can be replayed at all."""
    steps: tuple[StepReplay, ...] = ()
    """The steps, up to the first that differs."""
    because: str
    """A sentence: where the replay diverged, or why it is not supported."""
    masks: Masks | None = None
    """The parts that were not compared; None: everything was compared."""

    @property
    def reproduced(self) -> bool:
        """Whether the replay agrees with the record in everything compared."""
        return self.supported and bool(self.steps) and not any(step.differs for step in self.steps)

    @property
    def score(self) -> float | None:
        """Share of pictures equal byte by byte; None without any."""
        if not self.steps:
            return None
        return sum(step.picture_equal for step in self.steps) / len(self.steps)


async def replay(
    task: Task, episode: Episode, *, sites: Mapping[str, Site], sessions: Sessions
) -> ReplayResult:
    """Execute an episode once more and return where the replay agrees and where it diverges.

    Raises:
        RolloutFailure: the replay could not be carried out.
    """
    site = sites.get(task.site)
    if site is None:
        return ReplayResult(supported=False, because=f"unknown site '{task.site}'")
    async with site.open(task) as visit:
        return await _replay_visit(task, episode, site=site, visit=visit, sessions=sessions)


async def _replay_visit(
    task: Task, episode: Episode, *, site: Site, visit: Visit, sessions: Sessions
) -> ReplayResult:
    if visit.clock is None:
        return ReplayResult(supported=False, because=f"time is real on site '{task.site}'")
    match episode.capsule:
        case {"visit": dict() as visited, "session": dict() as opened}:
            pass
        case _:
            because = "the capsule lacks the visit or the session"
            return ReplayResult(supported=False, because=because)
    if "bare" not in visited:
        visit = visit.model_copy(update={"bare": False})
    if "page" not in visited and not says_nothing(visit.page):
        visit = visit.model_copy(update={"page": NO_FACTS})
    spec = visit.session_spec(
        viewport_width=episode.viewport_width,
        viewport_height=episode.viewport_height,
        device_scale_factor=episode.device_scale_factor,
        task=task,
    )
    if "draws_lists" not in opened:
        spec = spec.model_copy(update={"draws_lists": False})
    if "chance" not in opened:
        spec = spec.model_copy(update={"chance": None})
    parts: Parts = {"visit": (visited, visit), "session": (opened, spec)}
    start = [*compare_way(task, episode, visit), *compare_capsule(task, episode, parts)]
    async with sessions.session(spec) as session:
        await session.open(visit.start_url)
        problem = await site.begin(visit, session)
        execution = _Execution(episode, site, session, problem, start, visit.masks)
        await execution.run()
    steps = await _steps(episode, execution.rows)
    return ReplayResult(supported=True, steps=steps, because=_because(steps), masks=visit.masks)


@dataclass(slots=True)
class _Row:
    """One step of a replay."""

    seen: Observation
    differs: list[str]


@dataclass(slots=True)
class _Execution:
    """An episode's actions, carried out again up to the first step that differs."""

    episode: Episode
    site: Site
    session: Session
    problem: Problem
    start: list[str]
    """Differences before the first observation; they count for the first step."""
    masks: Masks | None
    """The parts that are not compared; None: everything is compared."""
    rows: list[_Row] = field(default_factory=list)
    """The replayed steps."""

    async def run(self) -> None:
        """Replay the steps."""
        state = await self.site.state(self.problem)
        last = await self.site.outcome(self.problem, self.session)
        self.start += compare("goal", self.episode.instruction, self.problem.goal)
        self.start += compare("reward_before", self.episode.reward_before, last.reward)
        for step in self.episode.steps:
            await self._observe(step)
            if any(row.differs for row in self.rows):
                return
            if not isinstance(step.action, NoAction):
                last = await self._act(step)
            else:
                self._compare_effect(step, _NO_EFFECT, _NO_OUTCOME)
            if self.rows[-1].differs:
                return
        if self.rows:
            self._compare_end(last)
            await self._compare_state(state)

    async def _observe(self, step: Step) -> None:
        """Compare the page, and whether it has changed since the previous step."""
        seen = await self.session.observe()
        if self.rows:
            self._compare_change(step, seen)
        differs = self.start if not self.rows else []
        differs += compare("width", step.width, seen.width)
        differs += compare("height", step.height, seen.height)
        shown = list(compare_shown(step, seen, self.masks))
        for name, recorded in step.page:
            if name in ADDED_COLUMNS and recorded is None:
                continue
            found = list(compare(name, recorded, getattr(seen.page, name), self.masks))
            if name != "dom_sha256":
                differs += found
            elif self.site.repeatable:
                differs += (f"{one} ({locate(step, shown)})" for one in found)
        differs += shown
        self.rows.append(_Row(seen, differs))

    def _compare_change(self, step: Step, seen: Observation) -> None:
        """Compare whether the page before `step` differs from the one before it.

        If the page's state is the same, pictures decide. A rasteriser may make two of them unequal in only
        one of the executions; then both values are accepted.
        """
        row, before = self.rows[-1], self.episode.steps[len(self.rows) - 1]
        changed = any(
            getattr(row.seen.page, name) != getattr(seen.page, name)
            for name in ("url", "form_sha256", "dom_sha256")
        )
        recorded = changed or before.screenshot.bytes != step.screenshot.bytes
        found = changed or row.seen.screenshot.bytes != seen.screenshot.bytes
        if before.state_changed != recorded:
            row.differs += compare("state_changed", before.state_changed, found)

    async def _act(self, step: Step) -> Outcome:
        effect = await self.session.act(step.action)
        answer = step.action.text if isinstance(step.action, Answer) else None
        outcome = await self.site.outcome(self.problem, self.session, answer=answer)
        self._compare_effect(step, effect, outcome)
        return outcome

    def _compare_effect(self, step: Step, effect: Effect, outcome: Outcome) -> None:
        differs = self.rows[-1].differs
        differs += compare("action_error", step.action_error, effect.error)
        differs += compare_targets(step, self.rows[-1].seen, effect.target, self.masks)
        differs += compare("result_text", step.result_text, effect.result_text, self.masks)
        differs += compare("downloads", list(step.downloads or ()), list(effect.downloads))
        if step.delta is not None:
            differs += compare("delta", step.delta, outcome.delta)
        differs += compare("reward", step.reward, outcome.reward)
        differs += compare("terminated", step.terminated, outcome.done)
        final = len(self.rows) == len(self.episode.steps)
        differs += compare("final row", isinstance(step.action, NoAction), final)

    def _compare_end(self, last: Outcome) -> None:
        """Compare the episode's end with the last outcome and the last answer."""
        steps, differs = self.episode.steps, self.rows[-1].differs
        answers = [step.action.text for step in steps if isinstance(step.action, Answer)]
        differs += compare("state_changed", steps[-1].state_changed, None)
        differs += compare("episode.reward", self.episode.reward, last.reward)
        differs += compare("episode.done", self.episode.done, last.done)
        differs += compare("episode.answer", self.episode.answer, answers[-1] if answers else None)

    async def _compare_state(self, before: ServerState | None) -> None:
        """Compare the server's state before and after, and its changes, with the episode's columns."""
        episode, change, after = self.episode, None, await self.site.state(self.problem)
        if before is not None and after is not None:
            change = await StateChange.between(before, after)
        for column, found in (
            ("state_before_sha256", change and change.before_sha256),
            ("delta", change and change.delta),
            ("state_after_sha256", change and change.after_sha256),
        ):
            self.rows[-1].differs += compare(f"episode.{column}", getattr(episode, column), found)


async def _steps(episode: Episode, rows: list[_Row]) -> tuple[StepReplay, ...]:
    """Return the replayed steps with their pictures compared."""
    stored = [step.screenshot.bytes for step in episode.steps]
    pictures = await asyncio.to_thread(compare_pictures, stored, [row.seen for row in rows])
    return tuple(
        StepReplay(
            step=number,
            differs=(*row.differs, *([f"picture: {said.because}"] if said.because else [])),
            picture_equal=said.equal,
            picture_cells=said.cells,
            picture_levels=said.levels,
        )
        for number, (row, said) in enumerate(zip(rows, pictures, strict=True))
    )


def _because(steps: tuple[StepReplay, ...]) -> str:
    """Return a sentence on whether the steps agree."""
    if not steps:
        return "diverged because the episode has no steps"
    diverged = next((step for step in steps if step.differs), None)
    if diverged is not None:
        return f"diverged at step {diverged.step} because {'; '.join(diverged.differs)}"
    unequal = sum(not step.picture_equal for step in steps)
    some = f", {len(steps) - unequal} of their pictures byte by byte" if unequal else ""
    return f"all {len(steps)} states agree{some}"


def _try(replayed: ReplayResult) -> JsonObject:
    """Return the evidence of one try."""
    parted = next((step.step for step in replayed.steps if step.differs), None)
    return {"agreed": replayed.reproduced, "parted_at": parted, "because": replayed.because}


class Replay:
    """The `replay` verifier."""

    name = "replay"
    version = "8"

    def __init__(self, sites: Mapping[str, Site], *, sessions: Sessions) -> None:
        self._sites = sites
        self._sessions = sessions

    async def examine(self, task: Task, episode: Episode) -> Finding:
        """Return `passed` for reproduced, `failed` for diverged, or `unsupported`.

        Raises:
            RolloutFailure: the first replay could not be carried out.
        """
        replayed = await self._replay(task, episode)
        tries, broke = [_try(replayed)] if replayed.supported else [], False
        while replayed.supported and not replayed.reproduced and len(tries) < MAX_REPLAYS:
            try:
                replayed = await self._replay(task, episode)
            except RolloutFailure as failure:
                because = f"broke: {failure.message}"
                tries.append({"agreed": False, "parted_at": None, "because": because})
                broke = True
                break
            tries.append(_try(replayed))
        site = self._sites.get(task.site)
        unequal = [step for step in replayed.steps if not step.picture_equal]
        return Finding(
            status=_status(replayed, broke=broke),
            score=replayed.score,
            reason=_reason(replayed, tries),
            evidence={
                "tries": [*tries],
                "max_tries": MAX_REPLAYS,
                "states": len(replayed.steps),
                "pictures_differ_at": [step.step for step in unequal],
                "pictures_differ_by": [
                    {"cells": step.picture_cells, "levels": step.picture_levels} for step in unequal
                ],
                "site_version": None if site is None else site.version,
                "browser_version": self._sessions.version,
                "masked": None
                if replayed.masks is None
                else replayed.masks.model_dump(mode="json"),
            },
        )

    async def _replay(self, task: Task, episode: Episode) -> ReplayResult:
        return await replay(task, episode, sites=self._sites, sessions=self._sessions)


def _status(replayed: ReplayResult, *, broke: bool) -> Status:
    """Return the status after the last try; `abstained` if a further try broke."""
    if not replayed.supported:
        return Status.UNSUPPORTED
    if broke:
        return Status.ABSTAINED
    return Status.PASSED if replayed.reproduced else Status.FAILED


def _reason(replayed: ReplayResult, tries: Sequence[JsonObject]) -> str:
    """Return a sentence about the last try, with its number if it was not the first."""
    number = f"in try {len(tries)} of {MAX_REPLAYS}"
    if replayed.reproduced:
        return replayed.because + (f", {number}" if tries[1:] else "")
    last = str(tries[-1]["because"]) if tries else replayed.because
    return last if last == replayed.because else f"{replayed.because}; {number}: {last}"
