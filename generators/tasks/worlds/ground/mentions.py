"""What a goal speaks of: rows, fields, values and conditions, which `speech.py` puts into words.

A kind of task draws mentions and no words. So a goal can quote what pages show, or say it as people do.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from generators.worlds.state.database import Row, Value
from schemas.worlds.field import DataField
from schemas.worlds.world import Entity, Transition, View


class RowSaid(NamedTuple):
    """A row, or one that does not exist."""

    entity: Entity
    title: str
    row: Row | None = None
    """The row; None: there is none of this title."""
    view: View | None = None
    """The list in which a description finds it; None: it is only ever named."""


class NounSaid(NamedTuple):
    """What pages call rows, as `Order`."""

    label: str
    is_person: bool = False
    """Whether the rows are persons."""


class FieldSaid(NamedTuple):
    """One or several fields, by their names, or by what one of them asks or says of rows."""

    fields: tuple[DataField, ...]
    of: RowSaid | None = None
    """The row whose field it is; None: no question is asked with it."""
    via: tuple[DataField, ...] = ()
    """The links that lead from that row to the one whose field it is."""
    word: str = ""
    """How rows compare by it, as `larger` or `latest`; empty: they do not."""


class ValueSaid(NamedTuple):
    """A value of a field, or a bound of its values."""

    entity: Entity
    field: DataField
    value: Value
    over: str = ""
    """The term before a bound, as `above`; empty: it is a value."""
    via: DataField | None = None
    """The link that leads to the row that has the value; None: it is the row itself."""


class ValuesSaid(NamedTuple):
    """Fields with values, of a row that is added or changed."""

    entity: Entity
    values: Mapping[str, Value]


class SeveralSaid(NamedTuple):
    """The values of several new rows."""

    each: tuple[ValuesSaid, ...]


class RowsSaid(NamedTuple):
    """The rows that meet conditions."""

    entity: Entity
    tests: tuple[ValueSaid, ...]
    """The conditions; empty: all rows are meant."""


class PathSaid(NamedTuple):
    """What links lead to from a row, the first link first."""

    links: tuple[DataField, ...]
    of: RowSaid | None = None
    """The row; None: the sentence has spoken of it."""


class CellsSaid(NamedTuple):
    """Values of named rows."""

    cells: tuple[tuple[RowSaid, ValueSaid], ...]


class WantedSaid(NamedTuple):
    """Things to order, each with its number: a named one, or the cheapest of some."""

    things: tuple[tuple[int, RowSaid | RowsSaid], ...]


class StepSaid(NamedTuple):
    """A step of a workflow that a row is to take."""

    row: RowSaid | RowsSaid | None
    """The row, or several; None: the sentence has spoken of it."""
    step: Transition
    field: DataField
    """The field with the row's state."""


class DeletionSaid(NamedTuple):
    """The deletion of a row."""

    row: RowSaid


class ChangeSaid(NamedTuple):
    """A change of a row."""

    row: RowSaid
    values: ValuesSaid


class TextSaid(NamedTuple):
    """A text that a page shows or that is to be written, word for word."""

    text: str


class TermSaid(NamedTuple):
    """A word of the goal's language, as `above`."""

    name: str


Mention = (
    RowSaid
    | NounSaid
    | FieldSaid
    | ValueSaid
    | ValuesSaid
    | SeveralSaid
    | RowsSaid
    | PathSaid
    | CellsSaid
    | WantedSaid
    | StepSaid
    | DeletionSaid
    | ChangeSaid
    | TextSaid
    | TermSaid
)
"""Anything that a goal speaks of."""

Said = str | Mention
"""What fills a placeholder; a text stands as it is."""


def rows_in(words: Sequence[Said]) -> list[RowSaid]:
    """Return the rows that mentions name."""
    found = list[RowSaid]()
    for said in words:
        match said:
            case RowSaid():
                found.append(said)
            case StepSaid(row=RowSaid() as row) | DeletionSaid(row=row) | ChangeSaid(row=row):
                found.append(row)
            case CellsSaid(cells=cells):
                found += [row for row, _ in cells]
            case WantedSaid(things=things):
                found += [thing for _, thing in things if isinstance(thing, RowSaid)]
            case _:
                pass
    return found


def row_of(words: Mapping[str, Said]) -> RowSaid | None:
    """Return the one row that a goal speaks of."""
    row = words.get("row")
    return row if isinstance(row, RowSaid) else None


def fields_in(said: Said) -> tuple[str, ...]:
    """Return the names of the fields that a mention asks for or changes."""
    match said:
        case FieldSaid(fields=fields) | PathSaid(links=fields):
            return tuple(field.name for field in fields)
        case ValuesSaid(values=values) | ChangeSaid(values=ValuesSaid(values=values)):
            return tuple(values)
        case ValueSaid(field=field) | StepSaid(field=field):
            return (field.name,)
        case _:
            return ()


def instead_of(words: Mapping[str, Said], row: RowSaid) -> dict[str, Said]:
    """Return what a goal speaks of with another row in place of its one."""
    out = dict[str, Said]()
    for name, said in words.items():
        match said:
            case RowSaid():
                out[name] = row
            case FieldSaid(of=RowSaid()) | PathSaid(of=RowSaid()):
                out[name] = said._replace(of=row)
            case StepSaid() | DeletionSaid() | ChangeSaid():
                out[name] = said._replace(row=row)
            case _:
                out[name] = said
    return out
