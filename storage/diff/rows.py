"""Which rows of a table or config one side has and the other has not, and which differ in what.

The first side's rows are kept as a key and a hash of each column, the second side's stream past them. Pictures
are never read: a row of `steps` has its picture's hash in a column. A column that one side lacks says nothing
about a row, so it is not compared, and named.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from pydantic import Field

from schemas.base import Record
from storage.reading.row_files import RowFile, RowFiles, stretches

_STEP = ("episode_id", "step")

KEYS: Mapping[str, tuple[str, ...]] = {
    "episodes": ("episode_id",),
    "attempts": ("episode_id",),
    "trajectories": ("episode_id",),
    "steps": _STEP,
    "observations": _STEP,
    "calls": (*_STEP, "call"),
    "verdicts": ("episode_id", "verifier", "verifier_version", "round"),
    "reviews": ("episode_id", "review_id"),
    "tasks": ("task_id",),
    "results": ("task_id", "policy", "policy_kind", "model"),
    "prompts": ("prompt_sha256",),
    "sft": _STEP,
    "preference": ("chosen_episode_id", "rejected_episode_id", "step"),
    "kto": _STEP,
    "step_labels": _STEP,
    "grounding": _STEP,
}
"""The columns that name a row, by table or config, in the order in which they are compared."""

_EPISODE_COLUMNS = frozenset({"episode_id", "chosen_episode_id", "rejected_episode_id"})

SHARED = frozenset({"tasks", "prompts"})
"""Tables of a run that have a row again in each unit that needs it, so that a file alone says little."""

_OF_AN_ATTEMPT = frozenset(
    {
        *("id", "episode_id", "chosen_episode_id", "rejected_episode_id", "run_id", "unit_id"),
        *("group_id", "asked_group", "duplicate_of", "near_duplicate_of", "content_sha256"),
        *("started_at", "ended_at", "judged_at", "at", "code_version"),
        *("seconds", "engine_seconds", "browser_seconds", "wall_seconds"),
        *("observe_ms", "think_ms", "act_ms", "queue_ms", "ttft_ms", "total_ms"),
    }
)
"""Columns that differ between any two attempts: ids, times, durations; `content_sha256` covers times."""

_JUDGED = frozenset({"label", "visible_change"})
"""Columns of published `steps` that verdicts decide, and not the steps."""

_NULL, _ABSENT = 0, 1
"""The hashes of a value that is null, and of one whose column does not exist."""

Progress = Callable[[], None]
"""Called after each file that was read or need not be."""


class RowChanges(Record):
    """The rows of one table or config on both sides."""

    config: str
    """The config; of a run, the table. Two names where a run's table is compared with a dataset's config."""
    first: int
    """Rows of the first side."""
    second: int
    """Rows of the second side."""
    added: int
    """Rows that the second side alone has."""
    removed: int
    """Rows that the first side alone has."""
    changed: int
    """Rows that both have, with another value in a column that both have."""
    columns: dict[str, int] = Field(default_factory=dict)
    """The changed rows by the column that differs, the most frequent first."""
    only_first: tuple[str, ...] = ()
    """Columns that the first side alone has in the rows compared; they are not compared."""
    only_second: tuple[str, ...] = ()
    """Columns that the second side alone has there."""
    unread: int = 0
    """Rows of the first side in files that both sides have, which are the same without being read."""

    @property
    def same(self) -> int:
        """Rows that both have, equal in every column that both have."""
        return self.first - self.removed - self.changed


@dataclass(slots=True)
class RowComparison:
    """A comparison under way, and the episodes in whose rows it found a difference."""

    config: str
    """See `RowChanges`."""
    key: tuple[str, ...]
    """The columns that name a row."""
    renamed: Mapping[str, str]
    """See `Matches`."""
    touched: set[str] = field(default_factory=set)
    """Episodes of which a row was added, removed or changed, by the first side's id; labels aside."""
    _names: list[str] = field(default_factory=list)
    _kept: dict[str, bytes] = field(default_factory=dict)
    _columns: Counter[str] = field(default_factory=Counter)
    _rematched: AbstractSet[str] = frozenset()
    _added: int = 0
    _changed: int = 0

    def run(self, first: RowFiles, second: RowFiles, progress: Progress) -> RowChanges:
        """Compare the rows of two sides."""
        both = frozenset[str]()
        if self.config not in SHARED:
            both = frozenset(f.identity for f in first) & frozenset(f.identity for f in second)
        files, others = (
            [file for file in side if file.identity not in both] for side in (first, second)
        )
        unread = 0
        for file in first:
            if file.identity in both:
                unread += file.count()
                progress()
        known = [_columns_of(side) for side in (files, others)]
        self._names = list(dict.fromkeys((*known[0], *known[1])))
        self._rematched = frozenset(self.renamed.values())
        left = self._keep(files, progress)
        right = self._compare(others, progress)
        for key in self._kept:
            self._touch(key)
        read = bool(files and others)
        return RowChanges(
            config=self.config,
            first=left + unread,
            second=right + unread,
            added=self._added,
            removed=len(self._kept),
            changed=self._changed,
            columns=dict(self._most_common_columns()),
            only_first=tuple(name for name in known[0] if read and name not in known[1]),
            only_second=tuple(name for name in known[1] if read and name not in known[0]),
            unread=unread,
        )

    def _most_common_columns(self) -> list[tuple[str, int]]:
        """Return the columns with a difference, those of equal numbers in the order of the schema."""
        counted = [(name, self._columns[name]) for name in self._names if name in self._columns]
        return sorted(counted, key=lambda item: -item[1])

    def _keep(self, files: RowFiles, progress: Progress) -> int:
        """Keep the rows of the first side; return how many there are."""
        count = 0
        for key, digests, stated in self._rows(files, {}, progress):
            if key in self._kept and self.config in SHARED:
                if stated:
                    self._kept[key] = digests
                continue
            count += 1
            self._kept[self._free(key)] = digests
        return count

    def _free(self, key: str) -> str:
        """Return a name that no row has yet: two nights of a collection have `results` of one name."""
        while key in self._kept:
            key += "'"
        return key

    def _next(self, key: str) -> str:
        """Return the name under which the next row of this name was kept."""
        found = key
        while found not in self._kept and f"{found}'" in self._kept:
            found += "'"
        return found

    def _compare(self, files: RowFiles, progress: Progress) -> int:
        """Compare the rows of the second side with those kept, which are dropped; return how many there are."""
        if self.config in SHARED:
            unique: dict[str, bytes] = {}
            for key, digests, stated in self._rows(files, {}, progress):
                if stated or key not in unique:
                    unique[key] = digests
            for key, digests in unique.items():
                self._meet(key, digests)
            return len(unique)
        count = 0
        for key, digests, _ in self._rows(files, self.renamed, progress):
            count += 1
            self._meet(key, digests)
        return count

    def _meet(self, key: str, digests: bytes) -> None:
        """Compare a row of the second side with the first side's of the same name."""
        before = self._kept.pop(self._next(key), None)
        if before is None:
            self._added += 1
            self._touch(key)
        elif before != digests and (names := self._differences(key, before, digests)):
            self._changed += 1
            self._columns.update(names)
            if not _JUDGED.issuperset(names):
                self._touch(key)

    def _differences(self, key: str, before: bytes, after: bytes) -> list[str]:
        ignored = _OF_AN_ATTEMPT if _owner(key) in self._rematched else frozenset[str]()
        return [
            name
            for name, one, other in zip(
                self._names, array("q", before), array("q", after), strict=True
            )
            if one != other and _ABSENT not in (one, other) and name not in ignored
        ]

    def _touch(self, key: str) -> None:
        if self.key[0] in _EPISODE_COLUMNS:
            self.touched.add(_owner(key))

    def _rows(
        self, files: RowFiles, renamed: Mapping[str, str], progress: Progress
    ) -> Iterator[tuple[str, bytes, bool]]:
        """Yield the name of each row, the hashes of its columns, and whether its goal is stated."""
        for stretch in stretches(files):
            own = set(stretch.columns)
            for batch in stretch.read(sorted(own)):
                keys = _keys(batch, self.key, renamed)
                stated = _states_goal(batch)
                hashed = [
                    _digests(batch.column(name)) if name in own else [_ABSENT] * batch.num_rows
                    for name in self._names
                ]
                for key, told, row in zip(keys, stated, zip(*hashed, strict=True), strict=True):
                    yield key, array("q", row).tobytes(), told
            for _ in stretch.files:
                progress()


def _columns_of(files: RowFiles) -> list[str]:
    """Return the columns that any of the files has."""
    return list(dict.fromkeys(name for file in files for name in file.columns))


def missing_key(config: str, files: Sequence[RowFile]) -> str | None:
    """Return a column that names rows of `config` and that one of the files lacks; None if there is none."""
    for file in files:
        columns = set(file.columns)
        for name in KEYS[config]:
            if name not in columns:
                return name
    return None


def _keys(batch: pa.RecordBatch, names: Sequence[str], renamed: Mapping[str, str]) -> Iterator[str]:
    """Yield the name of each row; ids of the second side's episodes become those of their matches."""
    columns = []
    for name in names:
        values = [str(value) for value in batch.column(name).to_pylist()]
        if name in _EPISODE_COLUMNS and renamed:
            values = [renamed.get(value, value) for value in values]
        columns.append(values)
    yield from map("/".join, zip(*columns, strict=True))


def _owner(key: str) -> str:
    """Return the episode that a row's name begins with."""
    return key.partition("/")[0]


def _states_goal(batch: pa.RecordBatch) -> Iterator[bool]:
    """Yield whether each row states its goal: a unit whose episodes saw no page does not know its tasks'."""
    if "instruction" not in batch.schema.names:
        yield from [False] * batch.num_rows
    else:
        yield from map(bool, batch.column("instruction").to_pylist())


def _digests(column: "pa.Array[Any]") -> list[int]:
    """Return a hash of each value; the same value has the same one in this process."""
    if column.null_count == len(column):
        return [_NULL] * len(column)
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    values = column.to_pylist()
    if pa.types.is_string(column.type):
        return [_NULL if value is None else hash(value) for value in values]
    return [_NULL if value is None else hash(repr(value)) for value in values]
