"""The faults that the simulator injects, and which requests they strike.

A fault applies to the requests of its path (and session) that arrive after it was posted: it skips
the first `after` of them and strikes the next `times`. Several faults may strike one request.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from pydantic import Field

from schemas.base import Record

CHAT = "/v1/chat/completions"
FORBIDDEN = "http://forbidden.example/"
"""Where a reply of the fault `forbidden` goes."""


class FaultKind(StrEnum):
    """What goes wrong."""

    HTTP_400 = "http-400"
    HTTP_401 = "http-401"
    HTTP_429 = "http-429"
    """With a Retry-After header if `retry_after` is given."""
    HTTP_500 = "http-500"
    HTTP_503 = "http-503"
    STUCK = "stuck"
    """No answer at all, not even headers."""
    SLOW = "slow"
    """The answer comes `seconds` late."""
    DEADLY = "deadly"
    """The server's process ends at once, as if it was killed, and all that runs in it."""
    SILENT = "silent"
    """Headers, then nothing more."""
    ENDLESS = "endless"
    """Headers, then a blank every `seconds`, for ever."""
    CUT = "cut"
    """The connection is closed after half of the body."""
    STREAM_ERROR = "stream-error"
    """A stream ends in an error event; a plain reply is a status 500."""
    INVALID_UTF8 = "invalid-utf8"
    """The body holds bytes that are not UTF-8."""
    UNSTRUCTURED = "unstructured"
    """The schema is ignored in silence, in `fields` only if those are given."""
    TRUNCATED = "truncated"
    """Half of the reply, with the finish reason `length`."""
    ABORTED = "aborted"
    """Half of the reply, with the finish reason `abort`, as when a trainer pauses the server."""
    MISPLACED = "misplaced"
    """The text is null, and the whole reply stands in `reasoning_content`: the server took it for thinking."""
    EMPTY = "empty"
    """A reply without text."""
    HUGE = "huge"
    """A reply of `size` characters, whatever was allowed."""
    OUTSIDE = "outside"
    """A point beyond the picture, whatever the schema says."""
    FORBIDDEN = "forbidden"
    """A reply that goes to `http://forbidden.example/`."""
    NAN_LOGPROBS = "nan-logprobs"
    """Log-probabilities that are NaN."""
    NO_USAGE = "no-usage"
    """The reply has no usage."""
    UNKNOWN_FIELDS = "unknown-fields"
    """A status 400 that names a field which is not OpenAI's, or one of `fields`."""
    NO_PICTURES = "no-pictures"
    """A status 400 where there is a picture, as from a text-only model."""
    NO_METRICS = "no-metrics"
    """The metrics page is missing."""
    HALF_METRICS = "half-metrics"
    """The metrics page ends in the middle."""
    HANGING_HEALTH = "hanging-health"
    """`/health` gives no answer."""


STATUS = {
    FaultKind.HTTP_400: 400,
    FaultKind.HTTP_401: 401,
    FaultKind.HTTP_429: 429,
    FaultKind.HTTP_500: 500,
    FaultKind.HTTP_503: 503,
}
"""The faults that are an HTTP status alone."""

_PATHS = {
    FaultKind.NO_METRICS: "/metrics",
    FaultKind.HALF_METRICS: "/metrics",
    FaultKind.HANGING_HEALTH: "/health",
}


class Fault(Record):
    """One fault, and which requests it strikes."""

    kind: FaultKind
    """What goes wrong."""
    times: int = Field(default=1, ge=-1)
    """How many requests it strikes; -1: every one."""
    after: int = Field(default=0, ge=0)
    """How many requests it lets pass first."""
    session: str | None = None
    """Only requests with this `x-session-id`; None: all."""
    path: str | None = None
    """Only requests to this path; None: chats, or the one page that the kind is about."""
    seconds: float = Field(default=1.0, gt=0)
    """How late or how often, for the kinds that take a time."""
    retry_after: str | None = None
    """The Retry-After header; None: none."""
    size: int = Field(default=1_000_000, ge=1)
    """Characters of a huge reply."""
    fields: tuple[str, ...] = ()
    """Fields of a request, for the kinds that take them; empty: the kind's own."""


@dataclass
class _ActiveFault:
    fault: Fault
    passed: int = 0
    struck: int = 0

    def strikes(self, path: str, session: str | None) -> bool:
        """Return whether it strikes a request that comes in now, and count it."""
        wanted = self.fault.path or _PATHS.get(self.fault.kind, CHAT)
        if path != wanted or self.fault.session not in {None, session}:
            return False
        if self.fault.times == self.struck:
            return False
        if self.passed < self.fault.after:
            self.passed += 1
            return False
        self.struck += 1
        return True


@dataclass
class FaultBoard:
    """The faults that were posted."""

    _posted: list[_ActiveFault] = field(default_factory=list)

    def post(self, fault: Fault) -> None:
        """Add a fault."""
        self._posted.append(_ActiveFault(fault))

    def clear(self) -> None:
        """Remove every fault."""
        self._posted.clear()

    def active_faults(self, path: str, session: str | None) -> "ActiveFaults":
        """Return the faults of a request that comes in now, and count it."""
        return ActiveFaults(
            [posted.fault for posted in self._posted if posted.strikes(path, session)]
        )

    @property
    def strike_counts(self) -> dict[str, int]:
        """How many requests each kind has struck."""
        counts: dict[str, int] = {}
        for posted in self._posted:
            counts[posted.fault.kind] = counts.get(posted.fault.kind, 0) + posted.struck
        return counts


class ActiveFaults:
    """The faults of one request."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self._faults = {fault.kind: fault for fault in reversed(faults)}

    def get(self, *kinds: FaultKind) -> Fault | None:
        """Return the fault of the first of `kinds` that struck; None if none did."""
        return next((self._faults[kind] for kind in kinds if kind in self._faults), None)

    def __contains__(self, kind: FaultKind) -> bool:
        return kind in self._faults

    @property
    def kinds(self) -> list[str]:
        """The names of all."""
        return sorted(self._faults)


def parse_fault(text: str) -> Fault:
    """Return the fault that a command line writes as `kind[:times[:field=value…]]`.

    Raises:
        ValueError: the text is not of that form.
    """
    kind, *rest = text.split(":")
    fields: dict[str, object] = {"kind": kind}
    if rest:
        fields["times"] = rest[0]
    fields |= dict(pair.split("=", 1) for pair in rest[1:])
    return Fault.model_validate(fields)
