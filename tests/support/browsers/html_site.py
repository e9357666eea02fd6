"""A site of hand-written pages, for tests of the browser without MiniWoB++."""

import contextlib
from collections.abc import AsyncIterator, Mapping

from aiohttp import web
from support.browsers.one_browser import browser_and_gateway

from generators.browser.chromium import Chromium
from generators.browser.protocol import ClockSpec, SessionSpec
from generators.browser.session import ChromiumSession
from generators.sites.gateway import Gateway, Handler
from schemas.page_facts import NO_FACTS, PageFacts
from schemas.tasks.task_file import TaskFile

HOST = "pages.localhost"
CLOCK = ClockSpec()
ORIGIN = f"http://{HOST}"


def spec(
    *,
    clock: ClockSpec | None = CLOCK,
    files: tuple[TaskFile, ...] = (),
    facts: PageFacts = NO_FACTS,
) -> SessionSpec:
    return SessionSpec(
        viewport_width=500,
        viewport_height=400,
        allowed_origins=(ORIGIN,),
        clock=clock,
        files=files,
        page=facts,
    )


def handler(pages: Mapping[str, str | Handler]) -> Handler:
    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        page = pages.get(request.path)
        if page is None:
            return web.Response(status=404, text="no such page")
        if isinstance(page, str):
            return web.Response(
                text=f"<!DOCTYPE html><title>{request.path}</title>{page}",
                content_type="text/html",
                charset="utf-8",
            )
        return await page(request)

    return answer


@contextlib.asynccontextmanager
async def browsing(pages: Mapping[str, str | Handler]) -> AsyncIterator[tuple[Chromium, Gateway]]:
    """A gateway that serves `pages`, and a browser behind it: the worker's, if it is at hand."""
    async with browser_and_gateway() as (chromium, gateway):
        gateway.mount(HOST, handler(pages))
        yield chromium, gateway


@contextlib.asynccontextmanager
async def opened(
    pages: Mapping[str, str | Handler],
    path: str = "/",
    *,
    clock: ClockSpec | None = CLOCK,
    files: tuple[TaskFile, ...] = (),
    facts: PageFacts = NO_FACTS,
) -> AsyncIterator[ChromiumSession]:
    """A session on one of `pages`, with the files and the facts of a task."""
    async with (
        browsing(pages) as (chromium, _),
        chromium.session(spec(clock=clock, files=files, facts=facts)) as session,
    ):
        await session.open(ORIGIN + path)
        yield session
