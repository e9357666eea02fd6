"""A governor that is told of replies at a steady pace, for tests."""

from collections.abc import Callable

from generators.engine.governor.governor import Governor
from generators.engine.governor.signals import CallFigures, Memory

PROMPT, CACHEABLE = 10_000, 8_000

Efficiency = float | None | Callable[[int], float]
"""What a cache serves of what it could, or by how many episodes live; None: the server does not say."""


class Teller:
    """Has as many episodes as the governor allows ask one after another, each once a second."""

    def __init__(self, ceiling: int = 128, memory: Memory | None = None) -> None:
        self.governor = Governor(ceiling, memory)
        self.now = 0.0
        self.calls = 0

    @property
    def live(self) -> int:
        """How many may live."""
        return self.governor.limits.live

    def call(self, efficiency: Efficiency, *, seconds: float = 1.0) -> None:
        """Let the next episode have its reply."""
        live = self.live
        found = efficiency(live) if callable(efficiency) else efficiency
        cached = None if found is None else round(found * CACHEABLE)
        self.now += seconds / live
        self.calls += 1
        told = CallFigures(str(self.calls % live), 0.5, PROMPT, cached, CACHEABLE)
        self.governor.hear(told, self.now, live=live)

    def decide(self, efficiency: Efficiency, *, times: int = 1, seconds: float = 1.0) -> list[int]:
        """Return how many may live after each of so many decisions."""
        found = []
        for _ in range(times):
            before = self.governor.limits
            while self.governor.limits is before:
                self.call(efficiency, seconds=seconds)
            found.append(self.live)
        return found
