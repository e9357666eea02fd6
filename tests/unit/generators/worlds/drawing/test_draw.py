"""A seed draws a world that is whole and like no other."""

from collections.abc import Iterator
from functools import cache
from random import Random

import pytest
from effort import THOROUGH
from pydantic import ValidationError
from support.worlds import drawn

from generators.worlds.drawing import specification
from generators.worlds.drawing.draft import WorldDraft
from generators.worlds.drawing.draw import FAMILIES, FOLDER, draw_world, read_family
from generators.worlds.drawing.locales import locales_of
from generators.worlds.drawing.look import FONTS
from generators.worlds.drawing.specification import make_world
from generators.worlds.kits.kit import KITS
from generators.worlds.state.display import has_padded_numbers
from schemas.errors import BadTasks
from schemas.worlds.field import PICKERS, DataField, Kind, Widget
from schemas.worlds.look import Layout, Listing
from schemas.worlds.patterns import Shape
from schemas.worlds.records import History
from schemas.worlds.world import Entity, World

SEEDS = 100 if THOROUGH else 30
"""How many worlds of each family are looked at."""


@cache
def _worlds(family: str) -> tuple[World, ...]:
    """Return a family's worlds; their rows are drawn by the tests of contents, and here at the large size."""
    make = draw_world if THOROUGH else drawn.specification
    return tuple(make(family, seed) for seed in range(SEEDS))


@pytest.mark.parametrize("family", FAMILIES)
def test_every_seed_draws_a_world_of_its_family(family: str) -> None:
    for seed, world in enumerate(_worlds(family)):
        assert World.model_validate(world.model_dump()) == world
        assert (world.family, world.seed) == (family, seed)
        assert 3 <= len(world.views) <= 11
        assert 3 <= len(world.entities) <= 11
        assert {len(entity.fields) for entity in world.entities} <= set(range(3, 12))
        assert 1 <= len(world.workflows) <= 2


@pytest.mark.parametrize("family", FAMILIES)
def test_worlds_differ_in_their_columns_alone(family: str) -> None:
    def columns(world: World) -> tuple[frozenset[tuple[str, Kind]], ...]:
        return tuple(
            frozenset((field.name, field.kind) for field in entity.fields)
            for entity in world.entities
        )

    assert len({columns(world) for world in _worlds(family)}) >= 0.9 * SEEDS


@pytest.mark.parametrize("family", FAMILIES)
def test_worlds_differ_in_words_and_in_what_views_show(family: str) -> None:
    worlds = _worlds(family)

    assert len({world.title for world in worlds}) >= 20
    assert len({world.words for world in worlds}) == SEEDS
    assert len({world.views for world in worlds}) == SEEDS
    assert len({world.origin for world in worlds}) == SEEDS
    assert len({world.user for world in worlds}) >= 0.9 * SEEDS
    spoken = {world.language for world in worlds}
    assert {one.locale for one in worlds} == {name for one in spoken for name in locales_of(one)}
    assert len({entity.one for world in worlds for entity in world.entities}) > len(
        worlds[0].entities
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_every_thing_of_a_page_has_words_of_its_own(family: str) -> None:
    for world in _worlds(family):
        words = world.words
        links = [words.home, *(view.label for view in world.views)]
        buttons = [words.edit, words.delete, words.save, words.cancel, words.confirm, words.apply]
        for entity in world.entities:
            labels = [field.label for field in entity.fields]
            flow = world.workflow(entity.name)
            steps = [] if flow is None else [step.label for step in flow.transitions]
            for group in ([*labels, words.search, words.sort], [*links, *buttons, *steps]):
                assert len(set(map(str.casefold, group))) == len(group), (world.seed, group)
        for name in ("one", "many"):
            assert len({getattr(one, name) for one in world.entities}) == len(world.entities)


@pytest.mark.parametrize("family", FAMILIES)
def test_what_a_view_shows_fits_what_its_entity_has(family: str) -> None:
    for world in _worlds(family):
        for view in world.views:
            if view.shape is not Shape.LIST:
                continue
            entity = world.entity(view.entity)
            assert view.columns[0] == entity.title.name
            assert len(set(view.columns)) == len(view.columns) >= 3
            assert {_kind(entity, name) for name in view.filters} <= {Kind.CHOICE}
            assert Kind.LONG_TEXT not in {_kind(entity, name) for name in view.columns}
            assert view.sorts
            assert view.page_size < 60


def _kind(entity: Entity, name: str) -> Kind:
    return entity.field(name).kind


def test_fields_are_asked_for_with_all_widgets_of_their_kind() -> None:
    fields = [
        (world, field)
        for family in FAMILIES
        for world in _worlds(family)
        for field in _fields(world)
    ]

    assert {field.asked_with for _, field in fields} == set(Widget)
    for world, field in fields:
        match field.widget:
            case Widget.RADIOS | Widget.CARDS | Widget.SEGMENTS:
                assert len(field.choices) <= 5
                assert field.required
            case Widget.SELECT if field.target is not None:
                assert world.entity(field.target).rows <= 12
            case Widget.SLIDER:
                assert field.max - field.min <= 40
            case _:
                pass


def test_a_world_asks_for_all_dates_alike_and_has_the_package_of_its_picker() -> None:
    for world in (world for family in FAMILIES for world in _worlds(family)):
        asked = [one for one in _fields(world) if one.kind is Kind.DATE and one.widget is not None]
        widgets = {field.asked_with for field in asked}
        assert len(widgets) <= 1
        used = {field.asked_with.value for field in asked if field.editable}
        pinned = {one.rpartition("@")[0] for one in world.packages}
        assert pinned & set(PICKERS) == used & set(PICKERS)
        assert Widget.DATE not in widgets or has_padded_numbers(world.days)


def _fields(world: World) -> Iterator[DataField]:
    return (field for entity in world.entities for field in entity.fields)


def test_looks_take_every_form() -> None:
    looks = [world.look for family in FAMILIES for world in _worlds(family)]

    assert {look.layout for look in looks} == set(Layout)
    assert {look.listing for look in looks} == set(Listing)
    assert {look.font.partition(",")[0] for look in looks} == set(FONTS)
    assert {look.dark for look in looks} == {look.dense for look in looks} == {True, False}
    assert {look.kit for look in looks} == set(KITS)
    assert len(KITS) > 7
    assert len({look.accent for look in looks}) > len(looks) * 0.9
    assert all((look.surface[1] < "8") is look.dark for look in looks)


def test_an_unknown_family_is_refused_with_those_there_are() -> None:
    with pytest.raises(BadTasks, match="no family of worlds 'shops'; there are banking, calendar"):
        draw_world("shops", 0)


def test_what_any_part_adds_to_a_world_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(world: WorldDraft, _: Random) -> None:
        world.history = History(
            entity="product",
            changes="nowhere",
            link="changed",
            field="field",
            before="before",
            after="after",
            author="author",
            day="day",
        )

    monkeypatch.setattr(specification, "draw_history", broken)

    with pytest.raises(ValidationError, match=r"history: .*nowhere"):
        make_world(read_family(FOLDER / "shop.toml"), "shop", 0)
