"""The first page of a place: what became of its attempts, yields with intervals, time and cost; each figure a link."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import pyarrow as pa
from aiohttp import web

from flows.viewing.asked import FACETS, NOTHING, compute, count_values
from flows.viewing.page import answer, interval, place_of, show_number, show_seconds
from flows.viewing.shown import Shown
from schemas.errors import BadConfig
from storage.reading.heads import STAGES

_LABELS = {
    "finish": "did not break",
    "reward": "were rewarded by the site",
    "replay": "were replayed alike",
    "seen": "acted on what was in sight",
    "novelty": "were no copy",
    "rule": "met all else that the rule asks",
}
"""What is said of the attempts that passed a stage."""

_GROUPINGS = ("family", "template", "site", "policy", "model", "difficulty", "fault", "day")
_MOST = 60
_BARS = 24
_REASONS = 3


async def show(request: web.Request) -> web.Response:
    """Answer with the overview.

    Raises:
        BadConfig: `by` names no column that yields are told by.
    """
    _, place = place_of(request)
    by = request.query.get("by") or "family"
    if by not in _GROUPINGS:
        raise BadConfig(f"by={by}: expected one of {', '.join(_GROUPINGS)}")
    given = await asyncio.to_thread(_facts, place, by)
    return answer(request, "overview.html", given, tab="overview", title="Overview")


def _facts(place: Shown, by: str) -> Mapping[str, Any]:
    heads = place.lookup.heads
    yields = _yields(heads, by)
    days = sorted(day for day in heads["day"].unique().to_pylist() if day)
    return {
        "opened": place.lookup.opened,
        "total": heads.num_rows,
        "hidden": heads.num_rows - (compute.sum(heads["shown"]).as_py() or 0),
        "since": " to ".join(dict.fromkeys((days[0], days[-1]))) if days else "",
        "funnel": _funnel(heads),
        "groupings": [{"name": name, "label": FACETS[name]} for name in _GROUPINGS],
        "by": by,
        "label": FACETS[by],
        "yields": yields[:_MOST],
        "more": max(0, len(yields) - _MOST),
        "costs": _costs(heads),
        "lengths": _lengths(heads),
    }


def _funnel(heads: pa.Table) -> list[Mapping[str, Any]]:
    counts = dict(count_values(heads["lost"]))
    unjudged = counts.get("unjudged", 0)
    left = heads.num_rows
    found = [_stage("", "were attempted", left, 0, heads)]
    for stage in STAGES:
        gone = counts.get(stage, 0) + (unjudged if stage == "reward" else 0)
        left -= gone
        if gone or stage in ("finish", "reward"):
            found.append(_stage(stage, _LABELS[stage], left, gone, heads))
    found.append(_stage("accepted", "were accepted", left, 0, heads))
    return found


def _stage(stage: str, label: str, passed: int, gone: int, heads: pa.Table) -> Mapping[str, Any]:
    names = [stage, "unjudged"] if stage == "reward" else [stage]
    query = urlencode([("lost", one) for one in names])
    reasons = []
    if gone:
        mask = compute.is_in(
            heads["lost"].cast(pa.string()), value_set=pa.array(names, pa.string())
        )
        reasons = [
            {
                "text": text or "nobody judged it",
                "count": count,
                "query": f"{query}&{urlencode({'reason': text or NOTHING})}",
            }
            for text, count in count_values(heads["reason"].filter(mask))[:_REASONS]
        ]
    return {
        "label": label,
        "passed": passed,
        "lost": gone,
        "passed_query": urlencode({"reached": stage}) if stage else "",
        "lost_query": query,
        "reasons": reasons,
    }


def _accepted_mask(heads: pa.Table) -> Any:
    found = compute.equal(heads["status"].cast(pa.string()), pa.scalar("accepted"))
    return compute.fill_null(found, fill_value=False)


def _yields(heads: pa.Table, by: str) -> list[Mapping[str, Any]]:
    table = pa.table(
        {
            "name": heads[by].cast(pa.string()),
            "accepted": _accepted_mask(heads).cast(pa.int64()),
            "steps": heads["n_steps"],
            "seconds": heads["seconds"],
        }
    )
    groups = table.group_by("name").aggregate(
        [
            ("accepted", "count"),
            ("accepted", "sum"),
            ("steps", "approximate_median"),
            ("seconds", "approximate_median"),
        ]
    )
    found = []
    rows: list[dict[str, Any]] = groups.to_pylist()
    for row in rows:
        attempts, accepted = row["accepted_count"], row["accepted_sum"] or 0
        low, high = interval(accepted, attempts)
        found.append(
            {
                "name": row["name"] or NOTHING,
                "query": urlencode({by: row["name"] or NOTHING}),
                "attempts": attempts,
                "accepted": accepted,
                "share": 100 * accepted / attempts,
                "low": low,
                "high": high,
                "steps": row["steps_approximate_median"],
                "seconds": row["seconds_approximate_median"],
            }
        )
    return sorted(found, key=lambda one: (-one["attempts"], one["name"]))


def _costs(heads: pa.Table) -> Sequence[tuple[str, str]]:
    accepted = compute.sum(_accepted_mask(heads)).as_py() or 0
    seconds, engine, tokens, cost, steps = (
        compute.sum(heads[name]).as_py()
        for name in ("seconds", "engine_seconds", "tokens", "cost", "n_steps")
    )
    each = {
        name: value / accepted if accepted and value else None
        for name, value in (("seconds", seconds), ("tokens", tokens), ("cost", cost))
    }
    found = [
        ("Actions", show_number(steps)),
        ("Session time", show_seconds(seconds)),
        ("of it waiting for the engine", show_seconds(engine)),
        ("Session time per accepted", show_seconds(each["seconds"])),
        ("Tokens", show_number(tokens)),
        ("Tokens per accepted", show_number(each["tokens"] and round(each["tokens"]))),
    ]
    if cost is not None:
        found += [
            ("Cost", f"${cost:,.2f}"),
            ("Cost per accepted", f"${each['cost']:.4f}" if each["cost"] else "–"),
        ]
    return found


def _lengths(heads: pa.Table) -> list[Mapping[str, Any]]:
    """Return the bars of the histogram of actions."""
    steps = heads["n_steps"].to_numpy()
    if not len(steps):
        return []
    width = max(1, -(-(int(steps.max()) + 1) // _BARS))
    counts, inner = [0] * _BARS, [0] * _BARS
    for place, one in zip(steps // width, _accepted_mask(heads).to_numpy(), strict=True):
        counts[place] += 1
        inner[place] += bool(one)
    last = max(at for at, count in enumerate(counts) if count)
    most = max(counts)
    return [
        {
            "label": f"{at * width}–{at * width + width - 1}" if width > 1 else str(at),
            "count": counts[at],
            "accepted": inner[at],
            "height": 58 * counts[at] / most,
            "inner": 58 * inner[at] / most,
        }
        for at in range(last + 1)
    ]
