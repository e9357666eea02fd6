"""What a format is: from one episode to the lines and files it becomes.

A format is handed whole episodes, one after another, in the order of publication, and yields what
is to be written for each. It keeps nothing between them, so what an episode becomes depends on
nothing but the episode and the format's options.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from schemas.base import JsonObject
from schemas.episode import Episode
from schemas.task import Task
from schemas.verdict import Acceptance
from storage.export.registry import FormatName


@dataclass(frozen=True, slots=True)
class Told:
    """An episode with all that is known of it."""

    episode: Episode
    """Whole, with its steps, elements, calls and prompts."""
    task: Task
    """The task attempted."""
    acceptance: Acceptance
    """What the run's rule makes of it."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the JSONL file of the episode's split."""

    record: JsonObject
    """Keys in the order in which they are written."""


@dataclass(frozen=True, slots=True)
class File:
    """A file of its own."""

    path: str
    """Relative to the export's folder."""
    data: bytes
    """What is in it."""


Piece = Line | File
"""What an episode becomes, a part of it."""

Tally = Counter[str]
"""What a format counts, by a word for it."""


class Format(Protocol):
    """Turns episodes into what another program reads."""

    @property
    def name(self) -> FormatName:
        """As it is asked for."""
        ...

    @property
    def options(self) -> JsonObject:
        """All that decides what an episode becomes: two exports with the same are the same."""
        ...

    def pieces(self, told: Told, tally: Tally) -> Iterator[Piece]:
        """Yield what an episode becomes, nothing if it becomes nothing, and count why."""
        ...


def picture_path(episode_id: str, step: int) -> str:
    """Return where the picture of a step lies beside the lines that name it."""
    return f"images/{episode_id}/{step}.jpg"
