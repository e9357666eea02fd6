"""What the small servers of public contracts share: correct HTTP, a fault on request, how they start.

An application is a list of `Route`s; `Served` answers by them from a thread of its own, one request at
a time, and knows nothing else. `python tests/sites NAME --port 0` starts one of them from any folder
and writes its address as the first line. Nothing here is Stepmill's: only the standard library.
"""

import argparse
import json
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from email.message import Message
from enum import StrEnum
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar, Self
from urllib.parse import parse_qsl, urlsplit

from sites.tasks import SiteTask, lines


class Fault(StrEnum):
    """What a server does wrong when a test asks it to."""

    LEAKS = "leaks"
    """One visit's state shows in another."""
    HALF_RESET = "half-reset"
    """A reset leaves one table as it is."""
    DIES = "dies"
    """The process ends in the middle of a request."""
    SLOW = "slow"
    """Every answer takes `Misbehaviour.seconds`."""
    ERRORS = "500"
    """Every answer is 500."""


@dataclass(frozen=True)
class Misbehaviour:
    fault: Fault | None = None
    after: int = 0
    """How many requests are answered well before the server dies, slows down or answers 500."""
    seconds: float = 3.0
    """How long an answer of a slow server takes."""

    def __contains__(self, fault: Fault) -> bool:
        return self.fault is fault


class Refused(Exception):
    """A request that the application answers with an error."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: Mapping[str, str]
    headers: Message
    body: bytes

    def json(self) -> dict[str, object]:
        """The body's JSON object; empty if there is no body."""
        try:
            sent = json.loads(self.body or b"{}")
        except ValueError as error:
            raise Refused(400, f"the body is no JSON: {error}") from error
        if not isinstance(sent, dict):
            raise Refused(400, "the body is no JSON object")
        return sent

    def form(self) -> dict[str, str]:
        return dict(parse_qsl(self.body.decode(), keep_blank_values=True))

    def cookie(self, name: str) -> str:
        """The cookie's value, empty if there is none."""
        jar: SimpleCookie = SimpleCookie(self.headers.get("Cookie", ""))
        return jar[name].value if name in jar else ""


@dataclass(frozen=True)
class Answer:
    body: bytes
    status: int = 200
    kind: str = "text/html; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=dict)


def page(html: str, status: int = 200) -> Answer:
    return Answer(html.encode(), status)


def reply(value: object, status: int = 200) -> Answer:
    """JSON that no cache keeps."""
    return Answer(
        json.dumps(value).encode(), status, "application/json", {"Cache-Control": "no-store"}
    )


def redirect(to: str, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(b"", 303, headers={"Location": to, **named})


@dataclass(frozen=True)
class Route:
    method: str
    pattern: str
    """A path; `{name}` stands for a part without slashes, given to `answer` in order."""
    answer: Callable[..., Answer]

    def match(self, path: str) -> Sequence[str] | None:
        found = re.fullmatch(re.sub(r"\{\w+\}", "([^/]+)", self.pattern), path)
        return found and found.groups()


def find(routes: Sequence[Route], request: Request) -> Answer:
    """The answer of the route that fits; 404 for an unknown path, 405 for another method."""
    method = "GET" if request.method == "HEAD" else request.method
    fitting = [(r, parts) for r in routes if (parts := r.match(request.path)) is not None]
    if not fitting:
        raise Refused(404, f"there is no {request.path}")
    for route, parts in fitting:
        if route.method == method:
            return route.answer(request, *parts)
    allowed = ", ".join(sorted({r.method for r, _ in fitting}))
    return Answer(
        json.dumps({"error": f"{request.path} takes {allowed}"}).encode(),
        405,
        "application/json",
        {"Allow": allowed},
    )


class Served:
    """Routes behind one port of the loopback, until it is left."""

    def __init__(
        self, routes: Sequence[Route], *, port: int = 0, wrong: Misbehaviour | None = None
    ) -> None:
        wrong = wrong or Misbehaviour()
        turn = _Turn(wrong)

        class Handler(_Handler):
            served = (routes, turn)

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Turn:
    """One request at a time, and the count by which a server begins to fail."""

    def __init__(self, wrong: Misbehaviour) -> None:
        self.lock = threading.Lock()
        self._wrong = wrong
        self._requests = 0

    def take(self) -> None:
        with self.lock:
            self._requests += 1
            fails = self._requests > self._wrong.after
        if fails and Fault.DIES in self._wrong:
            os._exit(1)
        if fails and Fault.SLOW in self._wrong:
            threading.Event().wait(self._wrong.seconds)
        if fails and Fault.ERRORS in self._wrong:
            raise Refused(500, "the server is broken, as it was asked to be")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    served: ClassVar[tuple[Sequence[Route], _Turn]]

    def _serve(self) -> None:
        routes, turn = self.served
        address = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        query = dict(parse_qsl(address.query, keep_blank_values=True))
        try:
            turn.take()
            with turn.lock:
                answer = find(
                    routes, Request(self.command, address.path, query, self.headers, body)
                )
        except Refused as refused:
            answer = reply({"error": refused.reason}, refused.status)
        self._send(answer)

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.kind)
        self.send_header("Content-Length", str(len(answer.body)))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _serve  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Keep quiet: the first line of the output is the address."""


def options(doc: str | None) -> argparse.ArgumentParser:
    """The options that all servers take."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--seed", type=int, default=1, help="decides what the site contains")
    parser.add_argument("--fault", type=Fault, choices=list(Fault), default=None)
    parser.add_argument("--after", type=int, default=0, help="requests before the fault")
    parser.add_argument("--seconds", type=float, default=3.0, help="of an answer when slow")
    parser.add_argument("--tasks", action="store_true", help="write the tasks and end")
    return parser


def misbehaviour(given: argparse.Namespace) -> Misbehaviour:
    """What the options say about faults."""
    return Misbehaviour(given.fault, given.after, given.seconds)


def run(served: Sequence[Served], tasks: Sequence[SiteTask], *, only_tasks: bool) -> None:
    """Write the addresses, one a line, and serve until SIGTERM; or write the tasks."""
    if only_tasks:
        sys.stdout.write(lines(tasks))
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    for one in served:
        one.__enter__()
        sys.stdout.write(f"{one.url}\n")
    sys.stdout.flush()
    threading.Event().wait()
