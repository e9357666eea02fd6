"""The HTTP transport to one endpoint: a request's answer comes back whole or not at all.

It is the only module that imports the HTTP client, the `openai` package, whose own retries are
switched off: the caller decides on retries, because it knows the other endpoints. Bodies go in and
come out as bytes, because building the client's typed models costs more than all the rest of a
request; and the client runs over aiohttp, because its default transport scans every connection it
holds each time it needs one, which among many sessions costs more than the request too.
Nothing here knows what a prompt is. Cancelling a call closes its connection, so that the server
stops working on it.
"""

import asyncio
import ssl
from collections.abc import Awaitable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Self
from urllib.parse import quote, unquote, urlsplit, urlunsplit

import aiohttp
import httpx2
from openai import (
    APIStatusError,
    AsyncOpenAI,
    DefaultAioHttpClient,
    Omit,
    OpenAIError,
    RequestOptions,
)

from generators.engine.client.urls import (
    base_url,
    basic_header,
    is_loopback,
    without_credentials,
)
from schemas.certificates import certificate_fault
from schemas.errors import StepmillError
from schemas.redaction import MASK

MAX_BYTES = 64 * 2**20
"""The largest answer taken, far above any with token ids and log-probabilities."""

_IDLE_SECONDS = 3.0
"""Time that a free connection is kept, seconds: servers close theirs after about five, and a connection
that closes just as it is used again costs a request."""

_UNLIMITED = 0
"""Number of concurrent connections: aiohttp's value for no limit; None would mean its default, 100."""

_SESSION = "X-Session-Id"
_OK, _NOT_OK = 200, 300
_MIN_SECRET_CHARS = 4
"""Characters of a secret; shorter ones would be found in every other word."""


class IncompleteResponse(StepmillError):
    """An answer did not arrive whole.

    `reached` says whether the server may have worked on the request; `part` is the answer's beginning.
    """

    def __init__(self, reason: str, *, reached: bool, part: bytes = b"") -> None:
        super().__init__(reason)
        self.reason = reason
        self.reached = reached
        self.partial_body = part


class ResponseTooLarge(StepmillError):
    """An answer has more than `MAX_BYTES`."""


@dataclass(frozen=True)
class HttpResponse:
    """A whole answer."""

    status: int
    """The HTTP status."""
    body: bytes
    """The body as it came, decompressed."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Looked up without regard to case."""

    @property
    def ok(self) -> bool:
        """The status is 2xx."""
        return _OK <= self.status < _NOT_OK


URLS_KEY = "engine.urls"
"""The key of a configuration that has the URLs of engines."""


class Transport:
    """The connections to one endpoint; an async context manager."""

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None = None,
        connect_seconds: float = 10.0,
        follows_redirects: bool = True,
        named_by: str = URLS_KEY,
    ) -> None:
        """`follows_redirects` is whether an answer may send a request to another address; `named_by` what has the URL."""
        self.named_by = named_by
        """What has the URL, for a reader who can mend it there."""
        whole = base_url(url)
        self._base = self.name = without_credentials(whole)
        self._connect_seconds = connect_seconds
        self._headers: dict[str, str | Omit] = {
            "Content-Type": "application/json",
            "X-Stainless-Raw-Response": "stream",  # the client leaves the answer to be read here
        }
        if api_key is None:
            # The client insists on a key and takes one from the environment, where it may be
            # another service's: an endpoint without a key of its own is sent none.
            self._headers["Authorization"] = basic_header(whole) or Omit()
        self._secrets = _secrets(whole, api_key)
        is_here = is_loopback(self._base)
        self._client = AsyncOpenAI(
            base_url=self._base,
            api_key=api_key or "none",
            max_retries=0,
            http_client=DefaultAioHttpClient(
                limits=httpx2.Limits(max_connections=_UNLIMITED, keepalive_expiry=_IDLE_SECONDS),
                trust_env=not is_here,
                follow_redirects=follows_redirects,
                verify=_system_authorities() if is_here else True,
            ),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.close()

    async def post_chat(self, body: bytes, *, session: str, seconds: float) -> HttpResponse:
        """Post a chat request and return its answer, which may pause for `seconds`.

        `session` goes along as a header, by which routers keep a conversation with one server.

        Raises:
            IncompleteResponse: no answer came, or not all of it.
            ResponseTooLarge: the answer has more than `MAX_BYTES`.
        """
        with _incomplete_response():
            try:
                response = await self._client.post(
                    "/chat/completions",
                    cast_to=httpx2.Response,
                    content=body,
                    options={
                        "headers": {**self._headers, _SESSION: quote(session)},
                        "timeout": self._timeout(seconds),
                    },
                )
                return await _read(response)
            except APIStatusError as error:
                return self._refusal(error)

    async def get(self, path: str, *, seconds: float) -> HttpResponse:
        """Return the answer to a GET of `path`, whole within `seconds`.

        `path` is below the API's base without a leading slash, and beside it, where servers keep
        their health and their metrics, with one.

        Raises:
            IncompleteResponse: no answer came, or not all of it in time.
            ResponseTooLarge: the answer has more than `MAX_BYTES`.
        """
        return await self._whole(
            self._client.get(
                self._url(path), cast_to=httpx2.Response, options=self._options(seconds)
            ),
            seconds,
        )

    async def post(self, path: str, body: bytes, *, seconds: float) -> HttpResponse:
        """Return the answer to a POST of a small body to `path`, as `get` does.

        Raises:
            IncompleteResponse: no answer came, or not all of it in time.
            ResponseTooLarge: the answer has more than `MAX_BYTES`.
        """
        return await self._whole(
            self._client.post(
                self._url(path),
                cast_to=httpx2.Response,
                content=body,
                options=self._options(seconds),
            ),
            seconds,
        )

    async def _whole(self, answer: Awaitable[httpx2.Response], seconds: float) -> HttpResponse:
        with _incomplete_response():
            try:
                async with asyncio.timeout(seconds):
                    return await _read(await answer)
            except APIStatusError as error:
                return self._refusal(error)
            except TimeoutError as error:
                raise IncompleteResponse(f"no answer in {seconds:g} s", reached=False) from error

    def _url(self, path: str) -> str:
        """Return where `path` is: below the API's base, and with a leading slash beside it."""
        if path[0] != "/":
            return path
        parts = urlsplit(self._base)
        root = parts.path.removesuffix("/v1")
        return urlunsplit((parts.scheme, parts.netloc, root + path, "", ""))

    def _options(self, seconds: float) -> RequestOptions:
        return {"headers": self._headers, "timeout": self._timeout(seconds)}

    def _refusal(self, error: APIStatusError) -> HttpResponse:
        """Return a refusal with our credentials masked, because some servers quote them."""
        body = error.response.content
        for secret in self._secrets:
            body = body.replace(secret.encode(), MASK.encode())
        return HttpResponse(error.status_code, body, error.response.headers)

    def _timeout(self, seconds: float) -> httpx2.Timeout:
        return httpx2.Timeout(seconds, connect=min(seconds, self._connect_seconds))


async def _read(response: httpx2.Response) -> HttpResponse:
    """Return the body of a streamed response; it is streamed so that it can be too large."""
    chunks: list[bytes] = []
    size = 0
    try:
        async for chunk in response.aiter_bytes():
            chunks.append(chunk)
            size += len(chunk)
            if size > MAX_BYTES:
                raise ResponseTooLarge(f"its answer is larger than {MAX_BYTES} bytes")
    except (httpx2.HTTPError, aiohttp.ClientError) as error:
        raise IncompleteResponse(
            _error_line(_root_cause(error)), reached=True, part=b"".join(chunks)
        ) from error
    finally:
        await response.aclose()
    return HttpResponse(response.status_code, b"".join(chunks), response.headers)


@cache
def _system_authorities() -> ssl.SSLContext:
    """Return the authorities of the system, which are read once: that takes longer than many requests."""
    return httpx2.create_ssl_context(trust_env=False)


def _secrets(url: str, api_key: str | None) -> list[str]:
    """Return our credentials, plain and as they are sent; the longest first."""
    basic = (basic_header(url) or "").removeprefix("Basic ")
    password = unquote(urlsplit(url).password or "")
    secrets = {secret for secret in (api_key, basic, password) if secret}
    return sorted(
        (secret for secret in secrets if len(secret) >= _MIN_SECRET_CHARS), key=len, reverse=True
    )


@contextmanager
def _incomplete_response() -> Iterator[None]:
    """Turn whatever the client raises where an answer did not arrive into `IncompleteResponse`."""
    try:
        yield
    except (OpenAIError, httpx2.HTTPError, aiohttp.ClientError) as error:
        raise IncompleteResponse(
            certificate_fault(error) or _error_line(_root_cause(error)),
            reached=_may_have_reached_server(error),
        ) from error


def _root_cause(error: BaseException) -> BaseException:
    """Return the error at the root, which the layers above only guess at."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def _may_have_reached_server(error: BaseException) -> bool:
    """Return whether a request may have reached the server before it failed."""
    seen: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None:
        seen.append(cause)
        cause = cause.__cause__
    never = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, httpx2.ProxyError)
    return not any(isinstance(each, never) for each in seen)


def _error_line(error: BaseException) -> str:
    """Return an error as one line."""
    what = str(error).strip().splitlines()
    return f"{type(error).__name__}: {what[0]}" if what else type(error).__name__
