"""What names a place in a bucket: `s3://bucket/prefix`, and the endpoint that serves it.

A URL here is a name and nothing else: no credentials, no parameters, no escapes. What Delta's
client, AWS's and a listing would each read in a way of its own is refused before any of them sees
it.
"""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from schemas.errors import BadConfig
from schemas.redaction import blotted
from storage.objects.protocol import checked_key

SCHEME = "s3://"
"""What the URL of a bucket begins with."""

_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_PREFIX = re.compile(r"[A-Za-z0-9!$&'()*+,./:;=@_~-]*")
_LONGEST = 700
"""Characters of a prefix, so that every key below it stays under the 1,024 bytes there are."""


@dataclass(frozen=True, slots=True)
class Address:
    """A place in a bucket."""

    bucket: str
    """The bucket's name."""
    prefix: str
    """What every key there begins with: empty, or parts that each end in `/`."""

    @property
    def url(self) -> str:
        """The place as a URL, without a slash at its end."""
        return f"{SCHEME}{self.bucket}/{self.prefix}".rstrip("/")

    @classmethod
    def parse(cls, url: str) -> "Address":
        """Return the place that `url` names.

        Raises:
            BadConfig: it names none, or holds credentials.
        """
        shown = blotted(url)
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
        checked_key(path)
    except ValueError:
        plain = False
    else:
        plain = _PREFIX.fullmatch(path) is not None and len(path) <= _LONGEST
    if not plain:
        raise BadConfig(
            f"{url}: no run or dataset can lie there; use letters, digits and !$&'()*+,.:;=@_~- "
            f"in parts divided by single slashes, {_LONGEST} characters at most"
        )
    return f"{path}/"


def checked_endpoint(url: str | None) -> str | None:
    """Return `url` if it is one a store can be reached at.

    Raises:
        BadConfig: it is none, or holds more than scheme, host and port.
    """
    if url is None:
        return None
    shown = blotted(url)
    try:
        parts = urlsplit(url)
        whole = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        whole, parts = False, urlsplit("")
    extra = "@" in parts.netloc or parts.path.strip("/") or parts.query or parts.fragment
    if not whole or extra:
        raise BadConfig(
            f"storage.endpoint_url: {shown}: is no endpoint; write https://host or "
            "http://host:port and nothing more (credentials come from the environment or the "
            "AWS files)"
        )
    return url.rstrip("/")
