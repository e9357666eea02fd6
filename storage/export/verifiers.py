"""`verifiers`: one trace a line, as PrimeIntellect's library writes them (Trace, version 1).

An episode that asked an engine is the graph of the messages of its policy, with token ids, masks
and log-probabilities where the engine gave them; what other roles used stands in `extra_usage`. An
episode that asked none is one conversation with tool calls: nothing in it was sampled, and it says
that it does not train. Pictures are the screenshots as they were taken; `info` says at which size
they were sent. A reward that the site did not give is null, which is not zero.

Source: `verifiers/v1/trace.py` and `verifiers/v1/graph.py` of the package `verifiers` 0.4.0.
"""

import itertools
from collections.abc import Iterator, Mapping

from pydantic import JsonValue
from typing_extensions import override

from schemas.action import NoAction
from schemas.base import JsonObject, canonical_json
from schemas.call import Call
from schemas.episode import Actor, Episode, Step, StopReason
from storage.export.atif import TOOLS
from storage.export.chat import data_url
from storage.export.graph import Graph, Sampled
from storage.export.protocol import (
    ExportedEpisode,
    File,
    Format,
    FormatCounts,
    Line,
    Piece,
    picture_path,
)
from storage.export.registry import FormatName, Pictures

TRACE_VERSION = 1
"""Of the schema."""

LIBRARY = "0.4.0"
"""The library's version whose schema is followed."""

_ROLES = ("policy", "repair")
_FINISHED = ("stop", "length", "tool_calls")


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
    def pieces(self, source: ExportedEpisode, counts: FormatCounts) -> Iterator[Piece]:
        trace = _Trace(source, self._pictures)
        record = trace.record()
        for step in sorted(trace.named):
            picture = source.episode.steps[step].screenshot.bytes
            yield File(picture_path(source.episode.episode_id, step), picture)
        counts["lines"] += 1
        counts["trainable"] += trace.trainable
        counts["calls"] += len(trace.calls)
        yield Line(record)


class _Trace:
    """One episode on its way to a record."""

    def __init__(self, source: ExportedEpisode, pictures: Pictures) -> None:
        self._source = source
        self._episode = source.episode
        self._pictures = pictures
        self._prompts = {p.prompt_sha256: p.text for p in source.episode.prompts}
        self._graph = Graph()
        self.named: set[int] = set()
        """Steps whose pictures lie beside the lines."""
        self.calls = [
            call
            for call in source.episode.calls
            if call.role in _ROLES and isinstance(call.messages, list) and call.reply is not None
        ]
        self.trainable = source.episode.trainable and any(_tokens(call) for call in self.calls)

    def record(self) -> JsonObject:
        """Return the whole trace."""
        episode = self._episode
        calls: list[JsonValue] = [self._call(call) for call in self.calls]
        if not self.calls:
            self._graph.path(list(self._acted()), at=episode.started_at.timestamp())
        tools = [] if self.calls else _tools()
        nodes = self._graph.rows
        if tools and nodes and isinstance(nodes[0], dict):
            nodes[0] = {**nodes[0], "tools": tools}
        return {
            "version": TRACE_VERSION,
            "id": episode.episode_id,
            "verifiers": {"version": LIBRARY, "commit": None},
            "task": self._task(),
            "agent": self._agent(),
            "tools": tools,
            "nodes": nodes,
            "calls": calls,
            "rewards": {"site": _reward(episode.reward)},
            "metrics": self._metrics(),
            "info": self._info(),
            "extra_usage": [u for c in episode.calls if c.role not in _ROLES and (u := _usage(c))],
            **_ending(episode),
        }

    def _call(self, call: Call) -> JsonObject:
        assert isinstance(call.messages, list)  # noqa: S101 - others were left out
        start = call.at.timestamp()
        messages = [self._message(item) for item in call.messages if isinstance(item, dict)]
        reply: JsonObject = {"role": "assistant", "content": call.reply}
        ids = (call.prompt_token_ids or (), call.completion_token_ids or ())
        prompt, completion = ids if _tokens(call) else ((), ())
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

    def _message(self, row: Mapping[str, JsonValue]) -> JsonObject:
        """Return a message of a row of `calls`, its prompt and pictures put in."""
        if "prompt_sha256" in row:
            text = self._prompts.get(str(row["prompt_sha256"]), "")
            return {"role": row["role"], "content": text}
        content = row.get("content")
        if not isinstance(content, list):
            return {"role": row["role"], "content": content}
        parts = [part for item in content if isinstance(item, dict) and (part := self._part(item))]
        texts = [part["text"] for part in parts if part["type"] == "text"]
        if row["role"] == "assistant" or len(texts) == len(parts) == 1:
            return {"role": row["role"], "content": "".join(map(str, texts))}
        return {"role": row["role"], "content": [*parts]}

    def _part(self, item: Mapping[str, JsonValue]) -> JsonObject | None:
        if item.get("type") == "text":
            return {"type": "text", "text": item.get("text")}
        step = item.get("step")
        known = isinstance(step, int) and 0 <= step < len(self._episode.steps)
        return self._picture(self._episode.steps[step]) if known and isinstance(step, int) else None

    def _picture(self, step: Step) -> JsonObject:
        if self._pictures is Pictures.DATA:
            url = data_url(step.screenshot.bytes)
        else:
            self.named.add(step.step)
            url = picture_path(self._episode.episode_id, step.step)
        return {"type": "image_url", "image_url": {"url": url}}

    def _acted(self) -> Iterator[JsonObject]:
        """Yield the conversation of an episode that asked no engine."""
        steps = self._episode.steps
        goal: JsonObject = {"type": "text", "text": self._episode.instruction}
        yield {"role": "user", "content": [goal, *(self._picture(step) for step in steps[:1])]}
        for seen, after in itertools.pairwise(steps):
            if not isinstance(seen.action, NoAction):
                yield from self._done(seen, after)

    def _done(self, seen: Step, after: Step) -> Iterator[JsonObject]:
        action: JsonObject = seen.action.model_dump(mode="json", exclude={"type"})
        came = seen.action_error or seen.result_text
        content: list[JsonValue] = [{"type": "text", "text": came}] if came else []
        content.append(self._picture(after))
        if seen.actor is not Actor.AGENT:
            text = canonical_json(seen.action.model_dump(mode="json"))
            yield {"role": "user", "content": [{"type": "text", "text": text}, *content]}
            return
        call: JsonObject = {
            "id": f"call-{seen.step}",
            "type": "function",
            "name": seen.action.type,
            "arguments": canonical_json(action),
        }
        yield {"role": "assistant", "content": seen.thought, "tool_calls": [call]}
        yield {
            "role": "tool",
            "tool_call_id": f"call-{seen.step}",
            "content": content,
            "name": seen.action.type,
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

    def _agent(self) -> JsonObject:
        episode = self._episode
        config: JsonObject = {"model": episode.model}
        if episode.sampling:
            config["sampling"] = episode.sampling
        return {"config": config, "name": episode.policy, "trainable": self.trainable}

    def _metrics(self) -> JsonObject:
        acceptance = self._source.acceptance
        return {
            "accepted": float(acceptance.accepted),
            "steps": float(self._episode.n_steps),
            "replay_score": acceptance.replay_score,
            "judge_score": acceptance.judge_score,
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


def _reward(score: float | None) -> JsonObject | None:
    return None if score is None else {"score": score, "weight": 1.0}


def _usage(call: Call) -> JsonObject | None:
    """Return what a call took; its prompt without what a cache served, as the library counts."""
    if call.prompt_tokens is None or call.completion_tokens is None:
        return None
    return {
        "prompt_tokens": call.prompt_tokens - (call.cached_tokens or 0),
        "completion_tokens": call.completion_tokens,
        "cached_input_tokens": call.cached_tokens,
        "cost": call.cost_usd,
    }


def _tokens(call: Call) -> bool:
    return bool(call.prompt_token_ids and call.completion_token_ids)


def _tools() -> list[JsonValue]:
    return [tool["function"] for tool in TOOLS]
