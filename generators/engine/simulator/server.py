"""The simulator as an HTTP server on this machine, started and stopped by its owner.

`/v1/models`, `/v1/chat/completions`, `/tokenize`, `/version`, `/health` and `/metrics` are OpenAI's
and vLLM's, for clients; so are those of `weights_pages`, for trainers. `/fault`, `/puppet/{session}` and `/requests` are for tests.
"""

import dataclasses
from collections.abc import Awaitable, Callable, Sequence
from typing import Self, TypeVar

from aiohttp import web
from pydantic import JsonValue, ValidationError

from generators.engine.simulator.chat_handler import SESSION, ChatHandler, read_object
from generators.engine.simulator.faults import CHAT, ActiveFaults, Fault, FaultKind
from generators.engine.simulator.http_errors import HttpRefusal
from generators.engine.simulator.metrics import (
    figures_of_cache,
    figures_of_clock,
    metrics_page,
)
from generators.engine.simulator.options import SimulatorOptions
from generators.engine.simulator.request_log import RequestLog
from generators.engine.simulator.tokenizer import pieces
from generators.engine.simulator.weights import Weights
from generators.engine.simulator.weights_pages import WeightsPages
from schemas.base import JsonObject, Record

VERSION = "1.1.0"
"""Changes when the simulator answers differently."""

LARGEST_BODY = 256 * 1_024**2

_Kind = TypeVar("_Kind", bound=Record)

Handler = Callable[[web.Request, ActiveFaults], Awaitable[web.StreamResponse]]
"""Serves a page under the faults that apply to it."""


class QueuedText(Record):
    """The body of `PUT /puppet/{session}`."""

    text: str
    """Verbatim."""


class SimulatorApp:
    """The HTTP routes."""

    def __init__(self, chats: ChatHandler) -> None:
        self._chats = chats

    def app(self) -> web.Application:
        """Return the application that serves every page."""
        app = web.Application(client_max_size=LARGEST_BODY)
        for method, path, handler in (
            ("POST", CHAT, self._chats.chat),
            ("GET", "/v1/models", self._models),
            ("GET", "/version", self._version),
            ("GET", "/health", self._health),
            ("GET", "/metrics", self._metrics),
            ("POST", "/tokenize", self._tokenize),
            ("GET", "/fault", self._faults),
            ("POST", "/fault", self._post_fault),
            ("DELETE", "/fault", self._clear_faults),
            ("PUT", "/puppet/{session}", self._queue_reply),
            ("DELETE", "/puppet/{session}", self._clear_replies),
            ("GET", "/requests", self._requests),
            *WeightsPages(self._chats).routes(),
        ):
            app.router.add_route(method, path, self._guard(handler))
        return app

    def _guard(self, handler: Handler) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        """Count the requests of a page, apply faults to them, and turn refusals into answers."""

        async def guard(request: web.Request) -> web.StreamResponse:
            self._chats.request_log.paths[request.path] += 1
            faults = self._chats.faults.active_faults(request.path, request.headers.get(SESSION))
            try:
                self._authorise(request)
                if request.path != CHAT:
                    await self._chats.apply_faults(faults)
                return await handler(request, faults)
            except HttpRefusal as refusal:
                return web.json_response(
                    refusal.body, status=refusal.status, headers=refusal.headers
                )

        return guard

    def _authorise(self, request: web.Request) -> None:
        key, sent = self._chats.options.api_key, request.headers.get("Authorization")
        if key is not None and request.path.startswith("/v1/") and sent != f"Bearer {key}":
            raise HttpRefusal(401, "Unauthorized")

    async def _models(self, _: web.Request, __: ActiveFaults) -> web.Response:
        options = self._chats.options
        model: JsonObject = {
            "id": options.model,
            "object": "model",
            "created": 0,
            "owned_by": "stepmill",
            "root": options.model,
            "parent": None,
            "max_model_len": options.context_tokens,
        }
        return web.json_response({"object": "list", "data": [model]})

    async def _version(self, _: web.Request, __: ActiveFaults) -> web.Response:
        return web.json_response({"version": VERSION})

    async def _health(self, _: web.Request, __: ActiveFaults) -> web.Response:
        return web.Response()

    async def _metrics(self, _: web.Request, faults: ActiveFaults) -> web.Response:
        chats = self._chats
        if FaultKind.NO_METRICS in faults:
            raise HttpRefusal(404, "Not Found")
        model = chats.options.model
        if chats.clock is not None:
            figures = figures_of_clock(chats.clock.batcher, chats.options.context_tokens)
        else:
            figures = figures_of_cache(chats.counters, chats.cache)
        text = metrics_page(chats.counters, figures, chats.images, model=model)
        if FaultKind.HALF_METRICS in faults:
            text = text[: len(text) // 2]
        return web.Response(text=text, content_type="text/plain")

    async def _tokenize(self, request: web.Request, _: ActiveFaults) -> web.Response:
        chats, body = self._chats, await read_object(request)
        texts: list[str] | None = None
        if isinstance(prompt := body.get("prompt"), str):
            ids = chats.tokenizer.ids(prompt)
            texts = pieces(prompt) if body.get("return_token_strs") else None
        else:
            chat = chats.read(body, ActiveFaults([]))
            suffix = body.get("add_generation_prompt", True) is not False
            ids = chats.tokenizer.prompt(chat, suffix=suffix).ids
            if body.get("return_token_strs"):
                texts = chats.tokenizer.strings(chat, suffix=suffix)
        counts: JsonObject = {
            "count": len(ids),
            "max_model_len": chats.options.context_tokens,
            "tokens": list(ids),
            "token_strs": list[JsonValue](texts) if texts is not None else None,
        }
        return web.json_response(counts)

    async def _faults(self, _: web.Request, __: ActiveFaults) -> web.Response:
        return web.json_response({"struck": self._chats.faults.strike_counts})

    async def _post_fault(self, request: web.Request, faults: ActiveFaults) -> web.Response:
        self._chats.faults.post(_parse(Fault, await read_object(request)))
        return await self._faults(request, faults)

    async def _clear_faults(self, request: web.Request, faults: ActiveFaults) -> web.Response:
        self._chats.faults.clear()
        return await self._faults(request, faults)

    async def _queue_reply(self, request: web.Request, _: ActiveFaults) -> web.Response:
        if not self._chats.options.puppet:
            raise HttpRefusal(404, "this simulator takes no queued replies; start it with --puppet")
        text = _parse(QueuedText, await read_object(request)).text
        waiting = self._chats.queued_replies.put(request.match_info["session"], text)
        return web.json_response({"waiting": waiting})

    async def _clear_replies(self, request: web.Request, _: ActiveFaults) -> web.Response:
        self._chats.queued_replies.clear(request.match_info["session"])
        return web.json_response({"waiting": 0})

    async def _requests(self, request: web.Request, _: ActiveFaults) -> web.Response:
        last, log = request.query.get("last", "8"), self._chats.request_log
        if not last.isdecimal():
            raise HttpRefusal(400, f"last: expected a number, got {last!r}")
        return web.json_response(
            {
                "chats": log.chats,
                "paths": log.paths,
                "outcomes": log.outcomes,
                "struck": self._chats.faults.strike_counts,
                "waiting_texts": self._chats.queued_replies.waiting,
                "last": [dataclasses.asdict(entry) for entry in log.latest(int(last))],
            }
        )


def _parse(kind: type[_Kind], body: JsonObject) -> _Kind:
    try:
        return kind.model_validate(body)
    except ValidationError as error:
        problems = (f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise HttpRefusal(400, "; ".join(problems)) from None


SHUTDOWN_SECONDS = 0.1
"""How long requests in flight may take when it stops; some would never end."""

READ_AHEAD = 2**21
"""Bytes of a body that are taken in before reading pauses; pictures make bodies large."""


class SimulatorServer:
    """A simulator on 127.0.0.1 while the context is open."""

    def __init__(
        self,
        options: SimulatorOptions | None = None,
        *,
        port: int = 0,
        faults: Sequence[Fault] = (),
    ) -> None:
        """`port` 0 takes a free one; `faults` are posted from the start."""
        self._running: ChatHandler | None = None
        self._options = options or SimulatorOptions()
        self._faults = tuple(faults)
        self._runner: web.AppRunner | None = None
        self.port = port
        """Where it listens, once entered."""

    @property
    def url(self) -> str:
        """Where it is, without a path; OpenAI's API is at `/v1` below."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def request_log(self) -> RequestLog:
        """The requests that it got."""
        return self._handler.request_log

    @property
    def weights(self) -> Weights:
        """Its weights, as a trainer pauses, changes and names them."""
        return self._handler.weights

    def add_fault(self, fault: Fault) -> None:
        """Add a fault, as `POST /fault` does."""
        self._handler.faults.post(fault)

    def clear_faults(self) -> None:
        """Remove every fault, as `DELETE /fault` does."""
        self._handler.faults.clear()

    def queue_reply(self, session: str, text: str) -> None:
        """Queue a text as the reply to the session's next request, as `PUT /puppet` does."""
        self._handler.queued_replies.put(session, text)

    @property
    def _handler(self) -> ChatHandler:
        if self._running is None:
            raise RuntimeError("the simulator is not running; use `async with`")
        return self._running

    async def __aenter__(self) -> Self:
        """Listen."""
        self._running = ChatHandler(self._options)
        if self._running.clock is not None:
            await self._running.clock.__aenter__()
        for fault in self._faults:
            self._running.faults.post(fault)
        self._runner = web.AppRunner(
            SimulatorApp(self._running).app(),
            access_log=None,
            handler_cancellation=True,
            shutdown_timeout=SHUTDOWN_SECONDS,
            read_bufsize=READ_AHEAD,
        )
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port, backlog=1_024)
        try:
            await site.start()
        except OSError:
            await self._runner.cleanup()
            raise
        self.port = int(self._runner.addresses[0][1])
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop; requests that never end are dropped."""
        if self._runner is not None:
            await self._runner.cleanup()
        if self._running is not None and self._running.clock is not None:
            await self._running.clock.__aexit__()
