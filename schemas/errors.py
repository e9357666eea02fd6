"""The error vocabulary of the whole program, on one page.

1. **Refusals.** `Refusal` and its subclasses end a command before any work, with exit code 2: the
    request cannot be carried out, and the message names the fault, its place and the remedy.
2. **Rollout failures.** `RolloutFailure` has a `FailureKind`. `boundary` raises it where a failure of
   other code reaches ours. Exactly one place catches it, the rollout, which turns it into the episode's
   `failure`: a broken page is a row.
3. **Storage faults.** `Conflict` and `Damaged` are about stored bytes. The first means that another
    writer was faster and the caller has to read again; the second that stored bytes differ from those
    written. `Unfinished` means that a command stopped after its work had begun.
4. **Judging.** `BadState` and `BadExpectation` mean that an attempt at a task cannot be judged by the
   state of its site's server: the first that the site has no usable state, the second that the task
   expects a place that no state has.

Cancellation is not a failure and passes through unchanged.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum

from schemas.truncation import MESSAGE_BYTES, truncate


class StepmillError(Exception):
    """The base of every error that this program raises on purpose.

    Each argument is one line of its message. Line breaks within one come from a name, a path or another
    program, and become spaces in the message, so foreign text cannot add a line to it.
    """

    @property
    def lines(self) -> tuple[str, ...]:
        """The message, one mistake a line."""
        return tuple(" ".join(str(line).splitlines()) for line in self.args) or ("",)

    def __str__(self) -> str:
        return "\n".join(self.lines)


class Refusal(StepmillError):
    """The request is refused before any work (exit code 2)."""


class BadConfig(Refusal):
    """A configuration names an unknown key, or a value of the wrong type or out of range."""


class BadTasks(Refusal):
    """A task source is unreadable, names something unknown, or selects nothing."""


class BadReview(Refusal):
    """A review says what no review of its episode can say, or a file of reviews is not one."""


class NotFound(Refusal):
    """A run, episode, verifier, format or version that was named does not exist."""


class OtherRun(Refusal):
    """The run's folder has a run with another identity than the requested one."""


class Unwritable(Refusal):
    """A run's folder or a destination cannot be written, or is full."""


class NoBrowser(Refusal):
    """No usable Chromium was found, or it does not start."""


class NoEngine(Refusal):
    """No endpoint answers, or none serves what the configuration requires."""


class Conflict(StepmillError):
    """Another writer changed what the caller had read; it has to read and decide again."""


class Damaged(StepmillError):
    """A stored object differs from the bytes written: it is torn, altered or from another program."""


class Unfinished(StepmillError):
    """Work had begun and cannot be finished now (exit code 1); running the command again continues it."""


class BadState(StepmillError):
    """The state of a site's server cannot be read, or is too large to be compared."""


class BadExpectation(StepmillError):
    """A task's expectation names a table or a place that the state of its site does not have."""


class FailureKind(StrEnum):
    """The component whose failure ended a rollout. Only `POLICY` is the policy's own."""

    BROWSER = "browser"
    """The browser ended or did not answer, or did not open a context or a page."""
    PAGE = "page"
    """The page threw while it was set up, did not finish loading, left its site, was busy for too long, or crashed."""
    CLOCK = "clock"
    """The page's virtual time could not be advanced."""
    SITE = "site"
    """The site could not be opened, reset or asked for the outcome."""
    POLICY = "policy"
    """The policy raised an error, or decided on no action."""
    ENGINE = "engine"
    """The engine gave no usable reply."""
    CLIENT = "client"
    """The client of a seat left before the end, or had the seat for too long."""
    INTERNAL = "internal"
    """A defect of this program."""


ENVIRONMENT_FAILURES = frozenset(
    {FailureKind.BROWSER, FailureKind.PAGE, FailureKind.CLOCK, FailureKind.SITE}
)
"""Failures of the policy's surroundings, which are never trained on."""

RETRIED_FAILURES = frozenset({FailureKind.BROWSER, FailureKind.SITE})
"""Failures that may not recur in a fresh session; a page that spins, crashes or never settles would do it
again."""


class RolloutFailure(StepmillError):
    """A rollout failed; `kind` says at which boundary.

    The message may quote a page, so it is truncated as all text of pages is.
    """

    def __init__(self, kind: FailureKind, message: str, *, again: bool | None = None) -> None:
        """`again` is whether a fresh session may succeed; None if the kind decides."""
        self.kind = kind
        self.message = truncate(message, MESSAGE_BYTES)
        self.again = kind in RETRIED_FAILURES if again is None else again
        """Whether a fresh session may do better."""
        super().__init__(self.message)

    def __reduce__(self) -> tuple[type["RolloutFailure"], tuple[FailureKind, str]]:
        """Keep the failure picklable, because it may be sent to another process."""
        return type(self), (self.kind, self.message)


@contextmanager
def boundary(kind: FailureKind, doing: str) -> Iterator[None]:
    """Turn every exception of the block into a `RolloutFailure` of `kind`.

    A `RolloutFailure` of an inner boundary keeps its kind, a refusal stays a refusal, and cancellation
    passes unchanged.
    """
    try:
        yield
    except (RolloutFailure, Refusal):
        raise
    except TimeoutError as error:
        raise RolloutFailure(kind, f"{doing}: no answer in time") from error
    except Exception as error:
        reason = str(error).strip().splitlines()
        raise RolloutFailure(
            kind, f"{doing}: {type(error).__name__}: {reason[0] if reason else 'no message'}"
        ) from error
