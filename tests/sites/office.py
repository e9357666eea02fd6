"""An office whose site is as a team's is: a login form with a token, two users, an API on another origin, a WebSocket.

It is started with its port, the port of its API, and the names of faults. Its notes are in memory. Passwords are in the
environment: `OFFICE_MIA` and `OFFICE_ROOT`.
"""

import asyncio
import json
import os
import secrets
import sys
from pathlib import Path

from aiohttp import WSMsgType, web

ORIGIN, API = "https://office.test", "https://api.office.test"
FAULTS = set(sys.argv[3:])
PASSWORDS = {"mia": "OFFICE_MIA", "root": "OFFICE_ROOT"}
FIRST = [{"id": 1, "text": "Order rope", "by": "root"}]
LARGE = 2**20
"""Bytes of a message of the socket that never stops."""

state: dict[str, object] = {"notes": [dict(one) for one in FIRST], "archived": 0}
sessions: dict[str, str] = {}
tokens: set[str] = set()
sockets: set[web.WebSocketResponse] = set()
asked_health = 0


def notes() -> list[dict[str, object]]:
    """The notes, in order."""
    found = state["notes"]
    assert isinstance(found, list)
    return found


def login_form(said: str = "") -> web.Response:
    """The page with the form, and a token in it."""
    token = secrets.token_urlsafe(16)
    tokens.add(token)
    field = "" if "no-token" in FAULTS else f'<input type=hidden name=token value="{token}">'
    other = (
        '<form id=search><input name=token value="none"></form>' if "two-tokens" in FAULTS else ""
    )
    return web.Response(
        text=f"<title>Log in</title><p>{said}</p>{other}<form id=login method=post>{field}"
        "<input name=name><input name=password type=password><button>Log in</button></form>",
        content_type="text/html",
    )


async def log_in(request: web.Request) -> web.Response:
    """Log a user in whose form has the token and the right password."""
    form = await request.post()
    name, token, password = (str(form.get(key)) for key in ("name", "token", "password"))
    right = password == os.environ.get(PASSWORDS.get(name, ""), "-")
    if token not in tokens or not right or request.cookies.get("seen") != "1":
        return login_form(f"Wrong, {password}!")
    session = secrets.token_hex(8)
    sessions[session] = name
    answer = web.Response(status=302, headers={"Location": f"http://{request.host}/"})
    answer.set_cookie("session", session, httponly=True, domain="office.test")
    answer.set_cookie("theme", "plain")
    return answer


async def show_form(_: web.Request) -> web.Response:
    """Show the form."""
    answer = login_form()
    answer.set_cookie("seen", "1")
    return answer


def user(request: web.Request) -> str | None:
    """Who asks; None: somebody unknown."""
    return sessions.get(request.cookies.get("session", ""))


async def page(request: web.Request) -> web.Response:
    """The page of a user, or the way to the form."""
    name = user(request)
    if name is None or request.headers.get("X-Forwarded-Proto") != "https":
        raise web.HTTPFound("/login")
    archive = "<button id=archive>Archive all</button>" if name == "root" else ""
    text = Path(__file__).with_name("office.html").read_text()
    text = text.replace("{asks}", "yes" if "asks" in FAULTS else "")
    return web.Response(
        text=text.replace("{name}", name).replace("{archive}", archive).replace("{api}", API),
        content_type="text/html",
        headers={
            "Strict-Transport-Security": "max-age=31536000; includeSubDomains",
            "Content-Security-Policy": "upgrade-insecure-requests",
        },
    )


async def live(request: web.Request) -> web.StreamResponse:
    """The socket: it takes new notes and tells all pages of all notes."""
    name = user(request)
    if name is None:
        return web.Response(status=403)
    if "silent-socket" in FAULTS:
        await asyncio.sleep(600)
    socket = web.WebSocketResponse(protocols=["notes.v1"])
    await socket.prepare(request)
    sockets.add(socket)
    try:
        if "flood" in FAULTS:
            while not socket.closed:
                await socket.send_str("x" * LARGE)
        async for message in socket:
            if message.type is WSMsgType.TEXT:
                notes().append({"id": len(notes()) + 1, "text": message.data, "by": name})
                for one in list(sockets):
                    await one.send_str(json.dumps(notes()))
    finally:
        sockets.discard(socket)
    return socket


async def archive(request: web.Request) -> web.Response:
    """Archive all notes, if a superior asks."""
    if user(request) != "root":
        return web.Response(status=403)
    state["archived"] = len(notes())
    state["notes"] = []
    return web.json_response({})


async def api_notes(request: web.Request) -> web.Response:
    """The notes, for pages of the office that a user looks at."""
    if request.method == "OPTIONS" or user(request):
        headers = {
            "Access-Control-Allow-Origin": ORIGIN,
            "Access-Control-Allow-Credentials": "true",
            "Access-Control-Allow-Headers": "X-Kind",
        }
        return web.json_response(notes(), headers=headers)
    return web.Response(status=403)


async def events(request: web.Request) -> web.StreamResponse:
    """A stream that says that it is there, and nothing more."""
    answer = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await answer.prepare(request)
    await answer.write(b"data: there\n\n")
    await asyncio.sleep(600)
    return answer


async def health(_: web.Request) -> web.Response:
    """Whether it is ready: not at once, and with a fault never."""
    global asked_health  # noqa: PLW0603 - of one small server
    asked_health += 1
    ready = asked_health > 2 and "never-ready" not in FAULTS
    return web.Response(status=200 if ready else 503)


async def reset(request: web.Request) -> web.Response:
    """One of three steps that put the office back; the second wants what the first said."""
    step = request.match_info["step"]
    if step == "begin":
        return web.json_response({"ticket": "t-7"})
    form = await request.post()
    if form.get("ticket") != "t-7" or "no-reset" in FAULTS:
        return web.Response(status=500, text="no ticket")
    state.update(notes=[dict(one) for one in FIRST], archived=0)
    return web.json_response({})


def main() -> None:
    """Serve the office and its API until the end."""
    office, api = web.Application(), web.Application()
    office.add_routes(
        [
            web.get("/", page),
            web.get("/login", show_form),
            web.post("/login", log_in),
            web.get("/live", live),
            web.get("/events", events),
            web.post("/archive", archive),
            web.get("/health", health),
            web.post("/reset/{step}", reset),
            web.get("/who", lambda request: _json(request.headers.get("Authorization"))),
            web.get("/state", lambda _: _json(state)),
        ]
    )
    api.add_routes([web.get("/notes", api_notes), web.options("/notes", api_notes)])
    asyncio.run(_serve(office, api))


async def _json(value: object) -> web.Response:
    return web.json_response(value)


async def _serve(office: web.Application, api: web.Application) -> None:
    for application, port in ((office, sys.argv[1]), (api, sys.argv[2])):
        runner = web.AppRunner(application)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", int(port)).start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    main()
