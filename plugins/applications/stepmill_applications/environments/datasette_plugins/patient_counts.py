"""A plug-in of Datasette's: it counts the rows of every table, however long that takes.

Datasette leaves out counts that take over 10 ms, so a page would depend on how busy the machine is.
"""

from typing import Any

from datasette import hookimpl  # type: ignore[import-not-found]
from datasette.database import Database  # type: ignore[import-not-found]

PATIENCE_MS = 10_000


@hookimpl  # type: ignore[untyped-decorator]
def startup() -> None:
    """Give each count of a table's rows more time."""
    counts: Any = Database.table_counts

    async def patient_counts(database: Any, limit: int = 0) -> Any:
        del limit
        return await counts(database, PATIENCE_MS)

    Database.table_counts = patient_counts
