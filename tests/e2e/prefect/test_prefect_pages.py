"""What Prefect's own pages make of hostile text, in a real browser: text, and nothing else."""

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import unicodedata
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Page, Route, async_playwright
from support.episodes.factories import MadeRun, commit_whole_unit, make_run, make_task, make_unit
from support.inputs.hostile_texts import HOSTILE
from support.runs.commands import SECONDS, environment, stepmill, until
from support.servers.prefect_deployment import ask
from support.servers.prefect_home import DATABASE, prefect_home

from flows.orchestration.shown import MAX_CHARS
from generators.browser.chromium import find_chromium
from schemas.truncation import to_well_formed
from storage.publish.card.escape import visible

pytestmark = [pytest.mark.browser, pytest.mark.prefect, pytest.mark.timeout(600)]

TEXTS = tuple(to_well_formed(text) for text in HOSTILE.values())
"""What rows hold of them."""


@pytest.fixture(scope="module")
def server(shared_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Prefect server with its pages; its address."""
    home = prefect_home(shared_folder, tmp_path_factory.mktemp("prefect") / "home")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        settings = {
            "PREFECT_HOME": str(home),
            "PREFECT_API_URL": "",
            "PREFECT_UI_API_URL": f"{url}/api",
            "PREFECT_SERVER_DATABASE_CONNECTION_URL": f"sqlite+aiosqlite:///{home}/{DATABASE}",
            "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
            "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
            "DO_NOT_TRACK": "1",
        }
        child = subprocess.Popen(
            [sys.executable, "-m", "flows.orchestration.server_process", str(listener.fileno())],
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=[listener.fileno()],
            env=environment(settings),
        )
    try:
        until(lambda: _answers(f"{url}/api/health"))
        yield url
    finally:
        assert child.stdin is not None
        child.stdin.close()
        child.wait(SECONDS)


def _answers(url: str) -> bool:
    try:
        return bool(ask(url))
    except OSError:
        return False


async def _hostile_run(place: Path) -> MadeRun:
    """Return a run with a template of each text; its tasks are attempted once."""
    made = await make_run(place)
    tasks = [
        make_task(number).model_copy(update={"template_id": text or "-"})
        for number, text in enumerate(TEXTS)
    ]
    unit_id, episodes = make_unit(tasks, n_steps=0, run_id=made.run_id)
    lake = made.lake()
    await commit_whole_unit(lake, unit_id, tasks=tasks, episodes=episodes)
    await lake.seal()
    await lake.close()
    return made


@asynccontextmanager
async def _opened(url: str) -> AsyncIterator[tuple[Page, list[str]]]:
    """Open a browser; yield a page, and what is asked of others than `url`."""
    asked: list[str] = []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=str(find_chromium()), args=["--no-sandbox"]
        )
        page = await browser.new_page()
        page.on("dialog", lambda dialog: asked.append(dialog.message))

        async def answer(route: Route) -> None:
            if route.request.url.startswith(url):
                await route.continue_()
            else:  # the pages ask their maker too, which nobody here shall reach
                asked.append(route.request.url)
                await route.abort()

        await page.route(re.compile("^(http|ws|file)"), answer)
        yield page, asked
        await browser.close()


async def _show(page: Page, url: str, waited_for: str) -> str:
    """Open a page of Prefect's; return its text once it has `waited_for`."""
    await page.goto(url)
    await page.wait_for_function(
        "text => document.body.innerText.includes(text)", arg=waited_for, timeout=60_000
    )
    return await page.inner_text("body")


def _hidden(text: str) -> set[str]:
    """Return the characters of a text that steer, hide or turn round a part of it."""
    return {char for char in text if unicodedata.category(char) in {"Cc", "Cf"}} - set("\n\t\xa0")


async def _made_of_text(page: Page) -> list[str]:
    """Return what hostile text made of a page: variables, links to elsewhere, pictures, elements in cells."""
    found: list[str] = await page.evaluate(
        """() => [
          ...(window.owned === undefined ? [] : ["owned"]),
          ...[...document.querySelectorAll("a")].map(one => one.href).filter(
            href => href && !href.startsWith(location.origin) && !href.includes("prefect.io")),
          ...[...document.querySelectorAll("td *, h1, h2, li, blockquote, img, script, svg a")]
            .filter(one => !["P", "DIV", "SPAN", "ARTICLE"].includes(one.tagName)
              && /owned|evil|127[.]0[.]0[.]1:9/i.test(one.outerHTML))
            .map(one => one.outerHTML.slice(0, 200)),
        ]"""
    )
    return found


async def test_hostile_text_is_text_on_prefects_pages(server: str, tmp_path: Path) -> None:
    api = f"{server}/api"
    made = await _hostile_run(tmp_path / "run")
    settings = [
        f"--set=storage.region={json.dumps(text, ensure_ascii=False)}"
        for text in TEXTS
        if len(text) < 999
    ]
    said = await asyncio.to_thread(
        stepmill,
        *("verify", str(made.folder), "--verifiers=structure", "--json", *settings),
        env={"PREFECT_API_URL": api, "PREFECT_HOME": str(tmp_path / "home")},
    )
    assert said.code in (0, 1), said.err
    [run] = ask(f"{api}/flow_runs/filter", {})
    kinds = {found["type"]: found for found in ask(f"{api}/artifacts/filter", {})}
    cells = [row["family"] for row in json.loads(kinds["table"]["data"])]
    assert len(cells) == len({text or "-" for text in TEXTS})

    async with _opened(server) as (page, asked):
        shown = await _show(page, f"{server}/artifacts/artifact/{kinds['table']['id']}", "family")
        for text in TEXTS:
            assert visible(text)[: MAX_CHARS - 1] in " ".join(shown.split()), text
        assert not _hidden(shown)
        assert not await _made_of_text(page)
        parameters = await _show(
            page, f"{server}/runs/flow-run/{run['id']}?tab=Parameters", "region"
        )
        assert "window.owned=1" in parameters
        assert not _hidden(parameters)
        assert not await _made_of_text(page)
        for path in ("artifacts", "runs", f"v2/artifacts/artifact/{kinds['table']['id']}"):
            await _show(page, f"{server}/{path}", "verify")
            assert not await _made_of_text(page), path
        assert not [one for one in asked if re.search("evil|owned|127[.]0[.]0[.]1", one)]
    assert os.environ.get("PREFECT_API_URL", "") == ""
