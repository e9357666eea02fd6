"""By which actions things of a world are reached: each way is drawn in many families, and only where it can be used."""

from collections.abc import Callable

import pytest
from support.worlds import drawn

from generators.worlds.drawing.draw import FAMILIES
from schemas.worlds.behaviour import Acts, Cells, Facts, Menus, Place
from schemas.worlds.field import Kind, Widget
from schemas.worlds.patterns import Shape
from schemas.worlds.world import World

SEEDS = range(6)


def worlds() -> list[World]:
    return [drawn.world(family, seed) for family in FAMILIES for seed in SEEDS]


def dragged(world: World) -> bool:
    fields = (field for entity in world.entities for field in entity.fields)
    return any(one.kind is Kind.CHOICE and one.asked_with is Widget.DROP for one in fields)


WAYS: dict[str, Callable[[World], bool]] = {
    "a menu under the pointer": lambda one: one.behaviour.menus_open is Menus.HOVER,
    "actions under the pointer": lambda one: one.behaviour.acts is Acts.HOVER,
    "actions by the right button": lambda one: one.behaviour.acts is Acts.CONTEXT,
    "rows by two clicks": lambda one: one.behaviour.twice,
    "cells by two clicks": lambda one: (
        one.behaviour.cells is Cells.TWICE and any(v.shape is Shape.GRID for v in one.views)
    ),
    "a sheet": lambda one: one.behaviour.facts is Facts.SHEET and not one.behaviour.in_tab,
    "a sheet in a tab": lambda one: one.behaviour.facts is Facts.SHEET and one.behaviour.in_tab,
    "rows alone": lambda one: one.behaviour.rows_alone and not one.behaviour.in_tab,
    "rows alone in a tab": lambda one: one.behaviour.rows_alone and one.behaviour.in_tab,
    "results that take their time": lambda one: one.behaviour.slow_ms > 0,
    "choices in a tray": dragged,
    "searches by Enter": lambda one: any(one.sends_by_enter(view) for view in one.views),
}


@pytest.mark.parametrize("way", WAYS)
def test_each_way_is_drawn_in_several_families_and_in_no_family_always(way: str) -> None:
    having = [world.family for world in worlds() if WAYS[way](world)]

    assert len(set(having)) >= 3
    assert len(having) < len(worlds())


def test_a_way_is_drawn_only_where_it_can_be_used() -> None:
    for world in worlds():
        how = world.behaviour
        assert how.acts is not Acts.HOVER or how.actions is not None
        assert how.acts is not Acts.CONTEXT or how.actions is None
        if how.rows_alone:
            assert how.rows is Place.PAGE
            assert not how.trail
            assert all(view.shape is not Shape.MAP for view in world.views)
        assert how.facts is not Facts.SHEET or how.rows is Place.PAGE
        assert how.slow_ms == 0 or 3_000 <= how.slow_ms <= 7_000
