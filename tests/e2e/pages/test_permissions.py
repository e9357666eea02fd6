"""What a page asks its browser for is asked of the policy or told: permissions, printing, news without end, in Chromium."""

import asyncio
import itertools

import pytest
from aiohttp import web
from effort import THOROUGH
from support.browsers.html_site import HOST, opened

from generators.browser import clock
from generators.browser.session import GOES_ON, ChromiumSession
from schemas.episodes.action import AnswerDialog, Click, Wait
from schemas.episodes.observation import DialogKind, OpenDialog
from schemas.page_facts import PageFacts

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.usefixtures("one_browser"),
]

ASK = Click(x=30, y=18)
ASKING = "<button id=b>ask</button><p id=said>nothing</p><script>window.n = 0; b.onclick = () => {{ n += 1; {} }}</script>"
TELL = "(what) => { said.textContent = n + ' ' + what }"
PLACE = f"navigator.geolocation.getCurrentPosition((at) => ({TELL})('at ' + at.coords.latitude), (e) => ({TELL})('code ' + e.code))"
NOTICE = f"Notification.requestPermission().then({TELL})"
CAMERA = (
    f"navigator.mediaDevices.getUserMedia({{video: true}}).then({TELL}, (e) => ({TELL})(e.name))"
)
PASTE = f"navigator.clipboard.readText().then((t) => ({TELL})('read'), (e) => ({TELL})(e.name))"


async def said(session: ChromiumSession) -> object:
    return await session.evaluate("said.textContent")


@pytest.mark.parametrize(
    ("asks", "words", "allowed", "blocked"),
    [
        (PLACE, "Know your location", "1 at 52.5", "1 code 1"),
        (NOTICE, "Show notifications", "1 granted", "1 denied"),
        (CAMERA, "Use your camera and microphone", "1 NotFoundError", "1 NotAllowedError"),
        (PASTE, "See what you have copied", "1 read", "1 NotAllowedError"),
    ][:: 1 if THOROUGH else 2],
)
@pytest.mark.parametrize("accept", [True, False])
async def test_a_permission_is_asked_for_once_and_answered_by_an_action(
    asks: str, words: str, allowed: str, blocked: str, *, accept: bool
) -> None:
    async with opened({"/": ASKING.format(asks)}) as session:
        if accept and asks is PLACE:
            await session._context.set_geolocation({"latitude": 52.5, "longitude": 13.4})
        effect = await session.act(ASK)
        seen = await session.observe()
        assert effect.result_text == f"The page wants to: {words}"
        assert seen.page.dialog == OpenDialog(
            kind=DialogKind.PERMISSION, title=f"{HOST} wants to", message=words
        )
        assert [one.name for one in seen.elements] == ["Allow", "Block"]
        await session.act(AnswerDialog(accept=accept))
        assert (await session.observe()).page.dialog is None
        assert await said(session) == (allowed if accept else blocked)

        await session.act(ASK)
        assert (await session.observe()).page.dialog is None, "nobody is asked twice"
        assert await said(session) == (allowed if accept else blocked).replace("1 ", "2 ", 1)


async def test_a_permission_that_is_ignored_is_refused() -> None:
    async with opened({"/": ASKING.format(NOTICE)}) as session:
        await session.act(ASK)
        told = [(await session.act(Wait(ms=10))).result_text for _ in range(3)]

        assert "dismissed by default" in str(told[-1])
        assert await said(session) == "1 denied"


async def test_a_place_that_the_site_states_is_told_without_asking() -> None:
    facts = PageFacts(latitude=1, longitude=2)
    async with opened({"/": ASKING.format(PLACE)}, facts=facts) as session:
        assert (await session.act(ASK)).result_text is None

        assert await said(session) == "1 at 1"


async def test_printing_and_the_whole_screen_are_told() -> None:
    for asks, told in (
        ("print()", "The page wants to print; nothing is printed here"),
        (
            "document.documentElement.requestFullscreen().catch(() => 0)",
            "The page wants the whole screen, which it does not get here",
        ),
    ):
        async with opened({"/": ASKING.format(asks)}) as session:
            assert (await session.act(ASK)).result_text == told
            assert (await session.observe()).page.dialog is None


async def test_a_stream_that_is_never_silent_is_told_of_with_each_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(clock, "NEWS_SECONDS", 0.5)

    async def stream(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for number in itertools.count():
            await response.write(f"data: {'x' * (number % 7)}\n\n".encode())
            await asyncio.sleep(0.05)
        return response

    page = "<p>news</p><script>new EventSource('/news').onmessage = () => {}</script>"
    async with opened({"/": page, "/news": stream}) as session:
        assert (await session.act(Wait(ms=10))).result_text == GOES_ON
        assert (await session.act(Wait(ms=10))).result_text == GOES_ON
    async with opened({"/": "<p>nothing</p>"}) as session:
        assert (await session.act(Wait(ms=10))).result_text is None
