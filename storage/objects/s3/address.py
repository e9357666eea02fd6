"""URLs of buckets, `s3://bucket/prefix`, and of the endpoints that serve them.

A URL has no credentials, no parameters and no escapes. A URL that Delta's client, AWS's client and a
listing would read differently is refused.
"""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from schemas.errors import BadConfig
from schemas.redaction import redact
from storage.objects.protocol import check_key

SCHEME = "s3://"
"""The scheme of a bucket's URL."""

_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_PREFIX = re.compile(r"[A-Za-z0-9!$&'()*+,./:;=@_~-]*")
_MAX_CHARS = 700
"""The maximum length of a prefix: every key below it fits into the 1,024 bytes that S3 allows."""


@dataclass(frozen=True, slots=True)
class Address:
    """A bucket and a prefix in it."""

    bucket: str
    """The bucket's name."""
    prefix: str
    """The prefix of every key: empty, or parts that each end in `/`."""

    @property
    def url(self) -> str:
        """The URL, without a slash at its end."""
        return f"{SCHEME}{self.bucket}/{self.prefix}".rstrip("/")

    @classmethod
    def parse(cls, url: str) -> "Address":
        """Return the bucket and prefix of `url`.

        Raises:
            BadConfig: it is not the URL of a bucket, or holds credentials.
        """
        shown = redact(url)
        if shown != url:
            raise BadConfig(
                f"{shown}: holds credentials; they come from the environment or the AWS files, "
                "never from a URL"
            )
        bucket, _, path = url[len(SCHEME) :].partition("/")
        if not _BUCKET.fullmatch(bucket):
            raise BadConfig(
                f"{url}: names no bucket; write s3://bucket/prefix, the bucket in 3 to 63 lower-case "
                "letters, digits, dots and hyphens"
            )
        return cls(bucket, _prefix(url, path.removesuffix("/")))


def _prefix(url: str, path: str) -> str:
    if not path:
        return ""
    try:
        check_key(path)
    except ValueError:
        plain = False
    else:
        plain = _PREFIX.fullmatch(path) is not None and len(path) <= _MAX_CHARS
    if not plain:
        raise BadConfig(
            f"{url}: invalid prefix of a run or dataset; use letters, digits and !$&'()*+,.:;=@_~- "
            f"in parts divided by single slashes, {_MAX_CHARS} characters at most"
        )
    return f"{path}/"


def check_endpoint(url: str | None) -> str | None:
    """Return `url` if it is the URL of an endpoint.

    Raises:
        BadConfig: it is not, or holds more than scheme, host and port.
    """
    if url is None:
        return None
    shown = redact(url)
    try:
        parts = urlsplit(url)
        whole = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        whole, parts = False, urlsplit("")
    extra = "@" in parts.netloc or parts.path.strip("/") or parts.query or parts.fragment
    if not whole or extra or not url.isprintable():
        raise BadConfig(
            f"storage.endpoint_url: {shown}: is not an endpoint; write https://host or "
            "http://host:port and nothing more (credentials come from the environment or the "
            "AWS files)"
        )
    return url.rstrip("/")
