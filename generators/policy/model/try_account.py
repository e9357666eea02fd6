"""The usage of one try of an episode: the seconds that count, and the calls of an engine.

The rollout makes it and passes it to the policy, which records every call as soon as its reply has
arrived. So a call is recorded even if the decision that needed it fails.
"""

from generators.engine.stopwatch import Stopwatch
from schemas.episodes.call import Call


class Account:
    """Seconds and calls of one try; counting starts when it is made."""

    def __init__(self, stopwatch: Stopwatch | None = None) -> None:
        """`stopwatch` is that of the whole attempt; None: one that starts now."""
        self.stopwatch = Stopwatch() if stopwatch is None else stopwatch
        """Held while no engine lives."""
        self.calls: list[Call] = []
        """The calls in the order they were made."""
        self.told_version: str | None = None
        """The version of the weights as their trainer told it, for replies whose server does not say it; None: it was
        not told."""

    @property
    def tokens(self) -> int:
        """Prompt and completion tokens of all calls, as far as the engine counts them."""
        return sum((c.prompt_tokens or 0) + (c.completion_tokens or 0) for c in self.calls)
