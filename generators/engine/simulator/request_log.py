"""The latest requests, without the bytes of pictures: for tests and for debugging."""

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from schemas.base import JsonObject

KEPT = 64
"""Chats that are remembered."""


@dataclass
class LoggedChat:
    """One chat request and its outcome."""

    number: int
    session: str | None
    faults: list[str]
    body: JsonObject = field(default_factory=dict)
    """The body as it was sent, with a few words instead of each picture."""
    outcome: str = "open"
    """`open`, `whole`, `refused`, `broken` (cut or ended in an error) or `aborted` by the client."""
    status: int | None = None
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    puppet: bool = False
    """The reply was a queued text."""


@dataclass
class RequestLog:
    """Counts every request and remembers the last chats."""

    paths: Counter[str] = field(default_factory=Counter)
    """Requests by path."""
    outcomes: Counter[str] = field(default_factory=Counter)
    """Chats by outcome."""
    chats: int = 0
    """Chats that came in."""
    _last: deque[LoggedChat] = field(default_factory=lambda: deque(maxlen=KEPT))

    def open(self, session: str | None, faults: list[str]) -> LoggedChat:
        """Log a chat that came in."""
        self.chats += 1
        entry = LoggedChat(self.chats, session, faults)
        self._last.append(entry)
        return entry

    def close(self, entry: LoggedChat) -> None:
        """Count its outcome."""
        self.outcomes[entry.outcome] += 1

    def latest(self, count: int) -> Iterator[LoggedChat]:
        """Yield the last chats, the newest first."""
        return islice(reversed(self._last), count)


def drop_pictures(body: JsonObject) -> None:
    """Put a few words in the place of each picture of a chat's body, in place: bodies are large."""
    messages = body.get("messages")
    for message in messages if isinstance(messages, list) else ():
        content = message.get("content") if isinstance(message, dict) else None
        for part in content if isinstance(content, list) else ():
            image = part.get("image_url") if isinstance(part, dict) else None
            if isinstance(image, dict):
                image["url"] = f"a picture, {len(str(image.get('url')))} characters"
