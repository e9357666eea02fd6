"""A plug-in of Datasette's: a request puts its file back, which Datasette holds open.

The copy below `world` is poured into it in one transaction; each connection sees that at its next statement.
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from datasette import Response, hookimpl  # type: ignore[import-not-found]

ADDRESS = "/-/put-back"


@hookimpl  # type: ignore[untyped-decorator]
def register_routes() -> list[tuple[str, Any]]:
    """Return the address of the request."""
    return [(f"^{ADDRESS}$", put_back)]


@hookimpl  # type: ignore[untyped-decorator]
def skip_csrf(scope: dict[str, Any]) -> bool:
    """Let the request in without a token."""
    return bool(scope["path"] == ADDRESS)


async def put_back(datasette: Any) -> Any:
    """Put the file back."""
    database = datasette.get_database()
    live = Path(database.path)

    def pour(connection: sqlite3.Connection) -> None:
        with closing(sqlite3.connect(live.parent / "world" / live.name)) as world:
            world.backup(connection)

    await database.execute_write_fn(pour)
    return Response.text("put back")
