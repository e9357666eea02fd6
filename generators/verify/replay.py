"""Is the episode reproducible: it is re-executed from its capsule, in a fresh context.

Only the recorded actions are carried out, at the recorded places; no policy is asked and nothing
is adapted. Before each action and at the end the page must stand where it stood: URL, title, form
state, focus, scroll and, on sites that call themselves repeatable, the whole DOM; after each
action the site must report what it reported. Pictures are compared byte by byte: the share of equal ones is the
score, and one that differs is evidence, not a verdict. A replay that diverges is tried once more
before it is called diverged; one that cannot be carried out at all is an error, not a divergence.
"""

from collections.abc import Mapping

from pydantic import JsonValue, ValidationError

from generators.browser.protocol import Session, Sessions, SessionSpec
from generators.sites.protocol import Outcome, Site, Visit
from schemas.action import NoAction
from schemas.base import Record
from schemas.episode import Episode, Step
from schemas.observation import PageState
from schemas.task import Task
from schemas.verdict import Finding, Status

MAX_REPLAYS = 2
"""Times an episode is replayed before it is called diverged."""


class StepReplay(Record):
    """How one step of a replay compares."""

    step: int
    """Which step."""
    differs: tuple[str, ...] = ()
    """What is not as recorded, each as `what: recorded → found`; empty if all agrees."""
    picture_equal: bool
    """The picture is the recorded one, byte by byte."""


class ReplayResult(Record):
    """How a replay compares."""

    supported: bool
    """The episode can be replayed at all."""
    steps: tuple[StepReplay, ...] = ()
    """Step by step, up to the first that differs."""
    because: str
    """A sentence."""

    @property
    def reproduced(self) -> bool:
        """Everything agreed."""
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
    """Re-execute an episode once and return where it agrees and where it parts.

    Raises:
        RolloutFailure: it could not be carried out.
    """
    site = sites.get(task.site)
    plan = _read_capsule(episode)
    if site is None or plan is None:
        return ReplayResult(supported=False, because=_unsupported_reason(task, site))
    visit, spec = plan
    async with sessions.session(spec) as session:
        await session.open(visit.start_url)
        instruction = await site.begin(visit, session)
        steps = await _replay_steps(episode, site, session, instruction)
    parted = next((step for step in steps if step.differs), None)
    because = (
        f"all {len(steps)} states agree"
        if parted is None
        else f"diverged at step {parted.step} because {'; '.join(parted.differs)}"
    )
    return ReplayResult(supported=True, steps=tuple(steps), because=because)


async def _replay_steps(
    episode: Episode, site: Site, session: Session, instruction: str
) -> list[StepReplay]:
    before = await site.outcome(session)
    start = [*_compare("goal", episode.instruction, instruction)]
    start += _compare("reward before", episode.reward_before, before.reward)
    out: list[StepReplay] = []
    for step in episode.steps:
        seen = await session.observe()
        differs = [*start, *_compare_pages(step.page, seen.page, dom=site.repeatable)]
        start = []
        if not differs and not isinstance(step.action, NoAction):
            effect = await session.act(step.action)
            after = await site.outcome(session)
            differs += _compare("error", step.action_error, effect.error)
            differs += _compare_outcome(step, after)
        equal = seen.screenshot.bytes == step.screenshot.bytes
        out.append(StepReplay(step=step.step, differs=tuple(differs), picture_equal=equal))
        if differs:
            break
    return out


def _compare_pages(recorded: PageState, found: PageState, *, dom: bool) -> list[str]:
    out: list[str] = []
    for name, was in recorded:
        if name != "dom_sha256" or dom:
            out += _compare(name, was, getattr(found, name))
    return out


def _compare_outcome(step: Step, after: Outcome) -> list[str]:
    return [
        *_compare("reward", step.reward, after.reward),
        *_compare("done", step.terminated, after.done),
    ]


def _compare(what: str, recorded: object, found: object) -> list[str]:
    return [] if recorded == found else [f"{what}: {recorded!r} → {found!r}"]


def _read_capsule(episode: Episode) -> tuple[Visit, SessionSpec] | None:
    """Return the visit and session of the capsule; None if it lacks one, or if time was real."""
    try:
        visit = Visit.model_validate(episode.capsule.get("visit"))
        spec = SessionSpec.model_validate(episode.capsule.get("session"))
    except ValidationError:
        return None
    return (visit, spec) if spec.clock is not None else None


def _unsupported_reason(task: Task, site: Site | None) -> str:
    if site is None:
        return f"unknown site '{task.site}'"
    return "the capsule does not hold a visit in virtual time"


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
        return Finding(
            status=_status(replayed),
            score=replayed.score,
            reason=replayed.because,
            evidence=_evidence(replayed, tries),
        )


def _status(replayed: ReplayResult) -> Status:
    if not replayed.supported:
        return Status.UNSUPPORTED
    return Status.PASSED if replayed.reproduced else Status.FAILED


def _evidence(replayed: ReplayResult, tries: int) -> dict[str, JsonValue]:
    return {
        "tries": tries,
        "states": len(replayed.steps),
        "pictures_differ_at": [s.step for s in replayed.steps if not s.picture_equal],
    }
