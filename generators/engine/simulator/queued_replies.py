"""What a puppeteer wants said next: texts that wait, one queue for each session.

A text is used up when it was sent whole and as it is. Whatever fails on the way (a cut, a refusal,
a client that went away, a fault that alters the reply) leaves it for the next request.
"""

from collections import deque


class Puppet:
    """Texts that wait for their session's next request."""

    def __init__(self) -> None:
        self._texts: dict[str, deque[str]] = {}

    def tell(self, session: str, text: str) -> int:
        """Put a text at the end of a session's queue; return how many wait."""
        queue = self._texts.setdefault(session, deque())
        queue.append(text)
        return len(queue)

    def take(self, session: str | None) -> str | None:
        """Return the text that a request of the session is answered with; None if there is none."""
        queue = self._texts.get(session) if session is not None else None
        return queue.popleft() if queue else None

    def give_back(self, session: str, text: str) -> None:
        """Put a text that was not sent at the front again."""
        self._texts.setdefault(session, deque()).appendleft(text)

    def forget(self, session: str) -> None:
        """Drop what waits for a session."""
        self._texts.pop(session, None)

    @property
    def waiting(self) -> int:
        """Texts that wait, of all sessions."""
        return sum(map(len, self._texts.values()))
