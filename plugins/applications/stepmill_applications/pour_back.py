"""`python -m stepmill_applications.pour_back FROM INTO`: put a SQLite file's content into one that a program holds open.

The program keeps its connections: they see the new content at their next statement, as they see any commit.
"""

import sqlite3
import sys
from contextlib import closing


def pour_back(source: str, live: str) -> None:
    """Replace all that `live` holds by what `source` holds, in one transaction."""
    with closing(sqlite3.connect(source)) as one, closing(sqlite3.connect(live)) as other:
        one.backup(other)


if __name__ == "__main__":
    pour_back(*sys.argv[1:])
