"""Sorted parts of a list: how they are drawn, and the steps that show their first rows."""

from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple

from generators.policy.sentences.vary import sentence
from generators.tasks.worlds.ground.mentions import FieldSaid, Said, TermSaid
from generators.tasks.worlds.ground.row_conditions import (
    Part,
    draw_part,
    narrowed_rows,
    turns,
    whole_list,
)
from generators.tasks.worlds.ground.world_rows import (
    MAX_TURNS,
    NUMBERS,
    Setting,
    quote,
    rank,
)
from generators.tasks.worlds.references.facts import facts_of_rows, keep
from generators.tasks.worlds.references.steps import (
    OPENS_ROW,
    Steps,
    because,
    find_listed,
    open_row,
    to_list,
    to_part,
    to_row,
)
from generators.worlds.state.database import Row
from schemas.tasks.expectation import ReadList
from schemas.worlds.field import DataField, Kind
from schemas.worlds.world import Entity

_SUPERLATIVES = {
    (True, True): "latest",
    (True, False): "earliest",
    (False, True): "largest",
    (False, False): "smallest",
}


_PART_TRIES = 4


class Ordered(NamedTuple):
    """A part of a list, sorted by a number or a day."""

    part: Part
    field: DataField
    """The field that sorts its rows."""
    is_large: bool
    """Whether the order is descending."""
    rows: Sequence[Row]
    """The rows in order; their values in the field are unique."""

    @property
    def word(self) -> str:
        """The superlative of the first row, as `largest`."""
        return _SUPERLATIVES[self.field.kind is Kind.DATE, self.is_large]

    def in_words(self, setting: Setting, place: int) -> str:
        """Return a row by its title, with its value if the list shows it."""
        entity, row = self.part.entity, self.rows[place]
        is_shown = self.field.name in self.part.view.columns
        value = f", {setting.fact(entity, self.field, row)}" if is_shown else ""
        return f"{quote(setting.title(entity, row))}{value}"


def draw_ordered(
    setting: Setting,
    random: Random,
    sizes: range,
    conditions: Sequence[int],
    *,
    can: Callable[[Entity], bool] = lambda _: True,
) -> Ordered | None:
    """Return a part of a list sorted by a field with unique values; None: no draw succeeded."""
    for view, entity in setting.places(random):
        columns = (*view.sorts, *view.columns)
        fields = [one for one in setting.facts(entity, NUMBERS) if one.name in columns]
        if not fields or not can(entity):
            continue
        field, is_large = random.choice(fields), random.random() < 1 / 2
        for _ in range(_PART_TRIES):
            part = draw_part(
                setting,
                random,
                view,
                sizes=sizes,
                conditions=random.choice(conditions),
                unlike=(field,),
                only=with_value(setting, entity, field),
            )
            if part is None:
                continue
            rows = sorted(part.rows, key=lambda row: rank(row[field.name]), reverse=is_large)
            if len({row[field.name] for row in rows}) == len(rows):
                return Ordered(part, field, is_large, rows)
    return None


def _is_sorted(ordered: Ordered) -> bool:
    return ordered.field.name in ordered.part.view.sorts


def _in_list(setting: Setting, ordered: Ordered) -> list[Row]:
    """Return the rows as the sorted list shows them: ties by id, empty values smallest."""
    field, sign = ordered.field.name, -1 if ordered.is_large else 1
    rows = narrowed_rows(setting, ordered.part)
    empty = [one for one in rows if one[field] is None]
    others = sorted(
        (one for one in rows if one[field] is not None), key=lambda one: sign * rank(one[field])
    )
    return [*others, *empty] if ordered.is_large else [*empty, *others]


def to_ordered(setting: Setting, ordered: Ordered, rows: Sequence[Row]) -> Steps:
    """Return the steps from any page until the given rows were seen to be the first, and kept."""
    part, field = ordered.part, ordered.field
    kept = field if field.name in part.view.columns else None
    if not _is_sorted(ordered):
        return to_part(setting, part, kept)
    listed = _in_list(setting, ordered)
    last = max(map(listed.index, rows))
    turns_to = last // part.view.page_size
    if turns_to > MAX_TURNS:
        return to_part(setting, part, kept)
    steps = (
        *to_list(setting, part.view, part.filters, sort=field, descending=ordered.is_large),
        find_listed(setting, setting.title(part.entity, listed[last])),
    )
    return keep(steps, facts_of_rows(setting, part.entity, rows, kept))


def to_first(setting: Setting, ordered: Ordered) -> Steps:
    """Return the steps from any page to the page of the first row."""
    part, row = ordered.part, ordered.rows[0]
    seen = to_ordered(setting, ordered, ordered.rows[:1])
    in_sight = _is_sorted(ordered) or turns(setting, part) == 0
    if in_sight:
        return (
            *seen,
            *because(
                why_first(setting, ordered),
                (open_row(setting, part.view, setting.title(part.entity, row)),),
            ),
        )
    way = to_row(setting, part.view, part.entity, row, reads=())
    opens = next(at for at, step in enumerate(way) if step.purpose in OPENS_ROW)
    return (*seen, *way[:opens], *because(why_first(setting, ordered), way[opens:]))


def why_first(setting: Setting, ordered: Ordered) -> str:
    """Return the reason why the first row is the one in question: its value, or its place where the list shows none."""
    told = ordered.in_words(setting, 0)
    if _is_sorted(ordered) and ordered.field.name not in ordered.part.view.columns:
        return sentence(
            "kinds.first_in_order", word=ordered.word, field=ordered.field.label, told=told
        )
    return sentence("kinds.first_of", word=ordered.word, field=ordered.field.label, told=told)


def list_to_read(setting: Setting, ordered: Ordered) -> ReadList | None:
    """Return the list that has to be read for its first rows; None: the list sorts them itself, or is too long."""
    part = ordered.part
    return None if _is_sorted(ordered) else whole_list(setting, part.view, part.entity)


def first_titles(setting: Setting, ordered: Ordered, count: int) -> tuple[str, ...]:
    """Return the titles of the first rows."""
    return tuple(setting.title(ordered.part.entity, row) for row in ordered.rows[:count])


def words_of_part(setting: Setting, part: Part, ordered: Ordered | None = None) -> dict[str, Said]:
    """Return the placeholders of goals for a part of a list and its order."""
    words: dict[str, Said] = {**setting.names(part.view, part.entity), "among": part.among}
    if ordered is None:
        return words
    return {
        **words,
        "field": FieldSaid((ordered.field,), word=ordered.word),
        "word": TermSaid(ordered.word),
    }


def with_value(setting: Setting, entity: Entity, field: DataField) -> Sequence[Row]:
    """Return the rows with a value in a field."""
    return [row for row in setting.rows_of(entity) if row[field.name] is not None]
