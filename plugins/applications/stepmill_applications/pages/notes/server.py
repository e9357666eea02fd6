"""`python -m stepmill_applications.pages.notes.server PACKAGES FOLDER PORT`: serve the notes of a folder."""

import json
import sqlite3
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from weakref import WeakSet

from aiohttp import web

from stepmill_applications.pages.server import STATE, database, make_server, rows, serve

FILE = "notes.db"
"""The SQLite file."""

_SOCKETS = web.AppKey("sockets", WeakSet[web.WebSocketResponse])

NOTES = {
    "Morning round": "<p>Walk along the North Quay.</p><p>Count the empty berths.</p>",
    "Rope order": "<p>We need forty metres of rope.</p>",
    "Visitors": "<p>A class of children comes on Friday.</p><p>They want to see the crane.</p>",
    "Old crane": "<p>The old crane is to be sold.</p>",
    "Paint": "<p>Red paint for the buoys, two cans.</p>",
}
"""The notes at first."""


def make_notes(folder: Path) -> None:
    """Write the notes as they are at first."""
    with database(folder / FILE) as opened:
        opened.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT, html TEXT)")
        opened.executemany("INSERT INTO note (title, html) VALUES (?, ?)", NOTES.items())


async def _live(request: web.Request) -> web.WebSocketResponse:
    """Do what a page says, and tell every page what the notes are then."""
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    sockets, state = request.app[_SOCKETS], request.app[STATE]
    sockets.add(socket)
    await socket.send_str(_notes(state))
    async for message in socket:
        if message.type is web.WSMsgType.TEXT:
            with database(state) as opened:
                made = _do(opened, json.loads(message.data))
            for one in tuple(sockets):
                await one.send_str(_notes(state, made if one is socket else None))
    return socket


def _do(opened: sqlite3.Connection, asked: Mapping[str, Any]) -> int | None:
    """Do what is asked, and return the id of a note that it made."""
    match asked["do"]:
        case "new":
            return opened.execute("INSERT INTO note (title, html) VALUES ('', '')").lastrowid
        case "save":
            values = (asked["title"], asked["html"], asked["id"])
            opened.execute("UPDATE note SET title = ?, html = ? WHERE id = ?", values)
        case "delete":
            opened.execute("DELETE FROM note WHERE id = ?", (asked["id"],))
    return None


def _notes(state: Path, made: int | None = None) -> str:
    told: dict[str, object] = {"notes": rows(state, "SELECT id, title, html FROM note ORDER BY id")}
    return json.dumps(told if made is None else {**told, "opened": made})


def _routes(served: web.Application) -> None:
    served[_SOCKETS] = WeakSet()
    served.router.add_get("/live", _live)


if __name__ == "__main__":
    packages, folder, port = sys.argv[1:]
    page = Path(__file__).parent
    serve(make_server(page, Path(packages), Path(folder) / FILE, _routes), int(port))
