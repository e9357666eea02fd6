"""Counts for the card beside the selection: policies, viewports, and the contents of steps.

It reads narrow columns, never a picture: of every episode who acted, of the published steps the kind of
action, where it pointed and where the thought came from. Points are counted in hundredths of the picture,
so that memory does not grow with the run.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from schemas.tables.tables import Row
from storage.publish.plan.rows import Tables
from storage.publish.plan.selection import Selection

_QUOTES = re.compile('["“”„«»「」]')
"""The marks between which a goal quotes words of a page."""

CELLS = 100
"""The parts in which a picture's width and height are counted."""

_ACTOR = ("policy", "policy_kind", "model", "privileged")
_VIEWPORT = ("viewport_width", "viewport_height", "device_scale_factor")
_BATCH_ROWS = 4_096


class Actor(NamedTuple):
    """The policy of an episode."""

    policy: str
    """The policy's name."""
    kind: str
    """The kind of the policy."""
    model: str | None
    """The model's name; None without one."""
    privileged: bool | None
    """Whether it read more than the observation; None where an earlier version recorded it."""


class Viewport(NamedTuple):
    """The viewport of an episode."""

    width: int
    """CSS px."""
    height: int
    """CSS px."""
    scale: float
    """Picture px per CSS px."""


@dataclass(slots=True)
class Goals:
    """The goals of the tasks of published episodes."""

    total: int = 0
    """The number of tasks."""
    unquoted: int = 0
    """Tasks whose goal has no quotation marks."""
    manners: Counter[str] = field(default_factory=Counter)
    """Tasks of generated websites, by each manner in which their goal was drawn."""


@dataclass(slots=True)
class Survey:
    """Counts for the card beside the selection."""

    actors: dict[str, Actor] = field(default_factory=dict)
    """The policy of each episode, accepted or not, by the episode's id."""
    viewports: dict[str, Viewport] = field(default_factory=dict)
    """The viewport of each episode, by its id."""
    actions: Counter[str] = field(default_factory=Counter)
    """Actions of the published steps, by type; the rows of final states have none."""
    thoughts: Counter[str] = field(default_factory=Counter)
    """Thoughts of the published steps, by where they came from."""
    notes: int = 0
    """Published steps with a note."""
    goals: Goals = field(default_factory=Goals)
    """The goals of the published episodes' tasks."""
    across: Counter[int] = field(default_factory=Counter)
    """Points of the published steps, by the hundredth of the picture's width."""
    down: Counter[int] = field(default_factory=Counter)
    """Points of the published steps, by the hundredth of the picture's height."""


def survey(tables: Tables, selection: Selection) -> Survey:
    """Return the counts for the card, from `tables` and their published `selection`."""
    out = Survey()
    for row in _rows(tables, "episodes", ("episode_id", *_ACTOR, *_VIEWPORT)):
        out.actors[row["episode_id"]] = Actor(*(row[name] for name in _ACTOR))
        out.viewports[row["episode_id"]] = Viewport(*(row[name] for name in _VIEWPORT))
    published = {one.episode_id for one in selection.published}
    _count_goals(out.goals, tables, {one.task_id for one in selection.published})
    columns = ("episode_id", "action_type", "thought_source", "note", "x_norm", "y_norm")
    for row in _rows(tables, "steps", columns, of=published):
        if row["action_type"] != "none":
            out.actions[row["action_type"]] += 1
        if row["thought_source"] is not None:
            out.thoughts[row["thought_source"]] += 1
        out.notes += row["note"] is not None
        if row["x_norm"] is not None and row["y_norm"] is not None:
            out.across[_cell(row["x_norm"])] += 1
            out.down[_cell(row["y_norm"])] += 1
    return out


def _count_goals(goals: Goals, tables: Tables, published: AbstractSet[str]) -> None:
    """Count the goals of some tasks."""
    seen = set[str]()
    for row in _rows(tables, "tasks", ("task_id", "instruction", "parameters")):
        if row["task_id"] not in published or row["task_id"] in seen:
            continue
        seen.add(row["task_id"])
        goals.total += 1
        goals.unquoted += not _QUOTES.search(row["instruction"])
        manners = json.loads(row["parameters"] or "{}").get("manners", [])
        goals.manners.update(str(one) for one in manners if isinstance(manners, list))


def _cell(share: float) -> int:
    return min(max(int(share * CELLS), 0), CELLS - 1)


def middle(points: Counter[int], share: float = 0.9) -> tuple[int, int]:
    """Return between which hundredths the middle `share` of `points` lies; 0 and 100 without a point."""
    tail, seen, first, last = (1 - share) / 2 * points.total(), 0, 0, CELLS
    for cell in sorted(points):
        before, seen = seen, seen + points[cell]
        if before <= tail < seen:
            first = cell
        if before < points.total() - tail <= seen:
            last = cell + 1
    return first, last


def _rows(
    tables: Tables, table: str, columns: Sequence[str], *, of: AbstractSet[str] | None = None
) -> Iterator[Row]:
    """Yield some columns of a table, or of the rows of some episodes; a column that it lacks is None."""
    dataset = tables.datasets.get(table)
    if dataset is None:
        return
    known = [name for name in columns if name in dataset.schema.names]
    absent: Row = dict.fromkeys(set(columns) - set(known))
    wanted = None if of is None else pa.array(sorted(of), pa.string())
    for batch in dataset.to_batches(columns=known, batch_size=_BATCH_ROWS):
        if wanted is not None:
            batch = batch.filter(pc.is_in(batch["episode_id"], value_set=wanted))  # noqa: PLW2901
        for row in batch.to_pylist():
            yield absent | row
