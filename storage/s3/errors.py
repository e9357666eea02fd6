"""What goes wrong between us and a bucket, told apart and told in words.

Three kinds. An `Answer` is no failure: the store says that a key is not there, or that a condition
did not hold, and the caller expected that it might. A failure that passes is asked again. All
others become one of our errors, which says what to do.

Only a failure's code and status are repeated, never what the store wrote beside them: an answer
about a credential may quote it.
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

from schemas.errors import BadConfig, Damaged, NotFound, StepmillError, Unwritable

SEE = "see `A run in a bucket` in docs/operating.md"
"""Where the rights are listed."""

Failure = ClientError | BotoCoreError | ResponseParserError | OSError
"""What a call of AWS's client may end with."""

FAILURES = (ClientError, BotoCoreError, ResponseParserError, OSError)
"""The same, to be caught."""


class Answer(Exception):
    """Something that a store says and its caller expects."""


class Absent(Answer):
    """There is no object under the key."""


class Changed(Answer):
    """The condition did not hold. It says nothing of who made that so: it may have been us."""


class UploadGone(Answer):
    """The upload in parts is not open any more: it was ended, perhaps by us, or given up."""


class OutOfRange(Answer):
    """The object has no bytes from there on."""


_ANSWERS: Mapping[str, type[Answer]] = {
    "NoSuchKey": Absent,
    "404": Absent,
    "NotFound": Absent,
    "PreconditionFailed": Changed,
    "412": Changed,
    "NoSuchUpload": UploadGone,
    "InvalidRange": OutOfRange,
    "416": OutOfRange,
}

_PASSING_STATUS = {408, 425, 429, 500, 502, 503, 504}

_PASSING_CODES = {
    "BadDigest",
    "ConditionalRequestConflict",
    "IncompleteBody",
    "InternalError",
    "InvalidDigest",
    "OperationAborted",
    "RequestTimeout",
    "ServiceUnavailable",
    "SlowDown",
    "Throttling",
    "ThrottlingException",
    "XAmzContentChecksumMismatch",
}

NO_BUCKET = "NoSuchBucket"
"""The code for it."""

_GET_NEW = "get new ones (`aws sso login`, or what made them) and run the same command again"
_EXPIRED = f"the credentials have expired; {_GET_NEW}"
_UNKNOWN = (
    "the store does not know these credentials; check AWS_PROFILE, the AWS_… variables "
    "and storage.endpoint_url"
)
_REGION = "the bucket lies in another region"

_WORDS: Mapping[str, str] = {
    NO_BUCKET: "there is no such bucket; create it, or correct the URL or storage.endpoint_url",
    "InvalidBucketName": "the store allows no bucket of this name; correct the URL",
    "AccessDenied": f"the credentials do not allow it; {SEE} for the rights it takes",
    "403": f"the credentials do not allow it, or are not known; {SEE}",
    "AllAccessDisabled": "the store has closed this bucket; ask whoever pays for it",
    "ExpiredToken": _EXPIRED,
    "ExpiredTokenException": _EXPIRED,
    "RequestExpired": _EXPIRED,
    "TokenRefreshRequired": _EXPIRED,
    "InvalidAccessKeyId": _UNKNOWN,
    "InvalidClientTokenId": _UNKNOWN,
    "InvalidToken": _UNKNOWN,
    "SignatureDoesNotMatch": "the secret key is not the access key's; correct the pair",
    "PermanentRedirect": _REGION,
    "301": _REGION,
    "307": _REGION,
    "400": f"the store refuses the request without a reason; try other credentials, and {SEE}",
    "TemporaryRedirect": _REGION,
    "AuthorizationHeaderMalformed": _REGION,
    "IllegalLocationConstraintException": _REGION,
    "NotImplemented": f"the store does not offer what is asked of it; {SEE}",
    "EntityTooLarge": "the object is too large for the store; lower storage.shard_mb",
    "QuotaExceeded": "the quota is used up; make room, and run the same command again",
    "XMinioStorageFull": "the store is full; make room, and run the same command again",
    "507": "the store is full; make room, and run the same command again",
}


def answer(error: Failure) -> Answer | None:
    """Return what the store says, if it is something a caller may expect."""
    kind = _ANSWERS.get(code_of(error)) if isinstance(error, ClientError) else None
    return None if kind is None else kind()


def passes(error: Failure) -> bool:
    """Say whether the same request may well succeed in a moment."""
    if isinstance(error, ClientError):
        return code_of(error) in _PASSING_CODES or _status(error) in _PASSING_STATUS
    if isinstance(error, SSLError):
        return False
    broken = NoConnectionError | HTTPClientError | IncompleteReadError | FlexibleChecksumError
    return isinstance(error, broken | ResponseParserError | OSError)


def passing_code(code: str) -> bool:
    """Say whether an error of this code is one that passes."""
    return code in _PASSING_CODES


def told(error: Failure, what: str, *, writing: bool) -> StepmillError:
    """Return a failure in our words; `what` says of which place."""
    doing = "cannot be written" if writing else "cannot be read"
    if isinstance(error, FlexibleChecksumError) and not writing:
        return Damaged(f"{what}: {doing}: its bytes are not those of its checksum")
    words = _client_words(error) if isinstance(error, ClientError) else _other_words(error)
    text = f"{what}: {doing}: {words}"
    if not writing and isinstance(error, ClientError) and code_of(error) == NO_BUCKET:
        return NotFound(text)
    return Unwritable(text)


def told_of_settings(error: BotoCoreError | ValueError, what: str) -> BadConfig:
    """Return in our words that no client can be made at all."""
    if isinstance(error, ProfileNotFound):
        return BadConfig(f"{what}: AWS_PROFILE names a profile that is not in the AWS files")
    return BadConfig(f"{what}: no client can be made: {type(error).__name__}; check the AWS files")


def code_of(error: ClientError) -> str:
    """Return the store's own name of an error, or its HTTP status."""
    return str(error.response.get("Error", {}).get("Code", ""))


def words_for(code: str) -> str | None:
    """Return what an error of this code means and what to do; None if we do not know."""
    return _WORDS.get(code)


def _status(error: ClientError) -> int:
    return error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)


def _headers(error: ClientError) -> Mapping[str, str]:
    return error.response.get("ResponseMetadata", {}).get("HTTPHeaders", {})


def _client_words(error: ClientError) -> str:
    code, headers = code_of(error), _headers(error)
    if code == "RequestTimeTooSkewed":
        return f"this machine's clock {_skew(headers)} the store's; set it, and run again"
    words = _WORDS.get(code) or _WORDS.get(str(_status(error)))
    if words == _REGION:
        details: Mapping[str, Any] = error.response.get("Error", {})
        region = headers.get("x-amz-bucket-region") or details.get("Region")
        return f"{words}; set storage.region" + (f' = "{region}"' if region else " to its region")
    if words is None and passes(error):
        words = "the store keeps failing; run the same command again later"
    return f"{words or 'the store refuses the request'} ({code or _status(error)})"


def _skew(headers: Mapping[str, str]) -> str:
    try:
        there = parsedate_to_datetime(headers["date"])
    except (KeyError, ValueError):
        return "is not"
    off = (datetime.now(UTC) - there).total_seconds()
    return f"is {abs(off):.0f} s {'ahead of' if off > 0 else 'behind'}"


def _other_words(error: Failure) -> str:
    if isinstance(error, NoCredentialsError | PartialCredentialsError):
        return (
            "there are no credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, "
            f"or AWS_PROFILE, or give the machine a role; {SEE}"
        )
    if isinstance(error, CredentialRetrievalError | TokenRetrievalError | SSOError):
        return f"the credentials cannot be had ({type(error).__name__}); {_GET_NEW}"
    if isinstance(error, SSLError) or isinstance(error.__cause__, ssl.SSLError):
        return "the endpoint's certificate is not trusted; correct storage.endpoint_url"
    if passes(error):
        return (
            f"the store does not answer ({type(error).__name__}); check storage.endpoint_url and "
            "the network, and run the same command again"
        )
    return f"AWS's client cannot do it ({type(error).__name__}); check the AWS files"
