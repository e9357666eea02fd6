"""Past changes of rows, consistent with the current rows.

The last change of a field led to its current value; each earlier change led to the old value of the next.
"""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import cycle, islice
from random import Random

from generators.worlds.drawing.draft import WorldDraft
from generators.worlds.state.database import Row, Rows, Value
from generators.worlds.state.display import show_value, with_number
from generators.worlds.state.form_fields import listed_fields
from generators.worlds.words.catalogue import catalogue
from schemas.worlds.field import DataField, Kind
from schemas.worlds.records import History
from schemas.worlds.world import Entity, View, World

_HAVING, _SEARCHED = 0.45, 0.5
_LABELS = ("field", "before", "after", "author", "day", "row")
_KINDS = frozenset({Kind.CHOICE, Kind.FLAG, Kind.INTEGER, Kind.MONEY, Kind.DATE})
_ROWS, _CHANGES, _FEWEST_FIELDS = (5, 8), (2, 3), 2
_FIRST_DAY = 60
"""The earliest day of a change, in days before the world's date."""


def draw_history(world: WorldDraft, random: Random) -> None:
    """Add past changes of one entity's rows to a world, by chance and if an entity has enough tracked fields."""
    words = catalogue(world.language)
    names = world.draw_pair(words.groups("history.called"), random)
    places = [
        entity for entity in world.entities if len(tracked_fields(world, entity)) >= _FEWEST_FIELDS
    ]
    if names is None or not places or random.random() >= _HAVING:
        return
    entity = random.choice(places)
    labels = [random.choice(words.among(f"history.{one}")) for one in _LABELS]
    made = Entity(
        name="past_change",
        one=names[0],
        many=names[1],
        fields=_fields(world, entity, names[0], labels),
        rows=random.randint(*_ROWS) * _CHANGES[1],
        can_add=False,
        can_edit=False,
        can_delete=False,
    )
    view = View(
        name="past_changes",
        label=names[1],
        entity=made.name,
        columns=("number", "changed", "field", "day"),
        searched=random.random() < _SEARCHED,
        filters=("field",),
        sorts=("day",),
    )
    world.add_table(made, view, world.draw_place(random))
    world.history = History(
        entity=entity.name,
        changes=made.name,
        link="changed",
        field="field",
        before="before",
        after="after",
        author="author",
        day="day",
    )


def _fields(world: World, entity: Entity, one: str, labels: Sequence[str]) -> tuple[DataField, ...]:
    field, before, after, author, day, link = labels
    told = tuple(dict.fromkeys(one.label for one in tracked_fields(world, entity)))
    return (
        DataField(
            name="number",
            label=catalogue(world.language).say("history.number"),
            kind=Kind.TEXT,
            content=with_number(world, one, "{number}"),
        ),
        DataField(name="changed", label=link, kind=Kind.LINK, target=entity.name),
        DataField(name="field", label=field, kind=Kind.CHOICE, choices=told),
        DataField(name="before", label=before, kind=Kind.TEXT),
        DataField(name="after", label=after, kind=Kind.TEXT),
        DataField(name="author", label=author, kind=Kind.TEXT, content="{first_name} {last_name}"),
        DataField(name="day", label=day, kind=Kind.DATE, min=-_FIRST_DAY, max=-1),
    )


def tracked_fields(world: World, entity: Entity) -> list[DataField]:
    """Return the fields whose changes are recorded."""
    return listed_fields(world, entity, _KINDS)


def fill_history(world: World, history: History, rows: Rows) -> None:
    """Fill the rows of past changes, in order of their days."""
    entity, changes = world.entity(history.entity), rows[history.changes]
    random = Random(f"history {world.family} {world.seed}")
    count = max(1, min(len(changes) // _CHANGES[1], len(rows[entity.name])))
    about = random.sample(rows[entity.name], count)
    turns = sorted(random.sample(range(1, _FIRST_DAY), min(len(changes), _FIRST_DAY - 1)))
    made = _backwards(world, entity, about, rows[entity.name], random)
    past = list(islice(made, len(changes)))
    for change, told, days in zip(changes, reversed(past), reversed(turns), strict=True):
        day = (world.at.date() - timedelta(days=days)).isoformat()
        change.update({**told, history.day: day})


def _backwards(
    world: World, entity: Entity, about: Sequence[Row], rows: Sequence[Row], random: Random
) -> Iterator[Row]:
    """Yield changes without end, from the last to the first, each consistent with the changes after it."""
    held = [{**row} for row in about]
    for then in cycle(held):
        options = [
            (field, others)
            for field in tracked_fields(world, entity)
            if then[field.name] is not None and (others := _others(rows, field, then))
        ]
        field, others = random.choice(options)
        before = random.choice(others)
        yield {
            "changed": then["id"],
            "field": field.label,
            "before": show_value(world, field, before),
            "after": show_value(world, field, then[field.name]),
        }
        then[field.name] = before


def _others(rows: Sequence[Row], field: DataField, row: Row) -> list[Value]:
    """Return the values of a field in other rows, without those equal to the row's own."""
    values = {one[field.name] for one in rows} - {row[field.name], None}
    return sorted(values, key=str)
