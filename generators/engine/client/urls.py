"""The URLs of engines as users write them: with or without a path, perhaps with credentials."""

import base64
import ipaddress
import re
from urllib.parse import unquote, urlsplit, urlunsplit

from schemas.errors import NoEngine
from schemas.redaction import redact

_CREDENTIALS = re.compile(r"(?<=//)[^/@]*@")


def base_url(url: str) -> str:
    """Return the base of an OpenAI-compatible API: `url`, with `/v1` where it names no path.

    Raises:
        NoEngine: `url` is not an HTTP URL.
    """
    try:
        parts = urlsplit(url.strip())
        _ = parts.port
    except ValueError:  # its message quotes a part of the URL, perhaps of a password
        parts = urlsplit("")
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise NoEngine(f"engine URL '{redact(url)}' is not an HTTP URL; write http://HOST:PORT/v1")
    path = parts.path.rstrip("/") or "/v1"
    return urlunsplit((parts.scheme, parts.netloc, path, "", ""))


def without_credentials(url: str) -> str:
    """Return `url` without the user and password it may hold."""
    return _CREDENTIALS.sub("", url)


def basic_header(url: str) -> str | None:
    """Return the Authorization header for the user and password in `url`; None: it has none."""
    parts = urlsplit(url)
    if parts.username is None:
        return None
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return "Basic " + base64.b64encode(pair.encode()).decode("ascii")


def is_loopback(url: str) -> bool:
    """Return whether no proxy can be on the way to `url`, whatever the environment says."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
