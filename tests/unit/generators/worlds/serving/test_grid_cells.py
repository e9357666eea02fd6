"""Grids of worlds: what their cells take, refuse and show, and what references over them change."""

from pathlib import Path
from random import Random

import pytest
from pydantic import ValidationError
from support.worlds.drawn import specification
from support.worlds.drawn_visits import reward, setting_of, visiting

from generators.tasks.worlds.kinds.grid import grid_edit
from generators.tasks.worlds.references.pattern_steps import views_of
from generators.worlds.drawing.draw import FOLDER, read_family
from generators.worlds.words.catalogue import catalogue
from schemas.errors import BadTasks
from schemas.worlds.behaviour import Cells
from schemas.worlds.field import Kind
from schemas.worlds.patterns import Shape
from schemas.worlds.world import View, World


def a_grid(family: str, cells: Cells = Cells.PENCIL) -> tuple[World, View]:
    """Return a world with a grid whose cells are opened in a given way."""
    worlds = (specification(family, seed) for seed in range(40))
    return next(
        (world, view)
        for world in worlds
        for view in world.views
        if view.shape is Shape.GRID and world.behaviour.cells is cells
    )


@pytest.mark.parametrize("cells", Cells)
@pytest.mark.parametrize("family", ["inventory", "courses"])
async def test_cells_of_a_grid_are_changed_where_they_are(family: str, cells: Cells) -> None:
    world, _ = a_grid(family, cells)
    draft = grid_edit(setting_of(world), Random(cells.value))
    assert draft is not None

    assert await reward(world, draft.reference[:-1], draft.expect) == 1


async def test_a_cell_says_what_it_refuses_and_shows_what_it_took() -> None:
    world, view = a_grid("inventory")
    field = next(one for one in world.cells(view) if one.kind in {Kind.INTEGER, Kind.MONEY})
    address = f"/_/cells/{view.name}/1/{field.name}"
    async with visiting(world) as seen:
        before = seen.table("part")
        refused = await seen.http.post(address, data={field.name: "many"})
        between = seen.table("part")
        part = await seen.http.post(
            address, data={field.name: str(field.max)}, headers={"Part": "inside"}
        )
        whole = await seen.http.post(address, data={field.name: str(field.min)})
        after = seen.table("part")
    least = field.min if field.kind is Kind.INTEGER else 100 * field.min

    assert refused.status_code == 422
    keys = ("whole_number", "number_between", "amount_like")
    told = [catalogue(world.language).say_as_is(f"form.{key}").split(" {")[0] for key in keys]
    assert any(one in refused.text for one in told)
    assert before == between
    assert (part.url.path, whole.url.path) == (address, f"/{view.name}")
    assert after[0] == {**before[0], field.name: least}
    assert after[1:] == before[1:]


async def test_only_cells_of_a_grid_that_can_be_changed_have_a_page() -> None:
    world, view = a_grid("inventory")
    title = world.entity(view.entity).title.name
    other = next(one for one in world.views if one.shape is Shape.LIST)
    field = world.cells(view)[0].name
    async with visiting(world) as seen:
        found = [
            (await seen.http.get(f"/_/cells/{name}/{row}/{column}")).status_code
            for name, row, column in (
                (view.name, 1, field),
                (view.name, 1, title),
                (view.name, 9_999, field),
                (other.name, 1, field),
            )
        ]

    assert found == [200, 404, 404, 404]


def test_a_grid_of_what_cannot_be_changed_is_refused() -> None:
    world, view = a_grid("inventory")
    entities = [
        one.model_copy(update={"can_edit": False}) if one.name == view.entity else one
        for one in world.entities
    ]

    with pytest.raises(ValidationError, match=f"'{view.name}': a grid has a cell that can be"):
        World.model_validate(world.model_dump() | {"entities": entities})
    assert views_of(setting_of(world), Shape.GRID) == [view]


def test_a_grid_of_what_some_worlds_cannot_change_is_refused_by_its_file(tmp_path: Path) -> None:
    path = tmp_path / "inventory.toml"
    text = (FOLDER / "inventory.toml").read_text(encoding="utf-8")
    old = "[entities.part]\n"
    assert old in text
    path.write_text(text.replace(old, f"{old}can_edit = false\n", 1), encoding="utf-8")

    with pytest.raises(BadTasks, match="'part' has no field in every world that a"):
        read_family(path)
