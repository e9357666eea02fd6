"""Maps of places: where places are, which of them a task is about, and what no map can be."""

from pathlib import Path
from random import Random

import pytest
from pydantic import ValidationError
from support.worlds.drawn import specification
from support.worlds.drawn_visits import reward, setting_of, visiting

from generators.tasks.worlds.kinds.seat_map import take_place
from generators.worlds.drawing.draw import FOLDER, read_family
from generators.worlds.serving.seat_map import Place, place_of
from schemas.errors import BadTasks
from schemas.worlds.patterns import Shape
from schemas.worlds.world import View, World


def a_map(family: str) -> tuple[World, View]:
    """Return a world with a map."""
    worlds = (specification(family, seed) for seed in range(40))
    return next(
        (world, view) for world in worlds for view in world.views if view.shape is Shape.MAP
    )


def test_a_place_follows_from_the_end_of_a_title() -> None:
    found = [place_of(title) for title in ("Seat 11C", "4A", "Hall", "4A left")]

    assert found == [Place(11, "C"), Place(4, "A"), None, None]


@pytest.mark.parametrize("family", ["travel", "clinic", "rental"])
async def test_the_one_place_that_fits_is_taken_by_a_step(family: str) -> None:
    world, view = a_map(family)
    draft = take_place(setting_of(world), Random(family))
    assert draft is not None
    (rule,) = draft.expect.changed

    assert await reward(world, draft.reference[:-1], draft.expect) == 1
    assert (rule.table, list(rule.set.values()) != [view.free]) == (view.entity, True)


async def test_a_map_shows_each_place_once_and_takes_no_form() -> None:
    world, view = a_map("travel")
    rows = setting_of(world).rows_of(world.entity(view.entity))
    free = sum(row["state"] == view.free for row in rows)
    async with visiting(world) as seen:
        page = (await seen.http.get(f"/{view.name}")).text
        sent = await seen.http.post(f"/{view.name}")

    assert page.count('<a class="place free"') == free > 0
    assert page.count('<a class="place taken"') == len(rows) - free > 0
    assert sent.status_code == 405


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"views": {"free": None}}, "a map has a state from which places are taken"),
        ({"entities": {"can_add": True}}, "places of a map are neither added nor named anew"),
    ],
)
def test_a_map_without_free_places_or_with_new_ones_is_refused(
    change: dict[str, dict[str, object]], reason: str
) -> None:
    world, view = a_map("travel")
    whole = world.model_dump()
    for part, update in change.items():
        name = view.name if part == "views" else view.entity
        whole[part] = [one | update if one["name"] == name else one for one in whole[part]]

    with pytest.raises(ValidationError, match=reason):
        World.model_validate(whole)


@pytest.mark.parametrize(
    ("family", "old", "new", "reason"),
    [
        ("travel", 'free = "Free"', 'free = "Sold out"', "views.seats.free: no step of 'seat' begins at 'Sold out'"),
        ("travel", "|11}{A|B|C|D}", "|11} {North|South|East}", "views.seats: titles of 'seat' end in no place"),
        ("shop", 'entity = "product"\nshape = "grid"', 'entity = "line"\nshape = "map"', "views.stock.free: no step of 'line'"),
    ],
)  # fmt: skip
def test_a_map_of_no_places_is_refused_by_its_file(
    tmp_path: Path, family: str, old: str, new: str, reason: str
) -> None:
    path = tmp_path / f"{family}.toml"
    text = (FOLDER / f"{family}.toml").read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")

    with pytest.raises(BadTasks) as refused:
        read_family(path)

    assert reason in str(refused.value)
