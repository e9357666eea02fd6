"""Every component of the kits is operated as its file says, and the file lists what the package lists."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from widgets.generic import steps_of
from widgets.index import components
from widgets.kits import Component, Kit, kits
from widgets.operate import operate, served

KITS = list(kits().values())
ALL = [(kit, one) for kit in KITS for one in kit.component.values()]


@pytest.mark.parametrize("kit", KITS, ids=lambda kit: kit.name)
def test_a_kit_s_file_lists_each_component_of_the_package_s_index(kit: Kit) -> None:
    assert kit.names() == components(kit.package)


@pytest.mark.parametrize("kit", KITS, ids=lambda kit: kit.name)
def test_every_goal_is_one_that_a_generic_skill_has(kit: Kit) -> None:
    assert [one.name for one in kit.component.values() if one.goal and not steps_of(one.goal)] == []


def test_the_lock_names_no_place_that_packages_come_from() -> None:
    lock = json.loads(Path(__file__).with_name("package-lock.json").read_text("utf-8"))

    assert [name for name, one in lock["packages"].items() if "resolved" in one] == []


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def _pages() -> AsyncIterator[None]:
    async with served():
        yield


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.usefixtures("_pages")
@pytest.mark.parametrize(("kit", "component"), ALL, ids=[f"{k.name}-{c.name}" for k, c in ALL])
async def test_a_component_is_operated_unless_its_file_says_why_not(
    kit: Kit, component: Component
) -> None:
    outcome = await operate(kit, component)

    assert outcome.operated is (component.fails is None), outcome.why
    assert outcome.generic is (component.beyond is None), outcome.why_generic
