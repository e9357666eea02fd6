"""The error vocabulary of the whole program, on one page.

1. **Refusals.** `Refusal` and its kinds end a command before any work, with exit code 2: what was
   asked for cannot be done, and the message says what, where and what to do instead.
2. **Rollout failures.** `RolloutFailure` carries a `FailureKind`. `boundary` raises it where a
   failure crosses from other code into ours, and is caught in exactly one place,
   the rollout, which turns it into the episode's `failure`. A broken page is a row.
3. **Storage faults.** `Conflict` and `Damaged` are about bytes at rest. The first means another
   writer was faster and the question is to be asked again; the second that something stored is
   not what was written. `Unfinished` means that a command stopped after its work had begun.

Cancellation is not a failure and passes through all of it untouched.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum

from schemas.truncation import MESSAGE_BYTES, truncate


class StepmillError(Exception):
    """The root of every error this program raises on purpose."""


class Refusal(StepmillError):
    """What was asked for is refused before any work (exit code 2)."""


class BadConfig(Refusal):
    """A configuration names an unknown key, or a value of the wrong type or out of range."""


class BadTasks(Refusal):
    """A task source is unreadable, names something unknown, or selects nothing."""


class NotFound(Refusal):
    """A run, episode, verifier, format or version that was named does not exist."""


class OtherRun(Refusal):
    """The run's folder holds a run whose identity differs from the one asked for."""


class Unwritable(Refusal):
    """A run's folder or a destination cannot be written, or is full."""


class NoBrowser(Refusal):
    """No usable Chromium was found, or it does not start."""


class NoEngine(Refusal):
    """No endpoint answers, or what they serve is not what was asked for."""


class Conflict(StepmillError):
    """Another writer changed what was read; read again and decide again."""


class Damaged(StepmillError):
    """Something stored is not what was written: torn, altered or foreign."""


class Unfinished(StepmillError):
    """Work had begun and cannot be ended now (exit code 1); the same command goes on with it."""


class FailureKind(StrEnum):
    """Whose failure ended a rollout. Only `POLICY` is the policy's own."""

    BROWSER = "browser"
    """The browser, a context or a call into it broke or did not answer."""
    PAGE = "page"
    """The page threw while it was set up, never finished loading, or left its site."""
    CLOCK = "clock"
    """The page's virtual time could not be advanced."""
    SITE = "site"
    """The site could not be opened, reset or asked what happened."""
    POLICY = "policy"
    """The policy raised, or its decision is not an action."""
    ENGINE = "engine"
    """The engine gave no usable reply."""
    INTERNAL = "internal"
    """A defect of this program."""


ENVIRONMENT_FAILURES = frozenset(
    {FailureKind.BROWSER, FailureKind.PAGE, FailureKind.CLOCK, FailureKind.SITE}
)
"""Failures of what surrounds the policy: tried again in a fresh session, and never trained on."""


class RolloutFailure(StepmillError):
    """A rollout broke at a boundary; `kind` says which.

    The message may quote a page, so it is cut like any other text of one.
    """

    def __init__(self, kind: FailureKind, message: str) -> None:
        self.kind = kind
        self.message = truncate(message, MESSAGE_BYTES)
        super().__init__(self.message)

    def __reduce__(self) -> tuple[type["RolloutFailure"], tuple[FailureKind, str]]:
        """Keep the failure picklable: it may cross a process."""
        return type(self), (self.kind, self.message)


@contextmanager
def boundary(kind: FailureKind, doing: str) -> Iterator[None]:
    """Name whatever escapes the block as a `RolloutFailure` of `kind`.

    A failure already named at a deeper boundary keeps its name, a refusal stays a refusal, and
    cancellation passes untouched.
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
