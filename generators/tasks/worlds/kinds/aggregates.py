"""A kind of task over the numbers of a part of a list: their sum, mean or span."""

from collections.abc import Sequence
from decimal import Decimal
from random import Random

from generators.policy.sentences.vary import sentence
from generators.sites.judging.answers import read_number
from generators.tasks.worlds.ground.mentions import FieldSaid, TermSaid
from generators.tasks.worlds.ground.row_conditions import Part, draw_part, whole_list
from generators.tasks.worlds.ground.task import Draft
from generators.tasks.worlds.ground.task_kind import task_kind
from generators.tasks.worlds.ground.world_rows import (
    Setting,
    rank,
)
from generators.tasks.worlds.kinds.answers import is_asked_for
from generators.tasks.worlds.references.sorted_lists import with_value, words_of_part
from generators.tasks.worlds.references.steps import (
    answer,
    to_part,
)
from schemas.tasks.expectation import Expectation, Matcher, Number, OneOf
from schemas.worlds.field import DataField, Kind

_SUMMED = range(3, 9)


_SUMS = frozenset({Kind.INTEGER, Kind.MONEY})


@task_kind("aggregate", aside="several")
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
            only=with_value(setting, entity, field),
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
        why = _worked_out(way, values, seen, reply)
        return Draft(
            {**words_of_part(setting, part), "field": FieldSaid((field,)), "way": TermSaid(way)},
            Expectation(
                answer=_number(result, setting.show(entity, field, result), is_money=is_money),
                facts=_facts(setting, part, field),
                read=whole_list(setting, part.view, part.entity),
            ),
            (*to_part(setting, part, field), answer(reply, why)),
            "computed",
            near=part.near,
        )
    return None


def _worked_out(way: str, values: Sequence[int], seen: Sequence[str], reply: str) -> str:
    """Return the calculation of an aggregate."""
    if way == "span":
        most, least = (seen[values.index(end)] for end in (max(values), min(values)))
        return sentence("kinds.span", most=most, least=least, reply=reply)
    count = str(len(seen))
    return sentence(f"kinds.{way}", values=", ".join(seen), count=count, reply=reply)


def _number(result: int, shown: str, *, is_money: bool) -> Matcher:
    """Return a matcher of the number, or of its displayed text too if that does not parse as the number."""
    number = result / 100 if is_money else result
    is_read = read_number(shown) == Decimal(str(number))
    return Number(number=number) if is_read else OneOf(one_of=(number, shown))


def _facts(setting: Setting, part: Part, field: DataField) -> tuple[str, ...]:
    """Return the titles of a part's rows and their displayed values of a field."""
    entity = part.entity
    return tuple(
        dict.fromkeys(
            fact
            for row in part.rows
            for fact in (setting.title(entity, row), setting.fact(entity, field, row))
        )
    )
