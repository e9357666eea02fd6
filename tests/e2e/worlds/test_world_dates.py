"""Dates are given to forms in pages, dialogs and drawers by the steps that references plan, in Chromium."""

from itertools import pairwise

import pytest
from support.browsers.one_browser import browser_and_gateway
from support.worlds.made_world import SHOP, shop_task

from generators.policy.protocol import PolicyInput
from generators.policy.reference import ReferencePolicy
from generators.sites.worlds import WorldsSite
from generators.tasks.worlds.ground.world_rows import Setting
from generators.tasks.worlds.references.forms import put
from generators.tasks.worlds.references.steps import click, save
from generators.worlds.drawing.widgets import picker_packages
from generators.worlds.state.database import Row, Rows
from schemas.episodes.action import Answer, Goto
from schemas.worlds.behaviour import Place
from schemas.worlds.field import WIDGETS, DataField, Kind
from schemas.worlds.language import Language
from schemas.worlds.look import Days
from schemas.worlds.world import Entity, View, World

pytestmark = [
    pytest.mark.browser,
    pytest.mark.usefixtures("one_browser"),
    pytest.mark.asyncio(loop_scope="session"),
]

DATES = tuple(
    DataField(
        name=widget.value.replace("-", "_"),
        label=f"By {widget.value}",
        kind=Kind.DATE,
        widget=widget,
        required=False,
        min=-60,
        max=60,
    )
    for widget in WIDGETS[Kind.DATE]
)

THING = Entity(
    name="thing",
    one="Thing",
    many="Things",
    fields=(DataField(name="name", label="Name", kind=Kind.TEXT), *DATES),
    rows=1,
)

FACTS = "[...document.querySelectorAll('dd')].map(one => one.textContent)"


def made(place: Place, locale: str, writing: Days, day: str | None) -> tuple[World, Rows]:
    """Return a world of a locale whose forms open in a place, and its one row, which holds a day.

    Its pages are in German where the locale is; in each locale the browser's own field is typed into in one order.
    """
    language = Language.GERMAN if locale == "de_DE" else Language.ENGLISH
    world = SHOP.model_copy(
        update={
            "host": f"dates-in-a-{place.value}-{locale.replace('_', '-').lower()}.localhost",
            "entities": (THING,),
            "workflows": (),
            "packages": picker_packages((THING,)),
            "views": (View(name="things", label="Things", entity="thing", columns=("name",)),),
            "days": writing,
            "language": language,
            "locale": locale,
            "behaviour": SHOP.behaviour.model_copy(update={"forms": place}),
        }
    )
    row: Row = {"id": 1, "name": "Lamp", **{field.name: day for field in DATES}}
    return world, {"thing": [row]}


@pytest.mark.parametrize(
    ("place", "locale", "writing", "days"),
    [
        (Place.PAGE, "en_US", Days.AMERICAN, ("2026-02-27", "2025-12-31")),
        (Place.DIALOG, "de_DE", Days.GERMAN, ("2026-02-27", "2029-03-28", None)),
        (Place.DRAWER, "ja_JP", Days.JAPANESE, (None, "2026-04-01")),
        (Place.PAGE, "ar_DZ", Days.SLASHES, ("2026-02-27", "2026-03-01")),
    ],
    ids=["near", "far-then-none", "the-first", "week-from-saturday"],
)
async def test_days_are_given_and_taken_away(
    place: Place, locale: str, writing: Days, days: tuple[str | None, ...]
) -> None:
    world, rows = made(place, locale, writing, days[0])
    setting = Setting(world, rows)
    async with (
        browser_and_gateway() as (chromium, gateway),
        WorldsSite(gateway, lambda _: (world, rows)).open(shop_task(world)) as visit,
        chromium.session(visit.session_spec(viewport_width=1_024, viewport_height=768)) as session,
    ):
        await session.open(visit.start_url)
        await session.act(Goto(url=f"{world.origin}/thing/1"))
        for before, after in pairwise(days):
            steps = [step for field in DATES for step in put(setting, field, after, before=before)]
            policy = ReferencePolicy((click(world.words.edit), *steps, *save(setting)))
            while True:
                look = await session.observe()
                decision = await policy.act(PolicyInput("", (), look, session.reader))
                if isinstance(decision.action, Answer):
                    break
                assert (await session.act(decision.action)).error is None

            shown = setting.show(THING, DATES[0], after)
            assert await session.evaluate(FACTS) == ["Lamp", *[shown] * len(DATES)]
