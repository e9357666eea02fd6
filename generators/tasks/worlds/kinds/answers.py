"""Kinds of tasks that end with an answer and change nothing: find, compare, extreme, count and join."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from itertools import combinations
from random import Random

from generators.policy.sentences.vary import sentence
from generators.sites.gates import CANARIES
from generators.sites.judging.answers import normalise, read_number
from generators.tasks.worlds.ground.list_filters import (
    can_filter,
    draw_filter,
    filtered_rows,
    rows_with,
)
from generators.tasks.worlds.ground.mentions import FieldSaid, NounSaid, RowSaid, TermSaid, row_of
from generators.tasks.worlds.ground.row_conditions import whole_list
from generators.tasks.worlds.ground.task import Draft
from generators.tasks.worlds.ground.task_kind import task_kind
from generators.tasks.worlds.ground.world_rows import (
    MAX_TURNS,
    NUMBERS,
    Setting,
    is_plain,
    quote,
    rank,
)
from generators.tasks.worlds.references.facts import best_so_far, facts_of_rows
from generators.tasks.worlds.references.steps import (
    answer,
    click,
    find_listed,
    look,
    read,
    read_row,
    to_list,
    to_row,
)
from generators.worlds.state.database import Row
from generators.worlds.state.display import name_day
from generators.worlds.words.catalogue import catalogue
from schemas.tasks.expectation import Expectation, Matcher, Number, OneOf
from schemas.tasks.reference import Purpose
from schemas.worlds.field import DataField, Kind
from schemas.worlds.world import Entity, World

_FACTS = NUMBERS | {Kind.TEXT, Kind.CHOICE, Kind.TAGS, Kind.LINK}
_OWN_FACTS = _FACTS - {Kind.LINK}
_WORDS = {True: ("larger", "largest"), False: ("smaller", "smallest")}
_DAYS = {True: ("later", "latest"), False: ("earlier", "earliest")}
_FEWEST = 3
"""Minimum number of rows for a largest one, and for a count."""


@task_kind("find", aside="one")
def find(setting: Setting, random: Random) -> Draft | None:
    """Ask for one fact of a named row."""
    for view, entity in setting.places(random):
        facts = setting.facts(entity, _FACTS)
        named = setting.namable(view, entity)
        if not facts or not named:
            continue
        field, row = random.choice(facts), setting.pick(random, entity, named)
        reply = _reply(setting, entity, field, row)
        if reply is None:
            continue
        return Draft(
            {
                **(names := setting.names(view, entity, row)),
                "field": FieldSaid((field,), row_of(names)),
            },
            Expectation(answer=_matcher(setting.world, field, row, reply)),
            (*read_row(setting, view, entity, row, (field,)), answer(reply)),
            "verbatim",
        )
    return None


@task_kind("join", aside="one")
def join(setting: Setting, random: Random) -> Draft | None:
    """Ask for a fact of the row that a named row links to."""
    for view, entity in setting.places(random):
        links = setting.facts(entity, frozenset({Kind.LINK}))
        named = setting.namable(view, entity)
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
                **(names := setting.names(view, entity, row)),
                "target": NounSaid(target.one),
                "link": FieldSaid((link,), row_of(names)),
                "field": FieldSaid((field,), row_of(names), (link,)),
            },
            Expectation(answer=_matcher(setting.world, field, there, reply)),
            (
                *to_row(setting, view, entity, row, reads=(link,)),
                click(setting.title(target, there), Purpose.ROW),
                *look(setting, target, (field,)),
                answer(reply),
            ),
            "verbatim",
        )
    return None


@task_kind("compare")
def compare(setting: Setting, random: Random) -> Draft | None:
    """Ask which of two rows has the larger or smaller number, or the later or earlier day."""
    for view, entity in setting.places(random):
        fields = setting.facts(entity, NUMBERS)
        named = setting.namable(view, entity)
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
        names = (RowSaid(entity, setting.title(entity, row), row) for row in (one, other))
        two = random.sample([*names], 2)
        told = [
            f"{setting.fact(entity, field, row)} for {quote(setting.title(entity, row))}"
            for row in (one, other)
        ]
        first, second = told
        why = sentence(
            "kinds.compare", field=field.label, first=first, second=second, word=word, reply=reply
        )
        return Draft(
            {
                **setting.names(view, entity),
                "word": TermSaid(word),
                "field": FieldSaid((field,), word=word),
                "first": two[0],
                "second": two[1],
            },
            Expectation(
                answer=reply,
                facts=tuple(setting.fact(entity, field, row) for row in (one, other)),
            ),
            (
                *(
                    step
                    for row in sorted((one, other), key=lambda row: int(row["id"] or 0))
                    for step in read_row(setting, view, entity, row, (field,))
                ),
                answer(reply, why),
            ),
            "computed",
        )
    return None


@task_kind("extreme", aside="several")
def extreme(setting: Setting, random: Random) -> Draft | None:
    """Ask for the row with the largest or smallest value in a list, filtered if possible."""
    for view, entity in setting.places(random):
        columns = (*view.sorts, *view.columns)
        fields = [one for one in setting.facts(entity, NUMBERS) if one.name in columns]
        if not fields:
            continue
        field, wants_large = random.choice(fields), random.random() < 1 / 2
        filters = draw_filter(setting, random, view, entity)
        rows = filtered_rows(setting, entity, filters)
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
        why = sentence(
            "kinds.extreme_read" if sort is None else "kinds.extreme_sorted",
            count=str(len(rows)),
            reply=reply,
            word=word,
            field=field.label,
            value=value,
        )
        return Draft(
            {
                **setting.names(view, entity),
                "among": rows_with(entity, filters),
                "word": TermSaid(word),
                "field": FieldSaid((field,), word=word),
            },
            Expectation(answer=reply, read=None if can_sort else whole_list(setting, view, entity)),
            (
                *to_list(setting, view, filters, sort=sort, descending=wants_large),
                find_listed(setting, reply)
                if can_sort
                else read(
                    setting, best_so_far(setting, entity, rows, field, wants_large=wants_large)
                ),
                answer(reply, why),
            ),
            "computed",
            near=len(rows) - 1,
        )
    return None


@task_kind("count")
def count(setting: Setting, random: Random) -> Draft | None:
    """Ask how many rows have one or two given values; the list is read to its end."""
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
        listed = filtered_rows(setting, entity, filters)
        turns = (len(listed) - 1) // view.page_size
        counted = filtered_rows(setting, entity, wanted)
        number = len(counted)
        if number < _FEWEST or turns > MAX_TURNS or not can_filter(setting, entity, filters):
            continue
        return Draft(
            {**setting.names(view, entity), "among": rows_with(entity, wanted)},
            Expectation(
                answer=Number(number=number),
                facts=tuple(setting.title(entity, row) for row in counted),
                read=whole_list(setting, view, entity),
            ),
            (
                *to_list(setting, view, filters),
                read(setting, facts_of_rows(setting, entity, counted)),
                answer(str(number), sentence("kinds.counted", reply=str(number))),
            ),
            "computed",
            near=len(setting.rows_of(entity)) - number,
        )
    return None


def is_asked_for(reply: str) -> bool:
    """Return whether an answer can be quoted and is not one that guessers often give."""
    return is_plain(reply) and normalise(reply) not in {normalise(each) for each in CANARIES}


def _reply(setting: Setting, entity: Entity, field: DataField, row: Row) -> str | None:
    """Return the answer that states a fact of a row; None: the fact is unsuitable."""
    value = row[field.name]
    if value is None:
        return None
    if field.kind is Kind.MONEY and isinstance(value, int):
        return setting.fact(entity, field, row) if value not in {0, 100} else None
    reply = setting.fact(entity, field, row)
    return reply if is_asked_for(reply) else None


def _matcher(world: World, field: DataField, row: Row, reply: str) -> Matcher:
    value = row[field.name]
    if field.kind is Kind.MONEY and isinstance(value, int):
        number = value / 100
        is_read = read_number(reply) == Decimal(value) / 100
        return Number(number=number) if is_read else OneOf(one_of=(reply, number))
    if field.kind is Kind.INTEGER and isinstance(value, int):
        return Number(number=value)
    if field.kind is Kind.DATE:
        day = date.fromisoformat(str(value))
        month = catalogue(world.language).among("dates.months")[day.month - 1]
        return OneOf(
            one_of=(
                reply,
                day.isoformat(),
                name_day(world, day),
                f"{day.day} {month} {day.year}",
                f"{month} {day.day}, {day.year}",
            )
        )
    return reply


def _best(rows: Sequence[Row], field: DataField, *, wants_large: bool) -> Row | None:
    """Return the only row with the largest or smallest value; None: a tie, or too few rows."""
    if len(rows) < _FEWEST or any(row[field.name] is None for row in rows):
        return None
    ordered = sorted(rows, key=lambda row: rank(row[field.name]), reverse=wants_large)
    return ordered[0] if ordered[0][field.name] != ordered[1][field.name] else None
