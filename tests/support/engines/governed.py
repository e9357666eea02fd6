"""A governor that is told of replies at a steady pace, for tests."""

from collections.abc import Callable

from generators.engine.governor.governor import Governor
from generators.engine.governor.signals import CallFigures, Memory

PROMPT, CACHEABLE, SHARED = 10_000, 8_000, 1_000
"""Tokens of a prompt, of what a cache could serve of it, and of what all prompts share."""

Efficiency = float | None | Callable[[int], float]
"""The share of calls that a cache serves all it could, or by how many episodes live; the others get what all share. None: the
server does not say."""


class Teller:
    """Has as many episodes as the governor allows ask one after another, each once a second."""

    def __init__(self, ceiling: int = 128, memory: Memory | None = None) -> None:
        self.governor = Governor(ceiling, memory)
        self.now = 0.0
        self.calls = 0
        self.prompt = PROMPT
        self._owed = 0.0
        self._known: set[str] = set()

    @property
    def live(self) -> int:
        """How many may live."""
        return self.governor.limits.live

    def call(self, efficiency: Efficiency, *, seconds: float = 1.0) -> None:
        """Let the next episode have its reply."""
        live = self.live
        found = efficiency(live) if callable(efficiency) else efficiency
        self.now += seconds / live
        self.calls += 1
        episode = str(self.calls % live)
        could = CACHEABLE if episode in self._known else SHARED
        self._known.add(episode)
        self.governor.hear(
            CallFigures(episode, 0.5, self.prompt, self._serve(found, could), could),
            self.now,
            live=live,
        )

    def _serve(self, share: float | None, could: int) -> int | None:
        """Return what is served of the next call, so that of all so far this share are served."""
        if share is None:
            return None
        self._owed += share
        if self._owed < 1 - 1e-9:
            return SHARED if share else 0
        self._owed -= 1
        return could

    def decide(self, efficiency: Efficiency, *, times: int = 1, seconds: float = 1.0) -> list[int]:
        """Return how many may live after each of so many decisions."""
        found = []
        for _ in range(times):
            before = self.governor.limits
            while self.governor.limits is before:
                self.call(efficiency, seconds=seconds)
            found.append(self.live)
        return found
