"""Every widget of a form, operated in Chromium by the steps that references plan for it, twice alike; and its tip."""

import asyncio
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

import pytest
from effort import THOROUGH
from support.browsers.one_browser import browser_and_gateway
from support.worlds.made_world import SHOP, shop_task

from generators.browser.chromium import Chromium
from generators.policy.protocol import PolicyInput
from generators.policy.reference import ReferencePolicy
from generators.sites.worlds import WorldsSite
from generators.tasks.worlds.ground.world_rows import Setting
from generators.tasks.worlds.references.forms import put
from generators.tasks.worlds.references.steps import save
from generators.worlds.drawing.widgets import picker_packages
from generators.worlds.rendering.script_words import script_words
from generators.worlds.state.database import Row, Rows, Value
from generators.worlds.words import catalogue as words
from schemas.episodes.action import Answer, Goto, Hover
from schemas.worlds.behaviour import Behaviour
from schemas.worlds.field import HAVE_CHOICES, WIDGETS, DataField, Kind, Widget
from schemas.worlds.language import Language
from schemas.worlds.world import Entity, View, World

pytestmark = [
    pytest.mark.browser,
    pytest.mark.usefixtures("one_browser"),
    pytest.mark.asyncio(loop_scope="session"),
]

VALUES: dict[Kind, tuple[Value, Value, Value]] = {
    Kind.TEXT: ("Lamp", "Lamp, large", "Lamp"),
    Kind.LONG_TEXT: ("Wait.", "Nothing else is missing.", "Goes back."),
    Kind.INTEGER: (12, 37, 35),
    Kind.MONEY: (1_000, 1_250, 99),
    Kind.DATE: ("2026-02-27", "2026-04-01", "2026-03-31"),
    Kind.CHOICE: ("Kitchen", "Textiles", "Lighting"),
    Kind.TAGS: ("Kitchen", "Kitchen, Textiles", "Lighting, Textiles"),
    Kind.FLAG: (0, 1, 0),
    Kind.LINK: (1, 3, 2),
}
"""What a field of each kind holds, and the values that it is given first and then."""

MAKERS = ("Ada Lind", "Ada Lund", "Bo Ek")

FIELDS = tuple(
    DataField(
        name=f"{kind.value}_{widget.value}".replace("-", "_"),
        label=f"{kind.value} {widget.value}".replace("_", " ").capitalize(),
        kind=kind,
        widget=widget,
        choices=("Lighting", "Kitchen", "Textiles") if kind in HAVE_CHOICES else (),
        target="maker" if kind is Kind.LINK else None,
        min=-60 if kind is Kind.DATE else 0,
        max={Kind.INTEGER: 40, Kind.DATE: 60}.get(kind, 5_000),
    )
    for kind in Kind
    for widget in WIDGETS[kind]
)

TWICE = [field for field in FIELDS if THOROUGH or field.kind is Kind.TAGS]
"""Those that are given two values in turn, of which the second takes away what the first gave; and all that once more."""

ONCE = [field for field in FIELDS if field not in TWICE]
"""The others."""

THING = Entity(name="thing", one="Thing", many="Things", fields=FIELDS, rows=1)
MAKER = Entity(
    name="maker",
    one="Maker",
    many="Makers",
    fields=(DataField(name="name", label="Name", kind=Kind.TEXT),),
    rows=len(MAKERS),
)
WORLD: World = SHOP.model_copy(
    update={
        "entities": (THING, MAKER),
        "workflows": (),
        "packages": picker_packages((THING,)),
        "views": (View(name="things", label="Things", entity="thing", columns=(FIELDS[0].name,)),),
    }
)

FACTS = """
Object.fromEntries([...document.querySelectorAll("dt")].map(one => [one.textContent, one.nextElementSibling.textContent]))
"""


def rows() -> Rows:
    """Return one thing, and its makers."""
    thing: Row = {"id": 1, **{field.name: VALUES[field.kind][0] for field in FIELDS}}
    makers: list[Row] = [{"id": n + 1, "name": name} for n, name in enumerate(MAKERS)]
    return {"thing": [thing], "maker": makers}


def shown(which: int, fields: Sequence[DataField] = FIELDS) -> dict[str, str]:
    """Return what the thing's page says if fields have other values, by label."""
    setting = Setting(WORLD, rows())
    return {
        field.label: setting.show(THING, field, VALUES[field.kind][which if field in fields else 0])
        for field in FIELDS
    }


async def fill(
    site: WorldsSite,
    chromium: Chromium,
    world: World,
    fields: Sequence[DataField] = FIELDS,
    times: int = 2,
) -> list[tuple[object, str]]:
    """Give fields other values, and others again; return what the page says each time, and a hash of the pictures."""
    said, setting = list[tuple[object, str]](), Setting(world, rows())
    async with site.open(shop_task(world)) as visit:
        spec = visit.session_spec(viewport_width=1_024, viewport_height=768)
        async with chromium.session(spec) as session:
            await session.open(visit.start_url)
            for which in range(1, times + 1):
                seen = sha256()
                await session.act(Goto(url=f"{world.origin}/thing/1/edit"))
                steps = [
                    step
                    for field in fields
                    for step in put(
                        setting,
                        field,
                        VALUES[field.kind][which],
                        before=VALUES[field.kind][which - 1],
                    )
                ]
                policy = ReferencePolicy((*steps, *save(setting)))
                while True:
                    look = await session.observe()
                    seen.update(look.screenshot.bytes)
                    decision = await policy.act(PolicyInput("", (), look, session.reader))
                    if isinstance(decision.action, Answer):
                        break
                    assert (await session.act(decision.action)).error is None
                said.append((await session.evaluate(FACTS), seen.hexdigest()))
    return said


async def test_each_widget_is_given_a_value_and_another_and_looks_the_same_twice() -> None:
    async with browser_and_gateway() as (chromium, gateway):
        site = WorldsSite(gateway, lambda _: (WORLD, rows()))
        async with asyncio.TaskGroup() as group:
            alike = [group.create_task(fill(site, chromium, WORLD, TWICE)) for _ in range(2)]
            once = [group.create_task(fill(site, chromium, WORLD, ONCE, times=1)) for _ in ONCE[:1]]

    for filled in once:
        assert [said for said, _ in filled.result()] == [shown(1, ONCE)]
    assert alike[0].result() == alike[1].result()
    assert [said for said, _ in alike[0].result()] == [shown(1, TWICE), shown(2, TWICE)]


@pytest.fixture
def arabic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Arabic pages with the words of English ones: what is tried is their direction."""
    english = (words.FOLDER / "en.toml").read_text(encoding="utf-8")
    for name in ("en", "ar"):
        (tmp_path / f"{name}.toml").write_text(english, encoding="utf-8")
    monkeypatch.setattr(words, "FOLDER", tmp_path)
    words.catalogue.cache_clear()
    script_words.cache_clear()
    yield
    words.catalogue.cache_clear()
    script_words.cache_clear()


@pytest.mark.usefixtures("arabic")
async def test_a_slider_is_given_values_where_its_numbers_grow_to_the_left() -> None:
    turned = WORLD.model_copy(update={"language": Language.ARABIC, "locale": "ar_DZ"})
    sliders = [field for field in FIELDS if field.widget is Widget.SLIDER]
    async with browser_and_gateway() as (chromium, gateway):
        site = WorldsSite(gateway, lambda _: (turned, rows()))
        filled = await fill(site, chromium, turned, sliders)

    assert sliders
    assert [said for said, _ in filled] == [shown(1, sliders), shown(2, sliders)]


TIP = "getComputedStyle(document.querySelector('.w-tip'), '::after').content"
TIP_AT = """
(() => {
  const box = document.querySelector(".w-tip").getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
})()
"""


async def test_a_tip_is_in_sight_while_the_pointer_is_over_its_sign() -> None:
    told = WORLD.model_copy(update={"behaviour": Behaviour(tips=True)})
    async with browser_and_gateway() as (chromium, gateway):
        site = WorldsSite(gateway, lambda _: (told, rows()))
        async with site.open(shop_task(told)) as visit:
            spec = visit.session_spec(viewport_width=1_024, viewport_height=768)
            async with chromium.session(spec) as session:
                await session.open(visit.start_url)
                await session.act(Goto(url=f"{told.origin}/thing/1/edit"))
                before, at = await session.evaluate(TIP), await session.evaluate(TIP_AT)
                assert isinstance(at, list)
                x, y = (float(str(one)) for one in at)
                await session.act(Hover(x=x, y=y))
                over = await session.evaluate(TIP)
                await session.act(Hover(x=1, y=1))
                after = await session.evaluate(TIP)

    assert (before, over, after) == ("none", '"A whole number from 0 to 40."', "none")
