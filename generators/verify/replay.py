"""Whether an episode is reproducible: it is re-executed from its capsule, in a fresh context.

The replay carries out the recorded actions at the recorded places; it asks no policy and adapts nothing.
Before each action and at the end it compares the page with the record: URL, title, form state, focus,
scroll and, on sites that call themselves repeatable, the whole DOM; after each action it compares what
the site reports. Pictures are compared byte by byte: the share of equal ones is the score, and one that
differs is evidence, not a verdict. A replay that diverges is tried once more before the verifier calls
the episode diverged; one that cannot be carried out at all is an error, not a divergence.
"""

from collections.abc import Mapping

from pydantic import ValidationError

from generators.browser.protocol import Session, Sessions, SessionSpec
from generators.sites.protocol import Problem, Site, Visit
from schemas.action import NoAction
from schemas.base import Record
from schemas.episode import Episode
from schemas.task import Task
from schemas.verdict import Finding, Status

MAX_REPLAYS = 2
"""Times an episode is replayed before it is called diverged."""


class StepReplay(Record):
    """How one step of a replay compares with the record."""

    step: int
    """Its number in the episode."""
    differs: tuple[str, ...] = ()
    """The differences, each as `what: recorded → found`; empty if there is none."""
    picture_equal: bool
    """The picture equals the recorded one byte by byte."""


class ReplayResult(Record):
    """How a replay compares with the record."""

    supported: bool
    """The episode can be replayed at all."""
    steps: tuple[StepReplay, ...] = ()
    """Its steps, up to the first that differs."""
    because: str
    """In a sentence, where it diverged or why it is not supported."""

    @property
    def reproduced(self) -> bool:
        """The replay agrees with the record in everything that is compared."""
        return self.supported and not any(step.differs for step in self.steps)

    @property
    def score(self) -> float | None:
        """Share of pictures equal byte by byte; None without any."""
        if not self.steps:
            return None
        return sum(step.picture_equal for step in self.steps) / len(self.steps)


async def replay(
    task: Task, episode: Episode, *, sites: Mapping[str, Site], sessions: Sessions
) -> ReplayResult:
    """Re-execute an episode once and return where it agrees and where it diverges.

    Raises:
        RolloutFailure: the replay could not be carried out.
    """
    site = sites.get(task.site)
    if site is None:
        return ReplayResult(supported=False, because=f"unknown site '{task.site}'")
    capsule = _read_capsule(episode)
    if capsule is None:
        because = "the capsule does not hold a visit in virtual time"
        return ReplayResult(supported=False, because=because)
    visit, spec = capsule
    async with sessions.session(spec) as session:
        await session.open(visit.start_url)
        problem = await site.begin(visit, session)
        steps = await _replay_steps(episode, site, session, problem)
    diverged = next((step for step in steps if step.differs), None)
    because = (
        f"all {len(steps)} states agree"
        if diverged is None
        else f"diverged at step {diverged.step} because {'; '.join(diverged.differs)}"
    )
    return ReplayResult(supported=True, steps=tuple(steps), because=because)


async def _replay_steps(
    episode: Episode, site: Site, session: Session, problem: Problem
) -> list[StepReplay]:
    before = await site.outcome(problem, session)
    start = [*_compare("goal", episode.instruction, problem.goal)]
    start += _compare("reward before", episode.reward_before, before.reward)
    out: list[StepReplay] = []
    for step in episode.steps:
        seen = await session.observe()
        differs, start = start, []
        for name, recorded in step.page:
            if name != "dom_sha256" or site.repeatable:
                differs += _compare(name, recorded, getattr(seen.page, name))
        if not differs and not isinstance(step.action, NoAction):
            effect = await session.act(step.action)
            after = await site.outcome(problem, session)
            differs += _compare("error", step.action_error, effect.error)
            differs += _compare("reward", step.reward, after.reward)
            differs += _compare("done", step.terminated, after.done)
        equal = seen.screenshot.bytes == step.screenshot.bytes
        out.append(StepReplay(step=step.step, differs=tuple(differs), picture_equal=equal))
        if differs:
            break
    return out


def _compare(what: str, recorded: object, found: object) -> list[str]:
    return [] if recorded == found else [f"{what}: {recorded!r} → {found!r}"]


def _read_capsule(episode: Episode) -> tuple[Visit, SessionSpec] | None:
    """Return the visit and session of the capsule; None if one is missing, or if time was real."""
    try:
        visit = Visit.model_validate(episode.capsule.get("visit"))
        spec = SessionSpec.model_validate(episode.capsule.get("session"))
    except ValidationError:
        return None
    return (visit, spec) if spec.clock is not None else None


class Replay:
    """The `replay` verifier."""

    name = "replay"
    version = "1"

    def __init__(self, sites: Mapping[str, Site], *, sessions: Sessions) -> None:
        self._sites = sites
        self._sessions = sessions

    async def examine(self, task: Task, episode: Episode) -> Finding:
        """Return `passed` for reproduced, `failed` for diverged, or `unsupported`."""
        replayed = await replay(task, episode, sites=self._sites, sessions=self._sessions)
        tries = 1
        while replayed.supported and not replayed.reproduced and tries < MAX_REPLAYS:
            replayed = await replay(task, episode, sites=self._sites, sessions=self._sessions)
            tries += 1
        decided = Status.PASSED if replayed.reproduced else Status.FAILED
        return Finding(
            status=decided if replayed.supported else Status.UNSUPPORTED,
            score=replayed.score,
            reason=replayed.because,
            evidence={
                "tries": tries,
                "states": len(replayed.steps),
                "pictures_differ_at": [s.step for s in replayed.steps if not s.picture_equal],
            },
        )
