"""The simulator's weights as a trainer changes them: paused, updated, and named by a version, as vLLM 0.32 does it.

A pause lets no new request begin. Its default mode ends every reply under way with what it has, `finish_reason`
`abort`; `wait` lets them end, and `keep` lets them stand still. The version is `default` until a trainer names another.

Source: vLLM 0.32.0, `entrypoints/rl/online/api_router.py`, `v1/engine/core.py` (`pause_scheduler`).
"""

import asyncio
import contextlib
from collections.abc import Coroutine, Iterator
from enum import StrEnum

FIRST = "default"
"""The version before any other is named."""


class PauseMode(StrEnum):
    """What becomes of replies under way."""

    ABORT = "abort"
    """They end at once."""
    WAIT = "wait"
    """They are written to their end, before the pause is answered."""
    KEEP = "keep"
    """They stand still."""


class Aborted(Exception):
    """A reply ended because of a pause."""


class Weights:
    """The weights of one simulator."""

    def __init__(self) -> None:
        self.version = FIRST
        """The version's name."""
        self.is_paused = False
        """Whether nothing is written now."""
        self._going = asyncio.Event()
        self._going.set()
        self._stands_still = False
        self._writing = set[asyncio.Future[None]]()

    async def pause(self, mode: PauseMode) -> None:
        """Let no request begin until `resume`, and those under way as the mode says."""
        self.is_paused, self._stands_still = True, mode is PauseMode.KEEP
        self._going.clear()
        if mode is PauseMode.ABORT:
            for one in self._writing:
                if not one.done():
                    one.set_exception(Aborted())
        while mode is PauseMode.WAIT and self._writing:
            await asyncio.wait(tuple(self._writing))

    def resume(self) -> None:
        """Go on."""
        self.is_paused = self._stands_still = False
        self._going.set()

    async def wait_until_going(self) -> None:
        """Wait until requests may begin."""
        while self.is_paused:
            await self._going.wait()

    @contextlib.contextmanager
    def reply(self) -> "Iterator[asyncio.Future[None]]":
        """Count a reply as under way for the block; the future that it gets has `Aborted` once a pause ends the reply."""
        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._writing.add(ended)
        try:
            yield ended
        finally:
            self._writing.discard(ended)
            if not ended.done():
                ended.set_result(None)
            elif not ended.cancelled():
                ended.exception()

    async def write(self, work: Coroutine[None, None, None], ended: "asyncio.Future[None]") -> None:
        """Await a part of writing a reply, and as long as it stands still.

        Raises:
            Aborted: a pause ended the reply.
        """
        working = asyncio.create_task(work)
        try:
            await asyncio.wait([working, ended], return_when=asyncio.FIRST_COMPLETED)
            if ended.done():
                ended.result()
            await working
        finally:
            working.cancel()
        while self._stands_still:
            await self._going.wait()
