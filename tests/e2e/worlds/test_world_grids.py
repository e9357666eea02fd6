"""Cells of worlds' grids in Chromium: two clicks open one, it is left, refused and kept, and the page stays."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from flows.checks.world_pages import open_world
from flows.resources.browsers import Browsers, open_browsers
from generators.browser.protocol import Node, Session
from generators.worlds.drawing.draw import draw_world
from generators.worlds.drawing.rows import draw_rows
from generators.worlds.words.catalogue import catalogue
from schemas.episodes.action import Click, Key, TypeText
from schemas.worlds.behaviour import Delivery, Noise
from schemas.worlds.field import DataField, Kind
from schemas.worlds.patterns import Shape
from schemas.worlds.world import View, World

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def browsers() -> AsyncIterator[Browsers]:
    async with open_browsers() as opened:
        yield opened


def a_grid(delivery: Delivery) -> tuple[World, View, DataField]:
    """Return a world that is delivered in a given way, its grid, and a column of numbers."""
    worlds = (draw_world("inventory", seed) for seed in range(80))
    return next(
        (world, view, field)
        for world in worlds
        for view in world.views
        if view.shape is Shape.GRID
        and world.behaviour.delivery is delivery
        and world.noise == Noise()
        for field in world.cells(view)
        if field.kind is Kind.INTEGER
    )


async def cell_of(session: Session, column: int) -> Node:
    """Return a column's cell of the first row."""
    root = await session.reader.read()
    body = next(node for node in root.walk() if "data-rows" in node.attrs)
    return body.children[0].children[column]


async def two_clicks(session: Session, cell: Node) -> None:
    left, top, _, height = cell.box
    await session.act(Click(x=left + 12, y=top + height / 2, count=2))


@pytest.mark.parametrize("delivery", [Delivery.SERVER, Delivery.SINGLE_PAGE])
async def test_a_cell_is_opened_left_refused_and_kept_in_its_place(
    delivery: Delivery, browsers: Browsers
) -> None:
    world, view, field = a_grid(delivery)
    column, row = view.columns.index(field.name), draw_rows(world)[view.entity][0]
    held, other = str(row[field.name]), str(field.min + 1)
    said = list[str]()
    async with open_world(browsers, world, f"/{view.name}") as session:
        before = (await session.observe()).page.url
        for text, key in (("5", "Escape"), ("many", "Enter"), (other, "Enter")):
            cell = await cell_of(session, column)
            if not any(node.tag == "form" for node in cell.walk()):
                await two_clicks(session, cell)
            await session.act(Key(key="Control+a"))
            await session.act(TypeText(text=text))
            await session.act(Key(key=key))
            said.append(" ".join((await cell_of(session, column)).text.split()))
        after = (await session.observe()).page.url

    refused = catalogue(world.language).say("form.whole_number")
    assert said == [held, f"✓ {refused}", other]
    assert before == after
