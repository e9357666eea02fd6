"""What became of the tokens that an episode sent: served from a cache, or computed, for the first time or again.

It is reckoned from the rows of `calls` and stored nowhere. A call's prompt was sent whole: what the server
took from its cache is *cached*, the rest it *computed*. Of that, the part that the episode had sent to the
same endpoint before was computed *again*, and only the rest was *new*.
"""

from collections.abc import Iterator, Sequence
from itertools import takewhile

from schemas.base import Record
from schemas.episodes.call import Call
from schemas.episodes.picture_tokens import find_picture_tokens


class TokenLedger(Record):
    """The prompt tokens of one call; a number is None where the server does not report what it needs."""

    sent: int | None
    """Tokens of the whole prompt: `cached` and `computed`."""
    cached: int | None
    """Tokens that the server took from its cache."""
    again: int | None
    """Tokens computed that the episode had sent to this endpoint before; None without token ids too."""

    @property
    def computed(self) -> int | None:
        """Tokens that the server computed: `new` and `again`; None if it does not report those it cached."""
        return None if self.sent is None or self.cached is None else self.sent - self.cached

    @property
    def new(self) -> int | None:
        """Tokens computed that the episode sent to this endpoint for the first time."""
        computed, again = self.computed, self.again
        return None if computed is None or again is None else computed - again


def token_ledgers(calls: Sequence[Call]) -> Iterator[TokenLedger]:
    """Yield the ledger of each call of one episode; `calls` are in the order in which they were made."""
    for number, call in enumerate(calls):
        before = [one for one in calls[:number] if one.engine == call.engine]
        shared = [_shared_tokens(one, call) for one in before]
        known = [tokens for tokens in shared if tokens is not None]
        again: int | None = None
        if call.cached_tokens is not None and len(known) == len(shared):
            again = max(0, max(known, default=0) - call.cached_tokens)
        yield TokenLedger(sent=call.prompt_tokens, cached=call.cached_tokens, again=again)


def _shared_tokens(before: Call, call: Call) -> int | None:
    """Return the tokens with which both prompts begin, pictures told apart by their steps.

    None: a server gave no token ids, or the pictures among them cannot be found.
    """
    if before.prompt_token_ids is None or call.prompt_token_ids is None:
        return None
    pairs = zip(before.prompt_token_ids, call.prompt_token_ids, strict=False)
    tokens = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    steps = zip(before.image_steps, call.image_steps, strict=False)
    pictures = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], steps))
    if pictures == len(call.image_steps):
        return tokens
    found = find_picture_tokens(
        call.prompt_token_ids, pictures=len(call.image_steps), counted=call.image_tokens
    )
    return None if found is None else min(tokens, found.ranges[pictures][0])
