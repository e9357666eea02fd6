"""What tells that a row is the one that a goal means, where the goal does not name it: the conditions that it meets.

A goal describes a row, or speaks of the rows that meet conditions. What the row has in their fields is stated with the step
that opens it, so that its thought can say why it is this one, where the list shows it.
"""

from collections.abc import Iterator, Mapping

from generators.tasks.worlds.ground.mentions import (
    RowsSaid,
    Said,
    ValueSaid,
    WantedSaid,
    rows_in,
)
from generators.tasks.worlds.ground.wording import Goal
from generators.tasks.worlds.ground.world_rows import Setting, rank
from generators.tasks.worlds.references.steps import OPENS_ROW, Steps
from generators.worlds.state.database import Row
from schemas.tasks.reference import Fact, ReferenceStep

_LARGER = {"after", "above"}
"""The terms before a bound that a value is larger than."""


def with_grounds(setting: Setting, steps: Steps, *, goal: Goal, words: Mapping[str, Said]) -> Steps:
    """Return a reference of which the steps that open a row say by what it is meant; `words` is what the goal speaks of.

    A step whose thought concludes it, and one whose row the goal names, say nothing.
    """

    def ground(step: ReferenceStep) -> ReferenceStep:
        name = step.on or ""
        if step.purpose not in OPENS_ROW or step.why is not None or name in goal.told:
            return step
        facts = (*_description(setting, name, goal, words), *_among(setting, name, words))
        facts = (Fact(of=name), *facts)
        return step.model_copy(update={"by": tuple(dict.fromkeys(facts))})

    return tuple(map(ground, steps))


def _description(
    setting: Setting, name: str, goal: Goal, words: Mapping[str, Said]
) -> Iterator[Fact]:
    """Yield what a goal says of a row that it describes."""
    for said in rows_in(list(words.values())):
        if said.row is None or _plain(said.title) != name:
            continue
        told = [field for title, field, _ in sorted(goal.facts) if _plain(title) == name]
        for field in map(said.entity.field, told):
            yield Fact(of=name, label=field.label, value=setting.fact(said.entity, field, said.row))


def _among(setting: Setting, name: str, words: Mapping[str, Said]) -> Iterator[Fact]:
    """Yield by what a row is one of those of which a goal speaks."""
    for rows in _conditions(words):
        listed = setting.rows_of(rows.entity)
        named = (one for one in listed if _plain(setting.title(rows.entity, one)) == name)
        row = next(named, None)
        if row is None or not all(_meets(row, test) for test in rows.tests):
            continue
        for test in rows.tests:
            value = setting.fact(rows.entity, test.field, row)
            yield Fact(of=name, label=test.field.label, value=value)


def _conditions(words: Mapping[str, Said]) -> Iterator[RowsSaid]:
    for said in words.values():
        if isinstance(said, RowsSaid):
            yield said
        elif isinstance(said, WantedSaid):
            yield from (thing for _, thing in said.things if isinstance(thing, RowsSaid))


def _meets(row: Row, test: ValueSaid) -> bool:
    value = row[test.field.name]
    if value is None or test.value is None:
        return False
    if not test.over:
        return value == test.value
    held, bound = rank(value), rank(test.value)
    return held > bound if test.over in _LARGER else held < bound


def _plain(title: str) -> str:
    return " ".join(title.split())
