"""The columns of an episode that follow from its task, capsule, steps and calls.

Each function yields a sentence for every column whose value does not follow. Quoted values are cut to a
length, because pages and models write them.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from pydantic import ValidationError

from generators.browser.protocol import PRODUCT, SessionSpec
from generators.sites.protocol import Visit
from generators.verify.differences import ADDED_KEYS, differences, quote
from schemas.configuration.sections import PolicyName
from schemas.episodes.action import Answer
from schemas.episodes.call import usage
from schemas.episodes.episode import (
    SCHEMA_VERSION,
    Episode,
    PolicyKind,
    Step,
    StopReason,
    browser_seconds,
)
from schemas.errors import ENVIRONMENT_FAILURES, FailureKind
from schemas.ids import episode_id, group_id
from schemas.tasks.task import SPLITS, Task, task_id

MAX_WALL_DIFFERENCE = 0.01
"""Seconds by which `wall_seconds` may differ from `ended_at` - `started_at`: earlier versions read the
clock twice."""

_MS_TOLERANCE = 1.0
"""Times are kept in whole microseconds, durations are not."""


_KINDS: Mapping[str, PolicyKind] = {
    PolicyName.TEACHER: PolicyKind.TEACHER,
    PolicyName.CLUMSY: PolicyKind.CLUMSY,
    PolicyName.REFERENCE: PolicyKind.SCRIPTED,
    PolicyName.SCRIPTED: PolicyKind.SCRIPTED,
    PolicyName.MODEL: PolicyKind.MODEL,
    PolicyName.SURFER: PolicyKind.MODEL,
}

_EARLIER_KINDS: Mapping[str, PolicyKind] = {PolicyName.CLUMSY: PolicyKind.TEACHER}
"""The kind that earlier versions recorded for a policy."""

_READS_STRUCTURE: Mapping[PolicyKind, bool] = {PolicyKind.TEACHER: True, PolicyKind.CLUMSY: True}
"""Whether a kind of policy is privileged. A model is not listed: its replies may be the teacher's."""


def identity_defects(task: Task, episode: Episode) -> Iterator[str]:
    """Yield columns that do not follow from the task, the run and the attempt's number."""
    expected = {
        "task_id": task.task_id,
        "episode_id": episode_id(episode.run_id, task.task_id, episode.attempt),
        "group_id": group_id(episode.run_id, task.task_id),
        "site": task.site,
        "start_url": task.start_url,
        "seed": task.seed,
    }
    yield from differences((name, getattr(episode, name), own) for name, own in expected.items())
    if not 1 <= episode.schema_version <= SCHEMA_VERSION:
        yield f"schema_version is {episode.schema_version}, expected 1 to {SCHEMA_VERSION}"
    if episode.browser != PRODUCT:
        yield f"browser is {quote(episode.browser)}, expected '{PRODUCT}'"
    kind = _KINDS.get(episode.policy, episode.policy_kind)
    if episode.policy_kind not in (kind, _EARLIER_KINDS.get(episode.policy)):
        yield f"policy_kind is {episode.policy_kind.value}, '{episode.policy}' is a {kind.value}"
    reads = _READS_STRUCTURE.get(episode.policy_kind)
    if None not in (reads, episode.privileged) and episode.privileged is not reads:
        yield f"privileged is {episode.privileged}, a {episode.policy_kind.value} is {reads}"
    yield from _task_defects(task)
    if episode.steps and not episode.instruction:
        yield "a page was opened, but there is no instruction"
    if episode.steps and not episode.browser_version:
        yield "a page was opened, but there is no browser_version"
    if (
        episode.instruction
        and episode.steps
        and task.instruction
        and episode.instruction != task.instruction
    ):
        yield "the instruction is not the task's"


def _task_defects(task: Task) -> Iterator[str]:
    if task.task_id not in _task_ids(task):
        yield "the task's id is not the hash of its content"
    if task.fault != task.parameters.get("fault"):
        yield f"the task's fault is {task.fault}, and its parameters have another"
    if task.split not in ("", *SPLITS):
        yield f"the task asks for the split '{task.split}', which does not exist"


def _task_ids(task: Task) -> list[str]:
    """Return the two ids that a task may have: from its template, or from its instruction."""
    return [
        task_id(
            site=task.site,
            site_version=task.site_version,
            template_id=template_id,
            seed=task.seed,
            start_url=task.start_url,
            instruction=instruction,
            parameters=task.parameters,
            expect=task.expect,
            files=task.files or (),
            page=task.page,
            user=task.user,
        )
        for template_id, instruction in ((task.template_id, None), (None, task.instruction))
    ]


def capsule_defects(task: Task, episode: Episode) -> Iterator[str]:
    """Yield parts of the capsule that do not follow from the task and the viewport, and a wrong clock."""
    capsule = episode.capsule
    named = {"template_id": task.template_id, "site_version": task.site_version}
    yield from differences(
        (f"the capsule's {name}", capsule.get(name), own) for name, own in named.items()
    )
    if more := capsule.keys() - {*named, "visit", "session"}:
        yield f"the capsule states {quote(min(more))}, which nothing reads"
    visit = read_visit(episode)
    if visit is None and (episode.steps or "visit" in capsule):
        yield "the capsule's visit is missing or cannot be read"
    clock = visit.clock if visit else None
    yield from differences([("clock_ms", episode.clock_ms, clock.start_ms if clock else 0)])
    if visit is None:
        return
    own = {"start_url": task.start_url, "seed": str(task.seed), "parameters": task.parameters}
    yield from differences(
        (f"the visit's {name}", getattr(visit, name), value) for name, value in own.items()
    )
    session = read_session(episode)
    if session is None:
        if episode.steps or "session" in capsule:
            yield "the capsule's session is missing or cannot be read"
        return
    expected = visit.model_copy(update={"seed": own["seed"]}).session_spec(
        viewport_width=episode.viewport_width,
        viewport_height=episode.viewport_height,
        device_scale_factor=episode.device_scale_factor,
        task=task,
    )
    yield from differences(
        (f"the session's {name}", getattr(session, name), getattr(expected, name))
        for name in session.model_dump()  # only the recorded fields
    )


def read_visit(episode: Episode) -> Visit | None:
    """Return the capsule's visit; None if it is missing or invalid."""
    try:
        return Visit.model_validate(episode.capsule.get("visit"))
    except ValidationError:
        return None


def read_session(episode: Episode) -> SessionSpec | None:
    """Return the session's settings from the capsule; None if they are missing or invalid."""
    try:
        return SessionSpec.model_validate(episode.capsule.get("session"))
    except ValidationError:
        return None


def missing_keys(episode: Episode) -> list[str]:
    """Return the capsule keys and columns that the writing version did not know yet."""
    parts = {name: episode.capsule.get(name) for name in ADDED_KEYS}
    keys = [
        f"{name}.{key}"
        for name, part in parts.items()
        if isinstance(part, dict)
        for key in sorted(ADDED_KEYS[name] - part.keys())
    ]
    return keys if episode.privileged is not None else [*keys, "privileged"]


def outcome_defects(task: Task, episode: Episode, taken: Sequence[Step]) -> Iterator[str]:
    """Yield columns of the outcome that do not follow from the steps."""
    last = taken[-1] if taken else None
    over = last is not None and last.terminated
    said = int(is_said_after_end(taken))
    if any(step.terminated for step in taken[: -1 - said]):
        yield "something was done after the site said it is done"
    if any(isinstance(step.action, Answer) for step in taken[:-1]):
        yield "something was done after the answer"
    answer = last.action.text if last is not None and isinstance(last.action, Answer) else None
    expected = {"reward": _last_reward(episode, taken), "done": over, "answer": answer}
    yield from differences((name, getattr(episode, name), own) for name, own in expected.items())
    rewards = [episode.reward, episode.reward_before, *(step.reward for step in taken)]
    if any(reward is not None and not math.isfinite(reward) for reward in rewards):
        yield "a reward is no finite number"
    yield from _failure_defects(episode)
    if episode.stop_reason is not StopReason.FAILED:
        yield from _stop_defects(episode, taken, over=over, answered=answer is not None)
    if said and (taken[-1].reward, taken[-1].terminated) != (taken[-2].reward, True):
        yield "the answer after the site's end has another outcome"
    if len(taken) - said > task.max_steps:
        yield f"{len(taken)} actions, but the task allows {task.max_steps}"
    for step in taken:
        if step.truncated != (step is last and episode.stop_reason.truncates):
            yield f"truncated of step {step.step} does not fit {episode.stop_reason.value}"


def is_said_after_end(taken: Sequence[Step]) -> bool:
    """Return whether the last action is an answer after the site said that the task is done."""
    return len(taken) > 1 and taken[-2].terminated and isinstance(taken[-1].action, Answer)


def state_defects(episode: Episode) -> Iterator[str]:
    """Yield contradictions among the columns of the server's state, which are set together or not at all."""
    before, after, delta = (
        episode.state_before_sha256,
        episode.state_after_sha256,
        episode.delta,
    )
    stated = {before is not None, after is not None, delta is not None}
    if len(stated) > 1:
        yield "of the server's state before and after and of what changed, a part is missing"
    elif delta is not None and (before == after) != delta.is_empty:
        yield "the server's state before and after, and what changed in it, contradict each other"
    if delta is not None and episode.stop_reason is StopReason.FAILED:
        yield "an attempt that broke states what changed on the server"


def _last_reward(episode: Episode, taken: Sequence[Step]) -> float | None:
    """Return the site's last reported reward; the action that broke the page has no report."""
    message = episode.failure_message
    if taken and message is not None and taken[-1].action_error == message:
        taken = taken[:-1]
    return taken[-1].reward if taken else episode.reward_before


def _failure_defects(episode: Episode) -> Iterator[str]:
    stated = {episode.failure_kind is not None, episode.failure_message is not None}
    if stated != {episode.stop_reason is StopReason.FAILED}:
        yield f"stop_reason is {episode.stop_reason.value}, failure_kind {episode.failure_kind}"
    if episode.failure_kind not in {None, *FailureKind}:
        yield f"failure_kind is {quote(episode.failure_kind)}, which is none"
    if any(failed.failure_kind not in ENVIRONMENT_FAILURES for failed in episode.tries or ()):
        yield "tries name a failure after which there is no other try"
    if episode.trainable != (episode.failure_kind in {None, FailureKind.POLICY}):
        yield f"trainable is {episode.trainable}, failure_kind {episode.failure_kind}"


def _stop_defects(
    episode: Episode, taken: Sequence[Step], *, over: bool, answered: bool
) -> Iterator[str]:
    stop = episode.stop_reason
    implied = StopReason.FINISHED if over else StopReason.ANSWERED if answered else None
    if implied is not None and stop is not implied:
        yield f"stop_reason is {stop.value}, the last action makes it {implied.value}"
    if implied is None and stop in {StopReason.FINISHED, StopReason.ANSWERED}:
        yield f"stop_reason is {stop.value}, but the last action did not end it so"
    same = {(step.screenshot_sha256, step.action.model_dump_json()) for step in taken[-2:]}
    if stop is StopReason.STUCK and (len(taken) < 2 or len(same) > 1):  # noqa: PLR2004 - a pair
        yield "stop_reason is stuck, but the last action was not a repetition"
    if stop is StopReason.STEP_LIMIT and not taken:
        yield "stop_reason is step_limit, but nothing was done"


def sum_defects(episode: Episode) -> Iterator[str]:
    """Yield columns that are not the sums over steps and calls."""
    sums = {**dict(usage(episode.calls)), "browser_seconds": browser_seconds(episode.steps)}
    yield from differences((name, getattr(episode, name), own) for name, own in sums.items())


def time_defects(episode: Episode) -> Iterator[str]:
    """Yield times out of order, and durations that do not fit between them."""
    spans = [episode.wall_seconds, episode.browser_seconds, episode.engine_seconds]
    spans += [ms for s in episode.steps for ms in (s.observe_ms, s.think_ms, s.act_ms)]
    if any(not math.isfinite(span) or span < 0 for span in spans):
        yield "a duration is negative or not finite"
    lasted = (episode.ended_at - episode.started_at).total_seconds()
    if not abs(lasted - episode.wall_seconds) <= MAX_WALL_DIFFERENCE:
        yield f"wall_seconds is {episode.wall_seconds:g}, from start to end it is {lasted:g}"
    moments = [episode.started_at, *(step.at for step in episode.steps), episode.ended_at]
    if moments != sorted(moments):
        yield "the steps' times do not follow each other"
        return
    acted = [0.0, *(step.think_ms + step.act_ms for step in episode.steps)]
    looked = [*(step.observe_ms for step in episode.steps), 0.0]
    for number, (one, other) in enumerate(pairwise(moments)):
        if acted[number] + looked[number] > (other - one).total_seconds() * 1_000 + _MS_TOLERANCE:
            where = f"step {number}" if number < len(episode.steps) else "the end"
            yield f"more was done before {where} than there was time for"
