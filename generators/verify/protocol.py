"""What a verifier is: it examines one episode and says what it found.

A verifier never changes an episode and never raises for what it finds in one. What it cannot
judge it abstains from or calls unsupported; if it breaks, the panel records `error`.
"""

from typing import Protocol

from schemas.episode import Episode
from schemas.task import Task
from schemas.verdict import Finding


class Verifier(Protocol):
    """Looks at one episode."""

    @property
    def name(self) -> str:
        """What configurations call it."""
        ...

    @property
    def version(self) -> str:
        """Grows when it would judge an old episode differently."""
        ...

    async def examine(self, task: Task, episode: Episode) -> Finding:
        """Return what it found.

        Raises:
            RolloutFailure: it could not look.
        """
        ...
