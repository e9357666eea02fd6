"""The tasks of a server as OpenEnv lists them, and its seats as MCP tools.

The routes of tasks are those of OpenEnv's `TaskProvider`. The tools are `reset` and one for each action; a session of
`POST /mcp` is made and closed by OpenEnv's own methods, `openenv/session/create` and `openenv/session/close`, and given
back when it is silent for `seats.silence_seconds`, because no connection says that its client lives.
"""

import asyncio
import json
import secrets
from typing import Any

from aiohttp import web
from pydantic import ValidationError

from flows.serving.conversation import Conversation, about_task
from flows.serving.seating import NoSeat, Seats
from flows.serving.tokens import CLIENT
from generators.seats.actions import BadMessage, action_tools, mistakes_in
from generators.seats.seat import StepRefused
from generators.seats.turnstile import Busy
from schemas.base import JsonObject
from schemas.errors import BadTasks
from schemas.tasks.selector import Selector

ENVIRONMENT = "stepmill"
"""The name of the environment in the routes of tasks."""

MAX_LISTED = 100
"""The maximum number of tasks in a list; their count is told in full."""

_INVALID_REQUEST, _NO_METHOD, _INVALID_PARAMS, _SERVER = -32600, -32601, -32602, -32000


def add_routes(app: web.Application, seats: Seats) -> None:
    """Add the routes of tasks and of MCP."""
    sessions = _Sessions(seats)

    async def environments(_request: web.Request) -> web.Response:
        return web.json_response([ENVIRONMENT])

    async def splits(_request: web.Request) -> web.Response:
        kinds = {"test": "test", "validation": "validation", "train": "train"}
        return web.json_response(
            [{"name": name, "type": kinds[name]} for name in seats.config.seats.splits]
        )

    async def tasks(request: web.Request) -> web.Response:
        asked = await _object(request)
        split = _split(asked)
        count = await _count(seats, split)
        first, last = _range(asked, count)
        listed = [await _task(seats, split, index) for index in range(first, last)]
        return web.json_response({"tasks": listed, "env_name": ENVIRONMENT})

    async def num_tasks(request: web.Request) -> web.Response:
        return web.json_response({"num_tasks": await _count(seats, _split(await _object(request)))})

    async def task(request: web.Request) -> web.Response:
        asked = await _object(request)
        index = asked.get("index")
        if not isinstance(index, int) or isinstance(index, bool) or index < 0:
            raise BadTasks("index: expected a whole number from 0")
        return web.json_response({"task": await _task(seats, _split(asked), index)})

    async def mcp(request: web.Request) -> web.Response:
        return web.json_response(await sessions.answer(await _json(request), request.get(CLIENT)))

    app.router.add_get("/list_environments", environments)
    app.router.add_get(f"/{ENVIRONMENT}/splits", splits)
    app.router.add_post(f"/{ENVIRONMENT}/tasks", tasks)
    app.router.add_post(f"/{ENVIRONMENT}/task_range", tasks)
    app.router.add_post(f"/{ENVIRONMENT}/num_tasks", num_tasks)
    app.router.add_post(f"/{ENVIRONMENT}/task", task)
    app.router.add_post("/mcp", mcp)


async def _json(request: web.Request) -> object:
    """Return the JSON of a request, which is in UTF-8 whatever its headers say; None: it has none."""
    try:
        return json.loads(await request.read())
    except (ValueError, RecursionError):
        return None


async def _object(request: web.Request) -> dict[str, Any]:
    data = await _json(request)
    if not isinstance(data, dict):
        raise BadTasks("expected an object of JSON")
    return data


def _split(asked: dict[str, Any]) -> Selector:
    try:
        return Selector.model_validate({"split": asked.get("split")})
    except ValidationError as error:
        raise BadTasks(mistakes_in(error)[0]) from None


def _range(asked: dict[str, Any], count: int) -> tuple[int, int]:
    start, stop = asked.get("start") or 0, asked.get("stop")
    if not isinstance(start, int) or not (stop is None or isinstance(stop, int)) or start < 0:
        raise BadTasks("start, stop: expected whole numbers from 0")
    return start, min(count, start + MAX_LISTED, count if stop is None else stop)


async def _count(seats: Seats, selector: Selector) -> int:
    seats.desk.check_split(selector.split or "")
    return await asyncio.to_thread(seats.desk.pool.count, selector)


async def _task(seats: Seats, selector: Selector, index: int) -> JsonObject:
    task = await seats.desk.draw(selector.model_copy(update={"index": index}))
    return {"id": task.task_id, "index": index, **about_task(task)}


# MCP


class _Sessions:
    """The sessions of `POST /mcp`, by their ids."""

    def __init__(self, seats: Seats) -> None:
        self._seats = seats
        self._sessions: dict[str, tuple[str, Conversation]] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._ends = set[asyncio.Task[None]]()

    async def answer(self, data: object, client: str | None) -> JsonObject:
        """Return the answer to a request; a client without a token is told what is wrong, and gets nothing."""
        if not isinstance(data, dict) or data.get("jsonrpc") != "2.0":
            return _rpc_error(None, _INVALID_REQUEST, "expected a request of JSON-RPC 2.0")
        number, params = data.get("id"), data.get("params") or {}
        if client is None:
            return _rpc_error(number, _SERVER, "the token of a client is needed")
        if not isinstance(params, dict):
            return _rpc_error(number, _INVALID_PARAMS, "params: expected an object")
        return await self._answer(data, params, client)

    async def _answer(
        self, data: dict[str, Any], params: dict[str, Any], client: str
    ) -> JsonObject:
        number, method = data.get("id"), data.get("method")
        if method == "openenv/session/create":
            return self._create(number, client)
        if method == "openenv/session/close":
            return await self._close(number, client, params)
        name = str(params.get("session_id", ""))
        owner, conversation = self._sessions.get(name, ("", None))
        if name and owner != client:
            return _rpc_error(number, _INVALID_PARAMS, "there is no such session")
        if conversation is not None:
            self._hear(name)
        return await answer_rpc(data, conversation)

    def _create(self, number: object, client: str) -> JsonObject:
        most = self._seats.turnstile.limit + self._seats.config.seats.max_waiting
        if len(self._sessions) >= most:
            return _rpc_error(number, _SERVER, f"{most} sessions are open already")
        name = secrets.token_urlsafe(18)
        self._sessions[name] = client, Conversation(self._seats, client)
        self._hear(name)
        return _rpc_result(number, {"session_id": name})

    async def _close(self, number: object, client: str, params: dict[str, Any]) -> JsonObject:
        name = str(params.get("session_id", ""))
        owner, conversation = self._sessions.get(name, ("", None))
        if conversation is None or owner != client:
            return _rpc_error(number, _INVALID_PARAMS, "there is no such session")
        await self._end(name, "the client closed its session")
        return _rpc_result(number, {"session_id": name, "closed": True})

    def _hear(self, name: str) -> None:
        """Give a session back only when nothing was heard of it for a while."""
        if name in self._timers:
            self._timers[name].cancel()
        loop = asyncio.get_running_loop()
        seconds = self._seats.config.seats.silence_seconds
        self._timers[name] = loop.call_later(seconds, self._forget, name)

    def _forget(self, name: str) -> None:
        ending = asyncio.create_task(self._end(name, "the client was silent"))
        self._ends.add(ending)
        ending.add_done_callback(self._ends.discard)

    async def _end(self, name: str, why: str) -> None:
        if name in self._timers:
            self._timers.pop(name).cancel()
        _, conversation = self._sessions.pop(name, ("", None))
        if conversation is not None:
            await conversation.free(why)


async def answer_rpc(data: object, conversation: Conversation | None) -> JsonObject:
    """Return the answer to a request about tools; None: there is no session, and only lists are given."""
    request = data if isinstance(data, dict) else {}
    number, params = request.get("id"), request.get("params") or {}
    match request.get("method"):
        case "initialize":
            return _rpc_result(
                number,
                {
                    "protocolVersion": "2025-06-18",
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": ENVIRONMENT, "version": "1"},
                },
            )
        case "tools/list":
            return _rpc_result(number, {"tools": [_RESET, *action_tools()]})
        case "tools/call" if isinstance(params, dict):
            return await _call(number, params, conversation)
        case method:
            return _rpc_error(number, _NO_METHOD, f"there is no method '{str(method)[:100]}'")


_RESET: JsonObject = {
    "name": "reset",
    "description": "Take the next task, and see its first page.",
    "inputSchema": Selector.model_json_schema(),
}


async def _call(
    number: object, params: dict[str, Any], conversation: Conversation | None
) -> JsonObject:
    name, told = str(params.get("name", "")), params.get("arguments") or {}
    if conversation is None:
        return _rpc_error(number, _INVALID_PARAMS, "a session is needed: openenv/session/create")
    known = {"reset", *(str(tool["name"]) for tool in action_tools())}
    if name not in known or not isinstance(told, dict):
        return _rpc_error(
            number,
            _INVALID_PARAMS,
            f"there is no tool '{name[:100]}'; there are {', '.join(sorted(known))}",
        )
    try:
        if name == "reset":
            lease, view = await conversation.reset(told)
        else:
            lease, view = await conversation.step({"action": {"type": name, **told}})
    except (Busy, BadMessage, StepRefused, BadTasks, NoSeat) as error:
        text: list[Any] = [{"type": "text", "text": str(error)}]
        refusal: JsonObject = {"content": text, "isError": True}
        if isinstance(error, Busy):
            refusal["_meta"] = {"retry_after": max(1, round(error.retry_seconds))}
        return _rpc_result(number, refusal)
    return _rpc_result(number, _content(conversation.result_of(lease, view)))


def _content(result: JsonObject) -> JsonObject:
    """Return a result as MCP's content: a picture, and the rest as text."""
    observation: Any = dict(result["observation"])  # type: ignore[arg-type]
    picture, media = observation.pop("screenshot", None), observation.pop("media_type", None)
    told = json.dumps({**result, "observation": observation})
    content: list[Any] = [{"type": "text", "text": told}]
    if picture is not None:
        content.append({"type": "image", "data": picture, "mimeType": media})
    return {"content": content, "isError": False}


def _rpc_result(number: object, result: JsonObject) -> JsonObject:
    return {"jsonrpc": "2.0", "id": number, "result": result}  # type: ignore[dict-item]


def _rpc_error(number: object, code: int, message: str) -> JsonObject:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}  # type: ignore[dict-item]
