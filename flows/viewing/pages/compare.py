"""Two runs, datasets or policies side by side: task by task, who does it and who does not, with intervals."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from aiohttp import web

from flows.viewing.asked import NOTHING
from flows.viewing.page import PLACES, answer, place_of
from flows.viewing.shown import Shown
from schemas.errors import BadConfig
from schemas.proportion import Estimate, difference, mean_of_tasks

_COLUMNS = ("id", "task", "template", "goal", "policy", "success", "status", "attempt", "trainable")
_MOST = 200
_MAX_GOAL = 200


@dataclass(frozen=True, slots=True)
class _Side:
    """One side: the attempts of a place, or those of one of its policies."""

    number: int
    """Of the place."""
    policy: str | None
    """None: all of them."""

    @property
    def value(self) -> str:
        """How an address names it."""
        return str(self.number) if self.policy is None else f"{self.number}:{self.policy}"


async def show(request: web.Request) -> web.Response:
    """Answer with a comparison of the sides `a` and `b`, each `PLACE` or `PLACE:POLICY`; without them, of two that there are.

    Raises:
        BadConfig: a side is none of those that there are.
    """
    number, _ = place_of(request)
    places = request.app[PLACES]
    for place in places:
        await place.refresh()
    ready = {at: place for at, place in enumerate(places) if place.is_ready}
    sides = await asyncio.to_thread(_sides, ready)
    given = [_chosen(request.query.get(name), name, sides) for name in ("a", "b")]
    a = given[0] or next(side for side in sides if side.number == number)
    others = [side for side in sides if side != a and (side.policy is None) == (a.policy is None)]
    b = given[1] or (others or sides)[0]
    facts = await asyncio.to_thread(_facts, ready, a, b)
    options = [{"value": side.value, "label": _label(side, places)} for side in sides]
    shown = {"options": options, "a": a.value, "b": b.value}
    names = {"name_a": _label(a, places), "name_b": _label(b, places)}
    return answer(
        request, "compare.html", {**facts, **shown, **names}, tab="compare", title="Compare"
    )


def _sides(places: Mapping[int, Shown]) -> list[_Side]:
    found = []
    for number, place in places.items():
        policies = sorted(
            one or NOTHING for one in place.lookup.heads["policy"].unique().to_pylist()
        )
        found.append(_Side(number, None))
        found += [_Side(number, one) for one in policies] if len(policies) > 1 else []
    if len(places) == 1 and len(found) > 2:  # noqa: PLR2004 - two policies of one run are the usual question
        return [*found[1:], found[0]]
    return found


def _chosen(value: str | None, name: str, sides: list[_Side]) -> _Side | None:
    if not value:
        return None
    for side in sides:
        if side.value == value:
            return side
    known = ", ".join(side.value for side in sides)
    raise BadConfig(f"{name}={value}: expected one of {known}")


def _label(side: _Side, places: Any) -> str:
    address = str(places[side.number].address)
    return address if side.policy is None else f"{side.policy} in {address}"


def _facts(places: Mapping[int, Shown], a: _Side, b: _Side) -> Mapping[str, Any]:
    one, other = _tasks(places[a.number], a), _tasks(places[b.number], b)
    shared = sorted(one.keys() & other.keys())
    rows = [_row(task, one[task], other[task]) for task in shared]
    rows.sort(key=lambda row: (-abs(row["change"]), row["change"], row["template"]))
    templates: dict[str, list[str]] = {}
    for task in shared:
        templates.setdefault(one[task][0]["template"], []).append(task)
    told = [
        {"name": name, **_comparison(tasks, one, other)}
        for name, tasks in sorted(templates.items())
    ]
    told.sort(key=lambda row: -abs(row["change"].value))
    return {
        "over_all": _comparison(shared, one, other) if shared else None,
        "templates": told,
        "rows": rows[:_MOST],
        "more": max(0, len(rows) - _MOST),
        "better": sum(row["change"] > 0 for row in rows),
        "worse": sum(row["change"] < 0 for row in rows),
        "same": sum(row["change"] == 0 for row in rows),
        "only": (len(one.keys() - other.keys()), len(other.keys() - one.keys())),
    }


def _tasks(place: Shown, side: _Side) -> dict[str, list[dict[str, Any]]]:
    """Return the attempts of a side that count, by task: those that did not break and that somebody judged."""
    found: dict[str, list[dict[str, Any]]] = {}
    rows: list[dict[str, Any]] = place.lookup.heads.select(_COLUMNS).to_pylist()
    for row in rows:
        counts = row["trainable"] is not False and row["success"] is not None
        if counts and side.policy in (None, row["policy"] or NOTHING):
            found.setdefault(row["task"], []).append(row)
    return found


def _share(attempts: list[dict[str, Any]]) -> float:
    return sum(bool(row["success"]) for row in attempts) / len(attempts)


def _comparison(
    tasks: list[str], one: Mapping[str, Any], other: Mapping[str, Any]
) -> Mapping[str, Any]:
    shares = [[_share(side[task]) for task in tasks] for side in (one, other)]
    change: Estimate = difference(shares[0], shares[1], paired=True)
    return {
        "tasks": len(tasks),
        "a": mean_of_tasks(shares[0]),
        "b": mean_of_tasks(shares[1]),
        "change": change,
        "sure": change.low > 0 or change.high < 0,
    }


def _row(task: str, one: list[dict[str, Any]], other: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "task": task,
        "template": one[0]["template"],
        "goal": (one[0]["goal"] or other[0]["goal"])[:_MAX_GOAL],
        "a": [_attempt(row) for row in one],
        "b": [_attempt(row) for row in other],
        "change": _share(other) - _share(one),
        "query": urlencode({"template": one[0]["template"]}),
    }


def _attempt(row: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"id": row["id"], "done": bool(row["success"]), "status": row["status"]}
