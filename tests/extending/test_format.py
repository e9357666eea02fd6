"""A format from outside: a class that an export is given.

A format that the command line offers takes a member of `FormatName`, a page in `PAGES` and a case of
`make_format` besides; the set is closed, so that help can list it without loading anything.
"""

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

from exports import exported, lines
from memory_run import small_run

from schemas.base import JsonObject
from storage.export.protocol import FormatCounts, FullEpisode, Line, Piece


class Name(StrEnum):
    """What `FormatName` would hold."""

    GOALS = "goals"


class Goals:
    """A line for each episode: its goal and what it earned."""

    name = Name.GOALS

    @property
    def options(self) -> JsonObject:
        """Nothing can be set."""
        return {}

    def pieces(self, told: FullEpisode, tally: FormatCounts) -> Iterator[Piece]:
        """Write the line and count it."""
        tally["lines"] += 1
        yield Line({"goal": told.episode.instruction, "reward": told.episode.reward})


def test_a_format_writes_a_line_for_each_episode(tmp_path: Path) -> None:
    report = exported(small_run().seal(), Goals(), tmp_path / "to", include_rejected=True)  # type: ignore[arg-type]

    written = list(lines(tmp_path / "to"))
    assert report.format == "goals"
    assert len(written) == report.lines == report.episodes > 0
    assert all(line.keys() == {"goal", "reward"} for line in written)
