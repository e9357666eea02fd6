"""`python -m stepmill_applications.pages.chart.server PACKAGES FOLDER PORT`: serve the water of a folder."""

import asyncio
import json
import sys
from pathlib import Path

from aiohttp import web

from stepmill_applications.pages.server import STATE, answer, database, make_server, rows, serve

FILE = "water.db"
"""The SQLite file."""

BUOYS = (
    ("Heron", "channel", 1, -60, 40),
    ("Otter", "channel", 0, -10, 45),
    ("Seal", "danger", 1, 40, 20),
    ("Pike", "anchor", 0, -50, -30),
    ("Gull", "danger", 0, 10, -40),
    ("Tern", "channel", 1, 60, -55),
)
"""The buoys at first: name, kind, whether lit, and where."""

BERTHS = (("Berth 1", -70, 5), ("Berth 2", -20, 5), ("Berth 3", 30, -10))
"""The berths: name, and where."""

LEVELS = {"8:00": 210, "8:10": 224, "8:20": 251, "8:30": 243, "8:40": 236, "8:50": 262}
"""The level of the water, centimetres, by when it was measured."""

QUAYS = {
    "type": "Feature",
    "properties": {},
    "geometry": {"type": "LineString", "coordinates": [[-90, -3], [0, -3], [0, -18], [55, -18]]},
}

_TILE = 256


def make_water(folder: Path) -> None:
    """Write the buoys and the alarm as they are at first."""
    with database(folder / FILE) as opened:
        opened.execute(
            "CREATE TABLE buoy (id INTEGER PRIMARY KEY, name TEXT, kind TEXT, lit INTEGER, x INTEGER, y INTEGER)"
        )
        opened.executemany("INSERT INTO buoy (name, kind, lit, x, y) VALUES (?, ?, ?, ?, ?)", BUOYS)
        opened.execute("CREATE TABLE alarm (id INTEGER PRIMARY KEY, centimetres INTEGER)")
        opened.execute("INSERT INTO alarm (centimetres) VALUES (300)")


async def _harbour(request: web.Request) -> web.Response:
    state = request.app[STATE]
    alarm = rows(state, "SELECT centimetres FROM alarm")[0]["centimetres"]
    berths = [{"name": name, "x": x, "y": y} for name, x, y in BERTHS]
    buoys = rows(state, "SELECT * FROM buoy ORDER BY id")
    return answer({"buoys": buoys, "berths": berths, "alarm": alarm})


async def _keep(request: web.Request) -> web.Response:
    one = await request.json()
    values = [one.get(key) for key in ("id", "name", "kind", "lit", "x", "y")]
    with database(request.app[STATE]) as opened:
        opened.execute("INSERT OR REPLACE INTO buoy VALUES (?, ?, ?, ?, ?, ?)", values)
    return answer({})


async def _remove(request: web.Request) -> web.Response:
    one = await request.json()
    with database(request.app[STATE]) as opened:
        opened.execute("DELETE FROM buoy WHERE id = ?", (one["id"],))
    return answer({})


async def _set_alarm(request: web.Request) -> web.Response:
    one = await request.json()
    with database(request.app[STATE]) as opened:
        opened.execute("UPDATE alarm SET centimetres = ?", (one["centimetres"],))
    return answer({})


async def _levels(request: web.Request) -> web.StreamResponse:
    """Tell the levels as a stream of events, which stays open."""
    stream = web.StreamResponse(
        headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"}
    )
    await stream.prepare(request)
    for at, centimetres in LEVELS.items():
        told = json.dumps({"at": at, "centimetres": centimetres})
        await stream.write(f"data: {told}\n\n".encode())
    await asyncio.Event().wait()
    return stream


async def _tile(request: web.Request) -> web.Response:
    """Draw a square of water, with its number in the grid."""
    z, x, y = (int(request.match_info[key]) for key in ("z", "x", "y"))
    shade = "#cde6f5" if (x + y) % 2 else "#d9eef9"
    text = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_TILE}" height="{_TILE}">'
        f'<rect width="{_TILE}" height="{_TILE}" fill="{shade}"/>'
        f'<text x="8" y="248" font-family="sans-serif" font-size="11" fill="#7aa">{z} {x} {y}</text></svg>'
    )
    return web.Response(text=text, content_type="image/svg+xml")


async def _quays(_: web.Request) -> web.Response:
    return answer(QUAYS)


def _routes(served: web.Application) -> None:
    served.router.add_get("/api/harbour", _harbour)
    served.router.add_post("/api/buoys", _keep)
    served.router.add_put("/api/buoys", _keep)
    served.router.add_delete("/api/buoys", _remove)
    served.router.add_put("/api/alarm", _set_alarm)
    served.router.add_get("/levels", _levels)
    served.router.add_get("/quays.json", _quays)
    served.router.add_get(r"/tiles/{z:\d+}/{x:-?\d+}/{y:-?\d+}.svg", _tile)


if __name__ == "__main__":
    packages, folder, port = sys.argv[1:]
    page = Path(__file__).parent
    serve(make_server(page, Path(packages), Path(folder) / FILE, _routes), int(port))
