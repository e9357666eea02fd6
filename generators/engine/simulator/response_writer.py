"""How a reply leaves: whole, or in whichever way a fault keeps it from arriving."""

import asyncio
from collections.abc import Iterator

from aiohttp import web

from generators.engine.simulator.faults import FaultKind, Strikes

JSON = "application/json"
EVENTS = "text/event-stream"
BROKEN = b'data: {"error":{"message":"EngineCore encountered an issue","code":500}}\n\n'


async def forever() -> None:
    """Wait until the client or the server goes away."""
    await asyncio.Event().wait()


async def send_plain(
    request: web.Request, body: bytes, strikes: Strikes
) -> tuple[web.StreamResponse, bool]:
    """Send a body; return the response and whether all of it left."""
    if strikes.get(FaultKind.SILENT, FaultKind.ENDLESS):
        await _never_ending(request, JSON, b" ", strikes)
    if FaultKind.CUT not in strikes:
        return web.Response(body=body, content_type=JSON), True
    response = web.StreamResponse(headers={"Content-Type": JSON})
    response.content_length = len(body)
    await response.prepare(request)
    await response.write(body[: len(body) // 2])
    _hang_up(request)
    return response, False


async def send_events(
    request: web.Request, events: Iterator[bytes], strikes: Strikes, *, pause: float
) -> tuple[web.StreamResponse, bool]:
    """Send the events of a stream, `pause` seconds apart; say whether all of them left."""
    if strikes.get(FaultKind.SILENT, FaultKind.ENDLESS):
        await _never_ending(request, EVENTS, b": still here\n\n", strikes)
    parts = list(events)
    broken = strikes.get(FaultKind.CUT, FaultKind.STREAM_ERROR)
    response = web.StreamResponse(headers={"Content-Type": EVENTS})
    await response.prepare(request)
    for part in parts[: len(parts) // 2] if broken else parts:
        await response.write(part)
        if pause:
            await asyncio.sleep(pause)
    if FaultKind.STREAM_ERROR in strikes:
        await response.write(BROKEN)
    if FaultKind.CUT in strikes:
        _hang_up(request)
    return response, broken is None


async def _never_ending(request: web.Request, kind: str, trickle: bytes, strikes: Strikes) -> None:
    response = web.StreamResponse(headers={"Content-Type": kind})
    await response.prepare(request)
    endless = strikes.get(FaultKind.ENDLESS)
    while endless is not None:
        await response.write(trickle)
        await asyncio.sleep(endless.seconds)
    await forever()


def _hang_up(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.close()
