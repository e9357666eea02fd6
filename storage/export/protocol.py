"""The protocol of an export format: from one episode to its lines and files.

A format gets complete episodes, one after another, in the order of publication, and yields the lines
and files to write for each. It keeps no state between episodes, so the result depends on the episode
and the format's options alone.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from schemas.base import JsonObject
from schemas.episode import Episode
from schemas.step_label import StepLabel
from schemas.task import Task
from schemas.verdict import Acceptance
from storage.export.registry import FormatName


@dataclass(frozen=True, slots=True)
class ExportedEpisode:
    """An episode with its task and acceptance."""

    episode: Episode
    """Complete, with steps, elements, calls and prompts."""
    task: Task
    """The task attempted."""
    acceptance: Acceptance
    """The result of the run's rule."""
    labels: tuple[StepLabel, ...] | None = None
    """What each of its actions did; None if `steps` has not seen it."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the JSONL file of the episode's split."""

    record: JsonObject
    """A JSON object, with its keys in the order in which they are written."""


@dataclass(frozen=True, slots=True)
class File:
    """A separate file."""

    path: str
    """Relative to the export's folder."""
    data: bytes
    """The file's content."""


Piece = Line | File
"""A part of the output for an episode."""

FormatCounts = Counter[str]
"""What a format counts, by name."""


class Format(Protocol):
    """Turns episodes into what another program reads."""

    @property
    def name(self) -> FormatName:
        """Its name on the command line."""
        ...

    @property
    def options(self) -> JsonObject:
        """All options that affect the output: equal options give equal bytes."""
        ...

    def pieces(self, source: ExportedEpisode, counts: FormatCounts) -> Iterator[Piece]:
        """Yield the lines and files of an episode, and count what was written or left out."""
        ...


def picture_path(episode_id: str, step: int) -> str:
    """Return the path of a step's picture, relative to the export's folder."""
    return f"images/{episode_id}/{step}.jpg"
