"""The proxy from a session's browser to the server of its visit.

Browsers reach an application at one stable origin, behind which there may be many servers. The session's
browser has a cookie that identifies its visit; pages cannot read it, and servers do not get it. Each
request goes to that visit's server, with the visit's own id if the server serves several visits. The server
gets the origin's name as the host; addresses of its own ports in its replies are replaced by the origins.
WebSockets take the same way (`sockets.py`).
"""

import asyncio
from collections.abc import Awaitable
from http import HTTPStatus
from urllib.parse import urlsplit

import aiohttp
from aiohttp import web
from multidict import CIMultiDict
from yarl import URL

from generators.sites.application.lease import Lease
from generators.sites.application.server_handle import origin_fields
from generators.sites.application.sockets import CONNECT_SECONDS, HOP_BY_HOP, is_socket, relay
from generators.sites.judged_site import COOKIE, PendingRequest
from schemas.configuration.application import Application
from schemas.configuration.application_parts import Carrier, SharedVisits

_STREAMS = frozenset({"text/event-stream", "multipart/x-mixed-replace"})
_LOOK_SECONDS = 5.0
"""Time between two looks whether the browser still wants a silent answer, seconds."""


async def forward(
    request: web.BaseRequest, lease: Lease, application: Application, pending: PendingRequest
) -> web.StreamResponse:
    """Forward a request to the visit's server, `pending` until it is answered or is a stream; give up a server that does not answer or breaks off.

    A browser that hangs up, because it has left the page or stopped loading, is nobody's fault.
    """
    try:
        body = await request.read() if request.can_read_body else None
    except (web.RequestPayloadError, OSError):
        return web.Response(status=HTTPStatus.BAD_REQUEST, text="the request broke off")
    try:
        return await _forward(request, body, lease, application, pending)
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        reason = str(error) or type(error).__name__
        lease.server.give_up(f"{request.method} {request.path}: {reason}")
        return web.Response(status=HTTPStatus.BAD_GATEWAY, text="the server does not answer")


async def _forward(
    request: web.BaseRequest,
    body: bytes | None,
    lease: Lease,
    application: Application,
    pending: PendingRequest,
) -> web.StreamResponse:
    origin = _origin(request, application)
    base = lease.server.address(origin)
    url = URL(base + request.raw_path, encoded=True)
    headers = _request_headers(request)
    own = lease.server.introduce(lease.values) | origin_fields(origin)
    if "Authorization" in headers:
        own.pop("Authorization", None)  # what the page itself says goes before it
    headers.update(own)
    if isinstance(application.visits, SharedVisits):
        url = _identify(application.visits, lease.session, url, headers)
    if is_socket(request):
        return await relay(request, lease, url, headers, pending)
    async with lease.server.http.request(
        request.method,
        url,
        headers=headers,
        data=body,
        allow_redirects=False,
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
    ) as answer:
        lease.note_answer(request.path, answer.status)
        if answer.content_type in _STREAMS:
            pending.end()
        response = web.StreamResponse(status=answer.status, reason=answer.reason)
        for name, value in answer.headers.items():
            if name.lower() not in HOP_BY_HOP:
                response.headers.add(name, _outside(name, value, lease, application))
        await _pass_on(answer.content, response, request)
        return response


def _origin(request: web.BaseRequest, application: Application) -> str:
    """Return the origin that a request is for."""
    named = request.host.partition(":")[0]
    hosts = {urlsplit(origin).hostname: origin for origin in application.all_origins}
    return hosts.get(named, application.origin)


def _outside(name: str, value: str, lease: Lease, application: Application) -> str:
    """Return a header field of an answer as browsers get it: with origins, not with addresses of servers.

    A server that is not told of `https` leads to `http`.
    """
    for origin in application.all_origins:
        value = value.replace(lease.server.address(origin), origin)
        if name.lower() == "location" and origin.startswith("https:"):
            plain = origin.replace("https:", "http:", 1)
            value = origin + value[len(plain) :] if value.startswith(f"{plain}/") else value
    return value


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


def _request_headers(request: web.BaseRequest) -> CIMultiDict[str]:
    headers = CIMultiDict[str]()
    for name, value in request.headers.items():
        if name.lower() not in HOP_BY_HOP | {"cookie", "x-forwarded-proto"}:
            headers.add(name, value)
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
