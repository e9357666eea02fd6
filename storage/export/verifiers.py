"""`verifiers`: one trace a line, as PrimeIntellect's library writes them (Trace, version 1).

An episode with engine calls is the graph of its policy's messages, with token ids, masks and
log-probabilities where the engine gave them; `extra_usage` has the usage of other roles. An episode
without calls is one conversation with tool calls: nothing in it was sampled, and it is marked as not
trainable. Pictures are the screenshots as they were taken; `info` says at which size they were sent, and
for each call which pictures it showed and the range of the prompt's tokens that stands for each. A reward
that the site did not give is missing, which is not zero; `info` says whether an attempt failed for a reason
outside the policy.

Source: `verifiers/v1/trace.py` and `verifiers/v1/graph.py` of the package `verifiers` 0.4.0.
"""

import itertools
from collections.abc import Iterator

from pydantic import JsonValue
from typing_extensions import override

from schemas.base import JsonObject, canonical_json
from schemas.episodes.action import NoAction
from schemas.episodes.call import Call
from schemas.episodes.episode import Actor, Episode, Step, StopReason
from storage.export.atif import TOOLS
from storage.export.graph import Graph, Sampled
from storage.export.line_columns import LineColumns
from storage.export.protocol import Format, FormatCounts, FullEpisode, Line, Piece
from storage.export.recorded_calls import ROLES, RecordedCalls, has_tokens, picture_tokens
from storage.export.registry import FormatName, Pictures

TRACE_VERSION = 1
"""The version of the schema."""

LIBRARY = "0.4.0"
"""The version of the library whose schema this is."""

_IMAGE = 1
"""The library's name for a token that stands for a picture."""

_FINISHED = ("stop", "length", "tool_calls")


_COLUMNS: LineColumns = {
    "version": "int64",
    "id": "string",
    "verifiers": "json",
    "task": "json",
    "agent": "json",
    "tools": ("json",),
    "nodes": ("json",),
    "calls": ("json",),
    "mm_token_type_id_map": "json",
    "rewards": "json",
    "metrics": "json",
    "info": "json",
    "extra_usage": ("json",),
    "is_completed": "bool",
    "ok": "bool",
    "stop_condition": "string",
    "is_timeout": "bool",
    "errors": ("json",),
    "timing": "json",
}


class Verifiers(Format):
    """The `Format`."""

    name = FormatName.VERIFIERS

    def __init__(self, *, pictures: Pictures) -> None:
        self._pictures = pictures

    @property
    @override
    def options(self) -> JsonObject:
        return {"pictures": self._pictures.value, "trace": TRACE_VERSION, "library": LIBRARY}

    @override
    def pieces(self, source: FullEpisode, counts: FormatCounts) -> Iterator[Piece]:
        trace = _Trace(source, self._pictures)
        record = trace.record()
        yield from trace.recorded.files()
        counts["lines"] += 1
        counts["trainable"] += trace.trainable
        counts["calls"] += len(trace.calls)
        yield Line(record, _COLUMNS)


class _Trace:
    """One episode on its way to a record."""

    def __init__(self, source: FullEpisode, pictures: Pictures) -> None:
        self._source = source
        self._episode = source.episode
        self._graph = Graph()
        self.recorded = RecordedCalls(source.episode, pictures)
        """Its calls, with the pictures that the trace names."""
        self.calls = self.recorded.calls
        self.trainable = source.episode.trainable and any(has_tokens(call) for call in self.calls)

    def record(self) -> JsonObject:
        """Return the whole trace."""
        episode, acceptance = self._episode, self._source.acceptance
        said: JsonObject = {"model": episode.model, "sampling": episode.sampling}
        config: JsonObject = {key: value for key, value in said.items() if value}
        score = episode.reward
        rewards: JsonObject = {} if score is None else {"site": {"score": score, "weight": 1.0}}
        calls: list[JsonValue] = [self._call(call) for call in self.calls]
        if not self.calls:
            self._graph.path(list(self._conversation()), at=episode.started_at.timestamp())
        tools: list[JsonValue] = [] if self.calls else [tool["function"] for tool in TOOLS]
        found = {known.token for call in self.calls if (known := picture_tokens(call))}
        nodes = self._graph.rows
        if tools and nodes and isinstance(nodes[0], dict):
            nodes[0] = {**nodes[0], "tools": tools}
        return {
            "version": TRACE_VERSION,
            "id": episode.episode_id,
            "verifiers": {"version": LIBRARY, "commit": None},
            "task": self._task(),
            "agent": {"config": config, "name": episode.policy, "trainable": self.trainable},
            "tools": tools,
            "nodes": nodes,
            "calls": calls,
            "mm_token_type_id_map": {str(token): _IMAGE for token in sorted(found)},
            "rewards": rewards,
            "metrics": {
                "accepted": float(acceptance.accepted),
                "steps": float(episode.n_steps),
                "replay_score": acceptance.replay_score,
                "judge_score": acceptance.judge_score,
            },
            "info": self._info(),
            "extra_usage": [u for c in episode.calls if c.role not in ROLES and (u := _usage(c))],
            **_ending(episode),
        }

    def _call(self, call: Call) -> JsonObject:
        start = call.at.timestamp()
        messages = self.recorded.messages(call)
        reply: JsonObject = {"role": "assistant", "content": call.reply}
        ids = (call.prompt_token_ids or (), call.completion_token_ids or ())
        prompt, completion = ids if has_tokens(call) else ((), ())
        logprobs = call.completion_logprobs or ()
        fit = logprobs if len(logprobs) == len(completion) else ()
        node = self._graph.call(messages, Sampled(reply, prompt, completion, fit), at=start)
        return {
            "node": node,
            "model": call.model,
            "sampling": call.sampling,
            "endpoint": "/chat/completions",
            "finish_reason": call.finish_reason if call.finish_reason in _FINISHED else None,
            "usage": _usage(call),
            "time": {"start": start, "end": start + (call.total_ms or 0.0) / 1_000},
        }

    def _conversation(self) -> Iterator[JsonObject]:
        """Yield the conversation of an episode that asked no engine."""
        steps = self._episode.steps
        goal: JsonObject = {"type": "text", "text": self._episode.instruction}
        yield {
            "role": "user",
            "content": [goal, *(self.recorded.picture(step) for step in steps[:1])],
        }
        for step, following in itertools.pairwise(steps):
            if not isinstance(step.action, NoAction):
                yield from self._action_messages(step, following)

    def _action_messages(self, step: Step, following: Step) -> Iterator[JsonObject]:
        arguments: JsonObject = step.action.model_dump(mode="json", exclude={"type"})
        result = step.action_error or step.result_text
        content: list[JsonValue] = [{"type": "text", "text": result}] if result else []
        content.append(self.recorded.picture(following))
        if step.actor is not Actor.AGENT:
            text = canonical_json(step.action.model_dump(mode="json"))
            yield {"role": "user", "content": [{"type": "text", "text": text}, *content]}
            return
        call: JsonObject = {
            "id": f"call-{step.step}",
            "type": "function",
            "name": step.action.type,
            "arguments": canonical_json(arguments),
        }
        yield {"role": "assistant", "content": step.thought, "tool_calls": [call]}
        yield {
            "role": "tool",
            "tool_call_id": f"call-{step.step}",
            "content": content,
            "name": step.action.type,
        }

    def _task(self) -> JsonObject:
        task, episode = self._source.task, self._episode
        return {
            "type": "StepmillTask",
            "data": {
                "id": task.task_id,
                "name": task.template_id,
                "prompt": episode.instruction,
                "site": task.site,
                "start_url": task.start_url,
                "seed": task.seed,
                "parameters": task.parameters,
                "tags": [*task.tags],
            },
            "key": task.task_id,
        }

    def _info(self) -> JsonObject:
        episode = self._episode
        sent = {(c.sent_width, c.sent_height) for c in self.calls if c.sent_width is not None}
        return {
            "producer": episode.code_version,
            "run_id": episode.run_id,
            "group_id": episode.group_id,
            "attempt": episode.attempt,
            "dialect": episode.dialect,
            "answer": episode.answer,
            "stop_reason": episode.stop_reason.value,
            "viewport": [episode.viewport_width, episode.viewport_height],
            "trainable": episode.trainable,
            "pictures": [self.recorded.place_pictures(call) for call in self.calls],
            "sent": [[*size] for size in sorted(sent, key=str)],
            **self._source.acceptance.model_dump(mode="json"),
        }


def _ending(episode: Episode) -> JsonObject:
    start, end = episode.started_at.timestamp(), episode.ended_at.timestamp()
    span: JsonObject = {
        "start": start,
        "end": end,
        "model": {"duration": episode.engine_seconds},
        "harness": {"duration": max(0.0, end - start - episode.engine_seconds)},
    }
    errors: list[JsonValue] = []
    if episode.failure_kind is not None:
        errors.append({"type": episode.failure_kind, "message": episode.failure_message or ""})
    return {
        "is_completed": True,
        "ok": episode.stop_reason not in (StopReason.FAILED, StopReason.CANCELLED),
        "stop_condition": episode.stop_reason.value,
        "is_timeout": episode.stop_reason is StopReason.TIME_LIMIT,
        "errors": errors,
        "timing": {"start": start, "agent": span},
    }


def _usage(call: Call) -> JsonObject | None:
    """Return a call's usage; prompt tokens exclude cached ones, as the library counts."""
    if call.prompt_tokens is None or call.completion_tokens is None:
        return None
    return {
        "prompt_tokens": call.prompt_tokens - (call.cached_tokens or 0),
        "completion_tokens": call.completion_tokens,
        "cached_input_tokens": call.cached_tokens,
        "cost": call.cost_usd,
    }
