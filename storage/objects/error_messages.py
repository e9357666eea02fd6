"""Turns errors of Delta's and AWS's clients into one line: the code, its meaning, and what to do.

The two clients report errors of the same store differently: with colours, back traces, and the
store's whole response, which may quote a credential.
"""

import re
from collections.abc import Mapping

from schemas.certificates import certificate_fault
from schemas.errors import Damaged, StepmillError, Unwritable

SEE = "see `A run in a bucket` in docs/storing.md"
"""Points to the list of the rights that are needed."""

NO_BUCKET = "NoSuchBucket"
"""The code of a bucket that does not exist."""

GET_NEW = "get new ones (`aws sso login`, or what made them) and run the same command again"
"""The remedy for expired credentials."""

NO_ANSWER = (
    "the store does not answer; check storage.endpoint_url and the network, and run the same "
    "command again"
)
"""The message for an endpoint that does not answer or does not exist."""

NO_TLS = "the endpoint does not speak https; correct storage.endpoint_url"
"""The message for an endpoint whose answer to a secure connection is another protocol's."""

NO_SECURE = "no secure connection to the endpoint can be made; check storage.endpoint_url"
"""The message for any other failure of a secure connection."""

NONSENSE = "the answer is not that of a store; check storage.endpoint_url"
"""The message for an answer that cannot be understood."""

KEEPS_FAILING = "the store keeps failing; run the same command again later"
"""The message for a store's own error, after the last retry."""

REFUSES = "the store refuses the request"
"""The message for a code that is not listed here."""

_EXPIRED = f"the credentials have expired; {GET_NEW}"
_UNKNOWN = (
    "the store does not know these credentials; check AWS_PROFILE, the AWS_… variables "
    "and storage.endpoint_url"
)
_NO_CHECKSUMS = (
    "the store does not support the request; if it is the checksums that it does not know, set "
    "AWS_REQUEST_CHECKSUM_CALCULATION=when_required and AWS_RESPONSE_CHECKSUM_VALIDATION=when_required; "
    f"else {SEE}"
)
REGION = "the bucket is in another region"
"""The message for a redirect; the right region follows."""

_EXPLANATIONS: Mapping[str, str] = {
    NO_BUCKET: "there is no such bucket; create it, or correct the URL or storage.endpoint_url",
    "InvalidBucketName": "the store allows no bucket of this name; correct the URL",
    "AccessDenied": f"the credentials do not allow it; {SEE} for the rights it takes",
    "403": f"the credentials do not allow it, or are not known; {SEE}",
    "AllAccessDisabled": "the store has closed this bucket; ask its owner",
    "ExpiredToken": _EXPIRED,
    "ExpiredTokenException": _EXPIRED,
    "RequestExpired": _EXPIRED,
    "TokenRefreshRequired": _EXPIRED,
    "RequestTimeTooSkewed": "this machine's clock is wrong, compared with the store's; set it, and run again",
    "InvalidAccessKeyId": _UNKNOWN,
    "InvalidClientTokenId": _UNKNOWN,
    "InvalidToken": _UNKNOWN,
    "SignatureDoesNotMatch": "the secret key is not the access key's; correct the pair",
    "PermanentRedirect": REGION,
    "301": REGION,
    "307": REGION,
    "400": f"the store refuses the request without a reason; try other credentials, and {SEE}",
    "TemporaryRedirect": REGION,
    "AuthorizationHeaderMalformed": REGION,
    "IllegalLocationConstraintException": REGION,
    **dict.fromkeys(("NotImplemented", "501", "MissingContentMD5"), _NO_CHECKSUMS),
    "EntityTooLarge": "the object is too large for the store; lower storage.shard_mb",
    "QuotaExceeded": "the quota is used up; make room, and run the same command again",
    "XMinioStorageFull": "the store is full; make room, and run the same command again",
    "507": "the store is full; make room, and run the same command again",
}


_TRANSIENT = {
    *("408", "425", "429", "500", "502", "503", "504"),
    "BadDigest",
    "ConditionalRequestConflict",
    "IncompleteBody",
    "InternalError",
    "OperationAborted",
    "RequestTimeout",
    "ServiceUnavailable",
    "SlowDown",
    "Throttling",
    "ThrottlingException",
    "XAmzContentChecksumMismatch",
}
"""Codes and statuses of errors that a retry may overcome."""

_ABSENT = {"NoSuchKey", "404"}
"""Codes of a missing file, which does not mean that access is denied."""

_MAX_CHARS = 5_000
"""The maximum length of an error's text, which may quote a whole response: some of the patterns take
quadratic time."""

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_CODE = re.compile(r"<Code>\s*(\w+)\s*</Code>")
_STATUS = re.compile(r"\b([45]\d\d|30[17]) [A-Z][a-z]+")
_REQUEST = re.compile(r"(?<=\S)\W+Error performing.*", re.DOTALL)
_ANSWER = re.compile(r"<\?xml.*|<Error.*", re.DOTALL)
_SILENT = re.compile(
    r"error sending request|request or response body error|operation timed out|"
    r"[Cc]onnection (refused|reset|closed)|dns error"
)
_REGION = re.compile(r"<Region>([a-z0-9-]+)</Region>")
_ELSEWHERE = re.compile(r"redirect without LOCATION")


def explain(code: str) -> str | None:
    """Return the meaning of a store's error code and the remedy; None for an unknown code."""
    return _EXPLANATIONS.get(code)


def other_region(region: str | None) -> str:
    """Return the message of a redirect to another region; `region` is the right one, if known."""
    right = "to its region" if region is None else f'= "{region}"'
    return f"{REGION}; set storage.region {right}"


def is_transient_code(code: str) -> bool:
    """Return whether a retry may overcome an error of this code or status."""
    return code in _TRANSIENT


def is_transient(error: Exception) -> bool:
    """Return whether a retry may overcome an error of Delta's client."""
    text = _COLOUR.sub("", str(error))
    code = _code(text)
    if code is not None:
        return is_transient_code(code)
    return _SILENT.search(text) is not None and certificate_fault(text) is None


def is_access_error(error: Exception) -> bool:
    """Return whether an error of Delta's client comes from the store: denied, failing, or silent."""
    text = _COLOUR.sub("", str(error))
    code = _code(text)
    words = _ELSEWHERE.search(text) or certificate_fault(text)
    return code in _EXPLANATIONS or is_transient(error) or words is not None


def one_line(error: Exception) -> str:
    """Return an error's message, on one line."""
    return _access(error) or _line(error)


def read_error(error: Exception, what: str) -> StepmillError:
    """Return the error of a failed read: `Unwritable` if the store denied it, else `Damaged`."""
    access = _access(error)
    if access is not None:
        return Unwritable(f"{what}: {access}")
    return Damaged(f"{what}: {_line(error)}")


def _access(error: Exception) -> str | None:
    """Return the meaning of a store's refusal or silence; None for any other error."""
    text = _COLOUR.sub("", str(error))
    code = _code(text)
    if _ELSEWHERE.search(text) or _EXPLANATIONS.get(code or "") == REGION:
        match = _REGION.search(text)
        return other_region(None if match is None else match[1])
    if code is not None:
        meaning = explain(code) or (KEEPS_FAILING if is_transient_code(code) else REFUSES)
        return None if code in _ABSENT else f"{meaning} ({code})"
    return certificate_fault(text) or (NO_ANSWER if _SILENT.search(text) else None)


def _code(text: str) -> str | None:
    """Return the code in a store's response, or its status; None if `text` has neither."""
    match = _CODE.search(text) or (_STATUS.search(text) if "Error performing" in text else None)
    return None if match is None else match[1]


def _line(error: Exception) -> str:
    """Return an error's text without colours, back trace and the store's response."""
    text, _, _ = _COLOUR.sub("", str(error)[:_MAX_CHARS]).partition("\n   0:")
    if _code(text) in _ABSENT:  # the missing file is named before the request
        text = _REQUEST.sub("", text)
    text = _ANSWER.sub("", text).replace("↳", "")
    return " ".join(text.split()) or type(error).__name__
