"""The protocol of a verifier: it examines one episode and returns a finding.

A verifier never changes an episode and never raises because of an episode's content. If it cannot
decide, it abstains or returns `unsupported`; if it breaks, the panel records `error`.
"""

from typing import Protocol

from schemas.episodes.episode import Episode
from schemas.tasks.task import Task
from schemas.verdicts.verdict import Finding


class Verifier(Protocol):
    """Examines one episode."""

    @property
    def name(self) -> str:
        """Its name in configurations."""
        ...

    @property
    def version(self) -> str:
        """Changes whenever the verifier would judge an old episode differently."""
        ...

    async def examine(self, task: Task, episode: Episode) -> Finding:
        """Return the finding on `episode`, an attempt at `task`.

        Raises:
            RolloutFailure: the verifier could not examine the episode.
        """
        ...
