"""Tasks for the small servers of public contracts, and the difference between two of their states.

A task says in words and as `Change`s what is true of the server's state after it, and holds ordinary
actions that solve it. A state is a mapping of tables to rows, each row with an `id`.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

Value = str | int | bool | None
Row = Mapping[str, Value]
State = Mapping[str, Sequence[Row]]
Action = Mapping[str, str]
Kind = Literal["added", "changed", "removed"]


def click(selector: str) -> Action:
    return {"do": "click", "selector": selector}


def follow(label: str) -> Action:
    """Click the link or button of that text."""
    return {"do": "click", "label": label}


def fill(selector: str, text: str) -> Action:
    """Click the field, which is empty, and type."""
    return {"do": "type", "selector": selector, "text": text}


def press(key: str) -> Action:
    return {"do": "press", "text": key}


@dataclass(frozen=True)
class Change:
    """One row that differs once the task is done."""

    kind: Kind
    table: str
    row: Row
    """An added row's fields as they must be; otherwise the fields by which the row is known."""
    now: Row | None = None
    """The fields of a changed row that differ, with their new values; all others stay."""

    def is_of(self, kind: Kind, table: str, before: Row, after: Row) -> bool:
        if (kind, table) != (self.kind, self.table):
            return False
        known = after if kind == "added" else before
        if not self.row.items() <= known.items():
            return False
        return kind != "changed" or after == {**before, **(self.now or {})}


def added(table: str, **row: Value) -> Change:
    return Change("added", table, row)


def removed(table: str, **row: Value) -> Change:
    return Change("removed", table, row)


def changed(table: str, row: Row, **now: Value) -> Change:
    return Change("changed", table, row, now)


@dataclass(frozen=True)
class SiteTask:
    template: str
    seed: int
    start: str
    """The path at which it begins, without the session."""
    instruction: str
    outcome: str
    """In words, what is true of the server's state after it and was not before."""
    changes: Sequence[Change]
    """All rows that differ after it; a further difference is a side effect."""
    reference: Sequence[Action]
    answer: str | None = None
    """What the agent says at the end; None if the task asks for no answer."""


def lines(tasks: Sequence[SiteTask]) -> str:
    """The tasks as JSONL."""
    return "".join(json.dumps(asdict(task), ensure_ascii=False) + "\n" for task in tasks)


def delta(before: State, after: State) -> Iterator[tuple[Kind, str, Row, Row]]:
    """What differs: kind, table, the row before (empty if added), the row after (empty if removed)."""
    for table in sorted({*before, *after}):
        old = {row["id"]: row for row in before.get(table, ())}
        new = {row["id"]: row for row in after.get(table, ())}
        yield from (("added", table, {}, new[key]) for key in new if key not in old)
        yield from (("removed", table, old[key], {}) for key in old if key not in new)
        both = ((old[key], new[key]) for key in old if key in new)
        yield from (("changed", table, a, b) for a, b in both if a != b)


def judge(changes: Sequence[Change], before: State, after: State) -> dict[str, bool]:
    """For each change whether it was made, and whether nothing else was."""
    left = list(delta(before, after))
    found: dict[str, bool] = {}
    for number, change in enumerate(changes, start=1):
        fitting = next((one for one in left if change.is_of(*one)), None)
        found[f"{number}: {change.kind} in {change.table}"] = fitting is not None
        if fitting is not None:
            left.remove(fitting)
    found["nothing else"] = not left
    return found
