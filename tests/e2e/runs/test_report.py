"""`stepmill report`: one page that opens without a request or an error, in light and dark, at any width, and tells the run."""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright
from support.episodes.factories import make_run
from support.episodes.looked_at import (
    ACTS,
    HOSTILE,
    make_looked_at,
    with_hostile_words,
    without_pictures_to_decode,
)
from support.runs.commands import Said, called, contents
from support.runs.library import Kept, RunLibrary

from flows.looking.report_page import MAX_PICTURE_BYTES
from generators.browser.chromium import find_chromium

MAX_BYTES = 15_000_000


@pytest_asyncio.fixture
async def chromium() -> AsyncIterator[Browser]:
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(
            executable_path=find_chromium(), args=["--no-sandbox"]
        )
        yield browser
        await browser.close()


class _Opened:
    """A page that was opened, and what it did meanwhile."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.said: list[str] = []
        self.asked: list[str] = []
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("dialog", lambda dialog: self.said.append(dialog.message))
        page.on("request", lambda request: self.asked.append(request.url))


async def _open(
    browser: Browser, file: Path, *, width: int = 1_280, scheme: str = "light"
) -> _Opened:
    context = await browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    opened = _Opened(await context.new_page())
    await opened.page.goto(file.as_uri())
    return opened


async def _report(url: str, file: Path, *more: str) -> Said:
    return await asyncio.to_thread(called, "report", url, f"--to={file}", *more)


@pytest.mark.browser
async def test_the_page_opens_alone_at_every_width_in_light_and_dark(
    run_library: RunLibrary, tmp_path: Path, chromium: Browser
) -> None:
    run, file = run_library.read(Kept.PAIRS), tmp_path / "report.html"
    before = contents(run.run)
    earlier = run_library.read(Kept.TEACHER).url

    said = await _report(run.url, file, f"--against={earlier}")

    assert said.code == 0, said.err
    assert contents(run.run) == before
    assert file.stat().st_size < MAX_BYTES
    grounds = set()
    for width in (320, 768, 1_280, 2_560):
        for scheme in ("light", "dark"):
            opened = await _open(chromium, file, width=width, scheme=scheme)
            assert [url for url in opened.asked if not url.startswith("data:")] == [file.as_uri()]
            assert opened.said == []
            measured = "document.documentElement.scrollWidth - innerWidth"
            assert await opened.page.evaluate(measured) <= 0, width
            shown = "[...document.images].every(one => one.complete && one.naturalWidth > 0)"
            assert await opened.page.evaluate(shown)
            grounds.add(
                await opened.page.evaluate("getComputedStyle(document.body).backgroundColor")
            )
            await opened.page.context.close()
    assert len(grounds) == 2


@pytest.mark.browser
async def test_the_page_tells_the_run(
    run_library: RunLibrary, tmp_path: Path, chromium: Browser
) -> None:
    run, file = run_library.read(Kept.PAIRS), tmp_path / "report.html"
    said = await _report(run.url, file, "--json", f"--against={run.url}")
    shown = await asyncio.to_thread(called, "show", run.url, "--json")

    opened = await _open(chromium, file)
    text = await opened.page.inner_text("body")

    funnel = said.answer["funnel"]
    assert isinstance(funnel, dict)
    assert (funnel["attempted"], funnel["accepted"]) == (
        shown.answer["episodes"],
        shown.answer["accepted"],
    )
    rows = await opened.page.locator("#funnel tbody tr").all_inner_texts()
    numbers = [int(re.findall(r"\t(\d+)\t", row)[0]) for row in rows]
    assert numbers == list(funnel.values())
    assert f"attempts at {shown.answer['tasks']} tasks" in text
    assert "the rule does not ask for it" in rows[3]
    articles = await opened.page.locator("#failures article").count()
    assert articles == min(10, int(str(shown.answer["rejected"])))
    assert "The first mistake is step" in text
    assert "+0.0 %" in await opened.page.inner_text("#compared")
    assert await opened.page.locator("img.plot").count() >= 6


@pytest.mark.browser
async def test_tokens_and_the_engine_are_told_where_a_model_acted(
    run_library: RunLibrary, tmp_path: Path, chromium: Browser
) -> None:
    file = tmp_path / "report.html"
    await _report(run_library.read(Kept.MODEL).url, file)

    text = await (await _open(chromium, file)).page.inner_text("#time")

    assert "prompt" in text
    assert "engine seconds" in text
    titles = await (await _open(chromium, file)).page.locator("#time img.plot").count()
    assert titles == 4


@pytest.mark.browser
async def test_hostile_words_show_as_words(tmp_path: Path, chromium: Browser) -> None:
    made = await make_looked_at(tmp_path / "run", with_hostile_words)
    file = tmp_path / "report.html"

    said = await _report(made.url, file)

    assert said.code == 0, said.err
    opened = await _open(chromium, file)
    assert opened.said == []
    assert [url for url in opened.asked if not url.startswith("data:")] == [file.as_uri()]
    text = await opened.page.inner_text("#failures")
    assert "<script>alert(1)</script>" in text
    assert "evil" in text
    written = file.read_text(encoding="utf-8")
    assert HOSTILE not in written
    assert not [one for one in ACTS if one in written]
    assert await opened.page.locator("script").count() == 0


@pytest.mark.browser
async def test_the_policy_of_the_page_stops_what_would_act_in_it(
    tmp_path: Path, chromium: Browser
) -> None:
    """Were something not escaped, it would do nothing: the negative of the tests above."""
    made = await make_looked_at(tmp_path / "run")
    file = tmp_path / "report.html"
    await _report(made.url, file)
    page = file.read_text(encoding="utf-8")
    bad = '<script>document.title = "owned"</script><img src="http://127.0.0.1:9/x">'
    file.write_text(page.replace("<main>", f"<main>{bad}"), encoding="utf-8")

    opened = await _open(chromium, file)

    assert await opened.page.title() != "owned"
    assert any("Content Security Policy" in one for one in opened.said)


async def test_pictures_that_do_not_decode_are_told(tmp_path: Path) -> None:
    made = await make_looked_at(tmp_path / "run", without_pictures_to_decode)
    file = tmp_path / "report.html"

    said = await _report(made.url, file)

    assert said.code == 0, said.err
    assert "The picture cannot be decoded." in file.read_text(encoding="utf-8")


async def test_pictures_are_left_out_once_the_page_would_grow_too_large(
    run_library: RunLibrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, file = run_library.read(Kept.PAIRS), tmp_path / "report.html"
    monkeypatch.setattr("flows.looking.report_page.MAX_PICTURE_BYTES", 60_000)

    await _report(run.url, file)

    page = file.read_text(encoding="utf-8")
    assert "Its pictures are left out" in page
    assert 0 < page.count("data:image/jpeg") < 14
    assert MAX_PICTURE_BYTES * 1.4 < MAX_BYTES


BAD = {
    "a run that is not there": (("nowhere", "--to=x.html"), "nowhere"),
    "no file": (("{run}",), "--to"),
    "a file in no folder": (("{run}", "--to=/proc/none/x.html"), "cannot be written"),
    "an earlier run that is not there": (("{run}", "--to=x.html", "--against=nowhere"), "nowhere"),
    "a dataset": (("{dataset}", "--to=x.html"), "its card is its report"),
    "a key without effect": (("{run}", "--to=x.html", "--set=browser.sessions=2"), "does not use"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_by_name(
    name: str, run_library: RunLibrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_library.read(Kept.PAIRS)
    monkeypatch.chdir(tmp_path)
    words, told = BAD[name]

    said = called("report", *(one.format(run=run.url, dataset=run.dataset) for one in words))

    assert said.code == 2
    assert told in said.err
    assert not list(tmp_path.iterdir())


def test_a_run_in_which_nothing_has_ended_says_so(tmp_path: Path) -> None:
    made = asyncio.run(make_run(tmp_path / "run"))

    said = called("report", made.url, f"--to={tmp_path / 'r.html'}")

    assert said.code == 2
    assert "no episode" in said.err
