"""Draws the specification of a world from a family and a seed, part by part."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from random import Random

from generators.worlds.drawing.behaviour import draw_behaviour
from generators.worlds.drawing.carts import draw_cart
from generators.worlds.drawing.dates import drop_loose_dates
from generators.worlds.drawing.draft import WorldDraft
from generators.worlds.drawing.family import (
    Family,
    FamilyEntity,
    FamilyField,
    FamilyThread,
    FamilyWorkflow,
)
from generators.worlds.drawing.histories import draw_history
from generators.worlds.drawing.locales import LOCALES, locales_of
from generators.worlds.drawing.look import draw_font, draw_look
from generators.worlds.drawing.procedures import draw_manual
from generators.worlds.drawing.roles import draw_roles
from generators.worlds.drawing.text_recipes import draw_text, make_faker, recipe_of
from generators.worlds.drawing.views import draw_views
from generators.worlds.drawing.widgets import draw_dates, picker_packages, with_widgets
from generators.worlds.kits.kit import kit_packages
from schemas.worlds.field import DataField, Kind
from schemas.worlds.look import Words
from schemas.worlds.patterns import Section, Thread
from schemas.worlds.world import Entity, Transition, Workflow, World

_FIRST_DAY, _DAY_COUNT = datetime(2024, 1, 1, tzinfo=UTC), 1_400
"""The first day on which a world's clock may stand, and the number of days from it."""

_FEWEST_ROWS = 3
"""The least rows of a table that is made smaller, unless it has fewer."""

_WORKING_HOURS = (8 * 60, 18 * 60)
"""The minutes of the day between which a world's clock stands."""


class Fullest(Random):
    """A source of randomness that takes every option and always the first alternative: its numbers are all 0."""

    random = staticmethod(itertools.repeat(0.0).__next__)


def make_world(
    family: Family, name: str, seed: int, *, again: int = 0, count: int | None = None
) -> World:
    """Return the world of a seed; `again` is the number of invalid draws before.

    `count` is the number of rows of its largest table, the others in proportion; None: as the seed draws them.

    Raises:
        ValidationError: the drawn specification is invalid.
    """
    root = f"{name}/{seed}/again {again}" if again else f"{name}/{seed}"

    def stream(part: str) -> Random:
        return Random(f"{root}/{part}")

    draft = begin(family, name, seed, stream, count)
    drop_loose_dates(draft)
    users, leaders = family.roles.user, family.roles.leader
    draw_roles(draft, users, leaders, Random(f"roles {name} {seed}"))
    draw_manual(draft, Random(f"manual {name} {seed}"))
    draw_history(draft, Random(f"history {name} {seed}"))
    draw_cart(draft, family.cart, Random(f"cart {name} {seed}"))
    draw_behaviour(draft, stream("behaviour"), stream("noise"))
    return draft.finish()


def begin(
    family: Family,
    name: str,
    seed: int,
    stream: Callable[[str], Random],
    count: int | None = None,
) -> WorldDraft:
    """Return the parts of a world that the family's file describes; `stream` gives each part its randomness."""
    language = family.language
    rng = stream("site")
    locale = rng.choice(locales_of(language))
    formats = LOCALES[locale]
    faker = make_faker(locale)
    faker.random = stream("names")
    entities = _entities(family, stream, scale=formats.scale, count=count)
    counts = {key: entity.rows for key, entity in entities.items()}
    days = rng.choice(formats.days)
    dates = draw_dates(stream("dates"), days, language)
    entities = {
        key: with_widgets(
            entity,
            counts,
            stream(f"widgets/{key}"),
            dates=dates,
            others=stream(f"other widgets/{key}"),
            drags=family.drags,
        )
        for key, entity in entities.items()
    }
    font, fonts = draw_font(language, stream("font"))
    look = draw_look(font, stream("look"), stream("drawings"))
    return WorldDraft.model_construct(
        family=name,
        seed=seed,
        title=draw_text(family.title, locale, faker),
        host=f"{name.replace('_', '-')}-{seed}.localhost",
        language=language,
        locale=locale,
        currency=formats.currency,
        amounts=formats.amounts,
        days=days,
        at=_FIRST_DAY
        + timedelta(days=rng.randrange(_DAY_COUNT), minutes=rng.randrange(*_WORKING_HOURS)),
        user=draw_text("{first_name} {last_name}", locale, faker),
        entities=tuple(entities.values()),
        workflows=tuple(
            _workflow(key, flow, family.entities[key], entities[key], stream(f"workflow/{key}"))
            for key, flow in family.workflows.items()
        ),
        views=draw_views(family, entities, stream),
        threads=tuple(
            _thread(key, thread, stream(f"thread/{key}")) for key, thread in family.threads.items()
        ),
        words=_words(family, stream("words")),
        look=look,
        packages=(*kit_packages(look.kit), *fonts, *picker_packages(entities.values())),
    )


def _entities(
    family: Family, stream: Callable[[str], Random], *, scale: int, count: int | None
) -> dict[str, Entity]:
    """Return the drawn entities; `scale` is that of amounts, and `count` is as in `make_world`."""
    entities = {
        key: _scale_amounts(_entity(key, entity, stream(f"entity/{key}")), scale)
        for key, entity in family.entities.items()
    }
    return entities if count is None else _resize(entities, count)


def _entity(name: str, entity: FamilyEntity, rng: Random) -> Entity:
    called = rng.randrange(len(entity.one))
    title, *others = (
        (key, field) for key, field in entity.fields.items() if rng.random() < field.chance
    )
    rng.shuffle(others)
    return Entity(
        name=name,
        one=entity.one[called],
        many=entity.many[called],
        fields=tuple(draw_field(key, field, rng) for key, field in (title, *others)),
        rows=entity.rows[1] - rng.randrange(entity.rows[1] - entity.rows[0] + 1),
        can_add=entity.can_add,
        can_edit=entity.can_edit,
        can_delete=entity.can_delete,
        picture=entity.picture,
        wizard=entity.wizard,
        apart=entity.apart,
        sections=_sections(entity, [key for key, _ in others], rng),
    )


def _resize(entities: Mapping[str, Entity], count: int) -> dict[str, Entity]:
    """Return entities in proportion, the largest with so many rows; none has fewer than 3, or more than it has titles."""
    largest = max(entity.rows for entity in entities.values())
    return {
        key: entity.model_copy(update={"rows": _rows(entity, count / largest)})
        for key, entity in entities.items()
    }


def _rows(entity: Entity, scale: float) -> int:
    titles = recipe_of(entity.title).max_texts
    wanted = max(min(_FEWEST_ROWS, entity.rows), round(entity.rows * scale))
    return wanted if titles is None else min(wanted, max(entity.rows, titles // 2))


def _sections(entity: FamilyEntity, drawn: Sequence[str], rng: Random) -> tuple[Section, ...]:
    """Return the sections that contain at least one drawn field."""
    labels = {key: rng.choice(said) for key, said in entity.sections.items()}
    held = {
        key: tuple(name for name in drawn if entity.fields[name].section == key) for key in labels
    }
    return tuple(Section(label=labels[key], fields=held[key]) for key in labels if held[key])


def _scale_amounts(entity: Entity, scale: int) -> Entity:
    """Return the entity with its amounts multiplied by `scale`."""
    fields = (
        field.model_copy(update={"min": field.min * scale, "max": field.max * scale})
        if field.kind is Kind.MONEY
        else field
        for field in entity.fields
    )
    return entity.model_copy(update={"fields": tuple(fields)})


def draw_field(name: str, field: FamilyField, rng: Random) -> DataField:
    """Return a field of a world, with some of its choices in one of their words each."""
    count = len(field.choices)
    kept = count - rng.randrange(count - (field.few or count) + 1)
    choices = tuple(
        rng.choice(field.choices[one]) for one in sorted(rng.sample(range(count), kept))
    )
    return DataField(
        name=name,
        label=rng.choice(field.label),
        kind=field.kind,
        content=field.content,
        choices=choices,
        target=field.target,
        min=field.min,
        max=field.max,
        required=field.required,
        editable=field.editable,
    ).model_copy(update=field.spoken())


def _workflow(
    name: str, flow: FamilyWorkflow, entity: FamilyEntity, drawn: Entity, rng: Random
) -> Workflow:
    """Return a workflow in the labels that the world has drawn for its states."""
    firsts = [choice[0] for choice in entity.fields[flow.field].choices]
    words = dict(zip(firsts, drawn.field(flow.field).choices, strict=True))
    return Workflow(
        entity=name,
        field=flow.field,
        transitions=tuple(
            Transition(
                name=key,
                label=rng.choice(step.label),
                said=step.said,
                before=tuple(words[state] for state in step.before),
                after=words[step.after],
            )
            for key, step in flow.transitions.items()
        ),
    )


def _thread(name: str, thread: FamilyThread, rng: Random) -> Thread:
    return Thread(
        entity=name,
        messages=thread.messages,
        link=thread.link,
        text=thread.text,
        author=thread.author,
        day=thread.day,
        reply=rng.choice(thread.reply),
    )


def _words(family: Family, rng: Random) -> Words:
    return Words(**{name: rng.choice(said) for name, said in family.all_words.items()})
