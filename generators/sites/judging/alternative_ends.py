"""The end of the reference's attempt, and the states that other changes would have led to.

An edit leaves out one of the reference's changes or adds another, and returns the resulting state. Callers,
who know the task's expectation, choose the edits.
"""

from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from generators.sites.judging.compare import compare_states
from generators.sites.judging.tables import Place, Rows, places, rows_by_key, table_rows
from generators.sites.judging.wrong_values import fresh_key, put
from schemas.base import canonical_json
from schemas.episodes.state_delta import Change, ChangeOf, Delta, apply_delta


class ReferenceEnd:
    """The states before and after a reference's attempt, and edits of the later one."""

    def __init__(self, before: JsonValue, after: JsonValue, *, keys: Mapping[str, str]) -> None:
        self.delta = compare_states(before, after, keys=keys)
        """The reference's changes."""
        self.places: Mapping[str, Place] = {each.at: each for each in places(before, after)}
        """Every place of the two states, by its pointer."""
        self._before = before
        self._keys = keys
        self._rows: dict[str, Rows | None] = {}

    def edit(
        self, *, drop: Change | None = None, add: Change | None = None, removed: bool = False
    ) -> JsonValue:
        """Return the later state without one change, or with one more."""
        lists = {
            name: [c for c in changes if c is not drop and not _depends(c, drop, add)]
            for name, changes in (
                ("added", self.delta.added),
                ("changed", self.delta.changed),
                ("removed", self.delta.removed),
            )
        }
        if add is not None:
            kind = "removed" if removed else "added" if add.before is None else "changed"
            lists[kind].append(add)
        return apply_delta(Delta.of(**lists), self._before)

    def _rows_of(self, at: str) -> Rows | None:
        if at not in self._rows:
            self._rows[at] = rows_by_key(self.places[at], self._keys)
        return self._rows[at]

    def key_fields(self, change: Change) -> tuple[str, ...]:
        """Return the members that identify the rows of a change's table; empty if the rows have no key."""
        rows = self._rows_of(change.at)
        return () if rows is None else rows.key_fields

    def add_again(self, change: Change) -> Change:
        """Return an added row once more, with a key that no row has."""
        rows = self._rows_of(change.at)
        position = None if change.position is None else change.position + 1
        if rows is None:
            return change.model_copy(update={"position": position})
        key = fresh_key(change.key, {*rows.before, *rows.after})
        row = change.after
        for field, part in zip(rows.key_fields, key if isinstance(key, list) else [key]):  # noqa: B905 - an object has no key fields
            row = put(row, (field,), part)
        return change.model_copy(update={"key": key, "after": row, "position": position})

    def keep_untouched(self, at: str) -> Iterator[Change]:
        """Yield each row of the earlier state that did not differ, as if it were removed."""
        told = {
            canonical_json([c.position, c.key])
            for c in (*self.delta.changed, *self.delta.removed)
            if c.at == at and c.of is ChangeOf.ROW
        }
        for row in self._earlier_rows(at):
            if canonical_json([row.position, row.key]) not in told:
                yield row

    def _earlier_rows(self, at: str) -> Iterator[Change]:
        rows, table = self._rows_of(at), self.places[at].before
        if rows is None:
            for position, row in enumerate(table_rows(table)):
                yield Change(at=at, position=position, before=row)
            return
        for position, (key, row) in enumerate(rows.before.items()):
            plain: JsonValue = [*key] if isinstance(key, tuple) else key
            index = position if isinstance(table, list) else None
            yield Change(at=at, key=plain, position=index, before=row)


def _depends(change: Change, drop: Change | None, add: Change | None) -> bool:
    """Return whether an edit makes a change impossible: a new row order, or the removal of a container."""
    if change.of is ChangeOf.ORDER:
        return any(each is not None and each.at == change.at for each in (drop, add))
    ends = change.of is ChangeOf.CONTAINER and change.after is None
    return ends and drop is not None and f"{drop.at}/".startswith(f"{change.at}/")
