"""`atif`: one document an episode, in the Agent Trajectory Interchange Format, version 1.8.

The system prompt and the task are the first steps, the task with the first picture; each action is
an agent's step with one tool call, and what was seen after it is that call's observation. The
format has no place for a reward, so what the site said and what the run's rule makes of the episode
stand in the root's `extra`.

Source: RFC 0001 of the Harbor framework,
https://github.com/harbor-framework/harbor/blob/main/rfcs/0001-trajectory-format.md, as the package
`atif` 1.8.0 validates it.
"""

import itertools
import json
from collections.abc import Iterator, Sequence
from types import UnionType
from typing import Annotated, Union, get_args, get_origin

from pydantic import JsonValue
from typing_extensions import override

from schemas.action import Action, NoAction
from schemas.base import JsonObject, Record, canonical_json
from schemas.call import Call
from schemas.episode import Actor, Episode, PolicyKind, Step
from storage.export.protocol import ExportedEpisode, File, Format, FormatCounts, Piece
from storage.export.registry import FormatName

VERSION = "ATIF-v1.8"
"""What documents call their schema."""


class Atif(Format):
    """The `Format`."""

    name = FormatName.ATIF

    @property
    @override
    def options(self) -> JsonObject:
        return {"schema_version": VERSION}

    @override
    def pieces(self, source: ExportedEpisode, counts: FormatCounts) -> Iterator[Piece]:
        folder = f"{source.acceptance.split}/{source.episode.episode_id}"
        for step in source.episode.steps:
            yield File(f"{folder}/{_picture_path(step)}", step.screenshot.bytes)
        text = json.dumps(document(source), ensure_ascii=False, indent=1, allow_nan=False)
        yield File(f"{folder}/trajectory.json", f"{text}\n".encode())
        counts["documents"] += 1
        counts["steps"] += source.episode.n_steps


def document(source: ExportedEpisode) -> JsonObject:
    """Return the whole document of an episode; pictures by their path beside it."""
    episode = source.episode
    return _without_none(
        {
            "schema_version": VERSION,
            "session_id": episode.run_id,
            "trajectory_id": episode.episode_id,
            "agent": _without_none(
                {
                    "name": f"stepmill-{episode.policy}",
                    "version": episode.code_version,
                    "model_name": episode.model,
                    "tool_definitions": list(TOOLS),
                    "extra": _agent_extra(episode),
                }
            ),
            "steps": list(_steps(source)),
            "final_metrics": _totals(episode),
            "extra": _outcome(source),
        }
    )


def _steps(source: ExportedEpisode) -> Iterator[JsonValue]:
    episode = source.episode
    number = 0
    for number, step in enumerate(_openings(source), start=1):
        yield {"step_id": number, **step}
    for seen, after in itertools.pairwise(episode.steps):
        if not isinstance(seen.action, NoAction):
            number += 1
            calls = [call for call in episode.calls if call.step == seen.step]
            yield {"step_id": number, **_step(episode, seen, after, calls)}


def _openings(source: ExportedEpisode) -> Iterator[JsonObject]:
    """Yield the system prompt, where there is one, and the task with the first picture."""
    episode = source.episode
    for prompt in episode.prompts:
        if prompt.prompt_sha256 == episode.prompt_sha256:
            yield {"source": "system", "message": prompt.text}
    task: list[JsonValue] = [{"type": "text", "text": episode.instruction}]
    task += [_picture(step) for step in episode.steps[:1]]
    yield {"timestamp": episode.started_at.isoformat(), "source": "user", "message": task}


def _step(episode: Episode, seen: Step, after: Step, calls: Sequence[Call]) -> JsonObject:
    agent = seen.actor is Actor.AGENT
    result = seen.action_error or seen.result_text
    content: list[JsonValue] = [{"type": "text", "text": result}] if result else []
    observed: JsonObject = {"content": [*content, _picture(after)]}
    shared: JsonObject = {
        "timestamp": seen.at.isoformat(),
        "source": "agent" if agent else "user",
        "extra": _step_extra(seen),
    }
    arguments: JsonObject = seen.action.model_dump(mode="json", exclude={"type"})
    if not agent:
        action = canonical_json(seen.action.model_dump(mode="json"))
        return shared | {"message": action, "observation": {"results": [observed]}}
    call_id = f"call-{seen.step}"
    return _without_none(
        shared
        | _words(episode, seen, calls)
        | {
            "tool_calls": [
                {"tool_call_id": call_id, "function_name": seen.action.type, "arguments": arguments}
            ],
            "observation": {"results": [{"source_call_id": call_id, **observed}]},
        }
    )


def _words(episode: Episode, seen: Step, calls: Sequence[Call]) -> JsonObject:
    """Return the thought of an action; only a model's may be called reasoning."""
    if episode.policy_kind is not PolicyKind.MODEL:
        return {"message": seen.thought or "", "llm_call_count": 0}
    return {
        "model_name": next((call.model for call in reversed(calls) if call.model), None),
        "message": seen.raw_reply or "",
        "reasoning_content": seen.thought,
        "metrics": _metrics(calls),
        "llm_call_count": len(calls) or None,
    }


def _metrics(calls: Sequence[Call]) -> JsonObject | None:
    """Return what the calls of a step took; tokens themselves only where it was one call."""
    if not calls:
        return None
    names = ("prompt_tokens", "completion_tokens", "cached_tokens", "cost_usd")
    sums: JsonObject = {name: _sum([getattr(call, name) for call in calls]) for name in names}
    if len(calls) == 1:
        [call] = calls
        sums["prompt_token_ids"] = _listed(call.prompt_token_ids)
        sums["completion_token_ids"] = _listed(call.completion_token_ids)
        sums["logprobs"] = _listed(call.completion_logprobs)
    return _without_none(sums) or None


def _totals(episode: Episode) -> JsonObject:
    return _without_none(
        {
            "total_prompt_tokens": episode.prompt_tokens if episode.calls else None,
            "total_completion_tokens": episode.completion_tokens if episode.calls else None,
            "total_cached_tokens": episode.cached_tokens,
            "total_cost_usd": episode.cost_usd,
            "total_steps": episode.n_steps,
            "extra": {"wall_seconds": episode.wall_seconds},
        }
    )


def _outcome(source: ExportedEpisode) -> JsonObject:
    episode, task = source.episode, source.task
    return {
        "task_id": episode.task_id,
        "template_id": task.template_id,
        "site": episode.site,
        "start_url": episode.start_url,
        "seed": episode.seed,
        "attempt": episode.attempt,
        "reward": episode.reward,
        "done": episode.done,
        "stop_reason": episode.stop_reason.value,
        "failure_kind": episode.failure_kind,
        "answer": episode.answer,
        **source.acceptance.model_dump(mode="json"),
    }


def _agent_extra(episode: Episode) -> JsonObject:
    return {
        "policy_kind": episode.policy_kind.value,
        "dialect": episode.dialect,
        "engine": episode.engine,
        "engine_version": episode.engine_version,
        "sampling": episode.sampling,
        "browser": episode.browser,
        "browser_version": episode.browser_version,
        "viewport": [episode.viewport_width, episode.viewport_height],
        "device_scale_factor": episode.device_scale_factor,
    }


def _step_extra(seen: Step) -> JsonObject:
    return _without_none(
        {
            "step": seen.step,
            "url": seen.page.url,
            "title": seen.page.title,
            "note": seen.note,
            "target": None if seen.target is None else seen.target.model_dump(mode="json"),
            "action_error": seen.action_error,
            "state_changed": seen.state_changed,
            "reward": seen.reward,
            "terminated": seen.terminated,
            "truncated": seen.truncated,
        }
    )


def _picture(step: Step) -> JsonObject:
    source: JsonObject = {"media_type": "image/jpeg", "path": _picture_path(step)}
    return {"type": "image", "source": source}


def _picture_path(step: Step) -> str:
    return f"images/{step.step}.jpg"


def _without_none(record: JsonObject) -> JsonObject:
    """Return a record without the keys whose value is None."""
    return {key: value for key, value in record.items() if value is not None}


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _listed(values: Sequence[float] | None) -> list[JsonValue] | None:
    return None if values is None else [*values]


def _actions(union: object) -> Iterator[type[Record]]:
    if get_origin(union) is Annotated:
        yield from _actions(get_args(union)[0])
    elif get_origin(union) in (Union, UnionType):
        yield from (item for part in get_args(union) for item in _actions(part))
    elif isinstance(union, type) and issubclass(union, Record) and union is not NoAction:
        yield union


def _tool(action: type[Record]) -> JsonObject:
    schema: JsonObject = action.model_json_schema()
    fields = schema["properties"]
    assert isinstance(fields, dict)  # noqa: S101 - an action is an object
    given = {name: field for name, field in fields.items() if name != "type"}
    parameters: JsonObject = {"type": "object", "properties": given}
    parameters |= {key: schema[key] for key in ("required", "$defs") if key in schema}
    name = action.model_fields["type"].default
    does = (action.__doc__ or "").partition("\n")[0]
    return {
        "type": "function",
        "function": {"name": name, "description": does, "parameters": parameters},
    }


TOOLS: tuple[JsonObject, ...] = tuple(_tool(action) for action in _actions(Action))
"""The actions as function tools in OpenAI's form."""
