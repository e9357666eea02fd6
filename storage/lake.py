"""The committed tables of a run, and the protocol by which a unit gets into them exactly once.

See `Lake`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pyarrow.dataset import Dataset

from schemas.config import StorageSection
from schemas.episode import Episode
from schemas.task import Task
from schemas.verdict import Verdict
from storage.objects import ObjectStore


@dataclass(frozen=True)
class Snapshot:
    """A run's tables as they were when a version was sealed."""

    version: int
    """The version's number."""

    async def dataset(self, table: str) -> Dataset | None:
        """Return the table at this version; None if nobody had written to it."""
        raise NotImplementedError


class Lake:
    """The tables of one run."""

    def __init__(self, url: str, store: ObjectStore, storage: StorageSection) -> None:
        self._url = url
        self._store = store
        self._storage = storage

    async def commit_unit(
        self, unit_id: str, *, tasks: Sequence[Task], episodes: Sequence[Episode]
    ) -> bool:
        """Commit a unit's rows once; return False if its episodes were there already.

        `tasks` in the unit's order; `episodes` as the spool has them, in any order.

        Raises:
            Conflict: the unit was begun with other episodes than these: read the spool again.
            Unwritable: the run cannot be written.
        """
        raise NotImplementedError

    async def commit_verdicts(
        self,
        unit_id: str,
        *,
        verifier: str,
        version: str,
        round_: int,
        verdicts: Sequence[Verdict],
    ) -> bool:
        """Commit what a verifier says of a unit in a round once; False if it was there already."""
        raise NotImplementedError

    async def committed_units(self) -> set[str]:
        """Return the units whose episodes are committed, in one pass over the log."""
        raise NotImplementedError

    async def committed_episodes(self) -> dict[str, set[str]]:
        """Return the committed episodes by unit, in one pass over two columns."""
        raise NotImplementedError

    async def tasks(self, unit_id: str) -> list[Task]:
        """Return a committed unit's tasks, in its order."""
        raise NotImplementedError

    async def episodes(self, unit_id: str) -> list[Episode]:
        """Return a committed unit's episodes whole, pictures and all, in its order."""
        raise NotImplementedError

    async def episode(self, episode_id: str) -> tuple[Task, Episode]:
        """Return a committed episode whole, with its task.

        Raises:
            NotFound: it is not committed.
        """
        raise NotImplementedError

    async def verdicts(
        self, *, unit_id: str | None = None, version: int | None = None
    ) -> list[Verdict]:
        """Return every verdict (of a unit, at a sealed version), all rounds."""
        raise NotImplementedError

    async def seal(self) -> int:
        """Make a version of the tables as they are; return its number.

        The last version's number comes back when nothing is newer, 0 when nothing was ever
        written.
        """
        raise NotImplementedError

    async def snapshot(self, version: int | None = None) -> Snapshot:
        """Return a sealed version, the last one by default.

        Raises:
            NotFound: there is no such version; those there are are named.
        """
        raise NotImplementedError

    async def close(self) -> None:
        """Let the tables go; what has begun ends first."""
        raise NotImplementedError
