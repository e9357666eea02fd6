"""What runs and published datasets have in common: tables by the names of a dataset's configs, and whole episodes."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from schemas.errors import NotFound
from schemas.nearest import did_you_mean
from schemas.verdicts.full_episode import FullEpisode

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped] # it ships no types
    import polars as pl


class Rows(ABC):
    """Episodes with all that was found about them, and the tables of a dataset of them."""

    @property
    @abstractmethod
    def configs(self) -> tuple[str, ...]:
        """The names of the tables that there are, as `attempts`, `steps` and `tasks`."""

    @abstractmethod
    def table(
        self, config: str, *, split: str | None = None, columns: Sequence[str] | None = None
    ) -> pa.Table:
        """Return a table as Arrow; `docs/dataset.md` says what each column means.

        Args:
            config: one of `configs`.
            split: `train`, `validation` or `test`; None: all of them.
            columns: the columns to read; None: all. Pictures are read where `screenshot` is among them.

        Raises:
            NotFound: there is no such table, split or column.
            Damaged: it cannot be read, or is not what was recorded.
        """

    @abstractmethod
    def episodes(
        self,
        *,
        split: str | None = None,
        accepted: bool | None = None,
        ids: Collection[str] | None = None,
    ) -> Iterator[FullEpisode]:
        """Yield episodes with their pictures, in the order of publication, a dataset's split by split.

        One or a few are in memory at a time.

        Args:
            split: `train`, `validation` or `test`; None: all of them.
            accepted: True: only those that the run's rule accepts; False: only the others; None: both.
            ids: only those of these ids; None: all.

        Raises:
            NotFound: there is no such split.
            Damaged: one cannot be read, or is not what was recorded.
        """

    def episode(self, episode_id: str) -> FullEpisode:
        """Return an episode with its pictures.

        Raises:
            NotFound: there is none of this id.
            Damaged: it cannot be read, or is not what was recorded.
        """
        for found in self.episodes(ids={episode_id}):
            return found
        raise NotFound(f"there is no episode {episode_id}: expected a value of `episode_id`")

    def to_pandas(
        self, config: str, *, split: str | None = None, columns: Sequence[str] | None = None
    ) -> "pd.DataFrame":
        """Return what `table` returns as a frame of pandas, which has to be installed."""
        return self.table(config, split=split, columns=columns).to_pandas()

    def to_polars(
        self, config: str, *, split: str | None = None, columns: Sequence[str] | None = None
    ) -> "pl.DataFrame":
        """Return what `table` returns as a frame of Polars, which has to be installed."""
        import polars as pl  # noqa: PLC0415 - of an extra, `stepmill[frames]`

        return pl.DataFrame(self.table(config, split=split, columns=columns))


def refuse_unknown(kind: str, name: str, known: Collection[str]) -> None:
    """Refuse a name that is not among the `known` ones.

    Raises:
        NotFound: it is not; the error says what there is.
    """
    if name not in known:
        hint = did_you_mean(name, known, count=1)
        raise NotFound(f"there is no {kind} '{name}'{hint}; there are {', '.join(known)}")
