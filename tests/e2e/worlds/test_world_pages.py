"""Pages of worlds in Chromium: their fonts are there, and nothing is wider than the page, or than what it is in."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from effort import THOROUGH
from support.browsers.one_browser import browser_and_gateway
from support.worlds.made_world import SHOP, shop_rows, shop_task

from flows.checks.world_pages import find_defects, open_in_place, open_world
from flows.resources.browsers import Browsers, open_browsers
from generators.browser.chromium import Chromium
from generators.browser.protocol import Session
from generators.sites.worlds import WorldsSite
from generators.worlds.drawing.draw import FAMILIES, draw_world
from generators.worlds.kits.kit import KITS, kit_packages
from schemas.episodes.action import Goto, Hover
from schemas.worlds.behaviour import Behaviour, Delivery, Facts, Place
from schemas.worlds.look import Layout, Listing
from schemas.worlds.world import World

pytestmark = [
    pytest.mark.browser,
    pytest.mark.usefixtures("one_browser"),
    pytest.mark.asyncio(loop_scope="session"),
]

WIDE, SMALL, NARROW = (1_024, 768), (800, 600), (390, 844)

LOOKS = {
    kit: {
        "kit": kit,
        "layout": list(Layout)[number % len(Layout)],
        "listing": list(Listing)[number % len(Listing)],
        "dark": number % 2 == 1,
        "dense": number % 3 == 2,
        "accent": ("#1f6feb", "#2b6cb0", "#b7410e")[number % 3],
        "surface": ("#f6f8fa", "#faf7f2")[number % 2],
        "radius": (6, 14, 0)[number % 3],
    }
    for number, kit in enumerate(KITS)
}

HALF = [*LOOKS][:: 1 if THOROUGH else 2]
"""The looks that are looked at: every other one where time is short."""

OTHERS = [*LOOKS][0 if THOROUGH else 1 :: 1 if THOROUGH else 2]
"""The others, where time is short."""

SHOWN = (
    [(look, size) for size in (SMALL, NARROW, WIDE) for look in LOOKS]
    if THOROUGH
    else [*((look, NARROW) for look in HALF), (OTHERS[0], SMALL), (OTHERS[1], WIDE)]
)
"""Looks, and the sizes of windows that they are shown in: most in the one where there is least room."""

FAMILY_COUNT = 8 if THOROUGH else 2

PAGES = {
    "home": "/",
    "list": "/products",
    "wide-list": "/orders?sort=-placed",
    "row": "/purchase/1",
    "linked": "/customer/3",
    "new": "/purchase/new",
    "edit": "/product/2/edit",
    "delete": "/customer/1/delete",
    "missing": "/nowhere",
}

FONTS = "[document.fonts.status, [...document.fonts].some(one => one.status === 'loaded')]"
"""Whether fonts are on their way, and whether any has come."""

SIGNS = """
[...document.fonts].filter(one => one.status === "loaded" && one.family.includes("noto-sans-")
  && (one.family.includes("symbols") || one.family.includes("math"))).map(one => one.family.replaceAll('"', "")).sort()
"""
"""The fonts of signs that have come."""

OVERFLOW = """
(() => {
  const bounded = new Set(["SELECT", "INPUT", "OPTION", "TEXTAREA"]);
  const overflows = one => {
    const box = one.getBoundingClientRect();
    const inner = !bounded.has(one.tagName) && getComputedStyle(one).display !== "inline";
    return box.right > innerWidth + 0.5 || box.left < -0.5 || (inner && one.scrollWidth > one.clientWidth + 1);
  };
  return [...document.querySelectorAll("body, body *")].filter(overflows).map(
    one => `${one.tagName}.${one.className}: ${one.textContent.trim().slice(0, 40)}`
  );
})()
"""


PANELS = Behaviour(
    rows=Place.PANEL,
    facts=Facts.TABS,
    parts=("Main facts", "Further facts", "Everything else"),
    sticky=True,
)

FOLD = "['[data-links]', 'nav li a'].map(one => document.querySelector(one).checkVisibility())"
"""Whether the button of the navigation is shown, and whether its first link is."""

LOW = (800, 300)
"""A window in which every list is scrolled."""

PANEL = """
(() => {
  const panel = document.querySelector("[data-beside]");
  scrollBy(0, panel.getBoundingClientRect().top);
  const {left, right, top} = panel.getBoundingClientRect();
  const header = document.querySelector("body > header")?.getBoundingClientRect();
  return {
    out: [...panel.querySelectorAll("[role=tab]")].map(one => [one.textContent.trim(), one.getBoundingClientRect()])
      .filter(([, box]) => box.left < left || box.right > right).map(([words]) => words),
    under: header ? Math.max(0, header.bottom - top) : 0,
  };
})()
"""
"""Which tabs stick out of the panel beside a list, and how much of it is under the head once it would be at the top."""


LINKS = """
["nav a:not([aria-current])", "main a:not([class], [role])"].map(kind => {
  const {left, top, width, height} = [...document.querySelectorAll(kind)].map(one => one.getBoundingClientRect())
    .find(({width, top, bottom}) => width > 0 && top >= 0 && bottom <= innerHeight);
  return {x: left + Math.min(width / 2, 20), y: top + height / 2};
})
"""
"""Points on a link of the navigation and on one of what the page is about."""


FIELD = """
(() => {
  const field = [...document.querySelectorAll("main form input[type=text]")].find(one => one.checkVisibility());
  const {left, top, width, height} = field.getBoundingClientRect();
  const {borderTopColor, borderBottomColor} = getComputedStyle(field);
  return [borderTopColor, borderBottomColor, {x: left + Math.min(width / 2, 20), y: top + height / 2}];
})()
"""
"""The colours of the frame of a form's first text field, and a point on it."""


def world_of(look: str, behaviour: Behaviour = SHOP.behaviour) -> World:
    """Return the shop in another look, at an origin of its own."""
    changed = SHOP.look.model_copy(update=LOOKS[look])
    return SHOP.model_copy(
        update={
            "host": f"{look}.localhost",
            "look": changed,
            "packages": kit_packages(look),
            "behaviour": behaviour,
        }
    )


@asynccontextmanager
async def showing(
    site: WorldsSite, chromium: Chromium, look: str, size: tuple[int, int]
) -> AsyncIterator[Session]:
    """Open a world's start page in a browser window of a size, CSS px."""
    task = shop_task(world_of(look)).model_copy(update={"parameters": {"look": look}})
    async with site.open(task) as visit:
        spec = visit.session_spec(viewport_width=size[0], viewport_height=size[1])
        async with chromium.session(spec) as session:
            await session.open(visit.start_url)
            yield session


async def test_no_page_is_looked_at_before_its_fonts_are_there() -> None:
    async def status(browsers: Browsers, family: str) -> list[object]:
        world = draw_world(family, 12)
        async with open_world(browsers, world) as session:
            opened = await session.evaluate(FONTS)
            await session.act(Goto(url=f"{world.origin}/{world.views[0].name}"))
            listed = await session.evaluate(FONTS)
            await session.evaluate('document.body.append("✓✗○▲☺😐↶⋯→")')
            await session.observe()
            return [opened, listed, await session.evaluate(SIGNS)]

    async with open_browsers() as browsers, asyncio.TaskGroup() as tasks:
        found = [tasks.create_task(status(browsers, family)) for family in FAMILIES[:FAMILY_COUNT]]

    signs = ["noto-sans-math", "noto-sans-symbols", "noto-sans-symbols-2"]
    assert [one.result() for one in found] == [[["loaded", True], ["loaded", True], signs]] * len(
        found
    )


async def test_nothing_on_a_page_is_wider_than_the_page_or_than_what_it_is_in() -> None:
    found = dict[str, object]()
    async with browser_and_gateway() as (chromium, gateway):
        site = WorldsSite(
            gateway, lambda task: (world_of(str(task.parameters["look"])), shop_rows())
        )
        for look, size in SHOWN:
            async with showing(site, chromium, look, size) as session:
                for name, path in PAGES.items():
                    effect = await session.act(Goto(url=f"http://{look}.localhost{path}"))
                    assert effect.error is None
                    found[f"{look} {size} {name}"] = await session.evaluate(OVERFLOW)
                assert session.blocked_requests() == ()

    assert {where: wide for where, wide in found.items() if wide} == {}


async def test_a_narrow_windows_links_are_behind_a_button_and_a_wide_ones_are_not() -> None:
    found = dict[str, object]()
    async with browser_and_gateway() as (chromium, gateway):
        site = WorldsSite(
            gateway, lambda task: (world_of(str(task.parameters["look"])), shop_rows())
        )
        for look in HALF:
            async with showing(site, chromium, look, WIDE) as session:
                found[f"{look} wide"] = await session.evaluate(FOLD)
            async with showing(site, chromium, look, NARROW) as session:
                found[f"{look} narrow"] = await session.evaluate(FOLD)
                await session.evaluate("document.querySelector('[data-links]').click()")
                found[f"{look} opened"] = await session.evaluate(FOLD)
                found[f"{look} defects"] = await find_defects(session)

    shown = {"wide": [False, True], "narrow": [True, False], "opened": [True, True], "defects": []}
    assert found == {f"{look} {how}": said for look in HALF for how, said in shown.items()}


async def test_what_is_beside_a_list_is_neither_wider_than_its_panel_nor_under_the_head() -> None:
    found = dict[str, object]()
    async with browser_and_gateway() as (chromium, gateway):
        site = WorldsSite(
            gateway, lambda task: (world_of(str(task.parameters["look"]), PANELS), shop_rows())
        )
        for look in OTHERS:
            async with showing(site, chromium, look, LOW) as session:
                await session.act(Goto(url=f"http://{look}.localhost/orders"))
                assert await open_in_place(session)
                await session.settle()
                found[look] = await session.evaluate(PANEL)

    assert found == {look: {"out": [], "under": 0} for look in OTHERS}


async def test_a_link_is_readable_under_the_pointer_in_the_dark() -> None:
    found = dict[str, list[object]]()
    async with browser_and_gateway() as (chromium, gateway):
        site = WorldsSite(gateway, lambda task: (_dark(str(task.parameters["look"])), shop_rows()))
        for look in HALF:
            async with showing(site, chromium, look, WIDE) as session:
                await session.act(Goto(url=f"http://{look}.localhost/products"))
                links = await session.evaluate(LINKS)
                assert isinstance(links, list)
                for link in links:
                    await session.act(Hover.model_validate(link))
                    found.setdefault(look, []).append(await find_defects(session))

    assert found == {look: [[], []] for look in HALF}


def _dark(look: str) -> World:
    world = world_of(look)
    return world.model_copy(update={"look": world.look.model_copy(update={"dark": True})})


async def test_a_field_keeps_its_frame_under_the_pointer_in_the_dark() -> None:
    found = dict[str, list[object]]()
    async with browser_and_gateway() as (chromium, gateway):
        site = WorldsSite(gateway, lambda task: (_dark(str(task.parameters["look"])), shop_rows()))
        for look in LOOKS:
            async with showing(site, chromium, look, WIDE) as session:
                await session.act(Goto(url=f"http://{look}.localhost/purchase/new"))
                *before, at = await _field(session)
                await session.act(Hover.model_validate(at))
                *under, _ = await _field(session)
                found[look] = [before, under]

    assert {look: one for look, one in found.items() if one[0] != one[1]} == {}


async def _field(session: Session) -> list[object]:
    found = await session.evaluate(FIELD)
    assert isinstance(found, list)
    return [*found]


async def test_a_page_that_is_drawn_in_place_begins_at_its_top_after_a_way_back() -> None:
    found = dict[Delivery, object]()
    async with browser_and_gateway() as (chromium, gateway):
        worlds = {
            look: world_of(look, SHOP.behaviour.model_copy(update={"delivery": delivery}))
            for look, delivery in zip(LOOKS, Delivery, strict=False)
        }
        site = WorldsSite(gateway, lambda task: (worlds[str(task.parameters["look"])], shop_rows()))
        for look, delivery in zip(LOOKS, Delivery, strict=False):
            async with showing(site, chromium, look, LOW) as session:
                await session.act(Goto(url=f"http://{look}.localhost/orders"))
                found[delivery] = await session.evaluate("history.scrollRestoration")

    drawn = dict.fromkeys(Delivery, "manual")
    assert found == {**drawn, Delivery.SERVER: "auto"}
