"""What keeps others out of a window: a token, the address that requests must name, and what its pages may do.

The token is in the address that the command prints. A browser that opens it gets a cookie, and the address loses the
token, so that it stays in no history. Pages show texts that strangers wrote, and hold no script and no style but the
window's own files.
"""

import hmac
import secrets

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

ENTER = "enter"
"""The parameter of an address that holds the token; one of the name `token` would be printed as `***`."""

POLICY = (
    "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""The content security policy of every page (https://www.w3.org/TR/CSP3/)."""

_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}

_REFUSED = "This window belongs to somebody. Open the address that `stepmill view` printed."


def new_token() -> str:
    """Return a token that nobody guesses."""
    return secrets.token_urlsafe(24)


def keep_others_out(token: str, host: str, port: int) -> Middleware:
    """Return the middleware that answers requests of the token's owner alone; `host` and `port` are the window's own."""
    shown = f"[{host}]" if ":" in host else host
    hosts = {f"{name}:{port}" for name in (shown, "localhost", "127.0.0.1")}
    cookie = f"stepmill-{port}"

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.headers.get("Host", "") not in hosts:
            return _refusal(421, "This address is not the window's own.")
        origin = request.headers.get("Origin")
        if origin is not None and origin not in {f"http://{one}" for one in hosts}:
            return _refusal(403, "Another site asks for this.")
        if request.method not in ("GET", "HEAD") and origin is None:
            return _refusal(403, "It is not said which page asks for this.")
        given = request.query.get(ENTER)
        if given is not None and _same(given, token):
            return _remember(request, cookie, token)
        if not _same(request.cookies.get(cookie, ""), token):
            return _refusal(401, _REFUSED)
        response = await handler(request)
        for name, value in _HEADERS.items():
            response.headers[name] = value
        response.headers.setdefault("Cache-Control", "no-store")
        return response

    return check


def _same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), token.encode())


def _remember(request: web.Request, cookie: str, token: str) -> web.StreamResponse:
    rest = {name: value for name, value in request.query.items() if name != ENTER}
    response = web.Response(
        status=303, headers={**_HEADERS, "Location": str(request.rel_url.with_query(rest))}
    )
    response.set_cookie(cookie, token, httponly=True, samesite="Lax", path="/")
    return response


def _refusal(status: int, text: str) -> web.Response:
    return web.Response(
        status=status, text=text + "\n", headers={**_HEADERS, "Cache-Control": "no-store"}
    )
