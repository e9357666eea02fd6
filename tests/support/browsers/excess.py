"""Pages that do too much at the press of a button, and a good session beside them that must not notice."""

import contextlib
import re
from collections.abc import AsyncIterator, Awaitable, Mapping

from effort import THOROUGH
from support.browsers.html_site import ORIGIN, browsing, handler, spec

from generators.browser.session import ChromiumSession
from generators.sites.gateway import Handler
from schemas.episodes.action import Click, Wait
from schemas.errors import RolloutFailure
from schemas.tasks.task_file import TaskFile

Pages = Mapping[str, str | Handler]
"""What a site answers, by path."""

GO = Click(x=20, y=18)
"""Presses the button of `pressing`."""

OTHER = "http://other.localhost"
"""A second origin, which serves the same pages."""

WENT_ON = "went on"

SAID = "<p id=said style='margin-top:60px'>nothing</p>"
"""Where a page says what came of it."""

_COUNTER = (
    "<button onclick='this.textContent = 1 + Number(this.textContent)' "
    "style='position:fixed;left:0;top:0;width:60px;height:36px'>0</button>"
)


def pressing(script: str, more: str = SAID) -> str:
    """Return a page whose button runs a script, in which `await` may stand."""
    return (
        "<button id=go style='position:fixed;left:0;top:0;width:60px;height:36px'>go</button>"
        f"{more}<script>go.onclick = async () => {{ {script} }}</script>"
    )


@contextlib.asynccontextmanager
async def beside_good(
    pages: Pages, *, files: tuple[TaskFile, ...] = ()
) -> AsyncIterator[ChromiumSession]:
    """Open a session on `/`, and see that one beside it works, and where there is time one after it."""
    every = {**pages, "/good": _COUNTER}
    both = spec(files=files).model_copy(update={"allowed_origins": (ORIGIN, OTHER)})
    async with browsing(every) as (chromium, gateway), chromium.session(spec()) as good:
        gateway.mount(OTHER.removeprefix("http://"), handler(every))
        await good.open(ORIGIN + "/good")
        async with chromium.session(both) as session:
            await session.open(ORIGIN + "/")
            yield session
        assert await _counts(good) == "1"
        if THOROUGH:
            async with chromium.session(spec()) as later:
                await later.open(ORIGIN + "/good")
                assert await _counts(later) == "1"


async def _counts(session: ChromiumSession) -> str:
    """Press the counter, and return what it shows."""
    await session.act(GO)
    return next(one.text for one in (await session.observe()).elements)


async def outcome(work: Awaitable[object]) -> str:
    """Return how work ended: it went on, or the kind and the message of its failure."""
    try:
        await work
    except RolloutFailure as failure:
        return f"{failure.kind}: {failure}"
    return WENT_ON


async def text(session: ChromiumSession) -> str:
    """Return what the page has said."""
    return str(await session.evaluate("said.textContent"))


async def wait_for(session: ChromiumSession, pattern: str) -> str:
    """Let the page's time pass until it has said what is expected, or the session fails."""
    while not re.fullmatch(pattern, said := await text(session)):
        await session.act(Wait(ms=100))
    return said
