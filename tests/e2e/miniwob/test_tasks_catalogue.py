"""The catalogue's goals are the pages' own: a sample of them is held against real pages.

With `--renew-golden` every page is opened and the goals in the catalogue are rewritten.
"""

import asyncio
from collections.abc import Iterable

import pytest
from effort import THOROUGH
from support.browsers.one_browser import browser_and_gateway
from support.browsers.visits import visit_to

from generators.browser.chromium import Chromium
from generators.sites import miniwob_catalogue as module
from generators.sites.miniwob import MiniWob
from generators.sites.miniwob_catalogue import TemplateEntry, catalogue
from generators.tasks.site_offers import make_template_task, site_offers
from schemas.base import canonical_json

SAMPLE = 10 if THOROUGH else 30
"""One template of so many is in the sample."""

AT_ONCE = 4

HEAD = """\
# What is known of MiniWoB++'s templates. Goals are the pages' own at seed 0, taken from them by
# `pytest tests/e2e/miniwob/test_tasks_catalogue.py --renew-golden`; needs and notes are written by hand.
"""


async def goals_of(names: Iterable[str]) -> dict[str, str]:
    """Return what the pages of templates say at seed 0."""
    found: dict[str, str] = {}
    waiting = iter(names)
    async with browser_and_gateway() as (chromium, gateway):
        site = MiniWob(gateway)

        async def work() -> None:
            for name in waiting:
                found[name] = await goal_of(name, site, chromium)

        async with asyncio.TaskGroup() as group:
            for _ in range(AT_ONCE):
                group.create_task(work())
    return found


async def goal_of(name: str, site: MiniWob, chromium: Chromium) -> str:
    task = make_template_task(site_offers()["miniwob"], name, seed=0, source="miniwob")
    visit = await visit_to(site, task)
    spec = visit.session_spec(viewport_width=500, viewport_height=400)
    async with chromium.session(spec) as session:
        await session.open(visit.start_url)
        return (await site.begin(visit, session)).goal


def written(entries: dict[str, TemplateEntry]) -> str:
    """Return the catalogue's file."""
    return "\n".join([HEAD, *(_table(name, entry) for name, entry in sorted(entries.items()))])


def _table(name: str, entry: TemplateEntry) -> str:
    stated = {key: value for key, value in entry if value is not None}
    quoted = canonical_json(name) if "." in name else name
    lines = [f"{key} = {canonical_json(value)}" for key, value in stated.items()]
    return f"[{quoted}]\n" + "".join(f"{line}\n" for line in lines).replace('","', '", "')


def test_the_file_is_written_as_the_test_would_write_it() -> None:
    assert module.CATALOGUE_PATH.read_text(encoding="utf-8") == written(catalogue())


@pytest.mark.browser
@pytest.mark.usefixtures("one_browser")
@pytest.mark.asyncio(loop_scope="session")
async def test_goals_are_what_the_pages_say(request: pytest.FixtureRequest) -> None:
    renew: bool = request.config.getoption("--renew-golden")
    if renew:
        goals = await goals_of(catalogue())
        renewed = {
            name: entry.model_copy(update={"goal": goals[name]})
            for name, entry in catalogue().items()
        }
        module.CATALOGUE_PATH.write_text(written(renewed), encoding="utf-8")
        catalogue.cache_clear()
    sample = list(catalogue())[::SAMPLE]
    assert await goals_of(sample) == {name: catalogue()[name].goal for name in sample}
