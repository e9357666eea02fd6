"""A format of one line for each episode: its goal and what it earned."""

from collections.abc import Iterator

from schemas.base import JsonObject
from storage.export.format_factory import FormatParts
from storage.export.protocol import FormatCounts, FullEpisode, Line, Piece


class Goals:
    stepmill_api = 1
    name = "goals"

    def __init__(self, parts: FormatParts) -> None:
        """It reads no flags."""

    @property
    def options(self) -> JsonObject:
        return {}

    def pieces(self, source: FullEpisode, counts: FormatCounts) -> Iterator[Piece]:
        counts["lines"] += 1
        yield Line({"goal": source.episode.instruction, "reward": source.episode.reward})
