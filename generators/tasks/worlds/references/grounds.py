"""What tells that a row is the one that a goal means, where the goal does not name it: the conditions that it meets.

A goal describes a row, or speaks of the rows that meet conditions. What the row has in their fields is stated with the step
that opens it, so that its thought can say why it is this one, where the list shows it.
"""

from collections.abc import Iterator, Mapping

from generators.policy.element_names import names
from generators.policy.sentences.vary import sentence
from generators.tasks.worlds.ground.mentions import (
    FieldSaid,
    RowsSaid,
    Said,
    ValueSaid,
    ValuesSaid,
    WantedSaid,
    row_of,
    rows_in,
)
from generators.tasks.worlds.ground.task import IMPOSSIBLE
from generators.tasks.worlds.ground.wording import Goal
from generators.tasks.worlds.ground.world_rows import Setting, rank
from generators.tasks.worlds.references.steps import OPENS_ROW, Steps
from generators.worlds.state.database import Row
from schemas.tasks.reference import MAX_KEPT, Do, Fact, Purpose, ReferenceStep

_QUOTES = set("\"'“”„«»「」\N{LEFT SINGLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}")
"""Marks of names that are not said without quotation marks around them."""

_LARGER = {"after", "above"}
"""The terms before a bound that a value is larger than."""


def with_grounds(setting: Setting, steps: Steps, *, goal: Goal, words: Mapping[str, Said]) -> Steps:
    """Return a reference of which the steps that open a row say by what it is meant; `words` is what the goal speaks of.

    A step whose thought concludes it, and one whose row the goal names, say nothing.
    """

    def ground(step: ReferenceStep) -> ReferenceStep:
        name = step.on or ""
        if step.do is Do.ANSWER and step.why is None and _says_no(step):
            why = _loose(words)
            by = () if why else _facts_asked(setting, goal, words)
            return step.model_copy(update={"by": by, "why": why})
        if step.do is Do.READ and step.keep and step.why is None:
            return _with_aim(setting, step, goal, words)
        if step.why is not None or name in goal.told:
            return step
        if step.do is Do.FIND:
            by = tuple(dict.fromkeys(_description(setting, name, goal, words)))
            return step.model_copy(update={"by": by})
        if step.purpose not in OPENS_ROW:
            return step
        facts = (*_description(setting, name, goal, words), *_among(setting, name, words))
        facts = (Fact(of=name), *facts)
        return step.model_copy(update={"by": tuple(dict.fromkeys(facts))})

    return tuple(map(ground, steps))


def _says_no(step: ReferenceStep) -> bool:
    """Return whether an answer says that a task cannot be done."""
    return step.purpose is Purpose.REFUSE or step.text == IMPOSSIBLE


def _loose(words: Mapping[str, Said]) -> str | None:
    """Return why an answer says that a row is linked to nothing; None: it does not, as there is no such row."""
    row, field = row_of(words), words.get("field")
    if row is None or row.row is None or not isinstance(field, FieldSaid) or not field.via:
        return None
    if set(row.title) & _QUOTES:
        return None
    return sentence("kinds.loose", row=_plain(row.title), link=field.via[0].label)


def _facts_asked(setting: Setting, goal: Goal, words: Mapping[str, Said]) -> tuple[Fact, ...]:
    """Return the row that a goal speaks of, and what it is to have; nothing where the goal does not name it."""
    row = row_of(words)
    name = _plain(row.title) if row is not None else ""
    if not name or set(name) & _QUOTES or not names(goal.text, name):
        return ()
    stated = (said for said in words.values() if isinstance(said, ValuesSaid))
    values = (
        (said.entity.field(field), setting.show(said.entity, said.entity.field(field), value))
        for said in stated
        for field, value in said.values.items()
    )
    facts = (Fact(of=name, label=field.label, value=value) for field, value in values if value)
    return (Fact(of=name), *facts)[:MAX_KEPT]


def _with_aim(
    setting: Setting, step: ReferenceStep, goal: Goal, words: Mapping[str, Said]
) -> ReferenceStep:
    """Return the step that reads a list, with what its rows are read for and by what each kept one is meant."""
    kept = dict.fromkeys(one.of for one in step.keep)
    by = [fact for name in kept for fact in _among(setting, name, words)]
    aim = _aim(setting, step, goal, words)
    return step.model_copy(update={"why": aim, "by": tuple(dict.fromkeys(by))[:MAX_KEPT]})


def _aim(
    setting: Setting, step: ReferenceStep, goal: Goal, words: Mapping[str, Said]
) -> str | None:
    """Return in a sentence what the rows of a list are read for; None: it can be said in no words of the goal."""
    tests = " and ".join(_tests(setting, goal, words))
    field = words.get("field")
    is_compared = isinstance(field, FieldSaid) and field.word
    labels = {one.label for one in step.keep} - {None}
    slots = {"tests": tests or None}
    if is_compared and isinstance(field, FieldSaid):
        slots |= {"field": field.fields[0].label, "word": field.word}
        return sentence("kinds.aim_order" if tests else "kinds.aim_all_order", **slots)
    if labels:
        slots |= {"field": min(label for label in labels if label)}
        return sentence("kinds.aim_values" if tests else "kinds.aim_all_values", **slots)
    return sentence("kinds.aim_rows", tests=tests) if tests else None


def _tests(setting: Setting, goal: Goal, words: Mapping[str, Said]) -> list[str]:
    """Return the conditions of which a goal speaks, each with its value; none if it says one in other words than pages."""
    tests = [test for rows in _conditions(words) for test in rows.tests]
    shown = [(test, setting.show(test.entity, test.field, test.value)) for test in tests]
    if any('"' in value or not names(goal.text, value) for _, value in shown):
        return []
    return [
        " ".join((test.field.label, *([test.over] if test.over else []), f'"{value}"'))
        for test, value in shown
    ]


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
