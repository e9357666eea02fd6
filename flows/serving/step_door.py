"""The step door: OpenEnv's WebSocket, where the client decides each action, its tasks, and the same as MCP tools.

The wire is that of OpenEnv 0.10 (`openenv.core.env_server.types`): `reset`, `step`, `state`, `close` and `mcp`, each
answered by `observation`, `state`, `mcp` or `error`. A connection holds one seat. A `reset` takes the next task; its
data are those of a selector, with `elements` (tell the page's elements as text too), `picture` (false: no picture),
`dialect` and `policy` (the client's name for what decides). The answer's metadata has the `lease`: a client whose
connection broke resets with it within `seats.return_seconds` and is shown the page as it is. A step that says its number
may be repeated; the answer is the kept one.

A client that goes is noticed by its connection, and by the pings that it leaves unanswered. What it held is given back
at once.
"""

import asyncio
import contextlib
import json
import logging
from collections.abc import Mapping
from typing import Any

from aiohttp import WSCloseCode, WSMsgType, web
from pydantic_core import to_json

from flows.serving import tools
from flows.serving.conversation import Conversation
from flows.serving.seating import NoSeat, Seats
from flows.serving.tokens import CLIENT
from generators.seats.actions import BadMessage, action_schema
from generators.seats.seat import StepRefused
from generators.seats.turnstile import Busy
from schemas.base import JsonObject
from schemas.errors import BadTasks

MAX_MESSAGE = 1 << 20
"""The maximum size of a client's message, bytes; a larger one ends the connection."""

MAX_AHEAD = 16
"""How many messages a client may send before the first is answered."""

LOG = logging.getLogger(__name__)


def add_routes(app: web.Application, seats: Seats) -> None:
    """Add the routes of the step door."""
    sockets = set[web.WebSocketResponse]()

    async def enter(request: web.Request) -> web.StreamResponse:
        most = seats.turnstile.limit + seats.config.seats.max_waiting
        if len(sockets) >= most:
            raise Busy(f"{most} connections are open already", place=1, retry_seconds=5.0)
        socket = web.WebSocketResponse(
            heartbeat=seats.config.seats.silence_seconds / 1.5,
            max_msg_size=MAX_MESSAGE,
            compress=False,  # pictures are compressed already; deflating them would take longer than the step
        )
        await socket.prepare(request)
        sockets.add(socket)
        try:
            await _converse(socket, Conversation(seats, request[CLIENT]), seats)
        finally:
            sockets.discard(socket)
        return socket

    async def leave(_app: web.Application) -> None:
        for socket in tuple(sockets):
            with contextlib.suppress(OSError, RuntimeError):
                await socket.close(code=WSCloseCode.GOING_AWAY, message=b"the server ends")

    async def schema(_request: web.Request) -> web.Response:
        return web.json_response(
            {"action": action_schema(), "observation": _OBSERVATION, "state": _STATE}
        )

    app.router.add_get("/ws", enter)
    app.router.add_get("/schema", schema)
    app.on_shutdown.append(leave)
    tools.add_routes(app, seats)


async def _converse(
    socket: web.WebSocketResponse, conversation: Conversation, seats: Seats
) -> None:
    """Answer the messages of a connection, in order, until it ends."""
    todo: asyncio.Queue[str] = asyncio.Queue()
    wire = _Wire(conversation, seats)

    async def answer() -> None:
        while True:
            text = await todo.get()
            reply = await wire.answer(text)
            if reply is None:
                await socket.close()
                return
            await socket.send_frame(to_json(reply), WSMsgType.TEXT)

    answering = asyncio.create_task(answer())
    try:
        # Pings are answered, and a broken connection noticed, only while something reads.
        async for message in socket:
            if message.type is not WSMsgType.TEXT or todo.qsize() >= MAX_AHEAD:
                await socket.close(code=WSCloseCode.POLICY_VIOLATION, message=b"one text at a time")
                break
            todo.put_nowait(message.data)
    finally:
        answering.cancel()
        with contextlib.suppress(asyncio.CancelledError, ConnectionError):
            await answering
        await conversation.end()


_REFUSALS = (Busy, BadMessage, StepRefused, BadTasks, NoSeat)


class _Wire:
    """The messages of one connection, answered."""

    def __init__(self, conversation: Conversation, seats: Seats) -> None:
        self._talk, self._seats = conversation, seats

    async def answer(self, text: str) -> JsonObject | None:
        """Return the answer to a message; None: the client closes."""
        try:
            message = json.loads(text)
        except (ValueError, RecursionError) as error:
            return _error("INVALID_JSON", f"the message is no JSON: {error}")
        if not isinstance(message, dict):
            return _error("INVALID_JSON", "expected an object with a type")
        if message.get("type") == "close":
            self._talk.closed = True
            return None
        try:
            return await self._answer(message.get("type"), message.get("data", {}))
        except _REFUSALS as refused:
            return _refusal(refused, self._seats)

    async def _answer(self, kind: object, data: object) -> JsonObject:
        match kind:
            case "reset":
                told = self._talk.result_of(*await self._talk.reset(data))
                return {"type": "observation", "data": told}
            case "step":
                told = self._talk.result_of(*await self._talk.step(data))
                return {"type": "observation", "data": told}
            case "state":
                return {"type": "state", "data": self._talk.state()}
            case "mcp":
                return {"type": "mcp", "data": await tools.answer_rpc(data, self._talk)}
            case _:
                known = "reset, step, state, mcp, close"
                return _error("UNKNOWN_TYPE", f"unknown type '{str(kind)[:100]}'; known: {known}")


def _error(code: str, message: str, **more: object) -> JsonObject:
    data: Mapping[str, Any] = {"message": message, "code": code, **more}
    return {"type": "error", "data": dict(data)}


def _refusal(refused: Exception, seats: Seats) -> JsonObject:
    """Return why a message is refused, by OpenEnv's codes."""
    match refused:
        case Busy():
            return _error(
                "CAPACITY_REACHED",
                str(refused),
                place=refused.place,
                retry_after=max(1, round(refused.retry_seconds)),
                active_sessions=seats.turnstile.in_use,
                max_sessions=seats.turnstile.limit,
            )
        case NoSeat():
            return _error("SESSION_ERROR", str(refused))
        case StepRefused() | BadTasks():
            return _error("EXECUTION_ERROR", str(refused))
        case _:
            return _error("VALIDATION_ERROR", str(refused))


_TEXT: JsonObject = {"type": ["string", "null"]}
_OBSERVATION: JsonObject = {
    "type": "object",
    "properties": {
        "instruction": {"type": "string"},
        "step": {"type": "integer"},
        "screenshot": {"type": "string", "contentEncoding": "base64"},
        "media_type": {"type": "string"},
        "width": {"type": "integer"},
        "height": {"type": "integer"},
        "viewport": {"type": "array", "items": {"type": "integer"}},
        "url": {"type": "string"},
        "title": {"type": "string"},
        "tabs": {"type": "array", "items": {"type": "string"}},
        "elements": {"type": "array", "items": {"type": "string"}},
        "action_error": _TEXT,
        "result_text": _TEXT,
        "metadata": {"type": "object"},
    },
}
_STATE: JsonObject = {
    "type": "object",
    "properties": {
        "episode_id": _TEXT,
        "step_count": {"type": "integer"},
        "lease": _TEXT,
        "done": {"type": "boolean"},
        "task": {"type": "object"},
    },
}
