"""What goes wrong in somebody else's client, in our words and on one line.

Delta's client and AWS's tell of the same store in ways of their own: with colours, back traces,
and the answer as it came, which may quote a credential. Here an error becomes its code, what that
means, and what to do about it.
"""

import re
from collections.abc import Mapping

from schemas.errors import Damaged, StepmillError, Unwritable

SEE = "see `A run in a bucket` in docs/storing.md"
"""Where the rights are listed."""

NO_BUCKET = "NoSuchBucket"
"""The code for it."""

GET_NEW = "get new ones (`aws sso login`, or what made them) and run the same command again"
"""What to do about credentials that have expired."""

NO_ANSWER = (
    "the store does not answer; check storage.endpoint_url and the network, and run the same "
    "command again"
)
"""What an endpoint that is silent, or not there, means."""

KEEPS_FAILING = "the store keeps failing; run the same command again later"
"""What an error of the store's own means, once it was asked often enough."""

REFUSES = "the store refuses the request"
"""What is left to say."""

_EXPIRED = f"the credentials have expired; {GET_NEW}"
_UNKNOWN = (
    "the store does not know these credentials; check AWS_PROFILE, the AWS_… variables "
    "and storage.endpoint_url"
)
REGION = "the bucket lies in another region"
"""What an answer from elsewhere means; the right region is told after it."""

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
    "RequestTimeTooSkewed": "this machine's clock is not the store's; set it, and run again",
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
    "NotImplemented": f"the store does not offer what is asked of it; {SEE}",
    "EntityTooLarge": "the object is too large for the store; lower storage.shard_mb",
    "QuotaExceeded": "the quota is used up; make room, and run the same command again",
    "XMinioStorageFull": "the store is full; make room, and run the same command again",
    "507": "the store is full; make room, and run the same command again",
}


_PASSING = {
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
"""Codes and statuses of what may well succeed in a moment."""

_ABSENT = {"NoSuchKey", "404"}
"""Codes of a file that is not there, which is no matter of getting in."""

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


def words_for(code: str) -> str | None:
    """Return what an error of a store means and what to do; None if we do not know."""
    return _WORDS.get(code)


def elsewhere(region: str | None) -> str:
    """Return what an answer from elsewhere means; `region` is the right one, if it was named."""
    right = "to its region" if region is None else f'= "{region}"'
    return f"{REGION}; set storage.region {right}"


def passing_code(code: str) -> bool:
    """Say whether what failed with this code or status may well succeed in a moment."""
    return code in _PASSING


def passes(error: Exception) -> bool:
    """Say whether what Delta's client could not do may well succeed in a moment."""
    text = _COLOUR.sub("", str(error))
    code = _code(text)
    return _SILENT.search(text) is not None if code is None else passing_code(code)


def keeps_out(error: Exception) -> bool:
    """Say whether it is the store that keeps Delta's client out: it says no, is unwell, or silent."""
    text = _COLOUR.sub("", str(error))
    code = _code(text)
    return code in _WORDS or passes(error) or _ELSEWHERE.search(text) is not None


def in_words(error: Exception) -> str:
    """Return what an error says, on one line."""
    return _access(error) or _line(error)


def unread(error: Exception, what: str) -> StepmillError:
    """Return why something cannot be read: the store's doing, or what lies there is not whole."""
    access = _access(error)
    if access is not None:
        return Unwritable(f"{what}: {access}")
    return Damaged(f"{what}: {_line(error)}")


def _access(error: Exception) -> str | None:
    """Return what a store's refusal or silence means; None if it is neither."""
    text = _COLOUR.sub("", str(error))
    code = _code(text)
    if _ELSEWHERE.search(text) or _WORDS.get(code or "") == REGION:
        named = _REGION.search(text)
        return elsewhere(None if named is None else named[1])
    if code is not None:
        return None if code in _ABSENT else f"{_meaning(code)} ({code})"
    return NO_ANSWER if _SILENT.search(text) else None


def _meaning(code: str) -> str:
    return _WORDS.get(code) or (KEEPS_FAILING if passing_code(code) else REFUSES)


def _code(text: str) -> str | None:
    """Return the code of a store's answer, or its status, if `text` tells of one."""
    found = _CODE.search(text) or (_STATUS.search(text) if "Error performing" in text else None)
    return None if found is None else found[1]


def _line(error: Exception) -> str:
    """Return an error's text without its colours, its back trace and what a store answered."""
    text, _, _ = _COLOUR.sub("", str(error)).partition("\n   0:")
    if _code(text) in _ABSENT:  # what is not there is named before the request that found it so
        text = _REQUEST.sub("", text)
    text = _ANSWER.sub("", text).replace("↳", "")
    return " ".join(text.split()) or type(error).__name__
