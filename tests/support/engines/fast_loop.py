"""An event loop whose hours are minutes: for rules that wait long, with real connections."""

import asyncio
import selectors
from collections.abc import Mapping

SPEED = 100.0
"""How many of its seconds pass in a real one."""


class _FastSelector(selectors.DefaultSelector):
    """Waits for a hundredth of the time that it is told."""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        return super().select(None if timeout is None else timeout / SPEED)


class FastLoop(asyncio.SelectorEventLoop):
    """A loop by whose clock everything takes `SPEED` times as long."""

    def __init__(self, _selector: Mapping[str, object] | None = None) -> None:
        super().__init__(_FastSelector())

    def time(self) -> float:
        """Return its own seconds."""
        return super().time() * SPEED
