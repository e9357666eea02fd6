"""Other ways to mean one row than by its title: by what it has in its list, or by a part of its title.

Either has one reading: no other row of the entity fits. A description has one or two conditions, and other rows miss it
by one of them, so that it has to be read.
"""

import itertools
import re
from collections.abc import Collection, Iterator, Sequence
from datetime import date
from random import Random

from generators.tasks.worlds.ground.mentions import ValueSaid
from generators.tasks.worlds.ground.world_rows import MAX_TURNS, Setting, is_plain
from generators.worlds.state.database import Row, Value
from schemas.worlds.field import DataField, Kind
from schemas.worlds.patterns import Shape
from schemas.worlds.world import Entity, View

_KINDS = {Kind.DATE, Kind.CHOICE, Kind.FLAG, Kind.LINK}
"""The kinds of fields by which people mean a row."""

_SIZES = (1, 2)
_NEAR = 2
"""Number of rows that miss a description by one of its conditions, at least."""
_MOST_WORDS, _FEW_DIGITS, _NAMES = 6, 3, 2


def describe(
    setting: Setting,
    random: Random,
    view: View,
    entity: Entity,
    row: Row,
    *,
    unlike: Collection[str] = (),
) -> tuple[ValueSaid, ...]:
    """Return conditions on columns of a list, but those of `unlike`, that this row alone meets; empty: there are none."""
    rows = setting.rows_of(entity)
    if view.shape is not Shape.LIST or (len(rows) - 1) // view.page_size > MAX_TURNS:
        return ()
    fields = [
        field
        for field in (entity.field(name) for name in view.columns)
        if field is not entity.title
        and field.name not in unlike
        and _can_say(setting, entity, field, row)
    ]
    drawn = [some for size in _SIZES for some in itertools.combinations(fields, size)]
    for some in random.sample(drawn, len(drawn)):
        if _is_told(rows, row, some):
            return tuple(ValueSaid(entity, field, row[field.name]) for field in some)
    return ()


def _can_say(setting: Setting, entity: Entity, field: DataField, row: Row) -> bool:
    value = row[field.name]
    if field.kind not in _KINDS or value in {None, ""} or not field.that:
        return False
    if field.kind is Kind.FLAG:
        return bool(value)
    return is_plain(setting.fact(entity, field, row))


def _is_told(rows: Sequence[Row], row: Row, fields: Sequence[DataField]) -> bool:
    """Return whether fields tell a row from all others, and others miss it by one of them."""

    def meet(some: Sequence[DataField]) -> int:
        return sum(all(_key(one, field) == _key(row, field) for field in some) for one in rows)

    near = (meet([one for one in fields if one is not left_out]) - 1 for left_out in fields)
    return meet(fields) == 1 and sum(near) >= _NEAR


def _key(row: Row, field: DataField) -> Value:
    """Return a value as goals say it: days may lack their year."""
    value = row[field.name]
    if field.kind is Kind.DATE and value is not None:
        day = date.fromisoformat(str(value))
        return f"{day.month}-{day.day}"
    return value.casefold() if isinstance(value, str) else value


def short_title(setting: Setting, random: Random, entity: Entity, title: str) -> str | None:
    """Return a part of a title that no other title of the entity has; None: there is none."""
    others = [one.casefold() for one in setting.titles(entity) if one != title]
    parts = [
        part
        for part in _parts(title)
        if not any(re.search(rf"(?<![^\W\d_]){re.escape(part.casefold())}", one) for one in others)
    ]
    return random.choice(parts) if parts else None


def _parts(title: str) -> Iterator[str]:
    """Yield the parts by which people call a title: its number, or the last of two names."""
    words, digits = title.split(), re.findall(r"\d+", title)
    if (
        len(digits) == 1
        and len(digits[0]) >= _FEW_DIGITS
        and title.endswith(digits[0])
        and title != digits[0]
    ):
        yield digits[0]
        if len(words) > _NAMES:
            yield " ".join(words[1:])
    elif len(words) == _NAMES and all(one.isalpha() and one.istitle() for one in words):
        yield words[-1]


def is_clear(setting: Setting, entity: Entity, title: str) -> bool:
    """Return whether a title can stand in a sentence without quotation marks.

    It ends no sentence, has no comma, and no other row's title has it among its words.
    """
    if re.search(r"[.,;:?!](?=\s|$)|[()]", title) or len(title.split()) > _MOST_WORDS:
        return False
    bare = title.casefold()
    others = (one.casefold() for one in setting.titles(entity))
    longer = [one for one in others if bare in one and one != bare]
    return not any(re.search(rf"(?<!\w){re.escape(bare)}(?!\w)", one) for one in longer)
