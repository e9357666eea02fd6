"""Translates the errors of the Hub's client, and decides when a request is retried.

An error names the refused operation and the remedy; its class says whether a retry may help. No error
repeats any part of a request, and a token in a response is redacted. `pauses` and `wait` are the one
layer of retries for requests that the client itself does not retry; a pause is as long as the Hub asks
for, up to a limit.
"""

import asyncio
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from httpx2 import HTTPError
from huggingface_hub.errors import (
    BucketNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from schemas.backoff import Backoff
from schemas.certificates import certificate_fault
from schemas.errors import BadConfig, Conflict, NotFound, StepmillError, Unwritable

MAX_WAIT_SECONDS = 300.0
"""Seconds: a publication ends where the Hub asks for a longer pause than this."""

_BACKOFF = Backoff(first_seconds=0.5, max_seconds=60.0, tries=9, jitter=0.5)
_CONFLICTS = frozenset({409, 412})
_BUSY = frozenset({408, 425, 429})
_SERVER = 500
_TOKEN = re.compile(r"\b(?:hf|api_org)_[A-Za-z0-9]{8,}")
_RESET = re.compile(r"\bt=(\d+)")
_MAX_CHARS = 300


class Busy(StepmillError):
    """The Hub did not answer, or asked for another try."""

    def __init__(self, message: str, seconds: float | None = None) -> None:
        super().__init__(message)
        self.seconds = seconds
        """The pause that the Hub asks for; None: it names none."""

    def __reduce__(self) -> tuple[type["Busy"], tuple[str, float | None]]:
        """Keep the error picklable: it may be sent to another process."""
        return type(self), (str(self), self.seconds)


class RepositoryMissing(NotFound):
    """The repository or bucket does not exist, or the token may not see it."""


class NoBranch(NotFound):
    """The repository exists, and has no such branch."""


def pauses() -> Iterator[float | None]:
    """Return the seconds to wait after each try that fails; None after the last."""
    return _BACKOFF.pauses()


async def wait(after: Busy | Conflict, pause: float | None) -> None:
    """Wait before the next try: `pause`, and as long as the Hub asks for.

    Raises:
        Unwritable: that was the last try, or the Hub asks for more than `MAX_WAIT_SECONDS`.
    """
    asked = getattr(after, "seconds", None) or 0.0
    if asked > MAX_WAIT_SECONDS:
        raise Unwritable(
            f"{after}; it asks for a pause of {asked:.0f} s: run the same command again then, "
            "what was uploaded is not lost"
        ) from after
    if pause is None:
        raise Unwritable(
            f"{after}; run the same command again later, what was uploaded is not lost"
        ) from after
    await asyncio.sleep(asked + pause)


@contextmanager
def translated_errors(where: str) -> Iterator[None]:
    """Translate the client's errors in the block.

    Raises:
        Busy: no answer, or one that asks for another try.
        Conflict: another writer was faster.
        RepositoryMissing: no such repository or bucket.
        NoBranch: no such branch.
        NotFound: no such file.
        BadConfig: the token does not allow it, or the request is refused for good.
        Unwritable: the Hub refuses to take more, or its certificate is not trusted.
    """
    try:
        yield
    except RevisionNotFoundError as error:
        raise NoBranch(f"{where}: the repository has no such branch") from error
    except GatedRepoError as error:
        raise BadConfig(
            f"{where}: is gated, and the token's owner may not read it; ask for access on its page, "
            "or publish to another repository"
        ) from error
    except BucketNotFoundError as error:
        raise RepositoryMissing(
            f"{where}: there is no such bucket, or the token may not see it"
        ) from error
    except RepositoryNotFoundError as error:
        raise RepositoryMissing(
            f"{where}: there is no such repository, or the token may not see it"
        ) from error
    except HfHubHTTPError as error:
        raise _translated_status(where, error) from error
    except HTTPError as error:
        if (fault := certificate_fault(error)) is not None:
            raise Unwritable(f"{where}: the Hub is not asked: {fault}") from error
        raise Busy(
            f"{where}: the Hub does not answer: {one_line(str(error) or 'no reason')}"
        ) from error
    except ValueError as error:  # the card's front matter, which the Hub checks before a commit
        raise BadConfig(f"{where}: the Hub refuses this: {one_line(str(error))}") from error


def _translated_status(where: str, error: HfHubHTTPError) -> StepmillError:
    status = error.response.status_code
    text = error.server_message or error.response.headers.get("X-Error-Message") or ""
    message = f": {one_line(text)}" if text.strip() else ""
    if status in _CONFLICTS:
        return Conflict(f"{where}: another writer changed it at the same time{message}")
    if status in _BUSY or status >= _SERVER:
        why = "has had enough requests or commits for now" if status == 429 else "is not well"  # noqa: PLR2004 - the one every reader knows
        seconds = _requested_seconds(error.response.headers)
        return Busy(f"{where}: the Hub {why} ({status}){message}", seconds)
    if status == 401:  # noqa: PLR2004
        return BadConfig(
            f"{where}: the Hub does not know the token{message}; set HF_TOKEN to one that is valid, "
            "or run `hf auth login`"
        )
    if status == 404:  # noqa: PLR2004
        return NotFound(f"{where}: does not exist{message}")
    if status in (402, 403, 413, 507):
        return Unwritable(
            f"{where}: the Hub does not allow it ({status}){message}; it takes a token with write "
            "access to this repository, and room in its owner's storage"
        )
    return BadConfig(f"{where}: the Hub refuses this ({status}){message}")


def one_line(text: str) -> str:
    """Return what the Hub says, as a short line without a token."""
    return _TOKEN.sub("***", " ".join(text.split()))[:_MAX_CHARS]


def _requested_seconds(headers: Mapping[str, str]) -> float | None:
    """Return the pause that the Hub asks for; None if it names none."""
    seconds = headers.get("Retry-After", "")
    if seconds.isdigit():
        return float(seconds)
    reset = _RESET.search(headers.get("RateLimit", ""))
    return float(reset[1]) if reset else None
