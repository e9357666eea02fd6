"""The web application of a window: its routes, and how errors are shown."""

import contextlib
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from aiohttp import web

from flows.viewing.guard import keep_others_out
from flows.viewing.page import HERE, PLACES, REVIEWER, answer, place_of
from flows.viewing.pages import compare, episode, gallery, overview, pictures, review
from flows.viewing.shown import Shown
from schemas.errors import NotFound, StepmillError

_Page = Callable[[web.Request], Awaitable[web.StreamResponse]]

SHUTDOWN_SECONDS = 1.0
"""How long requests may go on after the window was closed."""


@contextlib.asynccontextmanager
async def open_window(
    places: Sequence[Shown], token: str, listener: socket.socket, reviewer: str
) -> AsyncIterator[None]:
    """Serve places while the block runs, at the address of `listener`, to whoever has the token.

    `reviewer` is who gives the reviews.
    """
    host, port, *_ = listener.getsockname()
    runner = web.AppRunner(
        make_app(places, token, (str(host), int(port)), reviewer),
        access_log=None,
        shutdown_timeout=SHUTDOWN_SECONDS,
    )
    await runner.setup()
    try:
        await web.SockSite(runner, listener).start()
        for place in places:
            await place.refresh()
        yield
    finally:
        await runner.cleanup()
        for place in places:
            await place.close()


def make_app(
    places: Sequence[Shown], token: str, served: tuple[str, int], reviewer: str
) -> web.Application:
    """Return the application that shows places; `served` are the host and the port where it is served."""
    app = web.Application(middlewares=[keep_others_out(token, *served), _explain_errors])
    app[PLACES] = list(places)
    app[REVIEWER] = reviewer

    async def front(_request: web.Request) -> web.StreamResponse:
        raise web.HTTPSeeOther("/0/overview")

    app.router.add_get("/", front)
    app.router.add_get("/{place}", _to_overview)
    app.router.add_get("/{place}/overview", _ready(overview.show))
    app.router.add_get("/{place}/episodes", _ready(gallery.show))
    app.router.add_get("/{place}/episodes/{episode}", _ready(episode.show))
    app.router.add_get("/{place}/compare", _ready(compare.show))
    app.router.add_get("/{place}/review", _ready(review.show))
    app.router.add_post("/{place}/episodes/{episode}/review", _ready(review.save))
    app.router.add_get("/{place}/pictures/{episode}/{step}", pictures.show)
    app.router.add_static("/static", HERE / "static")
    return app


async def _to_overview(request: web.Request) -> web.StreamResponse:
    number, _ = place_of(request)
    raise web.HTTPSeeOther(f"/{number}/overview")


def _ready(page: _Page) -> _Page:
    """Return a page that waits until its place has been read so far that it can be shown."""

    async def show(request: web.Request) -> web.StreamResponse:
        _, place = place_of(request)
        await place.refresh()
        if not place.is_ready:
            return answer(request, "waiting.html", {}, title="Reading")
        return await page(request)

    return show


@web.middleware
async def _explain_errors(request: web.Request, handler: _Page) -> web.StreamResponse:
    """Answer an error with a page that says what is wrong."""
    try:
        return await handler(request)
    except NotFound as error:
        return _problem(request, 404, "There is no such thing here", str(error))
    except StepmillError as error:
        return _problem(request, 400, "This cannot be done", str(error))
    except web.HTTPNotFound as error:
        return _problem(request, 404, "There is no such page", error.text or "")


def _problem(request: web.Request, status: int, headline: str, message: str) -> web.Response:
    given = {"headline": headline, "message": message}
    return answer(request, "error.html", given, title=headline, status=status)
