"""`openenv`: episodes as OpenEnv's `TrainingTrace`, version 1: exact tokens for reinforcement learning.

A line is an attempt: what a trainer needs to know about it, and under `trace` the library's own record,
one turn for each of the policy's calls. A turn has the engine's tokens, the log-probability of each that
was sampled, and a mask over prompt and reply. Its metadata names the pictures of the prompt and the range
of tokens that stands for each.

The record has no place for a reward; a reward that the site did not give is null, which is not zero. A
line names all attempts at its task that are exported, with their rewards, and says which of them failed
for a reason outside the policy: their masks are all 0, and an advantage should leave them out.

Tokens are never made from text. An attempt of which any call lacks tokens or log-probabilities gives no
line and is counted: a trace without some of its turns would credit the others with their deeds.

Source: `openenv/core/harness/training.py` and `capture/validate.py` of the package `openenv` 0.10.0.
"""

import math
from collections.abc import Iterator, Sequence

from pydantic import JsonValue
from typing_extensions import override

from schemas.base import JsonObject
from schemas.episodes.call import Call
from schemas.episodes.episode import Episode
from storage.export.line_columns import LineColumns
from storage.export.protocol import FormatCounts, FullEpisode, GroupFormat, Line, Piece
from storage.export.recorded_calls import RecordedCalls, has_tokens
from storage.export.registry import FormatName, Pictures

SCHEMA_VERSION = 1
"""The version of the record."""

LIBRARY = "0.10.0"
"""The version of the library whose record this is."""


_COLUMNS: LineColumns = {
    "id": "string",
    "run_id": "string",
    "task_id": "string",
    "template_id": "string",
    "site": "string",
    "seed": "int64",
    "goal": "string",
    "attempt": "int64",
    "policy": "string",
    "model": "string",
    "dialect": "string",
    "reward": "float64",
    "done": "bool",
    "stop_reason": "string",
    "failure_kind": "string",
    "trainable": "bool",
    "accepted": "bool",
    "group": "json",
    "trace": "json",
}


class OpenEnv(GroupFormat):
    """The `GroupFormat`."""

    name = FormatName.OPENENV

    def __init__(self, *, pictures: Pictures) -> None:
        self._pictures = pictures

    @property
    @override
    def options(self) -> JsonObject:
        version: JsonObject = {"schema_version": SCHEMA_VERSION, "library": LIBRARY}
        return {"pictures": self._pictures.value, **version}

    @override
    def group_pieces(self, group: Sequence[FullEpisode], counts: FormatCounts) -> Iterator[Piece]:
        reasons = {source.episode.episode_id: why_no_trace(source.episode) for source in group}
        members: list[JsonValue] = [
            _member(source.episode, reasons[source.episode.episode_id]) for source in group
        ]
        for source in group:
            reason = reasons[source.episode.episode_id]
            counts[reason or "lines"] += 1
            if reason is None:
                recorded = RecordedCalls(source.episode, self._pictures)
                line = Line(_line(source, recorded, members), _COLUMNS)
                counts["turns"] += len(recorded.calls)
                if not source.episode.trainable:
                    counts["untrainable"] += 1
                yield from recorded.files()
                yield line


def why_no_trace(episode: Episode) -> str | None:
    """Return why an episode gives no trace, as it is counted; None if it gives one."""
    calls = RecordedCalls(episode, Pictures.FILES).calls
    if not calls or not all(map(has_tokens, calls)):
        return "without_tokens"
    return None if all(map(_has_logprobs, calls)) else "without_logprobs"


def _has_logprobs(call: Call) -> bool:
    logprobs = call.completion_logprobs or ()
    is_each = len(logprobs) == len(call.completion_token_ids or ())
    return is_each and all(math.isfinite(one) and one <= 0 for one in logprobs)


def _member(episode: Episode, reason: str | None) -> JsonObject:
    return {
        "id": episode.episode_id,
        "attempt": episode.attempt,
        "reward": episode.reward,
        "trainable": episode.trainable,
        "failure_kind": episode.failure_kind,
        "left_out": reason,
    }


def _line(source: FullEpisode, recorded: RecordedCalls, members: list[JsonValue]) -> JsonObject:
    episode, acceptance = source.episode, source.acceptance
    return {
        "id": episode.episode_id,
        "run_id": episode.run_id,
        "task_id": episode.task_id,
        "template_id": source.task.template_id,
        "site": episode.site,
        "seed": episode.seed,
        "goal": episode.instruction,
        "attempt": episode.attempt,
        "policy": episode.policy,
        "model": episode.model,
        "dialect": episode.dialect,
        "reward": episode.reward,
        "done": episode.done,
        "stop_reason": episode.stop_reason.value,
        "failure_kind": episode.failure_kind,
        "trainable": episode.trainable,
        "accepted": acceptance.accepted,
        "group": {"id": episode.group_id, "members": members},
        "trace": training_trace(recorded, learnt=episode.trainable),
    }


def training_trace(recorded: RecordedCalls, *, learnt: bool) -> JsonObject:
    """Return the library's record of the policy's calls; `learnt` is whether their replies may be learnt from."""
    turns: list[JsonValue] = [_turn(recorded, call, learnt=learnt) for call in recorded.calls]
    return {"schema_version": SCHEMA_VERSION, "turns": turns}


def _turn(recorded: RecordedCalls, call: Call, *, learnt: bool) -> JsonObject:
    prompt, completion = call.prompt_token_ids or (), call.completion_token_ids or ()
    pictures: list[JsonValue] = [
        {**one, "url": recorded.url(one["step"])}
        for one in recorded.place_pictures(call)
        if isinstance(one, dict) and isinstance(one["step"], int)
    ]
    mask: list[JsonValue] = [0 for _ in prompt]
    mask += [int(learnt) for _ in completion]
    message: JsonObject = {"role": "assistant", "content": call.reply}
    choice: JsonObject = {"message": message, "finish_reason": call.finish_reason}
    return {
        "node_id": f"call-{call.call}",
        "prompt_token_ids": [*prompt],
        "completion_token_ids": [*completion],
        "per_token_logps": [*(call.completion_logprobs or ())],
        "loss_mask": mask,
        "request": {"messages": [*recorded.messages(call)]},
        "response": {"choices": [choice]},
        "metadata": {
            "step": call.step,
            "role": call.role,
            "segment": call.segment,
            "model": call.model,
            "weights_version": call.weights_version,
            "weights_spans": [span.model_dump() for span in call.weights_spans or ()],
            "sampling_params": call.sampling,
            "logprobs_mode": call.logprobs_mode,
            "finish_reason": call.finish_reason,
            "sent": [call.sent_width, call.sent_height],
            "pictures": pictures,
        },
    }
