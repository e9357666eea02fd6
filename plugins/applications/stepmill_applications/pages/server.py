"""What the servers of these pages have in common: files of a page, files of packages, and one SQLite file.

A connection is opened for each request, so the file may be replaced while the server runs.
"""

import asyncio
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from aiohttp import web

STATE = web.AppKey("state", Path)
"""The SQLite file."""

_NO_STORE = {"Cache-Control": "no-store"}


def make_server(
    page: Path, packages: Path, state: Path, routes: Callable[[web.Application], None]
) -> web.Application:
    """Return a server of the files in `page` and in `packages`, and of what `routes` adds."""
    served = web.Application()
    served[STATE] = state

    async def start(_: web.Request) -> web.Response:
        text = (page / "index.html").read_text(encoding="utf-8")
        named = json.dumps({"imports": import_map(packages)})
        return web.Response(text=text.replace("IMPORT_MAP", named), content_type="text/html")

    served.router.add_get("/", start)
    routes(served)
    served.router.add_static("/packages/", packages)
    served.router.add_static("/", page)
    return served


def serve(server: web.Application, port: int) -> None:
    """Serve on 127.0.0.1 until the process is ended."""
    web.run_app(server, host="127.0.0.1", port=port, print=lambda *_: None, loop=_new_loop())


def _new_loop() -> asyncio.AbstractEventLoop:
    return asyncio.new_event_loop()


@contextmanager
def database(state: Path) -> Iterator[sqlite3.Connection]:
    """Open the SQLite file; what is done in the context is one transaction."""
    with closing(sqlite3.connect(state)) as opened, opened:
        opened.row_factory = sqlite3.Row
        yield opened


def rows(state: Path, query: str, *values: object) -> list[dict[str, Any]]:
    """Return what a query finds, as objects."""
    with database(state) as opened:
        return [dict(row) for row in opened.execute(query, values)]


def answer(value: object) -> web.Response:
    """Return an answer in JSON that no browser keeps."""
    return web.json_response(value, headers=_NO_STORE)


def import_map(packages: Path) -> dict[str, str]:
    """Return the addresses of the modules of all packages, by the names that they are imported by."""
    found = dict[str, str]()
    for file in sorted({*packages.glob("*/package.json"), *packages.glob("@*/*/package.json")}):
        about = json.loads(file.read_text(encoding="utf-8"))
        name = file.parent.relative_to(packages).as_posix()
        exports = about.get("exports")
        has_parts = isinstance(exports, dict) and all(part.startswith(".") for part in exports)
        parts = exports if has_parts else {".": exports}
        for part, target in parts.items():
            module = _module(target) or (about.get("module") if part == "." else None)
            if module and "*" not in part:
                path = module.removeprefix("./")
                found[f"{name}{part.removeprefix('.')}"] = f"/packages/{name}/{path}"
    return found


def _module(target: object) -> str | None:
    """Return the file that a browser imports, of what a package says it exports."""
    if isinstance(target, str):
        return target
    if isinstance(target, Mapping):
        return next(
            (found for key in ("import", "default") if (found := _module(target.get(key)))), None
        )
    return None
