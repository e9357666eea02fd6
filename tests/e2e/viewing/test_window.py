"""The window in a real browser: every page, by keyboard alone, at every width, and with whatever strangers wrote."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from axe_playwright_python.async_playwright import Axe  # type: ignore[import-untyped]
from conftest import CopyRun
from effort import THOROUGH
from playwright.async_api import Page
from support.browsers.windows import window
from support.episodes.factories import MadeRun, commit_whole_unit
from support.runs.library import Kept, RunLibrary

from schemas.episodes.episode import Episode, ThoughtSource
from schemas.tasks.task import Task

pytestmark = pytest.mark.browser

WIDTHS = (320, 1_280, 2_560)

HOSTILE = (
    "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    "'\"><style>body{display:none}</style>{{ 7*7 }}\u202egnp\u0007\x1b[31m"
)


async def until(page: Page, condition: str) -> None:
    """Wait until a condition holds on the page, whose policy lets no text be evaluated there."""
    while not await page.evaluate(condition):  # noqa: ASYNC110 - no event says it
        await asyncio.sleep(0.05)


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


async def test_a_failure_is_found_and_played_from_the_first_page_on(
    run_library: RunLibrary, tmp_path: Path
) -> None:
    async with window([run_library.read(Kept.PAIRS).url], tmp_path / "cache") as (page, _, wrong):
        assert "ENTER" not in page.url
        assert "=" not in page.url
        await (
            page.get_by_role("row", name="were rewarded by the site")
            .get_by_role("link")
            .nth(1)
            .click()
        )
        await page.get_by_role("heading", name="Episodes").wait_for()
        cards = page.locator("li.card")
        assert await cards.count() >= 1
        assert {*await page.locator("li.card .chip").all_inner_texts()} == {"rejected"}
        await until(page, "[...document.images].every(one => one.complete && one.naturalWidth)")

        await cards.first.get_by_role("link").click()

        await page.get_by_role("heading", name="Why it was not accepted").wait_for()
        await page.get_by_role("heading", name="Expected, and found").wait_for()
        assert "First mistake" in await page.locator(".why").inner_text()
        assert "lost=reward" in page.url
        picture = page.locator("article.step:not([hidden]) .picture > img").first
        await picture.wait_for()
        await until(
            page, "document.querySelector('article.step:not([hidden]) img').naturalWidth > 100"
        )
        assert await page.locator("article.step:not([hidden]) svg.marks").count() == 1
        assert wrong == []


async def test_everything_is_done_by_the_keyboard_alone(
    run_library: RunLibrary, tmp_path: Path
) -> None:
    async with window([run_library.read(Kept.PAIRS).url], tmp_path / "cache") as (
        page,
        address,
        wrong,
    ):
        await page.goto(f"{address}/0/episodes")
        await page.keyboard.press("/")
        await page.keyboard.type("click")
        await page.keyboard.press("Enter")
        await page.wait_for_url("**q=click**")
        await page.keyboard.press("ArrowRight")
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/episodes/**")

        where = page.locator("[data-where]")
        last = await page.locator("article.step").count() - 1
        assert last >= 1
        for key, step in (("ArrowRight", 1), ("ArrowLeft", 0), ("End", last), ("Home", 0)):
            await page.keyboard.press(key)
            assert await where.inner_text() == f"step {step} of {last}"
            assert f"step={step}" in page.url
        await page.keyboard.press("b")
        await until(
            page,
            "Number(document.querySelector('article.step:not([hidden]) .after').style.opacity) === 1",
        )
        await page.keyboard.press("b")
        await page.keyboard.press(" ")
        await until(
            page, f"document.querySelector('[data-where]').textContent === 'step {last} of {last}'"
        )
        shown = page.url
        await page.goto(shown)
        assert await where.inner_text() == f"step {last} of {last}"
        await page.keyboard.press("Escape")
        await page.wait_for_url("**/0/episodes?q=click")
        assert wrong == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_every_page_can_be_read_at_every_width(
    run_library: RunLibrary, tmp_path: Path, scheme: str
) -> None:
    made = run_library.read(Kept.PAIRS)
    async with window([made.url, str(made.dataset)], tmp_path / "cache") as (page, address, wrong):
        await page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        await page.goto(f"{address}/0/episodes?status=rejected")
        one = await page.locator("li.card a").first.get_attribute("href")
        paths = (
            *("/0/overview", "/0/episodes", one, "/0/compare", "/0/review", "/1/overview"),
            "/0/episodes/none",
        )
        for width in WIDTHS if THOROUGH or scheme == "light" else WIDTHS[:1]:
            await page.set_viewport_size({"width": width, "height": 900})
            for path in paths:
                await page.goto(f"{address}{path}")
                wide = await page.evaluate("document.documentElement.scrollWidth")
                assert wide <= width, f"{path} at {width}"
                found = await Axe().run(page)
                serious = [
                    (rule["id"], rule["nodes"][0]["html"][:200])
                    for rule in found.response["violations"]
                    if rule["impact"] in ("serious", "critical")
                ]
                assert serious == [], f"{path} at {width}"
        assert [text for text in wrong if "404" not in text] == []


@pytest.fixture
def hostile(copy_run: CopyRun, tmp_path: Path) -> MadeRun:
    run = copy_run(tmp_path / "run", units=1)
    unit = run.unit(800)
    tasks = [task.model_copy(update={"instruction": HOSTILE}) for task in unit.tasks]
    asyncio.run(_commit(run, unit.unit_id, tasks, [_hostile(one) for one in unit.episodes]))
    return run


async def _commit(
    run: MadeRun, unit_id: str, tasks: Sequence[Task], episodes: Sequence[Episode]
) -> None:
    lake = run.lake()
    await commit_whole_unit(lake, unit_id, tasks=tasks, episodes=episodes)
    await lake.close()


def _hostile(episode: Episode) -> Episode:
    long = HOSTILE + "x" * (1 << 20)
    steps = tuple(
        step.model_copy(
            update={
                "thought": long,
                "thought_source": ThoughtSource.POLICY,
                "note": HOSTILE,
                "raw_reply": HOSTILE,
                "result_text": HOSTILE,
                "page": step.page.model_copy(
                    update={"title": HOSTILE, "url": f"javascript:alert(1)//{HOSTILE}"}
                ),
            }
        )
        for step in episode.steps
    )
    changes = {"instruction": HOSTILE, "answer": HOSTILE, "policy": HOSTILE, "steps": steps}
    return episode.model_copy(update=changes)


async def test_what_strangers_wrote_is_text_everywhere(hostile: MadeRun, tmp_path: Path) -> None:
    async with window([hostile.url], tmp_path / "cache") as (page, address, wrong):
        [id_, *_] = [id_ for id_, hostile_one in await _ids(page, address) if hostile_one]
        for path in (
            "/0/overview?by=policy",
            "/0/episodes",
            f"/0/episodes/{id_}",
            "/0/compare",
            "/0/review",
            "/0/episodes?q=%3Cscript%3E",
        ):
            await page.goto(address + path)
            assert "owned" not in await page.title()
            assert await page.locator("main").is_visible()
            text = await page.inner_text("body")
            assert "\u202e" not in text
            assert "\x1b" not in text
            assert await page.locator("main script, main style, img[src=x]").count() == 0
        await page.goto(f"{address}/0/episodes/{id_}")
        assert "<script>document.title='owned'</script>" in await page.inner_text("h1")
        assert "{{ 7*7 }}" in await page.inner_text("h1")
        assert await page.locator("a[href^=javascript]").count() == 0
        assert wrong == []


async def _ids(page: Page, address: str) -> list[tuple[str, bool]]:
    """Return the ids of the episodes of a list, and whether each is hostile."""
    await page.goto(f"{address}/0/episodes")
    found: list[tuple[str, bool]] = await page.evaluate(
        "[...document.querySelectorAll('li.card')].map(one => "
        "[one.querySelector('code').textContent, one.textContent.includes('owned')])"
    )
    return [(id_, hostile) for id_, hostile in found]
