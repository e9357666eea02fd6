"""One attempt: its pictures with what was done on them, why it was not accepted, its verdicts, and the task's other attempts."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from aiohttp import web
from markupsafe import Markup
from multidict import MultiDict

from flows.looking.explanation import Explanation, explain
from flows.looking.marks import marks
from flows.looking.overlay import overlay
from flows.viewing.asked import Mask, compute, match, read_asked
from flows.viewing.page import REVIEWER, answer, place_of, show_number, show_seconds
from flows.viewing.reviews import visible_reviews
from flows.viewing.shown import Shown
from schemas.episodes.action import NoAction
from schemas.episodes.call import Call
from schemas.episodes.episode import Episode, Step
from schemas.errors import NotFound
from schemas.verdicts.full_episode import FullEpisode
from schemas.verdicts.step_label import Label
from schemas.verdicts.verdict import Acceptance, Verdict
from storage.publish.card.filmstrip import action_words

_MAX_JSON = 200_000
"""Characters of evidence, tasks and messages that are shown."""

_WORDS = {
    Label.ON_PATH: "it did a part of the task, or led there",
    Label.EXPLORES: "it brought something into sight",
    Label.MISTAKE: "it went against what the goal and the pictures said, or had to be taken back",
    Label.RECOVERY: "it mended a mistake",
    Label.REDUNDANT: "it was of no use",
}
_OTHERS = ("id", "attempt", "status", "policy", "n_steps", "reward", "reason")


async def show(request: web.Request) -> web.Response:
    """Answer with an episode, `?step=3` at one of its steps; the list that it was opened from may be in the address.

    Raises:
        NotFound: there is no such episode.
        BadConfig: the address's list is none.
    """
    _, place = place_of(request)
    query = MultiDict(request.query)
    step = query.pop("step", "0")
    order, seed = query.pop("review", ""), query.pop("seed", "0")
    asked = read_asked(query)
    id_ = request.match_info["episode"]
    at = place.lookup.numbers.get(id_)
    if at is None:
        raise NotFound(f"there is no episode {id_}; it may have been withdrawn")
    given = await asyncio.to_thread(_facts, place, at, int(step) if step.isdecimal() else 0)
    around = await asyncio.to_thread(_around, place, at, match(place.lookup, asked).mask())
    seen = (await visible_reviews(place, request.app[REVIEWER])).get(id_, [])
    more = {
        "list_query": asked.query,
        "before": around[0],
        "after": around[1],
        "reviews": seen,
        "reviewer": request.app[REVIEWER],
        "order": order,
        "seed": seed,
    }
    return answer(request, "episode.html", {**given, **more}, tab="episodes", title=id_[:8])


def _around(place: Shown, at: int, mask: Mask) -> tuple[str | None, str | None]:
    """Return the episodes before and after one in a list, newest first."""
    ids = place.lookup.heads["id"]
    numbers: Any = pa.array(range(len(ids)), pa.int64())
    if mask is not None:
        numbers = numbers.filter(mask.combine_chunks())
    later = numbers.filter(compute.greater(numbers, at))
    earlier = numbers.filter(compute.less(numbers, at))
    return (
        str(ids[later[0].as_py()]) if len(later) else None,
        str(ids[earlier[-1].as_py()]) if len(earlier) else None,
    )


def _facts(place: Shown, at: int, first: int) -> Mapping[str, Any]:
    lookup = place.lookup
    head = lookup.heads.slice(at, 1).to_pylist()[0]
    same = lookup.heads.filter(compute.equal(lookup.heads["task"], head["task"]))
    others: list[dict[str, Any]] = same.select(_OTHERS).to_pylist()
    others.sort(key=lambda one: (one["policy"], one["attempt"]))
    verdicts = lookup.places.verdicts(head["id"], head["unit"])
    found: dict[str, Any] = {
        "head": head,
        "opened": lookup.opened,
        "others": others if len(others) > 1 else [],
        "verdicts": [_verdict(one) for one in verdicts],
        "first": first,
        "steps": [],
        "task": None,
        "reasons": [{"text": one, "meaning": ""} for one in head["reasons"]],
        "differences": [],
        "mistake": None,
        "outcome": head["reason"] or "",
    }
    if not head["shown"]:
        return found
    acceptance = Acceptance.model_validate_json(head["acceptance"])
    full = lookup.places.full(head["id"], head["unit"], acceptance)
    told = explain(full, verdicts)
    return {**found, **_explanation(told), **_of_episode(full, first)}


def _explanation(told: Explanation) -> Mapping[str, Any]:
    return {
        "outcome": told.outcome,
        "reasons": told.reasons,
        "differences": told.differences,
        "mistake": told.first_mistake,
    }


def _of_episode(full: FullEpisode, first: int) -> Mapping[str, Any]:
    episode = full.episode
    calls: dict[int, list[Call]] = {}
    for call in episode.calls:
        calls.setdefault(call.step, []).append(call)
    prompts = {one.prompt_sha256: one.text for one in episode.prompts}
    return {
        "task": _json(full.task.model_dump(mode="json", exclude_none=True)),
        "first": min(first, len(episode.steps) - 1),
        "steps": [
            _step(full, at, calls.get(step.step, ()), prompts)
            for at, step in enumerate(episode.steps)
        ],
    }


def _step(
    full: FullEpisode, at: int, calls: Sequence[Call], prompts: Mapping[str, str]
) -> Mapping[str, Any]:
    episode, step = full.episode, full.episode.steps[at]
    after = episode.steps[at + 1] if at + 1 < len(episode.steps) else None
    label = full.label(at)
    drawn = overlay(
        marks(step, after, scale=episode.device_scale_factor), width=step.width, height=step.height
    )
    last = isinstance(step.action, NoAction)
    classes = [f"label-{label}" if label else "", "broken" if step.action_error else ""]
    return {
        "step": step.step,
        "last": last,
        "next": None if after is None else after.step,
        "action": "" if last else action_words(step.action),
        "class": " ".join(filter(None, classes)),
        "has_picture": bool(step.screenshot.bytes),
        "width": step.width,
        "height": step.height,
        "overlay": Markup(drawn),  # noqa: S704 - made here, its texts are escaped
        "thought": step.thought,
        "note": step.note,
        "label": label,
        "label_words": _WORDS.get(label, "") if label else "",
        "error": step.action_error or step.parse_error,
        "facts": _step_facts(episode, step),
        "delta": None if step.delta is None else _json(step.delta.model_dump(mode="json")),
        "raw": step.raw_reply,
        "calls": [_call(one, prompts) for one in calls],
    }


def _step_facts(episode: Episode, step: Step) -> list[tuple[str, str]]:
    target = step.target
    mistake = step.injected_mistake
    at = (step.at - episode.started_at).total_seconds()
    found = [
        ("Page", f"{step.page.title} · {step.page.url}"),
        (
            "Target",
            ""
            if target is None
            else " ".join(filter(None, (target.role or target.tag, target.name))),
        ),
        ("Page said", step.result_text or ""),
        ("Reward", "" if step.reward is None else show_number(step.reward)),
        ("Mistake made on purpose", mistake or ""),
        ("Thought by", step.thought_source or ""),
        (
            "Time",
            f"at {show_seconds(at)}: looking {step.observe_ms:.0f}, thinking {step.think_ms:.0f}, acting {step.act_ms:.0f} ms",
        ),
    ]
    return [(name, value) for name, value in found if value]


def _call(call: Call, prompts: Mapping[str, str]) -> Mapping[str, Any]:
    tokens = f"{show_number(call.prompt_tokens)} in, {show_number(call.completion_tokens)} out"
    cached = (
        "" if call.cached_tokens is None else f", {show_number(call.cached_tokens)} from the cache"
    )
    facts = [
        ("Role", call.role),
        ("Model", " ".join(filter(None, (call.model, call.weights_version)))),
        ("Tokens", tokens + cached),
        ("Time", "" if call.total_ms is None else f"{call.total_ms:.0f} ms"),
        ("Cost", "" if call.cost_usd is None else f"${call.cost_usd:.5f}"),
        ("Pictures of steps", ", ".join(map(str, call.image_steps))),
        ("Reasoning", call.reasoning or ""),
        ("Reply", call.reply or ""),
    ]
    sent = "" if call.messages is None else _json(call.messages)
    system = prompts.get(call.prompt_sha256 or "", "")
    return {
        "facts": [(name, value) for name, value in facts if value],
        "prompt": "\n\n".join(filter(None, (system, sent))),
    }


def _verdict(verdict: Verdict) -> Mapping[str, Any]:
    return {
        "verifier": verdict.verifier,
        "status": verdict.status.value,
        "score": verdict.score,
        "reason": verdict.reason,
        "evidence": _json(verdict.evidence),
    }


def _json(value: object) -> str:
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    return (
        text
        if len(text) <= _MAX_JSON
        else f"{text[:_MAX_JSON]}\n… {len(text) - _MAX_JSON:,} more characters"
    )
