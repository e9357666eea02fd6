"""What the address of a list asks for: filters, words, an order and a page; and the heads that match."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import pyarrow as pa
import pyarrow.compute as pc
from multidict import MultiMapping

from schemas.errors import BadConfig
from storage.reading.heads import STAGES
from storage.reading.lookup import Lookup
from storage.reading.words import FIELDS

compute: Any = pc
"""Arrow's functions; what is written of their types does not fit chunked columns."""

Mask = Any
"""A chunked column of booleans: which heads pass a filter."""

FACETS: Mapping[str, str] = {
    "status": "Result",
    "lost": "Lost at",
    "verifier": "Decided by",
    "reason": "Reason",
    "stop": "Ended by",
    "failure": "Failure",
    "replay": "Replay",
    "family": "Family",
    "template": "Template",
    "site": "Site",
    "policy": "Policy",
    "model": "Model",
    "split": "Split",
    "difficulty": "Difficulty",
    "fault": "Fault",
    "day": "Day",
}
"""The columns that are filtered by their values, and what people call them."""

RANGES: Mapping[str, str] = {
    "n_steps": "Steps",
    "tokens": "Tokens",
    "seconds": "Seconds",
    "reward": "Reward",
    "cost": "USD",
}
"""The columns that are filtered by a range, and what people call them."""

ORDERS: Mapping[str, tuple[str, str]] = {
    "newest": ("started", "descending"),
    "oldest": ("started", "ascending"),
    "longest": ("n_steps", "descending"),
    "shortest": ("n_steps", "ascending"),
    "slowest": ("seconds", "descending"),
    "most tokens": ("tokens", "descending"),
    "dearest": ("cost", "descending"),
    "lowest reward": ("reward", "ascending"),
    "highest reward": ("reward", "descending"),
    "template": ("template", "ascending"),
}
"""The orders of a list: the column and the direction."""

NOTHING = "(none)"
"""Stands for no value in an address."""

PAGE = 24
"""Episodes of a page."""

_LAST_PAGE = 1_000_000

MAX_VALUES = 40
"""Values of a facet that are listed."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What an address asks for."""

    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By column, the values of which one must be there."""
    ranges: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)
    """By column, the lowest and the highest value; None: any."""
    reached: str = ""
    """The stage that must have been passed; empty: none."""
    words: str = ""
    """The words that must be there; empty: none."""
    fields: tuple[str, ...] = FIELDS
    """Where they are looked for."""
    order: str = "newest"
    """One of `ORDERS`."""
    page: int = 1
    """The page, from 1."""

    @property
    def query(self) -> str:
        """The address's query that asks for the same, without the page."""
        return self.query_with()

    def query_with(self, **changes: str | None) -> str:
        """Return the query that asks for the same with some changes: a value is set anew, None takes a key away."""
        pairs = [(key, value) for key, values in self.values.items() for value in values]
        pairs += [
            (key, f"{'' if low is None else f'{low:g}'}..{'' if high is None else f'{high:g}'}")
            for key, (low, high) in self.ranges.items()
        ]
        pairs += [("reached", self.reached)] if self.reached else []
        pairs += [("q", self.words)] if self.words else []
        pairs += [("in", one) for one in self.fields] if set(self.fields) != set(FIELDS) else []
        pairs += [("sort", self.order)] if self.order != "newest" else []
        kept = [(key, value) for key, value in pairs if key not in changes]
        return urlencode(kept + [(key, value) for key, value in changes.items() if value])


def read_asked(query: MultiMapping[str]) -> Asked:
    """Return what a query asks for.

    Raises:
        BadConfig: a key is unknown, or a value of it is.
    """
    known = {*FACETS, *RANGES, "q", "in", "sort", "page", "reached"}
    for key in query:
        if key not in known:
            raise BadConfig(f"{key}: is no filter; there are {', '.join(sorted(known))}")
    order, reached = query.get("sort") or "newest", query.get("reached") or ""
    fields = tuple(query.getall("in", [])) or FIELDS
    for name, value, allowed in (
        ("sort", order, tuple(ORDERS)),
        ("reached", reached, ("", *STAGES, "accepted")),
        *(("in", one, FIELDS) for one in fields),
    ):
        if value not in allowed:
            raise BadConfig(f"{name}={value}: expected one of {', '.join(filter(None, allowed))}")
    page = query.get("page") or "1"
    if not page.isdecimal() or not 1 <= int(page) <= _LAST_PAGE:
        raise BadConfig(f"page={page}: expected a number from 1 on")
    return Asked(
        values={key: tuple(query.getall(key)) for key in FACETS if query.get(key)},
        ranges={key: _range(key, query[key]) for key in RANGES if query.get(key)},
        reached=reached,
        words=(query.get("q") or "").strip()[:1_000],
        fields=fields,
        order=order,
        page=int(page),
    )


def _range(key: str, text: str) -> tuple[float | None, float | None]:
    low, dots, high = text.partition("..")
    try:
        ends = tuple(float(one) if one.strip() else None for one in (low, high if dots else low))
    except ValueError:
        raise BadConfig(f"{key}={text}: expected LOW..HIGH, as 3..10, or one number") from None
    return ends[0], ends[1]


@dataclass(frozen=True)
class Matches:
    """The heads that an address asks for."""

    heads: pa.Table
    """All heads."""
    masks: Mapping[str, Mask]
    """By filter, which heads pass it."""

    def mask(self, without: str | None = None) -> Mask | None:
        """Return which heads pass all filters but one; None: all do."""
        found: Mask | None = None
        for name, mask in self.masks.items():
            if name != without:
                found = mask if found is None else compute.and_(found, mask)
        return found

    def table(self, without: str | None = None) -> pa.Table:
        """Return the heads that pass all filters but one."""
        mask = self.mask(without)
        return self.heads if mask is None else self.heads.filter(mask)

    def counts(self, facet: str) -> list[tuple[str | None, int]]:
        """Return the values of a facet with the number of heads that pass all other filters, most first."""
        mask = self.mask(facet)
        column: Any = self.heads[facet]
        column = column if mask is None else column.filter(mask)
        return count_values(column)


def count_values(column: Any) -> list[tuple[str | None, int]]:
    """Return the values of a column with how often each is there, most first; None stands for no value."""
    found = [(row["values"], row["counts"]) for row in column.value_counts().to_pylist()]
    return sorted(found, key=lambda one: (-one[1], one[0] or ""))


def match(lookup: Lookup, asked: Asked) -> Matches:
    """Return the heads that an address asks for; this blocks.

    Raises:
        BadConfig: no word is in the words.
    """
    heads = lookup.heads
    masks = {key: _among(heads[key], values) for key, values in asked.values.items()}
    masks |= {key: _within(heads[key], *ends) for key, ends in asked.ranges.items()}
    if asked.reached:
        masks["reached"] = _past_mask(heads["lost"], asked.reached)
    if asked.words:
        masks["q"] = _number_mask(heads.num_rows, lookup.words.find(asked.words, asked.fields))
    return Matches(heads, masks)


def _among(column: Mask, values: Sequence[str]) -> Mask:
    named = [one for one in values if one != NOTHING]
    mask = compute.fill_null(
        compute.is_in(column.cast(pa.string()), value_set=pa.array(named, pa.string())),
        fill_value=False,
    )
    return compute.or_(mask, compute.is_null(column)) if NOTHING in values else mask


def _within(column: Mask, low: float | None, high: float | None) -> Mask:
    mask = compute.is_valid(column)
    if low is not None:
        mask = compute.and_(
            mask, compute.fill_null(compute.greater_equal(column, low), fill_value=False)
        )
    if high is not None:
        mask = compute.and_(
            mask, compute.fill_null(compute.less_equal(column, high), fill_value=False)
        )
    return mask


def _past_mask(lost: Mask, stage: str) -> Mask:
    """Return which attempts passed a stage: those that were lost at none, or at a later one."""
    later = STAGES[STAGES.index(stage) + 1 :] if stage in STAGES else ()
    mask = compute.is_null(lost)
    return compute.or_(mask, _among(lost, later)) if later else mask


def _number_mask(rows: int, numbers: Sequence[int]) -> Mask:
    everyone = pa.array(range(rows), pa.int64())
    return pa.chunked_array([pc.is_in(everyone, value_set=pa.array(numbers, pa.int64()))])


def page_of(matches: Matches, asked: Asked) -> tuple[pa.Table, int]:
    """Return the heads of the page in order, and how many pages' worth there are in all; this blocks."""
    found = matches.table()
    column, direction = ORDERS[asked.order]
    keys = [found[column].cast(pa.string()) if column == "template" else found[column]]
    sortable = pa.table({"key": keys[0], "started": found["started"], "id": found["id"]})
    order = [("key", direction), ("started", "descending"), ("id", "ascending")]
    start = (asked.page - 1) * PAGE
    places = compute.select_k_unstable(
        sortable, k=min(start + PAGE, max(1, found.num_rows)), sort_keys=order
    )
    return found.take(places.slice(start, PAGE)), found.num_rows
