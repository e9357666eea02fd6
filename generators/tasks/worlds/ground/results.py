"""What pages show once a change was made: by it a policy sees that it has done what a task asks."""

from collections.abc import Iterator, Sequence

from generators.tasks.worlds.ground.world_rows import Setting
from schemas.tasks.expectation import Expectation, RowRule
from schemas.tasks.reference import ReferenceStep
from schemas.worlds.field import Kind, tags_of
from schemas.worlds.world import Entity

_TEXTS = (Kind.TEXT, Kind.LONG_TEXT)


def with_results(
    setting: Setting, expect: Expectation, steps: Sequence[ReferenceStep]
) -> Expectation:
    """Return an expectation with the texts by which pages show that its changes were made.

    Of a changed row these are its new values, of a new one the first text of its own that `steps` enter, or else its
    title, of one that is gone its title, which a message names. What is no plain value, and what a box shows that is
    ticked or not, is left out.
    """
    entered = {step.text for step in steps if step.text}
    shown = [text for text in _results(setting, expect, entered) if text.strip()]
    return expect.model_copy(update={"shown": tuple(dict.fromkeys(shown))})


def _results(setting: Setting, expect: Expectation, entered: set[str]) -> Iterator[str]:
    entities = {entity.name: entity for entity in setting.world.entities}
    for rule in expect.changed:
        if (entity := entities.get(rule.table.strip("/"))) is not None:
            for name, value in rule.set.items():
                yield from _texts(setting, entity, name, value)
    for rule in expect.added:
        if (entity := entities.get(rule.table.strip("/"))) is not None:
            yield from _first_text(setting, entity, rule, entered)
    for rule in expect.removed:
        if (entity := entities.get(rule.table.strip("/"))) is not None:
            rows = setting.rows_of(entity)
            gone = (row for row in rows if row["id"] == rule.where.get("id"))
            yield from (setting.title(entity, row) for row in gone)


def _texts(setting: Setting, entity: Entity, name: str, value: object) -> Iterator[str]:
    """Yield how pages show a value, each tag by itself; nothing if it is none that a text shows."""
    field = entity.field(name)
    is_new = field.target is not None and value not in {
        row["id"] for row in setting.rows_of(setting.world.entity(field.target))
    }
    if field.kind is Kind.FLAG or not isinstance(value, str | int) or is_new:
        return
    if field.kind is Kind.TAGS:
        yield from tags_of(str(value))
    else:
        yield setting.show(entity, field, value)


def _first_text(
    setting: Setting, entity: Entity, rule: RowRule, entered: set[str]
) -> Iterator[str]:
    """Yield the first text of a new row that was entered, or else its title."""
    named = (entity.title, *(field for field in entity.fields if field.kind in _TEXTS))
    values = ((field, rule.where.get(field.name)) for field in named)
    texts = [
        setting.show(entity, field, value)
        for field, value in values
        if isinstance(value, str) and value.strip()
    ]
    yield from [text for text in texts if text in entered][:1] or texts[:1]
