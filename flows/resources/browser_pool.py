"""Browsers as one source of sessions: each new session goes to the browser with the fewest.

A pool may be empty until its owner adds browsers, so that what needs sessions can be made before
it is known whether a browser is needed at all. The pool does not start or stop browsers.
"""

import contextlib
from collections import Counter
from collections.abc import AsyncIterator

from generators.browser.protocol import Session, Sessions, SessionSpec
from generators.browser.slots import Slots


class BrowserPool:
    """Sessions of several browsers."""

    def __init__(self) -> None:
        self._browsers: list[Sessions] = []
        self._busy: Counter[int] = Counter()

    def add(self, browser: Sessions) -> None:
        """Open sessions in `browser` too."""
        self._browsers.append(browser)

    @property
    def version(self) -> str:
        """Of the first browser that has started; empty before."""
        return next((browser.version for browser in self._browsers if browser.version), "")

    @contextlib.asynccontextmanager
    async def session(self, spec: SessionSpec) -> AsyncIterator[Session]:
        """Open a session in the browser that has the fewest.

        Raises:
            RolloutFailure: the browser gives none.
        """
        idlest = min(range(len(self._browsers)), key=lambda number: self._busy[number])
        self._busy[idlest] += 1
        try:
            async with self._browsers[idlest].session(spec) as session:
                yield session
        finally:
            self._busy[idlest] -= 1


class SlottedSessions:
    """Sessions that each hold a slot of a shared limit while they are open."""

    def __init__(self, sessions: Sessions, slots: Slots) -> None:
        self._sessions = sessions
        self._slots = slots

    @property
    def version(self) -> str:
        """The browser's version; empty before it was started."""
        return self._sessions.version

    @contextlib.asynccontextmanager
    async def session(self, spec: SessionSpec) -> AsyncIterator[Session]:
        """Wait for a slot and open a session in it.

        Raises:
            RolloutFailure: the browser gives none.
        """
        async with self._slots.hold(), self._sessions.session(spec) as session:
            yield session
