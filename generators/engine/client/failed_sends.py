"""What the tries of a request that brought no whole reply say of it, of its endpoint, and of what they cost."""

from dataclasses import dataclass, field

_MAX_BROKEN_AT_ENDPOINT = 3
"""After this many broken tries at one endpoint, a request is sent to another, if there is one."""


@dataclass(frozen=True)
class FailedSend:
    """One sending of a request that brought no whole reply."""

    reason: str
    """The reason, on one line."""
    reached_server: bool = False
    """The server may have worked on it."""
    broken: bool = False
    """The request itself may be the cause."""
    endpoint_suspect: bool = False
    """The endpoint may be dying."""
    tokens: int | None = None
    """The tokens that the part of a reply reports; None: it reports none."""
    pause: float | None = None
    """The pause that the server requests, seconds; None: it requests none."""
    full: bool = False
    """The server has no room (503), which says nothing against it, unless it has none again and again."""
    refused: int | None = None
    """The status by which the server refuses it, whichever field is left out; None: it does not refuse it."""

    @property
    def may_have_killed(self) -> bool:
        """Whether the request was under way, if the endpoint turns out to be dead."""
        return self.reached_server and self.endpoint_suspect


@dataclass
class FailedSends:
    """The failed tries of one request."""

    tries: list[FailedSend] = field(default_factory=list)
    """The tries in order."""
    broken_at: dict[str, int] = field(default_factory=dict)
    """By endpoint, the number of tries of which the request itself may be the cause."""
    full_in_a_row: int = 0
    """The last tries for which the server had no room."""

    def add(self, failed: FailedSend, endpoint: str) -> None:
        """Add one that failed at an endpoint."""
        self.tries.append(failed)
        self.broken_at[endpoint] = self.broken_at.get(endpoint, 0) + failed.broken
        self.full_in_a_row = self.full_in_a_row + 1 if failed.full else 0

    @property
    def broken(self) -> int:
        """The number of failed tries of which the request itself may be the cause."""
        return sum(self.broken_at.values())

    @property
    def endpoints_to_avoid(self) -> frozenset[str]:
        """The endpoints to use only where no other is up."""
        return frozenset(name for name, n in self.broken_at.items() if n >= _MAX_BROKEN_AT_ENDPOINT)

    def wasted_tokens(self, prompt_tokens: int | None) -> int | None:
        """Return the tokens that failed tries took; None: none, or the number is unknown.

        A part of a reply that reports no tokens counts as its prompt, which is the prompt of the whole
        reply; what the server had generated of it is unknown and left out.
        """
        counts = [
            prompt_tokens if failed.tokens is None else failed.tokens
            for failed in self.tries
            if failed.reached_server
        ]
        known = [count for count in counts if count is not None]
        return sum(known) if known else None
