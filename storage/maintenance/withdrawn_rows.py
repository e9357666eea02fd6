"""Finds the shards of a table that hold rows of withdrawn episodes.

Of a unit's shards only those of its own unit are opened; of a shard, its column of episodes, which is small beside the
pictures.
"""

from collections.abc import Iterable, Mapping

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow.dataset import ParquetFileFormat

from schemas.tables.tables import UNIT_TABLES, arrow_schema
from storage.lake.file_access import Access, retry_read, table_url
from storage.lake.shard_upload import COMPACT, ShardName
from storage.lake.withdrawals import RunWithdrawal
from storage.objects.error_messages import read_error

OWNER = "episode_id"
"""The column of the episode that a row belongs to."""


class WithdrawnRows:
    """The rows of the withdrawn episodes of one run."""

    def __init__(self, url: str, access: Access, withdrawn: Iterable[RunWithdrawal]) -> None:
        self._url, self._access = url, access
        units = {one.episode: one.unit_id for one in withdrawn}
        self.episodes = frozenset(units)
        """The ids of the episodes."""
        self._units = frozenset(units.values())

    def holders(self, table: str, sizes: Mapping[str, int]) -> frozenset[str]:
        """Return those shards of a table that hold such rows; `sizes` are their bytes, by path. This blocks.

        A shard that is gone by then holds none.

        Raises:
            Damaged: one cannot be read.
        """
        if not self.episodes or OWNER not in arrow_schema(table).names:
            return frozenset()
        return frozenset(
            path
            for path in sizes
            if table not in UNIT_TABLES or ShardName.parse(path).unit_id in {*self._units, COMPACT}
            if self._holds(table, path, sizes)
        )

    def _holds(self, table: str, path: str, sizes: Mapping[str, int]) -> bool:
        url = table_url(self._url, table)
        wanted = pc.field(OWNER).isin(pa.array(sorted(self.episodes), pa.string()))

        def count() -> int:
            files = self._access.filesystem(url, {path: sizes[path]})
            fragment = ParquetFileFormat().make_fragment(path, filesystem=files)
            return fragment.count_rows(filter=wanted)

        try:
            return retry_read(count) > 0
        except FileNotFoundError:
            return False
        except (pa.ArrowException, OSError) as error:
            raise read_error(error, f"{url}/{path}: cannot be read") from None
