"""Servers of seats, in this process or by the command, and clients that have a token."""

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
from support.runs.commands import SECONDS

from flows.serving.app import open_doors
from flows.serving.opening import open_seats
from flows.serving.seating import Seats
from schemas.base import JsonObject
from schemas.configuration.config import RunConfig, resolve

TOKEN = "a-token-of-a-client"  # noqa: S105 - of this test alone
TOKEN_VARIABLE = {"STEPMILL_TOKEN": TOKEN}
"""What the command finds in its environment."""

BY_COMMAND = (
    "--json",
    "--set=seats.port=0",
    "--set=seats.clients={ me = { token_env = 'STEPMILL_TOKEN' } }",
)
"""How the command serves on a free port."""

_HEADERS = {"Authorization": f"Bearer {TOKEN}"}

Answer = dict[str, Any]
"""An answer of a server, whose shape the tests know."""


def seats_config(home: Path, **tables: JsonObject) -> RunConfig:
    """Return the configuration of a small server; `tables` go over its own."""
    layer: JsonObject = {
        "run": {"url": str(home / "run")},
        "tasks": {"include": ["click-test"], "seeds": [0, 3]},
        "browser": {"sessions": 2},
        "limits": {"steps": 3},
        "seats": {"commit_seconds": 0.2},
    }
    for name, table in tables.items():
        under = layer.get(name)
        layer[name] = {**(under if isinstance(under, dict) else {}), **table}
    return resolve([("test", layer)])


@dataclass(frozen=True)
class SeatServer:
    """A server, and how it is asked."""

    seats: Seats
    client: aiohttp.ClientSession
    """It sends the token with every request."""

    async def run(self, body: object) -> tuple[int, Answer]:
        """Ask the run door; return the status and the answer."""
        async with self.client.post("/run", json=body) as answer:
            return answer.status, await answer.json()


@asynccontextmanager
async def served(config: RunConfig) -> AsyncIterator[SeatServer]:
    """Serve seats on a free port while the block runs."""
    async with (
        open_seats(config) as seats,
        open_doors(seats, {"trainer": TOKEN}, shutdown_seconds=0.5) as url,
        aiohttp.ClientSession(url, headers=_HEADERS) as client,
    ):
        yield SeatServer(seats, client)


async def address(server: subprocess.Popen[str]) -> str:
    """Return where a server of the command is, once it says so."""
    assert server.stdout is not None
    async with asyncio.timeout(SECONDS):
        line = await asyncio.to_thread(server.stdout.readline)
    told = json.loads(line)
    assert told["tokens"] == {"me": None}, "a token that the user has given is not printed"
    return str(told["url"])


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    """Connect a client with a token."""
    async with (
        aiohttp.ClientSession(url, headers=_HEADERS) as session,
        session.ws_connect("/ws") as door,
    ):
        yield door


async def health(url: str) -> Answer:
    """Return what the server says of itself."""
    async with aiohttp.ClientSession(url) as session, session.get("/health") as answer:
        told: Answer = await answer.json()
        return told


async def ask(door: aiohttp.ClientWebSocketResponse, kind: str, **data: Any) -> Answer:
    """Return the answer to a message."""
    await door.send_json({"type": kind, "data": data})
    answer = await door.receive_json(timeout=SECONDS)
    told: Answer = answer["data"]
    return told


async def win(door: aiohttp.ClientWebSocketResponse) -> Answer:
    """Click the only button of the next task's page, found by what the door tells of it as text."""
    return await click_the_button(door, await ask(door, "reset", elements=True))


async def click_the_button(door: aiohttp.ClientWebSocketResponse, page: Answer) -> Answer:
    """Click the only button of a page."""
    told = page["observation"]["elements"]
    button = next(line for line in told if line.startswith("button "))
    x, y = (float(number) for number in button.rpartition(" at ")[2].split(","))
    return await ask(door, "step", action={"type": "click", "x": x, "y": y}, step=0)
