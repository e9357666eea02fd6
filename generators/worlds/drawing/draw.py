"""Draws specifications of worlds from a family's file and a seed."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from itertools import repeat
from pathlib import Path
from random import Random
from typing import NamedTuple

from pydantic import ValidationError

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
    parse_family,
)
from generators.worlds.drawing.histories import draw_history
from generators.worlds.drawing.locales import LOCALES
from generators.worlds.drawing.look import draw_font, draw_look
from generators.worlds.drawing.procedures import draw_manual
from generators.worlds.drawing.roles import draw_roles
from generators.worlds.drawing.rows import content_problems, draw_rows
from generators.worlds.drawing.text_recipes import draw_text, make_faker, parse_recipe
from generators.worlds.drawing.views import draw_views
from generators.worlds.drawing.widgets import draw_dates, picker_packages, with_widgets
from generators.worlds.kits.kit import kit_packages
from generators.worlds.state.database import Rows
from schemas.base import first_mistake
from schemas.errors import BadTasks
from schemas.tasks.task import MAX_SEED
from schemas.worlds.field import DataField, Kind
from schemas.worlds.look import Words
from schemas.worlds.patterns import Section, Shape, Thread
from schemas.worlds.world import Entity, Transition, Workflow, World

FOLDER = Path(__file__).with_name("families")
"""The folder of the families' files."""

MAX_WORLDS = 2_000
"""Maximum number of worlds for one command: more would exceed the maximum height of a JPEG contact sheet."""

FAMILIES = tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))
"""The names of all families."""


_FIRST_DAY, _DAY_COUNT = datetime(2024, 1, 1, tzinfo=UTC), 1_400
"""The first day on which a world's clock may stand, and the number of days from it."""

_WORKING_HOURS = (8 * 60, 18 * 60)
"""The minutes of the day between which a world's clock stands."""

_DRAWS = 20
"""Maximum number of draws per seed until a world is valid."""


class _Fullest(Random):
    """A source of randomness that takes every option and always the first alternative: its numbers are all 0."""

    random = staticmethod(repeat(0.0).__next__)


class Drawn(NamedTuple):
    """A world of a seed with its rows."""

    world: World
    """The first valid world that the seed draws."""
    rows: Rows
    """The initial rows of its tables; callers must not change them."""
    again: int
    """The number of invalid draws before it."""


def draw_world(family: str, seed: int) -> World:
    """Return the world of a seed.

    Raises:
        BadTasks: the family does not exist, or its file allows no valid world.
    """
    return draw_whole(family, seed)[0]


def draw_whole(family: str, seed: int) -> tuple[World, Rows]:
    """Return the world of a seed and its rows, which callers must not change.

    Raises:
        BadTasks: the family does not exist, or its file allows no valid world.
    """
    drawn = draw(family, seed)
    return drawn.world, drawn.rows


@lru_cache(maxsize=64)  # a world's tasks are drawn, then attempted and replayed
def draw(family: str, seed: int) -> Drawn:
    """Return the world of a seed, its rows, and the number of invalid draws before it.

    Raises:
        BadTasks: the family does not exist, or its file allows no valid world.
    """
    _check_name(family)
    return draw_valid(_read_shipped(family), family, seed)


def _check_name(family: str) -> None:
    if family not in FAMILIES:
        raise BadTasks(f"there is no family of worlds '{family}'; there are {', '.join(FAMILIES)}")


def worlds_in_turn(
    count: int, *, first_seed: int, family: str | None = None
) -> list[tuple[str, int]]:
    """Return family and seed of `count` worlds: of `family`, or of all in turn, each cycle with the next seed.

    Raises:
        BadTasks: a seed or `count` is too large, or the family does not exist.
    """
    if family is not None:
        _check_name(family)
    families = FAMILIES if family is None else (family,)
    if count > MAX_WORLDS:
        raise BadTasks(f"{count:,} worlds: expected at most {MAX_WORLDS:,} at once")
    last = first_seed + (count - 1) // len(families)
    if last > MAX_SEED:
        raise BadTasks(f"the last of these worlds has seed {last}: the largest is {MAX_SEED}")
    places = (divmod(number, len(families)) for number in range(count))
    return [(families[turn], first_seed + cycle) for cycle, turn in places]


def draw_valid(family: Family, name: str, seed: int) -> Drawn:
    """Return the first valid world that a seed draws from a family of the given name.

    Raises:
        BadTasks: all `_DRAWS` draws are invalid; the message has the last reason.
    """
    reason = ""
    for again in range(_DRAWS):
        try:
            world = make_world(family, name, seed, again=again)
            return Drawn(world, draw_rows(world), again)
        except ValidationError as error:
            reason = first_mistake(error)
        except BadTasks as error:
            reason = str(error)
    raise BadTasks(f"{name}.toml: seed {seed} makes no valid world in {_DRAWS} draws: {reason}")


def split_of(family: str) -> str:
    """Return the split in which tasks of a shipped family are published."""
    return _parse_shipped(family).split


def has_pattern(family: str, pattern: Shape | type[Thread]) -> bool:
    """Return whether worlds of a shipped family can have views of a shape, a cart, or threads."""
    shipped = _parse_shipped(family)
    if pattern is Shape.CART:
        return shipped.cart is not None
    if pattern is Thread:
        return bool(shipped.threads)
    return any(view.shape is pattern for view in shipped.views.values())


@cache
def _parse_shipped(name: str) -> Family:
    """Return a shipped family without a trial draw, because every command reads all families."""
    return parse_family(FOLDER / f"{name}.toml")


@cache
def _read_shipped(name: str) -> Family:
    return read_family(FOLDER / f"{name}.toml")


def read_family(path: Path) -> Family:
    """Return the family that a file describes, after a trial draw with all options taken.

    Raises:
        BadTasks: the file is invalid; the message is one line with the file, the place and the reason.
    """
    family = parse_family(path)
    with _refuse(f"{path.name}: title"):
        parse_recipe(family.title)
    for name, entity in family.entities.items():
        for column, field in entity.fields.items():
            with _refuse(f"{path.name}: entities.{name}.fields.{column}"):
                _field(column, field, _Fullest())
    with _refuse(path.name):
        fullest = _begin(family, path.stem, 0, lambda _: _Fullest()).finish()
    for problem in content_problems(fullest):
        raise BadTasks(f"{path.name}: {problem}")
    return family


@contextmanager
def _refuse(where: str) -> Iterator[None]:
    """Raise `BadTasks` with the place for an invalid value or record."""
    try:
        yield
    except ValueError as error:
        reason = first_mistake(error) if isinstance(error, ValidationError) else error
        raise BadTasks(f"{where}: {reason}") from None


def make_world(family: Family, name: str, seed: int, *, again: int = 0) -> World:
    """Return the world of a seed; `again` is the number of invalid draws before.

    Raises:
        ValidationError: the drawn specification is invalid.
    """
    root = f"{name}/{seed}/again {again}" if again else f"{name}/{seed}"

    def stream(part: str) -> Random:
        return Random(f"{root}/{part}")

    draft = _begin(family, name, seed, stream)
    drop_loose_dates(draft)
    users, leaders = family.roles.user, family.roles.leader
    draw_roles(draft, users, leaders, Random(f"roles {name} {seed}"))
    draw_manual(draft, Random(f"manual {name} {seed}"))
    draw_history(draft, Random(f"history {name} {seed}"))
    draw_cart(draft, family.cart, Random(f"cart {name} {seed}"))
    draw_behaviour(draft, stream("behaviour"), stream("noise"))
    return draft.finish()


def _begin(family: Family, name: str, seed: int, stream: Callable[[str], Random]) -> WorldDraft:
    """Return the parts of a world that the family's file describes; `stream` gives each part its randomness."""
    rng = stream("site")
    locale = rng.choice(list(LOCALES))
    formats = LOCALES[locale]
    faker = make_faker(locale)
    faker.random = stream("names")
    entities = {
        key: _scale_amounts(_entity(key, entity, stream(f"entity/{key}")), formats.scale)
        for key, entity in family.entities.items()
    }
    counts = {key: entity.rows for key, entity in entities.items()}
    days = rng.choice(formats.days)
    dates = draw_dates(stream("dates"), days)
    entities = {
        key: with_widgets(
            entity,
            counts,
            stream(f"widgets/{key}"),
            dates=dates,
            others=stream(f"other widgets/{key}"),
            drags="drop" not in family.words,  # where files are dragged, words say so
        )
        for key, entity in entities.items()
    }
    font, fonts = draw_font(locale, stream("font"))
    look = draw_look(locale, font, stream("look"), stream("drawings"))
    return WorldDraft.model_construct(
        family=name,
        seed=seed,
        title=draw_text(family.title, locale, faker),
        host=f"{name.replace('_', '-')}-{seed}.localhost",
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
        fields=tuple(_field(key, field, rng) for key, field in (title, *others)),
        rows=entity.rows[1] - rng.randrange(entity.rows[1] - entity.rows[0] + 1),
        can_add=entity.can_add,
        can_edit=entity.can_edit,
        can_delete=entity.can_delete,
        picture=entity.picture,
        wizard=entity.wizard,
        apart=entity.apart,
        sections=_sections(entity, [key for key, _ in others], rng),
    )


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


def _field(name: str, field: FamilyField, rng: Random) -> DataField:
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
    )


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
