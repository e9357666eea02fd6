"""What every session promises, shown on the real one and on the scripted one."""

import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager

import pytest
from support.browsers.html_site import ORIGIN, browsing, spec
from support.browsers.scripted_session import Page, ScriptedSessions

from generators.browser.protocol import Session
from schemas.base import sha256_hex
from schemas.episodes.action import Answer, Click, Hover, NoAction, Wait

pytestmark = pytest.mark.asyncio(loop_scope="session")

Opening = Callable[[], AbstractAsyncContextManager[Session]]

COUNTER = "<body style='margin:0'><p id=p>0</p><script>onclick=()=>p.textContent++</script>"


@contextlib.asynccontextmanager
async def in_chromium() -> AsyncIterator[Session]:
    pages = {"/": f"<body>{COUNTER}"}
    async with browsing(pages) as (chromium, _), chromium.session(spec()) as session:
        await session.open(ORIGIN + "/")
        yield session


@contextlib.asynccontextmanager
async def scripted() -> AsyncIterator[Session]:
    pages = [Page(colour=(shade, 0, 0), value=shade) for shade in (0, 100, 200)]
    async with ScriptedSessions(pages).session(spec()) as session:
        await session.open(ORIGIN + "/")
        yield session


@pytest.fixture(params=[pytest.param(in_chromium, marks=pytest.mark.browser), scripted])
def opening(request: pytest.FixtureRequest) -> Opening:
    chosen: Opening = request.param
    if chosen is in_chromium:
        request.getfixturevalue("one_browser")
    return chosen


async def test_looking_changes_nothing(opening: Opening) -> None:
    async with opening() as session:
        first, second = await session.observe(), await session.observe()

        assert first.page == second.page
        assert first.screenshot.bytes == second.screenshot.bytes


async def test_a_picture_is_a_jpeg_of_the_viewport(opening: Opening) -> None:
    async with opening() as session:
        seen = await session.observe()

        assert (seen.width, seen.height) == (500, 400)
        assert seen.screenshot.bytes.startswith(b"\xff\xd8")
        assert sha256_hex(seen.screenshot.bytes)[:4]


async def test_acting_shows_and_says_what_lay_under_it(opening: Opening) -> None:
    async with opening() as session:
        before = await session.observe()
        effect = await session.act(Click(x=10, y=10))
        after = await session.observe()

        assert effect.error is None
        assert effect.target is not None
        assert after.page.dom_sha256 != before.page.dom_sha256


async def test_answers_and_nothing_leave_the_page_alone(opening: Opening) -> None:
    async with opening() as session:
        before = await session.observe()
        for action in (Answer(text="x"), NoAction()):
            effect = await session.act(action)
            assert (effect.error, effect.target) == (None, None)

        assert (await session.observe()).page == before.page


async def test_a_point_outside_the_viewport_is_an_error_and_no_exception(opening: Opening) -> None:
    async with opening() as session:
        before = await session.observe()
        effect = await session.act(Hover(x=500, y=399))

        assert effect.error is not None
        assert (await session.observe()).page.url == before.page.url


async def test_the_same_actions_give_the_same_states(opening: Opening) -> None:
    async def states() -> list[object]:
        async with opening() as session:
            out: list[object] = []
            for action in (Click(x=10, y=10), Wait(ms=300), Click(x=20, y=10)):
                await session.act(action)
                seen = await session.observe()
                out.append((seen.page, seen.screenshot.bytes))
            return out

    assert await states() == await states()


async def test_the_reader_reads_a_document(opening: Opening) -> None:
    async with opening() as session:
        root = await session.reader.read()

        assert root.tag == "html"
        assert next(root.walk()) is root
