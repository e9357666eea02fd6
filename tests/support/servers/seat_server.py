"""A server of seats in this process, and a client that has a token."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from flows.serving.app import make_app
from flows.serving.opening import open_seats
from flows.serving.seating import Seats
from schemas.base import JsonObject
from schemas.configuration.config import RunConfig, resolve

TOKEN = "a-token-of-a-client"  # noqa: S105 - of this test alone

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
    async with open_seats(config) as seats:
        runner = web.AppRunner(make_app(seats, {"trainer": TOKEN}), shutdown_timeout=0.5)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            headers = {"Authorization": f"Bearer {TOKEN}"}
            url = f"http://127.0.0.1:{runner.addresses[0][1]}"
            async with aiohttp.ClientSession(url, headers=headers) as client:
                yield SeatServer(seats, client)
        finally:
            await runner.cleanup()
