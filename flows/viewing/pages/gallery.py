"""The list of episodes: filters with counts, search, an order, and a picture of each. The address holds all of it."""

import asyncio
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from aiohttp import web

from flows.viewing.asked import (
    FACETS,
    MAX_VALUES,
    NOTHING,
    ORDERS,
    PAGE,
    RANGES,
    Asked,
    Matches,
    match,
    page_of,
    read_asked,
)
from flows.viewing.page import answer, place_of
from flows.viewing.shown import Shown
from storage.reading.words import FIELDS

_OPEN = ("status", "lost", "family", "policy")
_COLUMNS = ("id", "status", "goal", "reason", "template", "policy", "n_steps", "reward", "shown")
_MAX_GOAL = 400


async def show(request: web.Request) -> web.Response:
    """Answer with a page of the list.

    Raises:
        BadConfig: the address asks for what is no filter.
    """
    _, place = place_of(request)
    asked = read_asked(request.query)
    given = await asyncio.to_thread(_facts, place, asked)
    return answer(request, "gallery.html", given, tab="episodes", title="Episodes")


def _facts(place: Shown, asked: Asked) -> Mapping[str, Any]:
    matches = match(place.lookup, asked)
    found, total = page_of(matches, asked)
    cards = found.select(_COLUMNS).to_pylist()
    for card in cards:
        card["goal"] = card["goal"][:_MAX_GOAL]
    in_form = {"q", "in", "sort", *RANGES}
    ranges = asked.ranges

    def range_of(key: str) -> str:
        low, high = ranges.get(key, (None, None))
        ends = ("" if end is None else f"{end:g}" for end in (low, high))
        return "..".join(ends) if key in ranges else ""

    return {
        "asked": asked,
        "kept": [(key, value) for key, value in parse_qsl(asked.query) if key not in in_form],
        "fields": FIELDS,
        "everywhere": set(asked.fields) == set(FIELDS),
        "orders": tuple(ORDERS),
        "ranges": tuple(RANGES.items()),
        "range_of": range_of,
        "facets": [_facet(name, matches, asked) for name in FACETS if _has_values(matches, name)],
        "total": total,
        "cards": cards,
        "last": max(1, -(-total // PAGE)),
        "list_query": asked.query,
        "page_query": lambda page: asked.query_with(page=str(page)),
    }


def _has_values(matches: Matches, name: str) -> bool:
    column = matches.heads[name]
    return column.null_count < len(column)


def _facet(name: str, matches: Matches, asked: Asked) -> Mapping[str, Any]:
    counts = matches.counts(name)
    chosen = asked.values.get(name, ())
    values = [
        {
            "name": value or NOTHING,
            "count": count,
            "chosen": (value or NOTHING) in chosen,
            "query": asked.query_with(
                **{name: None if (value or NOTHING) in chosen else value or NOTHING}
            ),
        }
        for value, count in counts
    ]
    values.sort(key=lambda one: not one["chosen"])
    return {
        "label": FACETS[name],
        "choices": values[:MAX_VALUES],
        "more": max(0, len(values) - MAX_VALUES),
        "chosen": chosen,
        "open": bool(chosen) or name in _OPEN,
        "without": asked.query_with(**{name: None}),
    }
