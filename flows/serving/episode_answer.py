"""A finished episode as the doors tell it: the reward, what failed, the versions of the weights, the exact tokens.

A reward that the site did not give is null, and so is that of an episode that failed through no fault of its policy.
"""

import base64
from collections.abc import Sequence

from flows.serving.versions import VersionLine
from generators.seats.seat import end_of
from schemas.base import JsonObject
from schemas.episodes.episode import Episode
from schemas.tasks.task import Task
from storage.export.openenv import training_trace, why_no_trace
from storage.export.recorded_calls import RecordedCalls
from storage.export.registry import Pictures


def answer_of(task: Task, episode: Episode) -> JsonObject:
    """Return what came of an episode, without its tokens."""
    end = end_of(episode)
    return {
        "episode_id": episode.episode_id,
        "run_id": episode.run_id,
        "task": {
            "id": episode.task_id,
            "name": task.template_id,
            "site": episode.site,
            "seed": episode.seed,
            "split": task.split,
            "instruction": episode.instruction,
        },
        "attempt": episode.attempt,
        "policy": episode.policy,
        "policy_kind": episode.policy_kind.value,
        "model": episode.model,
        "reward": end.reward,
        "done": end.done,
        "truncated": end.is_truncated,
        "stop_reason": episode.stop_reason.value,
        "failure_kind": episode.failure_kind,
        "failure_message": episode.failure_message,
        "trainable": episode.trainable,
        "n_steps": episode.n_steps,
        "ended_at": episode.ended_at.isoformat(),
    }


def weights_answer(
    versions: Sequence[str],
    line: VersionLine,
    max_staleness: int | None,
    *,
    newest: str | None = None,
) -> tuple[JsonObject, bool]:
    """Return the versions of the weights that wrote an episode, and whether they are older than is allowed.

    `newest` is the newest version there was; None: the newest that was seen.
    """
    newest = newest or line.newest
    staleness = line.staleness(versions, newest)
    stale = max_staleness is not None and staleness is not None and staleness > max_staleness
    told: JsonObject = {
        "versions": [*versions],
        "newest": newest,
        "staleness": staleness,
        "stale": stale,
    }
    return told, stale


def trace_answer(episode: Episode, *, learnt: bool, pictures: bool) -> JsonObject:
    """Return OpenEnv's `TrainingTrace` of an episode, why there is none, and the pictures that it names.

    `learnt` is whether its replies may be learnt from; if not, its masks are 0.
    """
    missing = why_no_trace(episode)
    recorded = RecordedCalls(episode, Pictures.FILES)
    trace = None if missing else training_trace(recorded, learnt=learnt)
    shown: JsonObject | None = None
    if pictures and trace is not None:
        shown = {one.path: base64.b64encode(one.data).decode() for one in recorded.files()}
    return {"trace": trace, "trace_missing": missing, "pictures": shown}
