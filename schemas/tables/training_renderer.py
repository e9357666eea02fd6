"""What makes training rows of an episode, for those who store them and know no dialect."""

from collections import Counter
from collections.abc import Iterator
from typing import Protocol

from schemas.base import JsonObject
from schemas.episodes.conversation import Rendered
from schemas.episodes.episode import Episode
from schemas.tables.tables import Row
from schemas.tasks.expectation import Expectation
from schemas.verdicts.full_episode import FullEpisode


class Renderer(Protocol):
    """Renders an episode in a dialect."""

    @property
    def about(self) -> JsonObject:
        """All settings that affect the result; `dialect` is the dialect's name."""
        ...

    @property
    def about_grounding(self) -> JsonObject:
        """All settings that affect rows of `grounding`."""
        ...

    def grounding_rows(self, source: FullEpisode, counts: Counter[str]) -> Iterator[Row]:
        """Yield the rows of `grounding` of an episode's steps, and count all steps by the reason."""
        ...

    def render(self, episode: Episode, expectation: Expectation | None = None) -> Rendered:
        """Return the prompts that a model would have got, and the replies it would have given.

        `expectation` says which facts the answer follows from; None: nothing is known of that.
        """
        ...
