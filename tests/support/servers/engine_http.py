"""Raw HTTP to a simulator, and the pictures that it is sent: for tests of its protocol."""

import base64
import io
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import cast

import aiohttp
from PIL import Image, ImageDraw
from pydantic import JsonValue

from generators.engine.simulator.options import SimulatorOptions
from generators.engine.simulator.server import SimulatorServer
from schemas.base import JsonObject

CHAT = "/v1/chat/completions"
JPEG, PNG = "JPEG", "PNG"


@asynccontextmanager
async def engine(
    options: SimulatorOptions | None = None,
) -> AsyncIterator[tuple[SimulatorServer, aiohttp.ClientSession]]:
    """Serve a simulator and open a client of it."""
    timeout = aiohttp.ClientTimeout(total=60)
    async with (
        SimulatorServer(options) as server,
        aiohttp.ClientSession(server.url, timeout=timeout) as client,
    ):
        yield server, client


def picture(
    width: int = 320,
    height: int = 200,
    *,
    target: tuple[float, float, str] | None = None,
    kind: str = JPEG,
    background: str = "white",
) -> str:
    """Return a data URL of a picture, with a disc of a colour around a point if asked for."""
    drawn = Image.new("RGB", (width, height), background)
    if target is not None:
        x, y, colour = target
        box = (x - 12, y - 12, x + 12, y + 12)
        ImageDraw.Draw(drawn).ellipse(box, fill=colour)
    data = io.BytesIO()
    drawn.save(data, kind, quality=80)
    text = base64.b64encode(data.getvalue()).decode()
    return f"data:image/{kind.lower()};base64,{text}"


def user(*parts: str) -> JsonObject:
    """Return a user's message of texts and data URLs."""
    content: list[JsonValue] = [
        {"type": "image_url", "image_url": {"url": part}}
        if part.startswith("data:")
        else {"type": "text", "text": part}
        for part in parts
    ]
    return {"role": "user", "content": content}


def chat(*messages: JsonObject, **fields: JsonValue) -> JsonObject:
    """Return the body of a chat request."""
    return {"model": "scripted", "messages": [*messages], **fields}


def under(schema: JsonObject) -> JsonObject:
    """Return a `response_format` for a schema."""
    return {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}}


async def ask(
    client: aiohttp.ClientSession,
    body: JsonObject,
    *,
    session: str | None = None,
    status: int = 200,
) -> JsonObject:
    """Post a chat and return the JSON that came back with the status expected."""
    headers = {} if session is None else {"x-session-id": session}
    async with client.post(CHAT, json=body, headers=headers) as response:
        text = await response.text()
        assert response.status == status, text
        return cast("JsonObject", json.loads(text))


async def post(client: aiohttp.ClientSession, path: str, body: JsonObject) -> JsonObject:
    """Post JSON and return the JSON that came back."""
    async with client.post(path, json=body) as response:
        assert response.status == 200, await response.text()
        return cast("JsonObject", await response.json())


async def get(client: aiohttp.ClientSession, path: str) -> JsonObject:
    """Get JSON."""
    async with client.get(path) as response:
        assert response.status == 200, await response.text()
        return cast("JsonObject", await response.json())


def inside(body: JsonValue, *path: str | int) -> JsonValue:
    """Return what lies at a path of a JSON value."""
    for step in path:
        if isinstance(step, int):
            assert isinstance(body, list), path
            body = body[step]
        else:
            assert isinstance(body, dict), path
            body = body[step]
    return body


def text_of(body: JsonObject) -> str:
    """Return the text of a chat completion."""
    text = inside(body, "choices", 0, "message", "content")
    assert isinstance(text, str)
    return text


def ints(value: JsonValue) -> list[int]:
    """Return a JSON list of whole numbers as such."""
    assert isinstance(value, list)
    return [item for item in value if isinstance(item, int)]


def events(lines: Iterable[str]) -> list[JsonObject]:
    """Return the events of a stream that are JSON."""
    data = (line.removeprefix("data: ") for line in lines if line.startswith("data: "))
    return [json.loads(text) for text in data if text != "[DONE]"]
