"""Open seats over scripted pages, without a browser."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from support.runs import fake_miniwob

from flows.serving import opening
from flows.serving.opening import open_seats
from flows.serving.seating import Seats
from schemas.configuration.config import RunConfig, resolve


def seats_config(url: Path, **sections: Any) -> RunConfig:
    """The configuration of a run over ten tasks that two clicks win."""
    layer: dict[str, Any] = {
        "run": {"url": str(url)},
        "tasks": {"include": ["click-test"], "seeds": [0, 9], "unit_size": 4},
        "browser": {"sessions": 4},
        "verify": {"verifiers": ["structure", "outcome"]},
        "accept": {"passed": ["structure", "outcome"]},
    }
    for name, keys in sections.items():
        layer[name] = {**layer.get(name, {}), **keys}
    return resolve([("the test", layer)])


@asynccontextmanager
async def scripted_seats(url: Path, **sections: Any) -> AsyncIterator[Seats]:
    """Seats over scripted pages."""
    with scripted_pages():
        async with open_seats(seats_config(url, **sections)) as seats:
            yield seats


@contextmanager
def scripted_pages() -> Iterator[None]:
    """Let seats that are opened in the block have scripted pages; those of other tests have a browser again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening, "RunResources", fake_miniwob.ScriptedWorkshop)
        yield


def rows(url: Path, table: str, *columns: str) -> list[tuple[Any, ...]]:
    """Some columns of a run's table, sorted."""
    found = DeltaTable(str(url / "tables" / table)).to_pyarrow_table(columns=list(columns))
    return sorted((tuple(row.values()) for row in found.to_pylist()), key=str)


def objects(url: Path, *patterns: str) -> int:
    """How many objects of a run have such keys."""
    return sum(1 for pattern in patterns for _ in url.glob(pattern))
