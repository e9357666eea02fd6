"""The whole loop: a review in the window, by the keyboard alone, becomes a verdict, and publication heeds it."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from playwright.async_api import Page
from support.browsers.windows import window
from support.runs.commands import called
from support.runs.library import Kept, RunLibrary
from support.runs.locations import Place

from flows.viewing.reviews import review_file

pytestmark = pytest.mark.browser


@pytest.fixture(autouse=True)
def _own_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def _attempts(dataset: Path) -> list[dict[str, Any]]:
    files = sorted((dataset / "data" / "attempts").glob("*.parquet"))
    return [row for file in files for row in pq.read_table(file).to_pylist()]


async def _judge(page: Page, key: str, reason: str = "") -> None:
    await page.keyboard.press(key)
    await page.keyboard.type(reason)
    await page.keyboard.press("Enter")


async def _left(page: Page, address: str) -> int:
    await page.goto(f"{address}/0/review")
    return int((await page.locator(".about").inner_text()).partition(" ")[0])


def _id(page: Page) -> str:
    return page.url.partition("/episodes/")[2].partition("?")[0].partition("#")[0]


def test_what_is_rejected_by_the_keyboard_is_not_published(
    run_library: RunLibrary, tmp_path: Path
) -> None:
    made = run_library.copy(Kept.PAIRS, tmp_path)
    words = "it guessed: <b>nothing</b> said so"

    async def reject() -> str:
        async with window([made.url], tmp_path / "cache") as (page, address, wrong):
            await page.goto(f"{address}/0/episodes?status=accepted")
            await page.keyboard.press("ArrowRight")
            await page.keyboard.press("Enter")
            await page.wait_for_url("**/episodes/*")
            await _judge(page, "r", words)
            await page.locator(".review .chip.reject").wait_for()
            assert words in await page.locator(".review").inner_text()
            assert await page.locator(".review b").count() == 0
            assert wrong == []
            return _id(page)

    id_ = asyncio.run(reject())

    before = {row["episode_id"]: row for row in _attempts(made.dataset)}
    assert before[id_]["accepted"]
    said = called("publish", made.url, f"--to={tmp_path / 'again'}", "--no-prefect")
    assert said.code == 0, said.err
    after = {row["episode_id"]: row for row in _attempts(tmp_path / "again")}
    assert after[id_]["status"] == "rejected"
    assert words in str(after[id_]["rejected_because"])
    assert called("audit", made.url, "--deep").code == 0


def test_a_queue_goes_on_by_itself_and_a_review_is_undone(
    run_library: RunLibrary, tmp_path: Path
) -> None:
    made = run_library.copy(Kept.TEACHER, tmp_path)

    async def review() -> None:
        async with window([made.url], tmp_path / "cache") as (page, address, wrong):
            left = await _left(page, address)
            await page.goto(f"{address}/0/review?order=random&seed=3")
            await page.keyboard.press("n")
            await page.wait_for_url("**/episodes/*review=random*")
            first = _id(page)
            await _judge(page, "a")
            await page.wait_for_url(lambda url: first not in url)
            assert "review=random" in page.url
            assert await _left(page, address) == left - 1

            await page.goto(f"{address}/0/episodes/{first}")
            await page.get_by_role("button", name="undo").click()
            await page.locator(".review .chip.accept").wait_for(state="detached")
            assert await _left(page, address) == left
            assert wrong == []

    asyncio.run(review())


def test_the_reviews_of_a_dataset_go_to_a_file_that_the_run_takes(
    run_library: RunLibrary, tmp_path: Path
) -> None:
    made = run_library.copy(Kept.TEACHER, tmp_path)

    async def reject() -> tuple[str, str]:
        async with window([str(made.dataset)], tmp_path / "cache") as (page, address, wrong):
            await page.goto(f"{address}/0/review")
            shown = await page.locator(".about code").first.inner_text()
            await page.keyboard.press("n")
            await page.wait_for_url("**/episodes/*")
            id_ = _id(page)
            await _judge(page, "r", "a wrong goal")
            await page.wait_for_url(lambda url: id_ not in url)
            assert wrong == []
            return id_, shown

    id_, shown = asyncio.run(reject())

    run_id = Place(made.url).rows("episodes", "run_id")[0]["run_id"]
    assert shown == str(review_file(run_id, os.environ))
    said = called("review", made.url, f"--import={shown}")
    assert said.code == 0, said.err
    [row] = Place(made.url).rows("reviews", "episode_id", "decision", "reviewer", "reason")
    told = {"decision": "reject", "reviewer": "ana", "reason": "a wrong goal"}
    assert row == {"episode_id": id_, **told}


def test_a_review_that_says_nothing_is_refused_on_the_page(
    run_library: RunLibrary, tmp_path: Path
) -> None:
    made = run_library.copy(Kept.TEACHER, tmp_path)

    async def reject() -> None:
        async with window([made.url], tmp_path / "cache") as (page, address, _):
            await page.goto(f"{address}/0/episodes")
            await page.locator("li.card a").first.click()
            await page.wait_for_url("**/episodes/*")
            await _judge(page, "r")
            await page.get_by_role("heading", name="This cannot be done").wait_for()
            assert "the review was not kept" in await page.inner_text("main")

    asyncio.run(reject())

    assert Place(made.url).table("reviews") is None
