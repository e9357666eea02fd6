"""Nobody else gets into a window: no token, another address, another site, another file."""

import os
import re
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from aiohttp import ClientResponse, ClientSession
from conftest import CopyRun
from support.episodes.factories import MadeRun
from yarl import URL

from flows.viewing.app import open_window
from flows.viewing.guard import ENTER, new_token
from flows.viewing.opening import open_for_view
from flows.viewing.shown import Shown
from storage.reading.lookup import cache_folder, lookup_folder, make_lookup

TOKEN = new_token()


@pytest.fixture
def run(copy_run: CopyRun, tmp_path: Path) -> MadeRun:
    return copy_run(tmp_path / "run", units=1)


@pytest_asyncio.fixture(loop_scope="function")
async def window(run: MadeRun, tmp_path: Path) -> AsyncIterator[str]:
    cache = cache_folder({"XDG_CACHE_HOME": str(tmp_path / "cache")})
    opened = await open_for_view(run.url, dict(os.environ))
    make_lookup(opened, lookup_folder(cache, opened), lambda _share: None)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        async with open_window([Shown(run.url, opened, cache)], TOKEN, listener, "ana"):
            yield f"http://127.0.0.1:{port}"


async def got(url: str, **given: object) -> ClientResponse:
    async with ClientSession() as session, session.get(url, allow_redirects=False, **given) as told:  # type: ignore[arg-type]
        await told.read()
        return told


@pytest.mark.parametrize(
    "path",
    ["/", "/0/overview", "/0/episodes", "/static/window.css", "/nothing", f"/?{ENTER}=wrong"],
)
async def test_without_the_token_there_is_nothing(window: str, path: str) -> None:
    told = await got(window + path)

    assert told.status == 401
    assert "stepmill view" in await told.text()


async def test_the_token_becomes_a_cookie_and_leaves_the_address(window: str) -> None:
    told = await got(f"{window}/0/episodes?{ENTER}={TOKEN}&status=rejected")

    assert told.status == 303
    assert told.headers["Location"] == "/0/episodes?status=rejected"
    cookie = told.headers["Set-Cookie"]
    assert TOKEN in cookie
    assert "HttpOnly" in cookie
    assert re.search(r"SameSite=(Lax|Strict)", cookie)
    assert (await got(window + "/0/episodes", cookies=_cookie(window))).status == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost:1", ""])
async def test_another_host_is_refused(window: str, host: str) -> None:
    told = await got(window + "/0/overview", headers={"Host": host}, cookies=_cookie(window))

    assert told.status == 421


async def test_another_site_is_refused(window: str) -> None:
    headers = {"Origin": "https://evil.example"}

    assert (
        await got(window + "/0/overview", headers=headers, cookies=_cookie(window))
    ).status == 403
    async with ClientSession(cookies=_cookie(window)) as session:
        for given in (headers, {}):
            async with session.post(window + "/0/overview", headers=given) as told:
                assert told.status == 403


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static//etc/passwd",
        "/0/pictures/../../app.py/0",
        "/0/pictures/%2e%2e%2f%2e%2e/last",
        "/7/overview",
        "/-1/overview",
        "/0/episodes/..%2f..%2fetc",
    ],
)
async def test_no_other_file_is_to_be_had(window: str, path: str) -> None:
    async with (
        ClientSession(cookies=_cookie(window)) as session,
        session.get(URL(window + path, encoded=True)) as told,
    ):
        assert told.status in (400, 403, 404)
        assert "import" not in await told.text()


@pytest.mark.parametrize(
    "path", ["/0/overview", "/0/episodes", "/0/compare", "/0/episodes/none", "/static/window.js"]
)
async def test_every_answer_forbids_scripts_of_others(window: str, path: str) -> None:
    told = await got(window + path, cookies=_cookie(window))

    policy = told.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert told.headers["X-Content-Type-Options"] == "nosniff"


async def test_what_is_no_filter_is_told_on_a_page(window: str) -> None:
    told = await got(window + "/0/episodes?statuss=%3Cscript%3E", cookies=_cookie(window))

    assert told.status == 400
    text = await told.text()
    assert "statuss: is no filter" in text
    assert "<script>" not in text


def _cookie(window: str) -> dict[str, str]:
    return {f"stepmill-{window.rpartition(':')[2]}": TOKEN}


def test_a_token_is_not_guessed() -> None:
    assert len({new_token() for _ in range(100)}) == 100
    assert len(new_token()) >= 32
