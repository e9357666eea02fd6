"""A place that a window shows: its look-up, which another process makes and renews when the place has changed."""

import asyncio
import logging
import os
import sys
from pathlib import Path

from flows.viewing.opening import open_for_view
from schemas.errors import StepmillError
from storage.reading.lookup import Lookup, lookup_folder
from storage.reading.opened import Opened

LOOK_SECONDS = 5.0
"""How old the look-up of a run may be before it is asked whether the run has grown."""

LOG = logging.getLogger(__name__)


class Shown:
    """A run or a dataset, as it is shown at the moment."""

    def __init__(self, address: str, opened: Opened, cache: Path) -> None:
        self.address = address
        """Its URL or path, as it was given."""
        self._cache = cache
        self._lookup = self._new = self._lookup_of(opened)
        self._making: asyncio.Task[None] | None = None
        self._looked = asyncio.get_running_loop().time()
        self.share = 1.0 if self._lookup.is_whole else 0.0
        """How much of the look-up is made, 0-1."""
        self.problem = ""
        """Why the look-up could not be made; empty while it can."""

    @property
    def lookup(self) -> Lookup:
        """The look-up that is shown: the newest one of which an episode can be opened."""
        if self._new is not self._lookup and self._new.can_be_shown:
            self._lookup = self._new
        return self._lookup

    @property
    def is_ready(self) -> bool:
        """Whether there is anything to show yet."""
        return self.lookup.can_be_shown

    async def refresh(self) -> None:
        """Make the look-up unless it is made or being made; a run that has grown gets a new one."""
        now = asyncio.get_running_loop().time()
        if self._making is not None and not self._making.done():
            return
        if self._new.is_whole and now - self._looked > LOOK_SECONDS:
            self._looked = now
            try:
                opened = await open_for_view(self.address, os.environ)
            except StepmillError as error:
                self.problem = str(error)
                return
            self.problem = ""
            known = self._new.opened
            if (opened.identity, opened.judgement) != (known.identity, known.judgement):
                self._new = self._lookup_of(opened)
        if not self._new.is_whole:
            self._making = asyncio.create_task(self._make())

    def look_again(self) -> None:
        """Ask at the next page whether the place has changed: it has."""
        self._looked = float("-inf")

    async def close(self) -> None:
        """Let the process that makes the look-up end; what it has made stays."""
        if self._making is not None:
            self._making.cancel()
            await asyncio.wait({self._making})

    def _lookup_of(self, opened: Opened) -> Lookup:
        return Lookup(opened, lookup_folder(self._cache, opened))

    async def _make(self) -> None:
        self.share = 0.0
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "flows.viewing.build", self.address),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            told = asyncio.create_task(_read_all(process.stderr))
            while process.stdout is not None and (line := await process.stdout.readline()):
                self.share = float(line)
            code = await process.wait()
            self.problem = "" if code == 0 else (await told).strip().rpartition("\n")[2]
            if self.problem:
                LOG.warning("%s: %s", self.address, self.problem)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()


async def _read_all(stream: asyncio.StreamReader | None) -> str:
    return "" if stream is None else (await stream.read()).decode(errors="replace")
