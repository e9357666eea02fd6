"""In Chromium a reference filters and orders a list for a row that is not in sight, and only then."""

import pytest
from support.browsers.one_browser import browser_and_gateway
from support.worlds.made_world import SHOP, shop_rows, shop_task

from generators.policy.protocol import PolicyInput
from generators.policy.reference import ReferencePolicy
from generators.sites.worlds import WorldsSite
from generators.tasks.worlds.ground.world_rows import Setting
from generators.tasks.worlds.references.steps import (
    Steps,
    answer,
    find_listed,
    narrow,
    open_row,
    to_view,
)
from schemas.episodes.action import Answer

pytestmark = [
    pytest.mark.browser,
    pytest.mark.usefixtures("one_browser"),
    pytest.mark.asyncio(loop_scope="session"),
]

ROWS = shop_rows()
SETTING = Setting(SHOP, ROWS)
VIEW = SHOP.views[0]
ENTITY = SHOP.entity(VIEW.entity)
IN_SIGHT, FURTHER = (SETTING.title(ENTITY, ROWS["product"][place]) for place in (1, 10))
FILTER = narrow(SETTING, VIEW, {"category": "Kitchen"})
ORDER = narrow(SETTING, VIEW, {}, sort=ENTITY.title)


async def _addresses(narrowed: Steps, title: str, goal: str) -> list[str]:
    """Return the addresses of the list that a reference saw, and at last that of what it opened."""
    steps = (
        *to_view(SETTING, VIEW),
        *narrowed,
        find_listed(SETTING, title),
        open_row(SETTING, VIEW, title),
        answer(),
    )
    found = list[str]()
    async with browser_and_gateway() as (chromium, gateway):
        site = WorldsSite(gateway, lambda _: (SHOP, ROWS))
        async with (
            site.open(shop_task()) as visit,
            chromium.session(
                visit.session_spec(viewport_width=1_024, viewport_height=768)
            ) as session,
        ):
            await session.open(visit.start_url)
            policy = ReferencePolicy(steps)
            while True:
                look = await session.observe()
                found += [look.page.url.removeprefix(SHOP.origin)]
                action = (await policy.act(PolicyInput(goal, (), look, session.reader))).action
                if isinstance(action, Answer):
                    return list(dict.fromkeys(found))[1:]
                assert (await session.act(action)).error is None


@pytest.mark.parametrize("narrowed", [FILTER, ORDER], ids=["filter", "order"])
async def test_what_is_in_sight_is_neither_filtered_nor_ordered_for(narrowed: Steps) -> None:
    assert await _addresses(narrowed, IN_SIGHT, f'Open "{IN_SIGHT}".') == [
        "/products",
        "/product/2",
    ]


async def test_what_is_not_in_sight_is_filtered_for() -> None:
    addresses = await _addresses(FILTER, FURTHER, f'Open "{FURTHER}".')

    assert [one.partition("?")[0] for one in addresses] == ["/products", "/products", "/product/11"]
    assert "category=Kitchen" in addresses[1]


async def test_an_order_that_may_be_what_is_asked_for_is_always_chosen() -> None:
    addresses = await _addresses(ORDER, IN_SIGHT, "Which comes first?")

    assert any("sort=name" in one for one in addresses)
