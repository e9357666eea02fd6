"""The verifiers that ship, by the names that configurations use; `replay` has a module of its own.

`structure` asks whether an episode is whole and possible. It recomputes all that the steps themselves
determine: the order of the rows, every picture's bytes, size and hash, the hash over all of them, whether
each action fits the viewport and the allowed origins, whether an action came after the end, and whether
the times make sense.

`outcome` compares what the site reported with a threshold, and relies on no claim of a policy. It passes
if and only if the site reported the task as done and its raw, undiscounted reward reaches the threshold:
the template's own where its score is continuous, else the run's `accept.min_reward`. Every finding names
the threshold that was used.
"""

import difflib
import io
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from urllib.parse import urlsplit

from PIL import Image, UnidentifiedImageError

from generators.browser.protocol import Sessions
from generators.sites.protocol import Site
from generators.verify.protocol import Verifier
from generators.verify.replay import Replay
from schemas.action import Drag, Goto, NoAction, target_point
from schemas.base import JsonObject, sha256_hex
from schemas.episode import Episode, Step, StopReason, steps_sha256
from schemas.errors import NotFound
from schemas.task import Task
from schemas.verdict import Finding, Status

MAX_DEFECTS = 20
"""Defects listed in one finding."""


class Structure:
    """The `structure` verifier."""

    name = "structure"
    version = "1"

    async def examine(self, task: Task, episode: Episode) -> Finding:
        """Return `failed` with every defect, or `passed`."""
        defects = [*_rows(task, episode), *_times(episode)]
        for step in episode.steps:
            defects += [f"step {step.step}: {text}" for text in _step(episode, step)]
        if not defects:
            return Finding(status=Status.PASSED, reason=f"{len(episode.steps)} sound rows")
        return Finding(
            status=Status.FAILED,
            reason=defects[0] + (f", and {len(defects) - 1} more" if len(defects) > 1 else ""),
            evidence={"defects": [*defects[:MAX_DEFECTS]]},
        )


def _rows(task: Task, episode: Episode) -> Iterator[str]:
    if episode.task_id != task.task_id:
        yield f"the episode is of task {episode.task_id}, not {task.task_id}"
    if episode.content_sha256 != steps_sha256(episode.steps):
        yield "content_sha256 is not the hash of the steps"
    steps = episode.steps
    if [step.step for step in steps] != list(range(len(steps))):
        yield "the steps are not numbered 0, 1, 2, …"
    taken = [step for step in steps if not isinstance(step.action, NoAction)]
    if len(taken) != episode.n_steps:
        yield f"{len(taken)} actions, but n_steps is {episode.n_steps}"
    if episode.stop_reason is not StopReason.FAILED and len(steps) != len(taken) + 1:
        yield "the final state is not the one row without an action"
    if any(isinstance(step.action, NoAction) for step in steps[:-1]):
        yield "a row without an action stands before the last"
    if any(step.terminated for step in taken[:-1]):
        yield "something was done after the site said it is done"
    if episode.done and not (taken and taken[-1].terminated):
        yield "the episode is done, but no step ended it"


def _step(episode: Episode, step: Step) -> Iterator[str]:
    picture = step.screenshot.bytes
    if sha256_hex(picture) != step.screenshot_sha256:
        yield "the picture's hash is another one"
    try:
        with Image.open(io.BytesIO(picture)) as image:
            image.load()
            if image.size != (step.width, step.height):
                yield f"the picture is {image.size[0]}×{image.size[1]}, the row says otherwise"
    except (UnidentifiedImageError, OSError, SyntaxError) as error:
        yield f"the picture does not decode: {error}"
    scale = episode.device_scale_factor
    expected = round(episode.viewport_width * scale), round(episode.viewport_height * scale)
    if (step.width, step.height) != expected:
        yield f"the picture is {step.width}×{step.height}, the viewport is not"
    if step.action_error is None:
        yield from _action(episode, step)
    allowed = _allowed_origins(episode)
    if allowed and _origin(step.page.url) not in allowed and step.page.url != "about:blank":
        yield f"{step.page.url} is outside the allowed origins"


def _action(episode: Episode, step: Step) -> Iterator[str]:
    action = step.action
    ends = [target_point(action)]
    if isinstance(action, Drag):
        ends.append((action.to_x, action.to_y))
    for end in ends:
        if end and not (end[0] < episode.viewport_width and end[1] < episode.viewport_height):
            yield f"({end[0]:g}, {end[1]:g}) is outside the viewport"
    allowed = _allowed_origins(episode)
    if isinstance(action, Goto) and allowed and _origin(action.url) not in allowed:
        yield f"{action.url} is not allowed"


def _times(episode: Episode) -> Iterator[str]:
    if episode.ended_at < episode.started_at:
        yield "it ended before it started"
    at = [episode.started_at, *(step.at for step in episode.steps), episode.ended_at]
    if at != sorted(at):
        yield "the steps' times do not follow each other"
    spans = [episode.wall_seconds, episode.browser_seconds, episode.engine_seconds]
    spans += [ms for s in episode.steps for ms in (s.observe_ms, s.think_ms, s.act_ms)]
    if any(not math.isfinite(span) or span < 0 for span in spans):
        yield "a duration is negative or not finite"


def _allowed_origins(episode: Episode) -> list[str]:
    session = episode.capsule.get("session")
    origins = session.get("allowed_origins") if isinstance(session, dict) else None
    return [str(item) for item in origins] if isinstance(origins, list) else []


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


class OutcomeVerifier:
    """The `outcome` verifier."""

    name = "outcome"
    version = "1"

    def __init__(self, sites: Mapping[str, Site], *, min_reward: float) -> None:
        self._sites = sites
        self._min_reward = min_reward

    async def examine(self, task: Task, episode: Episode) -> Finding:
        """Compare what the site reported with the threshold; `unsupported` if it reported nothing."""
        site = self._sites.get(task.site)
        own = site.threshold(task.template_id) if site else None
        min_reward = self._min_reward if own is None else own.reward
        whose = "" if own is None else f", the threshold of {task.template_id} itself"
        evidence: JsonObject = {
            "reward": episode.reward,
            "done": episode.done,
            "min_reward": min_reward,
            "min_reward_reason": None if own is None else own.reason,
        }
        if episode.reward is None and episode.failure_kind is None:
            status, reason = Status.UNSUPPORTED, "the site says nothing"
        elif episode.done and episode.reward is not None and episode.reward >= min_reward:
            status, reason = Status.PASSED, f"done with reward {episode.reward:g}"
            reason += f", at least {min_reward:g}{whose}" if own else ""
        elif not episode.done:
            status, reason = Status.FAILED, f"not done ({episode.stop_reason.value})"
        else:
            status, reason = (
                Status.FAILED,
                f"reward {episode.reward} is below {min_reward:g}{whose}",
            )
        return Finding(status=status, reason=reason, evidence=evidence)


Maker = Callable[[Mapping[str, Site], Sessions, float], Verifier]
"""Makes a verifier from the run's sites, the sessions for replays and the reward that counts as success."""

MAKERS: dict[str, Maker] = {
    "structure": lambda _sites, _sessions, _reward: Structure(),
    "outcome": lambda sites, _sessions, reward: OutcomeVerifier(sites, min_reward=reward),
    "replay": lambda sites, sessions, _reward: Replay(sites, sessions=sessions),
}
"""Every verifier by the name that configurations use, cheapest first."""

VERIFIER_NAMES = tuple(MAKERS)
"""The names of the verifiers that ship."""


def check_verifier_names(names: Sequence[str]) -> None:
    """Refuse names of unknown verifiers.

    Raises:
        NotFound: with the unknown name and the nearest known one.
    """
    for name in names:
        if name not in MAKERS:
            near = difflib.get_close_matches(name, MAKERS, n=1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            raise NotFound(f"unknown verifier '{name}'{hint} (known: {', '.join(MAKERS)})")


def make_verifiers(
    names: Sequence[str], *, sites: Mapping[str, Site], sessions: Sessions, min_reward: float
) -> tuple[Verifier, ...]:
    """Return the verifiers with these names, in that order. Replays run in `sessions`.

    Raises:
        NotFound: a name is unknown.
    """
    check_verifier_names(names)
    return tuple(MAKERS[name](sites, sessions, min_reward) for name in names)
