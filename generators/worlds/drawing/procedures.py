"""The written procedures of a website, and their texts."""

from collections.abc import Iterator
from random import Random

from generators.worlds.drawing.draft import WorldDraft
from generators.worlds.state.display import show_value, with_number
from generators.worlds.state.form_fields import listed_fields
from generators.worlds.words.catalogue import catalogue
from schemas.worlds.field import DataField, Kind
from schemas.worlds.records import Manual, Procedure, Put
from schemas.worlds.world import Entity, View, World

_HAVING, _STEPPING, _WRITING, _SEARCHED = 0.5, 0.6, 0.6, 0.6
"""The shares: of worlds that have procedures, of these with a step and with a message, and of lists with a search."""

_KINDS = frozenset({Kind.CHOICE, Kind.FLAG, Kind.INTEGER})
_ENTITIES, _EACH, _FEWEST_FIELDS, _MOST_PUTS = 2, (3, 5), 2, 3


def draw_manual(world: WorldDraft, random: Random) -> None:
    """Add written procedures to a world, by chance and if an entity has enough fields for them."""
    words = catalogue(world.language)
    names = world.draw_pair(words.groups("procedures.called"), random)
    entities = [
        one for one in world.entities if len(listed_fields(world, one, _KINDS)) >= _FEWEST_FIELDS
    ]
    if names is None or not entities or random.random() >= _HAVING:
        return
    about = random.sample(entities, min(_ENTITIES, len(entities)))
    procedures = tuple(one for entity in about for one in _draw(world, entity, random))
    made = Entity(
        name="guide_page",
        one=names[0],
        many=names[1],
        fields=(
            DataField(
                name="title",
                label=random.choice(words.among("procedures.title")),
                kind=Kind.TEXT,
                content=with_number(world, names[0], "{number}"),
            ),
            DataField(
                name="text",
                label=random.choice(words.among("procedures.text")),
                kind=Kind.LONG_TEXT,
            ),
            DataField(
                name="author",
                label=random.choice(words.among("procedures.author")),
                kind=Kind.TEXT,
                content="{first_name} {last_name}",
            ),
            DataField(
                name="written",
                label=random.choice(words.among("procedures.day")),
                kind=Kind.DATE,
                min=-600,
                max=-20,
            ),
        ),
        rows=len(procedures),
        can_add=False,
        can_edit=False,
        can_delete=False,
    )
    view = View(
        name="guide_pages",
        label=names[1],
        entity=made.name,
        columns=("title", "author", "written"),
        searched=random.random() < _SEARCHED,
        sorts=("written",),
    )
    world.add_table(made, view, world.draw_place(random))
    world.manual = Manual(entity=made.name, text="text", procedures=procedures)


def _draw(world: World, entity: Entity, random: Random) -> Iterator[Procedure]:
    """Yield procedures for an entity's rows, each with another topic."""
    fields, flow = listed_fields(world, entity, _KINDS), world.workflow(entity.name)
    words = catalogue(world.language)
    for topic in random.sample(words.among("procedures.topics"), random.randint(*_EACH)):
        steps = flow is not None and random.random() < _STEPPING
        writes = world.thread(entity.name) is not None and random.random() < _WRITING
        least = 1 if steps or writes else _FEWEST_FIELDS
        count = random.randint(least, min(_MOST_PUTS, len(fields)))
        yield Procedure(
            title=words.say("procedures.how", topic=topic, one=entity.one),
            entity=entity.name,
            puts=tuple(_put(field, random) for field in random.sample(fields, count)),
            step=random.choice(flow.transitions).name if flow is not None and steps else None,
            message=random.choice(words.among("procedures.messages")) if writes else "",
        )


def _put(field: DataField, random: Random) -> Put:
    if field.kind is Kind.CHOICE:
        return Put(field=field.name, value=random.choice(field.choices))
    least, most = (0, 1) if field.kind is Kind.FLAG else (field.min, field.max)
    return Put(field=field.name, value=random.randint(least, most))


def procedure_text(world: World, procedure: Procedure) -> str:
    """Return the text of a procedure: all instructions, in the words of the pages."""
    entity, flow = world.entity(procedure.entity), world.workflow(procedure.entity)
    thread, way = world.thread(procedure.entity), world.seed
    words = catalogue(world.language)
    told = [words.say("procedures.open", one=entity.one)]

    def draw(key: str) -> str:
        among = words.among(f"procedures.{key}")
        return among[way % len(among)]

    for put in procedure.puts:
        field = entity.field(put.field)
        value = show_value(world, field, put.value)
        told.append(draw("set").format(field=field.label, value=value))
    told += [
        draw("step").format(step=step.label)
        for step in (flow.transitions if flow is not None else ())
        if step.name == procedure.step
    ]
    if procedure.message and thread is not None:
        told.append(draw("last").format(message=procedure.message, reply=thread.reply))
    return world.language.gap.join(told)
