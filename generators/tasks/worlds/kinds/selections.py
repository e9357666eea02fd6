"""Kinds of tasks over a part of a list: aggregate, rank, and the choice of one row that fulfils conditions."""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from random import Random
from typing import NamedTuple

from generators.sites.judging.answers import read_number
from generators.tasks.worlds.ground.changes import changes, draw_change, find_ways, in_words
from generators.tasks.worlds.ground.parts import Part, draw_part, narrowed, turns
from generators.tasks.worlds.ground.task import Draft
from generators.tasks.worlds.ground.world_rows import (
    MAX_TURNS,
    NUMBERS,
    Setting,
    called,
    quoted,
    rank,
    term,
)
from generators.tasks.worlds.kinds.answers import is_asked_for
from generators.tasks.worlds.references.steps import (
    Steps,
    act,
    answer,
    because,
    click,
    read_on,
    save_change,
    to_list,
    to_part,
    to_row,
)
from generators.worlds.state.database import Row
from schemas.tasks.expectation import Expectation, Matcher, Matches, Number, OneOf
from schemas.worlds.field import DataField, Kind
from schemas.worlds.world import Entity

_SUMMED = range(3, 9)
_CHOSEN = range(3, 30)
_SUMS = frozenset({Kind.INTEGER, Kind.MONEY})
_PLACES = {1: "second", 2: "third", 3: "fourth", 4: "fifth"}
_SUPERLATIVES = {
    (True, True): "latest",
    (True, False): "earliest",
    (False, True): "largest",
    (False, False): "smallest",
}
_PART_TRIES = 4


def aggregate(setting: Setting, random: Random) -> Draft | None:
    """Ask for the sum, the mean or the span of a number over the rows of a part of a list."""
    for view, entity in setting.places(random):
        fields = [one for one in setting.facts(entity, _SUMS) if one.name in view.columns]
        if not fields:
            continue
        field = random.choice(fields)
        part = draw_part(
            setting,
            random,
            view,
            sizes=_SUMMED,
            conditions=random.choice((1, 1, 2)),
            unlike=fields,
            only=_with_value(setting, entity, field),
        )
        if part is None:
            continue
        values = [rank(row[field.name]) for row in part.rows]
        results = {"total": sum(values), "span": max(values) - min(values)}
        if sum(values) % len(values) == 0:
            results["mean"] = sum(values) // len(values)
        way = random.choice(sorted(results))
        is_money, result = field.kind is Kind.MONEY, results[way]
        reply = f"{result / 100:.2f}" if is_money else str(result)
        if result in values or not is_asked_for(reply):
            continue
        seen = [setting.fact(entity, field, row) for row in part.rows]
        why = f'{_worked_out(way, values, seen)} is "{reply}".'
        return Draft(
            {**_words(setting, part), "field": called(field), "way": term(way)},
            Expectation(
                answer=_number(result, setting.shown(entity, field, result), is_money=is_money),
                facts=_facts(setting, part, field),
            ),
            (*to_part(setting, part), answer(reply, why)),
            "computed",
            near=part.near,
        )
    return None


def _worked_out(way: str, values: Sequence[int], seen: Sequence[str]) -> str:
    """Return what an aggregate is made of, as pages write it, up to its result."""
    if way == "span":
        most, least = (seen[values.index(end)] for end in (max(values), min(values)))
        return f"The largest is {most} and the smallest {least}; the difference"
    told = f"They are {', '.join(seen)}"
    return f"{told}; their sum" if way == "total" else f"{told}; the mean of these {len(seen)}"


def _number(result: int, shown: str, *, is_money: bool) -> Matcher:
    """Return that a number is answered, or what pages would write for it where that reads as no number."""
    number = result / 100 if is_money else result
    is_read = read_number(shown) == Decimal(str(number))
    return Number(number=number) if is_read else OneOf(one_of=(number, shown))


class Ordered(NamedTuple):
    """A part of a list in the order of a number or a day."""

    part: Part
    field: DataField
    """What its rows go by."""
    is_large: bool
    """Whether the largest is the first."""
    rows: Sequence[Row]
    """In the order; no two have the same in the field."""

    @property
    def word(self) -> str:
        """The superlative of the first, as `largest`."""
        return _SUPERLATIVES[self.field.kind is Kind.DATE, self.is_large]

    def told(self, setting: Setting, place: int) -> str:
        """Return a row by its title, with its value where the list shows it."""
        entity, row = self.part.entity, self.rows[place]
        is_shown = self.field.name in self.part.view.columns
        value = f", {setting.fact(entity, self.field, row)}" if is_shown else ""
        return f"{quoted(setting.title(entity, row))}{value}"


def rank_place(setting: Setting, random: Random) -> Draft | None:
    """Ask which row of a part of a list is the second, third, fourth or fifth by something."""
    ordered = _draw_ordered(setting, random, range(5, 30), (1, 1, 2))
    if ordered is None:
        return None
    place = random.choice(sorted(_PLACES))
    reply = setting.title(ordered.part.entity, ordered.rows[place])
    if not is_asked_for(reply):
        return None
    return Draft(
        {**_words(setting, ordered.part, ordered), "place": term(_PLACES[place])},
        Expectation(answer=reply, facts=_titles(setting, ordered, place + 1)),
        (
            *_to_ordered(setting, ordered, ordered.rows[: place + 1]),
            answer(
                reply,
                f"By {ordered.field.label}, the {ordered.word} first, the {_PLACES[place]} that fits is "
                f"{ordered.told(setting, place)}.",
            ),
        ),
        "computed",
        near=ordered.part.near,
    )


def rank_three(setting: Setting, random: Random) -> Draft | None:
    """Ask for the first three rows of a part of a list, in order."""
    ordered = _draw_ordered(setting, random, range(5, 30), (1, 1, 2))
    if ordered is None:
        return None
    titles = _titles(setting, ordered, 3)
    if not all(map(is_asked_for, titles)):
        return None
    return Draft(
        _words(setting, ordered.part, ordered),
        Expectation(answer=Matches(matches=_in_order(titles)), facts=titles),
        (
            *_to_ordered(setting, ordered, ordered.rows[:3]),
            answer(
                ", ".join(titles),
                f"By {ordered.field.label}, the {ordered.word} first, they are "
                f"{'; '.join(ordered.told(setting, place) for place in range(3))}.",
            ),
        ),
        "computed",
        near=ordered.part.near,
    )


def choose(setting: Setting, random: Random) -> Draft | None:
    """Ask which row that fulfils two conditions has the largest or the smallest of something."""
    ordered = _draw_ordered(setting, random, _CHOSEN, (2,))
    if ordered is None:
        return None
    reply = setting.title(ordered.part.entity, ordered.rows[0])
    if not is_asked_for(reply):
        return None
    return Draft(
        _words(setting, ordered.part, ordered),
        Expectation(answer=reply),
        (
            *_to_ordered(setting, ordered, ordered.rows[:1]),
            answer(reply, _first(setting, ordered)),
        ),
        "computed",
        near=ordered.part.near,
    )


def choose_edit(setting: Setting, random: Random) -> Draft | None:
    """Ask for a change of the row that fulfils two conditions and has the largest or the smallest of something."""
    ordered = _draw_ordered(setting, random, _CHOSEN, (2, 1), can=lambda one: one.can_edit)
    if ordered is None:
        return None
    entity, row = ordered.part.entity, ordered.rows[0]
    values = draw_change(setting, random, entity, row, random.randint(1, 2))
    if not values or entity.title.name in values:
        return None
    return Draft(
        {
            **_words(setting, ordered.part, ordered),
            "stated": in_words(setting, entity, values),
        },
        changes(entity, (row, values)),
        (
            *to_first(setting, ordered),
            *save_change(setting, entity, row, values),
            answer(),
        ),
        near=ordered.part.near,
    )


def choose_move(setting: Setting, random: Random) -> Draft | None:
    """Ask that the row that fulfils conditions and has the largest or smallest of something comes to another state."""
    ordered = _draw_ordered(
        setting,
        random,
        _CHOSEN,
        (2, 1),
        can=lambda one: setting.world.workflow(one.name) is not None,
    )
    if ordered is None:
        return None
    entity, row = ordered.part.entity, ordered.rows[0]
    flow = setting.world.workflow(entity.name)
    known = () if flow is None else find_ways(flow.transitions, str(row[flow.field]))
    if flow is None or not known:
        return None
    way = random.choice(known)
    return Draft(
        {
            **_words(setting, ordered.part, ordered),
            "state": called(entity.field(flow.field)),
            "after": quoted(way[-1].after),
        },
        changes(entity, (row, {flow.field: way[-1].after})),
        (
            *to_first(setting, ordered),
            *(each for step in way for each in act(setting, step.label)),
            answer(),
        ),
        near=ordered.part.near,
    )


CHOOSING: Mapping[str, Callable[[Setting, Random], Draft | None]] = {
    "aggregate": aggregate,
    "rank": rank_place,
    "rank-three": rank_three,
    "choose": choose,
    "choose-edit": choose_edit,
    "choose-move": choose_move,
}
"""The kinds, by name; each returns None where what it drew makes no task."""


def _words(setting: Setting, part: Part, ordered: Ordered | None = None) -> dict[str, str]:
    words = {
        **setting.names(part.view, part.entity),
        "among": part.among,
        "conditions": part.words,
    }
    if ordered is None:
        return words
    return {**words, "field": called(ordered.field), "word": term(ordered.word)}


def _first(setting: Setting, ordered: Ordered) -> str:
    """Return why the first row in an order is the one that is looked for."""
    return (
        f"Of those that fit, the one with the {ordered.word} {ordered.field.label} is "
        f"{ordered.told(setting, 0)}."
    )


def _facts(setting: Setting, part: Part, field: DataField) -> tuple[str, ...]:
    """Return the titles of a part's rows, and what the list shows of each in a field."""
    entity = part.entity
    return tuple(
        dict.fromkeys(
            fact
            for row in part.rows
            for fact in (setting.title(entity, row), setting.fact(entity, field, row))
        )
    )


def _with_value(setting: Setting, entity: Entity, field: DataField) -> Sequence[Row]:
    return [row for row in setting.rows_of(entity) if row[field.name] is not None]


def _titles(setting: Setting, ordered: Ordered, count: int) -> tuple[str, ...]:
    return tuple(setting.title(ordered.part.entity, row) for row in ordered.rows[:count])


def _in_order(titles: Sequence[str]) -> str:
    """Return a pattern of texts one after another, whatever parts them: commas, numbers, lines, or the word and."""
    gap = r"\W+(?:(?:and|\d)\W+)*"
    told = gap.join(map(_literally, titles))
    return rf"(?i)\W*(?:1\W+)?{told}\W*"


def _literally(text: str) -> str:
    return "".join(
        one if one.isalnum() or not one.isascii() else rf"\x{ord(one):02x}" for one in text
    )


def _draw_ordered(
    setting: Setting,
    random: Random,
    sizes: range,
    conditions: Sequence[int],
    *,
    can: Callable[[Entity], bool] = lambda _: True,
) -> Ordered | None:
    """Return a part of a list in an order that its rows can be told by; None: none was drawn."""
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
                only=_with_value(setting, entity, field),
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
    """Return the rows of the sorted list as it has them: equals go by id, and what is empty is the smallest."""
    field, sign = ordered.field.name, -1 if ordered.is_large else 1
    rows = narrowed(setting, ordered.part)
    empty = [one for one in rows if one[field] is None]
    others = sorted(
        (one for one in rows if one[field] is not None), key=lambda one: sign * rank(one[field])
    )
    return [*others, *empty] if ordered.is_large else [*empty, *others]


def _to_ordered(setting: Setting, ordered: Ordered, rows: Sequence[Row]) -> Steps:
    """Return the way from any page to having seen which rows are the first in an order."""
    if not _is_sorted(ordered):
        return to_part(setting, ordered.part)
    part, listed = ordered.part, _in_list(setting, ordered)
    last = max(map(listed.index, rows))
    turns_to = last // part.view.page_size
    if turns_to > MAX_TURNS:
        return to_part(setting, part)
    return (
        *to_list(setting, part.view, part.filters, sort=ordered.field, descending=ordered.is_large),
        *read_on(setting, part.view, listed[: last + 1], turns_to),
    )


def to_first(setting: Setting, ordered: Ordered) -> Steps:
    """Return the way from any page to the page of the first row in an order."""
    part, row = ordered.part, ordered.rows[0]
    seen = _to_ordered(setting, ordered, ordered.rows[:1])
    in_sight = _is_sorted(ordered) or turns(setting, part) == 0
    if in_sight:
        return (
            *seen,
            *because(_first(setting, ordered), (click(setting.title(part.entity, row)),)),
        )
    return (*seen, *to_row(setting, part.view, part.entity, row, reads=()))
