"""The tokens of clients: where they come from, and who a request is by the one that it brings."""

import hmac
import os
import secrets
from collections.abc import Mapping

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from schemas.configuration.seats_section import SeatsSection
from schemas.errors import BadConfig

DEFAULT_CLIENT = "trainer"
"""The client of a configuration that names none."""

CLIENT = web.RequestKey("client", str)
"""The name of a request's client; a public request may have none."""

_PUBLIC = {"/health", "/metadata", "/schema", "/openapi.json", "/mcp"}


def client_tokens(section: SeatsSection, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the token of each client: that of its variable, or one that is drawn.

    Raises:
        BadConfig: a variable is not set, or two clients have the same token.
    """
    tokens: dict[str, str] = {}
    for name, client in section.clients.items():
        if client.token_env is None:
            tokens[name] = secrets.token_urlsafe(24)
        elif not environ.get(client.token_env, "").strip():
            raise BadConfig(
                f"seats.clients.{name}.token_env: the variable {client.token_env} is not set"
            )
        else:
            tokens[name] = environ[client.token_env].strip()
    if len(set(tokens.values())) < len(tokens):
        raise BadConfig("seats.clients: two clients have the same token")
    return tokens or {DEFAULT_CLIENT: secrets.token_urlsafe(24)}


def check_tokens(tokens: Mapping[str, str]) -> Middleware:
    """Return the middleware that finds the client of a request by its token."""

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        kind, _, word = request.headers.get("Authorization", "").partition(" ")
        given = word.strip().encode(errors="surrogateescape")  # a header may be any bytes
        found = [
            name for name, token in tokens.items() if hmac.compare_digest(token.encode(), given)
        ]
        if found and kind.lower() == "bearer":
            request[CLIENT] = found[0]
        elif "Authorization" in request.headers or request.path not in _PUBLIC:
            return web.json_response(
                {"error": "the token of a client is needed: Authorization: Bearer TOKEN"},
                status=401,
                headers={"WWW-Authenticate": "Bearer"},
            )
        return await handler(request)

    return check
