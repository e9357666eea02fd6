"""Lets episodes begin while the machine has memory for them; where it is short, those under way go on alone.

How much memory pages take is known only while they run, and other programs take some too. A machine that runs out ends
some process, which may be a browser with all its sessions. So each episode asks before it begins, and waits while little
is free. One is always let begin, or a run on a small machine would wait for ever.
"""

import asyncio
import contextlib
import logging
import math
from collections.abc import Callable, Iterator

from flows.resources.machine import MEMORY, free_memory
from schemas.figures import write_apart

LOG = logging.getLogger(__name__)

_MIB = 1 << 20
_WARNING_SECONDS = 60.0
"""Between two warnings."""

LEAST_BYTES = 256 * _MIB
"""What has to stay free beside the need of an episode that begins."""

LOOK_SECONDS = 1.0
"""Between two looks at what is free, while it is short."""

SETTLING_SECONDS = 10.0
"""How long it takes until what an episode needs is taken, and shows."""


class MemoryRoom:
    """The memory that episodes of a run may take."""

    def __init__(
        self, look: Callable[[], int] = free_memory, *, look_seconds: float = LOOK_SECONDS
    ) -> None:
        """`look` returns the free bytes of the machine."""
        self._look, self._look_seconds = look, look_seconds
        self._under_way = 0
        self._begun: list[float] = []
        self._turn = asyncio.Lock()
        self._warned_at = -math.inf
        self.waiting = 0
        """Episodes that wait, because memory is short."""

    @property
    def has_room(self) -> bool:
        """Whether an episode may begin: there is memory for it and for those that have just begun, or none is under way."""
        return not self._under_way or self._find_room()

    async def wait(self, is_over: Callable[[], bool]) -> None:
        """Wait until an episode may begin, first come, first served, or until `is_over`."""
        if not self._turn.locked() and self.has_room:
            return
        self.waiting += 1
        try:
            async with self._turn:
                while True:
                    if is_over() or self.has_room:
                        return
                    await asyncio.sleep(self._look_seconds)
        finally:
            self.waiting -= 1

    @contextlib.contextmanager
    def episode(self) -> Iterator[None]:
        """Count an episode that begins, and takes its memory while the block runs."""
        self._under_way += 1
        self._begun.append(_now())
        try:
            yield
        finally:
            self._under_way -= 1

    def _find_room(self) -> bool:
        self._begun = [at for at in self._begun if _now() - at < SETTLING_SECONDS]
        free, needed = self._look(), LEAST_BYTES + MEMORY.each * (1 + len(self._begun))
        if free >= needed:
            return True
        if _now() - self._warned_at > _WARNING_SECONDS:
            self._warned_at = _now()
            found, wanted = write_apart(free / _MIB, needed / _MIB, ".0f")
            LOG.warning(
                "memory is short: %s MiB are free, and another episode needs %s; none begins before they are there",
                found,
                wanted,
            )
        return False


def _now() -> float:
    return asyncio.get_running_loop().time()
