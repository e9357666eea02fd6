"""Kinds of tasks that end with an answer and change nothing: find, compare, extreme, count and join."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from itertools import combinations
from random import Random

from generators.sites.gates import CANARIES
from generators.sites.judging.answers import normalise, read_number
from generators.tasks.worlds.ground.task import Draft
from generators.tasks.worlds.ground.world_rows import (
    MAX_TURNS,
    NUMBERS,
    Setting,
    called,
    is_plain,
    is_so,
    quoted,
    rank,
    term,
)
from generators.tasks.worlds.references.steps import answer, click, look, read_on, to_list, to_row
from generators.worlds.state.database import Row
from generators.worlds.state.display import MONTHS
from schemas.tasks.expectation import Expectation, Matcher, Number, OneOf
from schemas.worlds.field import DataField, Kind
from schemas.worlds.world import Entity, View

_FACTS = NUMBERS | {Kind.TEXT, Kind.CHOICE, Kind.TAGS, Kind.LINK}
_OWN_FACTS = _FACTS - {Kind.LINK}
_WORDS = {True: ("larger", "largest"), False: ("smaller", "smallest")}
_DAYS = {True: ("later", "latest"), False: ("earlier", "earliest")}
_FEWEST = 3
"""Rows among which there is a largest, and the fewest that are counted."""


def find(setting: Setting, random: Random) -> Draft | None:
    """Ask for one fact of a named row."""
    for view, entity in setting.places(random):
        facts = setting.facts(entity, _FACTS)
        named = setting.named(view, entity)
        if not facts or not named:
            continue
        field, row = random.choice(facts), setting.pick(random, entity, named)
        reply = _reply(setting, entity, field, row)
        if reply is None:
            continue
        return Draft(
            {**setting.names(view, entity, row), "field": called(field)},
            Expectation(answer=_expected(field, row, reply)),
            (*to_row(setting, view, entity, row, reads=(field,)), answer(reply)),
            "verbatim",
        )
    return None


def join(setting: Setting, random: Random) -> Draft | None:
    """Ask for a fact of the row that a named row links to."""
    for view, entity in setting.places(random):
        links = setting.facts(entity, frozenset({Kind.LINK}))
        named = setting.named(view, entity)
        if not links or not named:
            continue
        link, row = random.choice(links), setting.pick(random, entity, named)
        if row[link.name] is None or link.target is None:
            continue
        target = setting.world.entity(link.target)
        there = setting.row(target, row[link.name])
        field = random.choice(setting.facts(target, _OWN_FACTS) or [target.title])
        reply = _reply(setting, target, field, there)
        if field is target.title or reply is None:
            continue
        return Draft(
            {
                **setting.names(view, entity, row),
                "target": target.one,
                "link": called(link),
                "field": called(field),
            },
            Expectation(answer=_expected(field, there, reply)),
            (
                *to_row(setting, view, entity, row, reads=(link,)),
                click(setting.title(target, there)),
                *look(setting, target, (field,)),
                answer(reply),
            ),
            "verbatim",
        )
    return None


def compare(setting: Setting, random: Random) -> Draft | None:
    """Ask which of two rows has the larger or the smaller of a number or a day."""
    for view, entity in setting.places(random):
        fields = setting.facts(entity, NUMBERS)
        named = setting.named(view, entity)
        if not fields or len(named) < _FEWEST:
            continue
        field, wants_large = random.choice(fields), random.random() < 1 / 2
        some = random.sample(named, min(len(named), 12))
        pairs = [
            pair
            for pair in combinations(some, 2)
            if None not in (values := [row[field.name] for row in pair]) and values[0] != values[1]
        ]
        if not pairs:
            continue
        one, other = min(
            pairs, key=lambda pair: abs(rank(pair[0][field.name]) - rank(pair[1][field.name]))
        )
        best = max if wants_large else min
        reply = setting.title(entity, best((one, other), key=lambda row: rank(row[field.name])))
        if not is_asked_for(reply):
            continue
        word = (_DAYS if field.kind is Kind.DATE else _WORDS)[wants_large][0]
        two = random.sample([quoted(setting.title(entity, row)) for row in (one, other)], 2)
        told = [
            f"{setting.fact(entity, field, row)} for {quoted(setting.title(entity, row))}"
            for row in (one, other)
        ]
        why = (
            f"{field.label} is {told[0]} and {told[1]}. The {word} one is that of {quoted(reply)}."
        )
        return Draft(
            {
                **setting.names(view, entity),
                "word": term(word),
                "field": called(field),
                "first": two[0],
                "second": two[1],
            },
            Expectation(
                answer=reply,
                facts=tuple(setting.fact(entity, field, row) for row in (one, other)),
            ),
            (
                *to_row(setting, view, entity, one, reads=(field,)),
                *to_row(setting, view, entity, other, reads=(field,)),
                answer(reply, why),
            ),
            "computed",
        )
    return None


def extreme(setting: Setting, random: Random) -> Draft | None:
    """Ask which row of a list, narrowed where it can be, has the largest or the smallest of something."""
    for view, entity in setting.places(random):
        columns = (*view.sorts, *view.columns)
        fields = [one for one in setting.facts(entity, NUMBERS) if one.name in columns]
        if not fields:
            continue
        field, wants_large = random.choice(fields), random.random() < 1 / 2
        filters = _narrowed(setting, random, view, entity)
        rows = _listed(setting, entity, filters)
        can_sort = field.name in view.sorts
        turns = 0 if can_sort else (len(rows) - 1) // view.page_size
        best = _best(rows, field, wants_large=wants_large)
        if best is None or turns > MAX_TURNS:
            continue
        reply = setting.title(entity, best)
        if not is_asked_for(reply):
            continue
        word = (_DAYS if field.kind is Kind.DATE else _WORDS)[wants_large][1]
        sort = field if can_sort else None
        value = setting.fact(entity, field, best)
        why = (
            f"Of all {len(rows)} that I have seen {quoted(reply)} has the {word} {field.label}: {value}."
            if sort is None
            else f"In this order {quoted(reply)} is the first, so it has the {word} {field.label}."
        )
        return Draft(
            {
                **setting.names(view, entity),
                "among": _among(entity, filters),
                "word": term(word),
                "field": called(field),
            },
            Expectation(answer=reply),
            (
                *to_list(setting, view, filters, sort=sort, descending=wants_large),
                *read_on(setting, view, [best] if can_sort else rows, turns),
                answer(reply, why),
            ),
            "computed",
            near=len(rows) - 1,
        )
    return None


def count(setting: Setting, random: Random) -> Draft | None:
    """Ask how many rows have one or two choices; the list is read to its end."""
    for view, entity in setting.places(random):
        names = list(dict.fromkeys((*view.filters, *view.columns)))
        fields = [
            one for one in setting.facts(entity, frozenset({Kind.CHOICE})) if one.name in names
        ]
        if not fields:
            continue
        told = random.sample(fields, random.randint(1, min(2, len(fields))))
        wanted = {field.name: random.choice(field.choices) for field in told}
        filters = {name: choice for name, choice in wanted.items() if name in view.filters}
        listed = _listed(setting, entity, filters)
        turns = (len(listed) - 1) // view.page_size
        number = len(_listed(setting, entity, wanted))
        if number < _FEWEST or turns > MAX_TURNS or not _can_filter(setting, entity, filters):
            continue
        return Draft(
            {**setting.names(view, entity), "among": _among(entity, wanted)},
            Expectation(
                answer=Number(number=number),
                facts=tuple(setting.title(entity, row) for row in _listed(setting, entity, wanted)),
            ),
            (
                *to_list(setting, view, filters),
                *read_on(setting, view, listed, turns),
                answer(str(number), f'I have read the list to its end and count "{number}".'),
            ),
            "computed",
            near=len(setting.rows_of(entity)) - number,
        )
    return None


READING: Mapping[str, Callable[[Setting, Random], Draft | None]] = {
    "find": find,
    "compare": compare,
    "extreme": extreme,
    "count": count,
    "join": join,
}
"""The kinds, by name; each returns None where what it drew makes no task."""


def is_asked_for(reply: str) -> bool:
    """Return whether an answer is worth asking for: no answer that is often given without looking is."""
    return is_plain(reply) and normalise(reply) not in {normalise(each) for each in CANARIES}


def _reply(setting: Setting, entity: Entity, field: DataField, row: Row) -> str | None:
    """Return the answer that states a fact of a row; None: the fact is not worth asking for."""
    value = row[field.name]
    if value is None:
        return None
    if field.kind is Kind.MONEY and isinstance(value, int):
        return setting.fact(entity, field, row) if value not in {0, 100} else None
    reply = setting.fact(entity, field, row)
    return reply if is_asked_for(reply) else None


def _expected(field: DataField, row: Row, reply: str) -> Matcher:
    value = row[field.name]
    if field.kind is Kind.MONEY and isinstance(value, int):
        number = value / 100
        is_read = read_number(reply) == Decimal(value) / 100
        return Number(number=number) if is_read else OneOf(one_of=(reply, number))
    if field.kind is Kind.INTEGER and isinstance(value, int):
        return Number(number=value)
    if field.kind is Kind.DATE:
        day = date.fromisoformat(str(value))
        month = MONTHS[day.month - 1]
        return OneOf(
            one_of=(
                reply,
                day.isoformat(),
                f"{day.day} {month} {day.year}",
                f"{month} {day.day}, {day.year}",
            )
        )
    return reply


def _best(rows: Sequence[Row], field: DataField, *, wants_large: bool) -> Row | None:
    """Return the only row with the largest or smallest value; None: there are several, or too few rows."""
    if len(rows) < _FEWEST or any(row[field.name] is None for row in rows):
        return None
    ordered = sorted(rows, key=lambda row: rank(row[field.name]), reverse=wants_large)
    return ordered[0] if ordered[0][field.name] != ordered[1][field.name] else None


def _narrowed(setting: Setting, random: Random, view: View, entity: Entity) -> Mapping[str, str]:
    """Return a choice that narrows a list, by its field; empty where the list has no filter."""
    fields = [entity.field(name) for name in view.filters if entity.field(name).choices]
    if not fields:
        return {}
    field = random.choice(fields)
    return {field.name: random.choice([words for _, words in setting.options(field)])}


def _can_filter(setting: Setting, entity: Entity, filters: Mapping[str, str]) -> bool:
    return all(
        choice in [words for _, words in setting.options(entity.field(name))]
        for name, choice in filters.items()
    )


def _listed(setting: Setting, entity: Entity, filters: Mapping[str, str]) -> Sequence[Row]:
    return [
        row
        for row in setting.rows_of(entity)
        if all(row[name] == choice for name, choice in filters.items())
    ]


def _among(entity: Entity, filters: Mapping[str, str]) -> str:
    """Return the rows of a list in words, as `Orders where Status is "Open"`."""
    parts = [is_so(entity.field(name), quoted(choice)) for name, choice in filters.items()]
    told = f" {term('and')} ".join(parts)
    return f"{entity.many} {term('with')} {told}" if parts else entity.many
