"""The proxy from a session's browser to the server of its visit.

Browsers reach an application at one stable origin, behind which there may be many servers. The session's
browser has a cookie that identifies its visit; pages cannot read it, and servers do not get it. Each
request goes to that visit's server, with the visit's own id if the server serves several visits. The server
gets the origin's name as the host; addresses of its own port in its replies are replaced by the origin.
"""

import asyncio
from collections.abc import Awaitable
from http import HTTPStatus

import aiohttp
from aiohttp import web
from multidict import CIMultiDict
from yarl import URL

from generators.sites.application.lease import Lease
from generators.sites.judged_site import COOKIE
from schemas.configuration.application import Application, Carrier, SharedVisits

_HOP_BY_HOP = frozenset(
    {
        *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te"),
        *("trailer", "transfer-encoding", "upgrade", "content-length"),
    }
)
CONNECT_SECONDS = 30.0
"""Time that a server may take to accept a connection, seconds. Its answer may take as long as it likes."""

_LOOK_SECONDS = 5.0
"""Time between two looks whether the browser still wants a silent answer, seconds."""


async def forward(
    request: web.BaseRequest, lease: Lease, application: Application
) -> web.StreamResponse:
    """Forward a request to the visit's server; give up a server that does not answer or breaks off.

    A browser that hangs up, because it has left the page or stopped loading, is nobody's fault.
    """
    try:
        body = await request.read() if request.can_read_body else None
    except (web.RequestPayloadError, OSError):
        return web.Response(status=HTTPStatus.BAD_REQUEST, text="the request broke off")
    try:
        return await _forward(request, body, lease, application)
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        reason = str(error) or type(error).__name__
        lease.server.give_up(f"{request.method} {request.path}: {reason}")
        return web.Response(status=HTTPStatus.BAD_GATEWAY, text="the server does not answer")


async def _forward(
    request: web.BaseRequest, body: bytes | None, lease: Lease, application: Application
) -> web.StreamResponse:
    base, origin = lease.server.url, application.origin
    url = URL(base + request.raw_path, encoded=True)
    headers = _request_headers(request, origin)
    if isinstance(application.visits, SharedVisits):
        url = _identify(application.visits, lease.session, url, headers)
    async with lease.server.http.request(
        request.method,
        url,
        headers=headers,
        data=body,
        allow_redirects=False,
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
    ) as answer:
        lease.note_answer(request.path, answer.status)
        response = web.StreamResponse(status=answer.status, reason=answer.reason)
        for name, value in answer.headers.items():
            if name.lower() not in _HOP_BY_HOP:
                response.headers.add(name, value.replace(base, origin))
        await _pass_on(answer.content, response, request)
        return response


async def _pass_on(
    body: aiohttp.StreamReader, response: web.StreamResponse, request: web.BaseRequest
) -> None:
    """Send an answer to the browser piece by piece, until it ends or the browser has hung up.

    Raises:
        ClientError, OSError: the server breaks off.
    """
    if not await _reaches(response.prepare(request)):
        return
    while True:
        try:
            async with asyncio.timeout(_LOOK_SECONDS):
                piece = await body.readany()
        except TimeoutError:
            if request.transport is None or request.transport.is_closing():
                return
            continue
        if not piece:
            break
        if not await _reaches(response.write(piece)):
            return
    await _reaches(response.write_eof())


async def _reaches(sending: Awaitable[object]) -> bool:
    """Send something to the browser, and return whether it still listens."""
    try:
        await sending
    except OSError:
        return False
    return True


def _request_headers(request: web.BaseRequest, origin: str) -> CIMultiDict[str]:
    headers = CIMultiDict[str]()
    for name, value in request.headers.items():
        if name.lower() not in _HOP_BY_HOP | {"cookie"}:
            headers.add(name, value)
    headers["Host"] = URL(origin).host or ""
    cookies = [
        part
        for part in (one.strip() for one in request.headers.get("Cookie", "").split(";"))
        if part and not part.startswith(f"{COOKIE}=")
    ]
    if cookies:
        headers["Cookie"] = "; ".join(cookies)
    return headers


def _identify(visits: SharedVisits, session: str, url: URL, headers: CIMultiDict[str]) -> URL:
    """Add a visit's id to a request, replacing any value from the page."""
    if visits.carrier is Carrier.HEADER:
        headers[visits.name] = session
    elif visits.carrier is Carrier.COOKIE:
        own = f"{visits.name}={session}"
        others = [
            one
            for one in headers.get("Cookie", "").split("; ")
            if one and not one.startswith(f"{visits.name}=")
        ]
        headers["Cookie"] = "; ".join([*others, own])
    else:
        return url.update_query({visits.name: session})
    return url
