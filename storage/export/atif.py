"""`atif`: one document an episode, in the Agent Trajectory Interchange Format, version 1.8.

The system prompt and the task are the first steps, the task with the first picture; each action is
an agent's step with one tool call, and the next observation is that call's. Where the totals count
otherwise than the steps do, `notes` says so, as the format asks. A session is one agent's work, so an
episode is one; the run is named in the root's `extra`. The format has no field for a reward, so `extra`
also holds the site's reward and the result of the run's rule.

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

from schemas.base import JsonObject, Record, canonical_json
from schemas.episodes.action import Action, NoAction
from schemas.episodes.call import Call
from schemas.episodes.episode import Actor, Episode, PolicyKind, Step
from storage.export.protocol import File, Format, FormatCounts, FullEpisode, Piece
from storage.export.registry import FormatName

VERSION = "ATIF-v1.8"
"""The value of `schema_version`."""


class Atif(Format):
    """The `Format`."""

    name = FormatName.ATIF

    @property
    @override
    def options(self) -> JsonObject:
        return {"schema_version": VERSION}

    @override
    def pieces(self, source: FullEpisode, counts: FormatCounts) -> Iterator[Piece]:
        folder = f"{source.acceptance.split}/{source.episode.episode_id}"
        for step in source.episode.steps:
            yield File(f"{folder}/{_picture_path(step)}", step.screenshot.bytes)
        text = json.dumps(document(source), ensure_ascii=False, indent=1, allow_nan=False)
        yield File(f"{folder}/trajectory.json", f"{text}\n".encode())
        counts["documents"] += 1
        counts["steps"] += source.episode.n_steps


def document(source: FullEpisode) -> JsonObject:
    """Return the document of an episode, which names its pictures by relative path."""
    episode = source.episode
    with_calls = bool(episode.calls)
    steps = list(_steps(source))
    return _without_none(
        {
            "schema_version": VERSION,
            "session_id": episode.episode_id,
            "trajectory_id": episode.episode_id,
            "agent": _without_none(
                {
                    "name": f"stepmill-{episode.policy}",
                    "version": episode.code_version,
                    "model_name": episode.model,
                    "tool_definitions": list(TOOLS),
                    "extra": {
                        "policy_kind": episode.policy_kind.value,
                        "dialect": episode.dialect,
                        "engine": episode.engine,
                        "engine_version": episode.engine_version,
                        "sampling": episode.sampling,
                        "browser": episode.browser,
                        "browser_version": episode.browser_version,
                        "viewport": [episode.viewport_width, episode.viewport_height],
                        "device_scale_factor": episode.device_scale_factor,
                    },
                }
            ),
            "steps": steps,
            "notes": _notes(episode, len(steps)),
            "final_metrics": _without_none(
                {
                    "total_prompt_tokens": episode.prompt_tokens if with_calls else None,
                    "total_completion_tokens": episode.completion_tokens if with_calls else None,
                    "total_cached_tokens": episode.cached_tokens,
                    "total_cost_usd": episode.cost_usd,
                    "total_steps": episode.n_steps,
                    "extra": {"wall_seconds": episode.wall_seconds},
                }
            ),
            "extra": _outcome(source),
        }
    )


def _notes(episode: Episode, n_steps: int) -> str | None:
    """Return how the totals differ from the steps; None if they agree."""
    notes = []
    if episode.n_steps != n_steps:
        notes.append(
            f"total_steps is {episode.n_steps}, the number of actions; `steps` has {n_steps}, as the"
            " system prompt, if there was one, and the task are steps too."
        )
    acted = {step.step for step in episode.steps if not isinstance(step.action, NoAction)}
    others = sum(call.step not in acted for call in episode.calls)
    if others:
        notes.append(
            f"The totals of tokens and cost count {others} more calls, of looks that no action"
            " followed."
        )
    return " ".join(notes) or None


def _steps(source: FullEpisode) -> Iterator[JsonValue]:
    episode = source.episode
    openings: list[JsonObject] = [
        {"source": "system", "message": prompt.text}
        for prompt in episode.prompts
        if prompt.prompt_sha256 == episode.prompt_sha256
    ]
    task: list[JsonValue] = [{"type": "text", "text": episode.instruction}]
    task += [_picture(step) for step in episode.steps[:1]]
    started = episode.started_at.isoformat()
    openings.append({"timestamp": started, "source": "user", "message": task})
    for number, opening in enumerate(openings, start=1):
        yield {"step_id": number, **opening}
    number = len(openings)
    for step, following in itertools.pairwise(episode.steps):
        if not isinstance(step.action, NoAction):
            number += 1
            calls = [call for call in episode.calls if call.step == step.step]
            yield {"step_id": number, **_action_step(episode, step, following, calls)}


def _action_step(
    episode: Episode, step: Step, following: Step, calls: Sequence[Call]
) -> JsonObject:
    agent = step.actor is Actor.AGENT
    result = step.action_error or step.result_text
    content: list[JsonValue] = [{"type": "text", "text": result}] if result else []
    observed: JsonObject = {"content": [*content, _picture(following)]}
    shared: JsonObject = {
        "timestamp": step.at.isoformat(),
        "source": "agent" if agent else "user",
        "extra": _without_none(
            {
                "step": step.step,
                "url": step.page.url,
                "title": step.page.title,
                "note": step.note,
                "target": None if step.target is None else step.target.model_dump(mode="json"),
                "action_error": step.action_error,
                "state_changed": step.state_changed,
                "reward": step.reward,
                "terminated": step.terminated,
                "truncated": step.truncated,
            }
        ),
    }
    arguments: JsonObject = step.action.model_dump(mode="json", exclude={"type"})
    if not agent:
        action = canonical_json(step.action.model_dump(mode="json"))
        return shared | {"message": action, "observation": {"results": [observed]}}
    call_id = f"call-{step.step}"
    return _without_none(
        shared
        | _model_output(episode, step, calls)
        | {
            "tool_calls": [
                {"tool_call_id": call_id, "function_name": step.action.type, "arguments": arguments}
            ],
            "observation": {"results": [{"source_call_id": call_id, **observed}]},
        }
    )


def _model_output(episode: Episode, step: Step, calls: Sequence[Call]) -> JsonObject:
    """Return the message of an action; only a model's thought counts as reasoning."""
    if episode.policy_kind is not PolicyKind.MODEL:
        return {"message": step.thought or "", "llm_call_count": 0}
    return {
        "model_name": next((call.model for call in reversed(calls) if call.model), None),
        "message": step.raw_reply or "",
        "reasoning_content": step.thought,
        "metrics": _metrics(calls),
        "llm_call_count": len(calls) or None,
    }


def _metrics(calls: Sequence[Call]) -> JsonObject | None:
    """Return the usage of a step's calls; with the tokens themselves if it was one call."""
    if not calls:
        return None
    names = ("prompt_tokens", "completion_tokens", "cached_tokens", "cost_usd")
    metrics: JsonObject = {}
    for name in names:
        known = [value for call in calls if (value := getattr(call, name)) is not None]
        metrics[name] = sum(known) if known else None
    if len(calls) == 1:
        [call] = calls
        tokens = {
            "prompt_token_ids": call.prompt_token_ids,
            "completion_token_ids": call.completion_token_ids,
            "logprobs": call.completion_logprobs,
        }
        metrics |= {name: [*values] for name, values in tokens.items() if values is not None}
    return _without_none(metrics) or None


def _outcome(source: FullEpisode) -> JsonObject:
    episode, task = source.episode, source.task
    return {
        "run_id": episode.run_id,
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


def _picture(step: Step) -> JsonObject:
    source: JsonObject = {"media_type": "image/jpeg", "path": _picture_path(step)}
    return {"type": "image", "source": source}


def _picture_path(step: Step) -> str:
    return f"images/{step.step}.jpg"


def _without_none(record: JsonObject) -> JsonObject:
    """Return a record without the keys whose value is None."""
    return {key: value for key, value in record.items() if value is not None}


def _action_types(union: object) -> Iterator[type[Record]]:
    if get_origin(union) is Annotated:
        yield from _action_types(get_args(union)[0])
    elif get_origin(union) in (Union, UnionType):
        yield from (item for part in get_args(union) for item in _action_types(part))
    elif isinstance(union, type) and issubclass(union, Record) and union is not NoAction:
        yield union


def _tool(action: type[Record]) -> JsonObject:
    schema: JsonObject = action.model_json_schema()
    fields = schema["properties"]
    assert isinstance(fields, dict)  # noqa: S101 - an action is an object
    arguments = {name: field for name, field in fields.items() if name != "type"}
    parameters: JsonObject = {"type": "object", "properties": arguments}
    parameters |= {key: schema[key] for key in ("required", "$defs") if key in schema}
    name = action.model_fields["type"].default
    description = (action.__doc__ or "").partition("\n")[0]
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": parameters},
    }


TOOLS: tuple[JsonObject, ...] = tuple(_tool(action) for action in _action_types(Action))
"""The actions as function tools, in the form of OpenAI's API."""
