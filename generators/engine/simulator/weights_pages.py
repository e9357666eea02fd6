"""The simulator's pages for trainers, with the paths, bodies and answers of vLLM 0.32's development mode."""

from collections.abc import Awaitable, Callable, Iterator

from aiohttp import web

from generators.engine.simulator.chat_handler import ChatHandler, read_object
from generators.engine.simulator.faults import ActiveFaults
from generators.engine.simulator.http_errors import HttpRefusal
from generators.engine.simulator.weights import PauseMode, Weights
from schemas.base import JsonObject

Page = Callable[[web.Request, ActiveFaults], Awaitable[web.StreamResponse]]


class WeightsPages:
    """Serves them."""

    def __init__(self, chats: ChatHandler) -> None:
        self._chats = chats

    def routes(self) -> Iterator[tuple[str, str, Page]]:
        """Yield each page's method, path and handler."""
        yield "POST", "/pause", self._pause
        yield "POST", "/resume", self._resume
        yield "GET", "/is_paused", self._is_paused
        yield "GET", "/weight_info", self._weight_info
        yield "POST", "/start_weight_update", self._start
        yield "POST", "/update_weights", self._update
        yield "POST", "/finish_weight_update", self._finish
        yield "POST", "/update_weight_version", self._name

    @property
    def _weights(self) -> Weights:
        return self._chats.weights

    async def _pause(self, request: web.Request, _: ActiveFaults) -> web.Response:
        mode = request.query.get("mode", PauseMode.ABORT.value)
        if mode not in set(PauseMode):
            raise HttpRefusal(422, f"mode: expected {', '.join(PauseMode)}, got {mode!r}")
        await self._weights.pause(PauseMode(mode))
        return web.json_response({"status": "paused"})

    async def _resume(self, _: web.Request, __: ActiveFaults) -> web.Response:
        self._weights.resume()
        return web.json_response({"status": "resumed"})

    async def _is_paused(self, _: web.Request, __: ActiveFaults) -> web.Response:
        return web.json_response({"is_paused": self._weights.is_paused})

    async def _weight_info(self, _: web.Request, __: ActiveFaults) -> web.Response:
        return web.json_response({"weight_version": self._weights.version})

    async def _start(self, _: web.Request, __: ActiveFaults) -> web.Response:
        return web.json_response({"message": "Weight update started"})

    async def _update(self, request: web.Request, _: ActiveFaults) -> web.Response:
        if not isinstance((await read_object(request)).get("update_info"), dict):
            raise HttpRefusal(422, "update_info: expected an object")
        return web.json_response({"message": "Weights updated"})

    async def _finish(self, request: web.Request, _: ActiveFaults) -> web.Response:
        body: JsonObject = await read_object(request) if request.can_read_body else {}
        if isinstance(version := body.get("weight_version"), str):
            self._weights.version = version
        return web.json_response({"message": "Weight update finished"})

    async def _name(self, request: web.Request, _: ActiveFaults) -> web.Response:
        version = (await read_object(request)).get("new_version")
        if not isinstance(version, str):
            raise HttpRefusal(422, "new_version: expected a text")
        self._weights.version = version
        return web.json_response({"success": True, "new_version": version})
