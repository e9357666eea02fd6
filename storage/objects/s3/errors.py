"""Sorts the errors of requests to a bucket: expected by the caller, to be retried, or ours.

An `ExpectedResponse` is not a failure: the key does not exist, or a condition did not hold, and the
caller handles that. A failure that a retry may overcome is retried. Any other becomes one of our
errors, which says what to do.

Only a failure's code and status are repeated, never the rest of the response: one about a
credential may quote it.
"""

import ssl
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    CredentialRetrievalError,
    FlexibleChecksumError,
    HTTPClientError,
    IncompleteReadError,
    NoCredentialsError,
    PartialCredentialsError,
    ProfileNotFound,
    SSLError,
    SSOError,
    TokenRetrievalError,
)
from botocore.exceptions import (
    ConnectionError as NoConnectionError,
)
from botocore.parsers import ResponseParserError

from schemas.certificates import certificate_fault
from schemas.errors import BadConfig, Damaged, NotFound, StepmillError, Unwritable
from storage.objects.error_messages import (
    GET_NEW,
    KEEPS_FAILING,
    NO_ANSWER,
    NO_BUCKET,
    NO_SECURE,
    NO_TLS,
    NONSENSE,
    REFUSES,
    REGION,
    SEE,
    explain,
    is_transient_code,
    other_region,
)

READ, WRITTEN, LISTED = "read", "written", "listed"
"""The purpose of a request, as it stands after "cannot be" in a message."""

Nonsense = ResponseParserError | ValueError | KeyError | TypeError
"""Errors of AWS's client, or of the code that parses its result, if the response is not S3's format."""

Failure = ClientError | BotoCoreError | OSError | RecursionError | Nonsense
"""Errors that AWS's client may raise; it recurses on a redirect that names no region."""

FAILURES = (
    *(ClientError, BotoCoreError, OSError, RecursionError),
    *(ResponseParserError, ValueError, KeyError, TypeError),
)
"""The same, for `except`."""


class ExpectedResponse(Exception):
    """A response that the caller expects and handles."""


class Absent(ExpectedResponse):
    """The key has no object."""


class Changed(ExpectedResponse):
    """The condition did not hold; the first try of this very request may be the cause."""


class UploadGone(ExpectedResponse):
    """The multipart upload has ended: completed, perhaps by this very request, or aborted."""


class OutOfRange(ExpectedResponse):
    """The object is shorter than the start of the range."""


_EXPECTED: Mapping[str, type[ExpectedResponse]] = {
    "NoSuchKey": Absent,
    "404": Absent,
    "NotFound": Absent,
    "PreconditionFailed": Changed,
    "412": Changed,
    "NoSuchUpload": UploadGone,
    "InvalidRange": OutOfRange,
    "416": OutOfRange,
}


def expected_response(error: Failure) -> ExpectedResponse | None:
    """Return the expected response in an error; None if it is a failure."""
    kind = _EXPECTED.get(code_of(error)) if isinstance(error, ClientError) else None
    return None if kind is None else kind()


def is_transient(error: Failure) -> bool:
    """Return whether a retry may overcome the failure."""
    if isinstance(error, ClientError):
        return is_transient_code(code_of(error)) or is_transient_code(str(_status(error)))
    if isinstance(error, SSLError):
        return False
    broken = NoConnectionError | HTTPClientError | IncompleteReadError | FlexibleChecksumError
    return isinstance(error, broken | OSError) or _is_nonsense(error)


def _is_nonsense(error: Failure) -> bool:
    """Return whether the store's answer is at fault; some errors of the client's own are `ValueError` too."""
    return isinstance(error, Nonsense) and not isinstance(error, BotoCoreError)


def request_error(error: Failure, what: str, *, doing: str) -> StepmillError:
    """Return our error for a failure; `what` is the URL, `doing` the purpose of the request."""
    if isinstance(error, FlexibleChecksumError) and doing != WRITTEN:
        return Damaged(f"{what}: cannot be {doing}: its bytes do not match their checksum")
    words = _client_words(error) if isinstance(error, ClientError) else _other_words(error)
    text = f"{what}: cannot be {doing}: {words}"
    if doing != WRITTEN and isinstance(error, ClientError) and code_of(error) == NO_BUCKET:
        return NotFound(text)
    return Unwritable(text)


def settings_error(error: BotoCoreError | ValueError, what: str) -> BadConfig:
    """Return our error where no client can be made from the settings."""
    if isinstance(error, ProfileNotFound):
        return BadConfig(f"{what}: AWS_PROFILE names a profile that is not in the AWS files")
    return BadConfig(f"{what}: no client can be made: {type(error).__name__}; check the AWS files")


def code_of(error: ClientError) -> str:
    """Return the store's error code; empty if it sent none."""
    return str(error.response.get("Error", {}).get("Code", ""))


def _status(error: ClientError) -> int:
    return error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)


def _client_words(error: ClientError) -> str:
    code = code_of(error)
    headers = error.response.get("ResponseMetadata", {}).get("HTTPHeaders", {})
    if code == "RequestTimeTooSkewed":
        return f"this machine's clock {_skew(headers)} the store's; set it, and run again"
    words = explain(code) or explain(str(_status(error)))
    if words == REGION:
        details: Mapping[str, Any] = error.response.get("Error", {})
        return other_region(headers.get("x-amz-bucket-region") or details.get("Region"))
    if words is None and is_transient(error):
        words = KEEPS_FAILING
    return f"{words or REFUSES} ({code or _status(error)})"


def _skew(headers: Mapping[str, str]) -> str:
    try:
        store_time = parsedate_to_datetime(headers["date"])
    except (KeyError, ValueError):
        return "differs from"
    off = (datetime.now(UTC) - store_time).total_seconds()
    return f"is {abs(off):.0f} s {'ahead of' if off > 0 else 'behind'}"


def _other_words(error: Failure) -> str:
    if isinstance(error, NoCredentialsError | PartialCredentialsError):
        return (
            "there are no credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, "
            f"or AWS_PROFILE, or give the machine a role; {SEE}"
        )
    if isinstance(error, CredentialRetrievalError | TokenRetrievalError | SSOError):
        return f"the credentials cannot be obtained ({type(error).__name__}); {GET_NEW}"
    if isinstance(error, RecursionError):
        return other_region(None)
    if isinstance(error, SSLError) or isinstance(error.__cause__, ssl.SSLError):
        other = NO_TLS if "WRONG_VERSION_NUMBER" in str(error) else NO_SECURE
        return certificate_fault(error) or other
    if is_transient(error):
        return f"{NONSENSE if _is_nonsense(error) else NO_ANSWER} ({type(error).__name__})"
    return f"AWS's client cannot do it ({type(error).__name__}); check the AWS files"
