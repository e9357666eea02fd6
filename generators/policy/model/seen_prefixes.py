"""Tracks the prompts seen by each endpoint, to compute how much of the next its prefix cache could serve.

A perfect cache serves the longest prefix that any conversation of the run had sent to the endpoint before,
in whole blocks and never the last token, as vLLM does. So the system prompt counts as soon as any prompt
was sent, while that one is still under way too; a reply counts once it has come. A picture counts by its
content, because all pictures have equal placeholders. If the server gives no tokens, messages are compared
instead, and their tokens are estimated where they were no whole prompt. No figure is below the number of
tokens that the server really served from its cache: what is under way when the figure is made is not known
yet, and may have been served.

If a cache is reported and serves less than half of that over many calls, a warning is logged once, because
nothing else shows it.
"""

import hashlib
import logging
from array import array
from collections import OrderedDict, deque
from collections.abc import Iterator, Sequence

from generators.engine.protocol import EnginePrompt, Picture, Reply
from schemas.episodes.picture_tokens import find_picture_tokens

LOG = logging.getLogger(__name__)

MAX_BLOCKS = 1 << 18
"""Largest number of blocks remembered for an endpoint, some 25 MB; the least recently used are dropped first."""

WATCHED_CALLS = 200
"""Number of calls over which a cache is compared with its possible share."""

MIN_SERVED = 0.5
"""Least share of its possible tokens that a working cache serves."""

DEFAULT_BLOCK = 16
"""Default tokens of a block: those of vLLM for a model with attention only."""


class SeenPrefixes:
    """The prompts that the endpoints of a run have seen; the same for all its conversations."""

    def __init__(self) -> None:
        self._seen: dict[str, OrderedDict[bytes, tuple[int, int]]] = {}
        self._clock = 0
        self._last: dict[str, deque[tuple[int, int]]] = {}
        self._told = False

    def begin(self) -> int:
        """Return the number of a request that is about to be sent; they rise in the order of sending."""
        self._clock += 1
        return self._clock

    def cacheable_tokens(self, prompt: EnginePrompt, reply: Reply, *, sent: int) -> int | None:
        """Remember an answered prompt; return the tokens of it that a perfect cache would have served.

        `sent` is the number that `begin` gave it. None: the server counts no tokens.
        """
        found = self._by_tokens(prompt, reply, sent)
        if found is None:
            found = self._by_messages(prompt, reply, sent)
        if found is not None and reply.cached_tokens is not None:
            found = max(found, reply.cached_tokens)
            self._watch(reply.endpoint, reply.cached_tokens, found)
        return found

    def _by_tokens(self, prompt: EnginePrompt, reply: Reply, sent: int) -> int | None:
        """Return the longest known prefix in whole blocks; None: tokens or pictures are unknown."""
        keys = _keys(prompt, reply)
        if keys is None:
            return None
        block = reply.block_tokens or DEFAULT_BLOCK
        names = list(_names([*keys, *(reply.completion_token_ids or ())], block))
        longest = max(0, len(keys) - 1) // block
        known = self._known_tokens(reply.endpoint, names[:longest], sent)
        whole, replied = len(keys) // block, self.begin()
        ends = [
            (name, (n + 1) * block, sent if n < whole else replied) for n, name in enumerate(names)
        ]
        self._keep(reply.endpoint, ends)
        return known

    def _by_messages(self, prompt: EnginePrompt, reply: Reply, sent: int) -> int | None:
        if reply.prompt_tokens is None:
            return None
        names = list(_chain(_digest(message.role, message.parts) for message in prompt.messages))
        known = min(self._known_tokens(reply.endpoint, names, sent), reply.prompt_tokens - 1)
        seen = self._seen.setdefault(reply.endpoint, OrderedDict())
        ends = zip(names, _message_ends(prompt, reply, reply.prompt_tokens), strict=True)
        parts = [(name, tokens, sent) for name, tokens in ends if name not in seen]
        self._keep(reply.endpoint, [*parts, (names[-1], reply.prompt_tokens, sent)])
        return known // (reply.block_tokens or 1) * (reply.block_tokens or 1)

    def _known_tokens(self, endpoint: str, names: Sequence[bytes], sent: int) -> int:
        """Return the tokens up to the last of `names` that the endpoint had been sent before."""
        seen = self._seen.get(endpoint) or OrderedDict[bytes, tuple[int, int]]()
        tokens = (seen[name][0] for name in names if name in seen and seen[name][1] < sent)
        return max(tokens, default=0)

    def _keep(self, endpoint: str, ends: Sequence[tuple[bytes, int, int]]) -> None:
        """Remember prefixes: their names, their tokens, and the number from which they were there."""
        seen = self._seen.setdefault(endpoint, OrderedDict())
        for name, tokens, since in reversed(ends):  # the front of a prompt is the last to go
            seen[name] = tokens, min(since, seen.get(name, (0, since))[1])
            seen.move_to_end(name)
        while len(seen) > MAX_BLOCKS:
            seen.popitem(last=False)

    def _watch(self, endpoint: str, cached: int, cacheable: int) -> None:
        """Log once that a cache serves less than half of its possible tokens."""
        last = self._last.setdefault(endpoint, deque(maxlen=WATCHED_CALLS))
        last.append((cached, cacheable))
        if self._told or len(last) < WATCHED_CALLS:
            return
        served, could = (sum(column) for column in zip(*last, strict=True))
        if could and served < MIN_SERVED * could:
            self._told = True
            LOG.warning(
                "%s: its prefix cache served %s of the %s tokens that it could have over the last %s calls; %s",
                endpoint,
                f"{served:,}",
                f"{could:,}",
                WATCHED_CALLS,
                CACHE_REMEDY,
            )


CACHE_REMEDY = (
    "serve with --enable-prefix-caching, or, where it is on, keep fewer episodes alive (limits.live_episodes): their "
    "prompts no longer fit together"
)
"""The advice about a cache that serves little."""


def _keys(prompt: EnginePrompt, reply: Reply) -> list[int] | None:
    """Return a prompt's tokens, with those of pictures replaced by their content; None: they are unknown."""
    if reply.prompt_token_ids is None:
        return None
    pictures = [
        part for message in prompt.messages for part in message.parts if isinstance(part, Picture)
    ]
    keys = [*reply.prompt_token_ids]
    if not pictures:
        return keys
    found = find_picture_tokens(keys, pictures=len(pictures), counted=reply.image_tokens)
    if found is None:
        return None
    for picture, (offset, length) in zip(pictures, found.ranges, strict=True):
        content = int.from_bytes(_digest("picture", (picture,))[:6], "big")
        keys[offset : offset + length] = range(-content - length, -content)
    return keys


def _message_ends(prompt: EnginePrompt, reply: Reply, whole: int) -> Iterator[int]:
    """Yield about how many of the prompt's `whole` tokens lie up to the end of each message.

    Pictures have equal shares of their tokens, and texts share the rest by their bytes. Where the server does
    not count the tokens of pictures, they cannot be told from those of texts, and no message counts.
    """
    sizes = [
        sum(len(part.encode()) for part in message.parts if isinstance(part, str))
        for message in prompt.messages
    ]
    shown = [sum(isinstance(part, Picture) for part in m.parts) for m in prompt.messages]
    pictures, counted = sum(shown), reply.image_tokens
    text_bytes = max(1, sum(sizes))
    picture_tokens = 0 if counted is None or not pictures else counted / pictures
    text_tokens = whole - picture_tokens * pictures
    read, seen = 0, 0
    for size, own in zip(sizes, shown, strict=True):
        read, seen = read + size, seen + own
        is_known = not pictures or counted is not None
        yield int(picture_tokens * seen + text_tokens * read / text_bytes) if is_known else 0


def _names(keys: Sequence[int], block: int) -> Iterator[bytes]:
    """Yield the name of each whole block: everything up to its end."""
    whole = len(keys) // block * block
    return _chain(
        array("q", keys[start : start + block]).tobytes() for start in range(0, whole, block)
    )


def _chain(parts: Iterator[bytes]) -> Iterator[bytes]:
    name = b""
    for part in parts:
        name = hashlib.blake2b(name + part, digest_size=8).digest()
        yield name


def _digest(role: str, parts: Sequence[str | Picture]) -> bytes:
    whole = hashlib.blake2b(role.encode(), digest_size=16)
    for part in parts:
        whole.update(part.encode() if isinstance(part, str) else b"\0picture\0" + part.content)
    return whole.digest()
