"""What the engine was asked lately, without the bytes of pictures: for tests and for looking."""

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from pydantic import JsonValue

from schemas.base import JsonObject

KEPT = 64
"""Chats that are remembered."""


@dataclass
class Entry:
    """One chat request and what became of it."""

    number: int
    session: str | None
    faults: list[str]
    body: JsonObject = field(default_factory=dict)
    """As it was sent, with a few words in the place of each picture."""
    outcome: str = "open"
    """`open`, `whole`, `refused`, `broken` (cut or ended in an error) or `aborted` by the client."""
    status: int | None = None
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    puppet: bool = False
    """The puppeteer's text was said."""


@dataclass
class Ledger:
    """Counts every request and remembers the last chats."""

    paths: Counter[str] = field(default_factory=Counter)
    """Requests by path."""
    outcomes: Counter[str] = field(default_factory=Counter)
    """Chats by what became of them."""
    chats: int = 0
    """Chats that came in."""
    _last: deque[Entry] = field(default_factory=lambda: deque(maxlen=KEPT))

    def open(self, session: str | None, faults: list[str]) -> Entry:
        """Enter a chat that came in."""
        self.chats += 1
        entry = Entry(self.chats, session, faults)
        self._last.append(entry)
        return entry

    def close(self, entry: Entry) -> None:
        """Count what became of it."""
        self.outcomes[entry.outcome] += 1

    def last(self, count: int) -> Iterator[Entry]:
        """Yield the last chats, the newest first."""
        return islice(reversed(self._last), count)


def without_pictures(value: JsonValue) -> JsonValue:
    """Return a value with each data URL replaced by how long it was."""
    if isinstance(value, str):
        return f"data URL of {len(value)} characters" if value.startswith("data:") else value
    if isinstance(value, dict):
        return {key: without_pictures(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_pictures(item) for item in value]
    return value
