"""The web application of a server: tokens, health, metrics, and the doors that a configuration opens.

Every request but those that say what the server is needs the token of a client, as `Authorization: Bearer …`. A request
that brings a wrong one is refused, whatever it asks for. Pages of other sites cannot use it either: a browser sends no
such header for them.
"""

import contextlib
import logging
import socket
from collections.abc import AsyncIterator, Iterator, Mapping

from aiohttp import web
from aiohttp.typedefs import Handler
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from flows.serving import run_door, step_door, stream
from flows.serving.seating import NoSeat, Seats
from flows.serving.tokens import check_tokens
from flows.version import version_of
from generators.seats.turnstile import Busy
from schemas.base import JsonObject
from schemas.configuration.seats_section import DoorName
from schemas.errors import BadTasks

MAX_BYTES = 4 << 20
"""The maximum size of a request or a message."""

SHUTDOWN_SECONDS = 2.0
"""How long requests may go on after the last episode has ended."""

LOG = logging.getLogger(__name__)


@contextlib.asynccontextmanager
async def open_doors(
    seats: Seats,
    tokens: Mapping[str, str],
    listener: socket.socket | None = None,
    *,
    shutdown_seconds: float = SHUTDOWN_SECONDS,
) -> AsyncIterator[str]:
    """Serve the doors of the configuration while the block runs; yield their address.

    `tokens` are those of the clients by name. `listener` is where they are, and is closed at the end; None: a free port
    of loopback.
    """
    runner = web.AppRunner(
        _make_app(seats, tokens), access_log=None, shutdown_timeout=shutdown_seconds
    )
    await runner.setup()
    try:
        bound = listener or socket.create_server(("127.0.0.1", 0))
        await web.SockSite(runner, bound).start()
        host, port, *_ = bound.getsockname()
        yield f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    finally:
        await runner.cleanup()


def _make_app(seats: Seats, tokens: Mapping[str, str]) -> web.Application:
    """Return the application with the doors of the configuration; `tokens` are those of the clients by name."""
    app = web.Application(
        client_max_size=MAX_BYTES, middlewares=[_answer_refusals, check_tokens(tokens)]
    )
    registry = CollectorRegistry()
    registry.register(_Collector(seats))

    async def health(_request: web.Request) -> web.Response:
        status = "unhealthy" if seats.ending else "healthy"
        return web.json_response(
            {"status": status, "ending": seats.ending or None, **seats.figures()},
            status=503 if seats.ending else 200,
        )

    async def metrics(_request: web.Request) -> web.Response:
        return web.Response(body=generate_latest(registry), content_type="text/plain")

    async def metadata(_request: web.Request) -> web.Response:
        return web.json_response(
            {
                "name": "stepmill",
                "description": "Web tasks in Chromium, seen as pictures, with exact rewards.",
                "version": version_of(),
            }
        )

    async def openapi(_request: web.Request) -> web.Response:
        return web.json_response(_openapi(app))

    app.router.add_get("/health", health)
    app.router.add_get("/metrics", metrics)
    app.router.add_get("/metadata", metadata)
    app.router.add_get("/openapi.json", openapi)
    for door in seats.config.seats.doors:
        if door is DoorName.RUN:
            run_door.add_routes(app, seats)
        if door is DoorName.STEP:
            step_door.add_routes(app, seats)
        if door is DoorName.STREAM:
            stream.add_routes(app, seats)
    return app


@web.middleware
async def _answer_refusals(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer a request that is refused with its reason, and when to come again."""
    try:
        return await handler(request)
    except Busy as busy:
        seconds = max(1, round(busy.retry_seconds))
        return web.json_response(
            {"error": str(busy), "place": busy.place, "retry_after": seconds},
            status=429,
            headers={"Retry-After": str(seconds)},
        )
    except BadTasks as error:
        return web.json_response({"error": str(error)}, status=404)
    except NoSeat as error:
        return web.json_response({"error": str(error)}, status=503)
    except web.RequestPayloadError:
        return web.json_response(
            {"error": "the body is not encoded as its headers say, or ends too early"}, status=400
        )


class _Collector:
    """The figures of a server as metrics."""

    def __init__(self, seats: Seats) -> None:
        self._seats = seats

    def collect(self) -> Iterator[Metric]:
        """Yield them."""
        for name, value in self._seats.figures().items():
            yield GaugeMetricFamily(f"stepmill_{name}", name.replace("_", " "), value=value)
        held = GaugeMetricFamily("stepmill_client_seats", "seats by client", labels=["client"])
        for client, count in self._seats.turnstile.held.items():
            held.add_metric([client], count)
        yield held
        counts = dict(self._seats.counts)
        yield CounterMetricFamily("stepmill_steps", "actions taken", value=counts.pop("steps", 0))
        ends = CounterMetricFamily(
            "stepmill_episodes", "episodes by how they ended", labels=["end"]
        )
        for end, count in counts.items():
            ends.add_metric([end], count)
        yield ends


def _openapi(app: web.Application) -> JsonObject:
    """Return the paths of an application, as OpenAPI lists them."""
    paths: dict[str, dict[str, JsonObject]] = {}
    for route in app.router.routes():
        if route.method != "HEAD" and route.resource is not None:
            about: JsonObject = {"responses": {"200": {"description": "done"}}}
            paths.setdefault(route.resource.canonical, {})[route.method.lower()] = about
    info = {"title": "Stepmill", "version": version_of()}
    return {"openapi": "3.1.0", "info": info, "paths": paths}  # type: ignore[dict-item]
