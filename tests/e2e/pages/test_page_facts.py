"""What a page finds out about its user is what the site or the task says, in Chromium."""

import pytest
from aiohttp import web
from support.browsers.html_site import opened, spec

from generators.sites.gateway import Handler
from schemas.episodes.action import AnswerDialog, Wait
from schemas.page_facts import NO_FACTS, PageFacts

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.usefixtures("one_browser"),
]

PAGE = """<script>
const found = {
  language: navigator.language, number: (1234.5).toLocaleString(),
  zone: Intl.DateTimeFormat().resolvedOptions().timeZone, hour: new Date(0).getHours(),
  dark: matchMedia('(prefers-color-scheme: dark)').matches,
  still: matchMedia('(prefers-reduced-motion: reduce)').matches,
  touch: navigator.maxTouchPoints > 0,
}
navigator.geolocation.getCurrentPosition(
  (at) => { found.place = [at.coords.latitude, at.coords.longitude] },
  (error) => { found.place = error.code })
</script>"""

GERMAN = PageFacts(
    locale="de-DE",
    time_zone="Europe/Berlin",
    colour_scheme="dark",
    reduced_motion=False,
    touch=True,
    latitude=52.5,
    longitude=13.4,
)


@pytest.mark.parametrize(
    ("facts", "found", "header"),
    [
        (
            NO_FACTS,
            {
                "language": "en-US",
                "number": "1,234.5",
                "zone": "UTC",
                "hour": 0,
                "dark": False,
                "still": True,
                "touch": False,
                "place": 1,
            },
            "en-US",
        ),
        (
            GERMAN,
            {
                "language": "de-DE",
                "number": "1.234,5",
                "zone": "Europe/Berlin",
                "hour": 1,
                "dark": True,
                "still": False,
                "touch": True,
                "place": [52.5, 13.4],
            },
            "de-DE",
        ),
    ],
)
async def test_a_page_finds_what_is_set(
    facts: PageFacts, found: dict[str, object], header: str
) -> None:
    asked: list[str] = []

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        asked.append(request.headers.get("Accept-Language", ""))
        return web.Response(text=PAGE, content_type="text/html")

    pages: dict[str, str | Handler] = {"/": answer}
    async with opened(pages, facts=facts) as session:
        await session.act(Wait(ms=100))
        if (await session.observe()).page.dialog is not None:
            await session.act(AnswerDialog(accept=False))
        assert await session.evaluate("found") == found
    assert asked[0].startswith(header)


async def test_facts_that_are_set_are_recorded_and_none_are_not() -> None:
    assert "page" not in spec().model_dump(mode="json")
    assert spec(facts=GERMAN).model_dump(mode="json")["page"]["locale"] == "de-DE"
