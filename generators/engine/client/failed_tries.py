"""What a request has lost on its way: why, and what was spent on it in vain."""

from dataclasses import dataclass, field

_BROKE_OFTEN = 3
"""A request that broke so often at one endpoint is asked elsewhere, if there is an elsewhere."""


@dataclass(frozen=True)
class Loss:
    """An asking that brought no whole reply."""

    reason: str
    """On one line."""
    reached: bool = False
    """The server may have worked for it."""
    broken: bool = False
    """It may be the request's own fault."""
    doubtful: bool = False
    """The endpoint may be dying."""
    tokens: int | None = None
    """What the part reply says it took; None: it does not say."""
    pause: float | None = None
    """What the server asks to be left alone for, seconds; None: it does not say."""


@dataclass
class Losses:
    """What a request has been through."""

    all: list[Loss] = field(default_factory=list)
    """In order."""
    broken_at: dict[str, int] = field(default_factory=dict)
    """By endpoint, losses that may be the request's own fault."""

    def add(self, loss: Loss, endpoint: str) -> None:
        """Take note of another."""
        self.all.append(loss)
        self.broken_at[endpoint] = self.broken_at.get(endpoint, 0) + loss.broken

    @property
    def broken(self) -> int:
        """How many may be the request's own fault."""
        return sum(self.broken_at.values())

    @property
    def avoid(self) -> frozenset[str]:
        """The endpoints to ask only where there is no other."""
        return frozenset(name for name, n in self.broken_at.items() if n >= _BROKE_OFTEN)

    def wasted(self, prompt_tokens: int | None) -> int | None:
        """Return the tokens spent in vain; None: none were, or nobody knows how many.

        A part reply that does not say counts as its prompt, which is the prompt of the whole
        reply; what had been generated of it cannot be known and is left out.
        """
        counts = [
            prompt_tokens if loss.tokens is None else loss.tokens
            for loss in self.all
            if loss.reached
        ]
        known = [count for count in counts if count is not None]
        return sum(known) if known else None
