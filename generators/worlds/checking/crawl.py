"""Checks a world without a browser, before tasks are made from it.

Its pages are requested in the same process, as the gateway does: a few pages of each kind. Two more visits submit
every form empty and press every button; no task may be rewarded for the resulting states.
"""

import re
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import urlencode, urljoin, urlsplit

from pydantic import JsonValue
from starlette.types import ASGIApp, Message

from generators.worlds.checking.foreign_words import Explained
from generators.worlds.checking.html_reader import Form, PageReader
from generators.worlds.rendering.overlays import PART
from generators.worlds.serving.server import WorldServer
from generators.worlds.state.database import Rows, make_database
from schemas.worlds.behaviour import Delivery
from schemas.worlds.world import World

_COOKIE = "visit"
_EACH = 3
"""Maximum number of pages of one kind that are read; all their links are requested."""

_PAGES = 80
"""Maximum number of pages that are read."""

_RAISED = "raised"
"""The media type of an answer whose request raised an error; its body is the error."""

_REDIRECTS = 5
_GONE = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED})
_CSS_ADDRESS = re.compile(r"""url\(\s*["']?([^"')]+)|@import\s+["']([^"']+)""")
_NUMBER = re.compile(r"\d+")


class WorldGate(StrEnum):
    """The gates of a world."""

    LIVE = "live"
    """Every link leads to a page, and every form is answered without a server error."""
    NETWORK_POLICY = "network_policy"
    """No page loads from, links to or sends to another origin."""
    EPISODE_ISOLATION = "episode_isolation"
    """A visit's changes do not appear in another visit."""
    EPISODE_DETERMINISM = "episode_determinism"
    """Two visits get the same pages, byte for byte."""
    SEED_CONTROL = "seed_control"
    """Another process, time zone, locale and hash seed give the same world."""
    LANGUAGE = "language"
    """Every word on a page is of the world's language."""
    USABLE = "usable"
    """At the viewport's size nothing visible is cut off, covered or wider than the page."""


class Broken(NamedTuple):
    """A gate that a world fails."""

    gate: WorldGate
    """The gate."""
    because: str
    """The finding, with its page."""


class Answer(NamedTuple):
    """A server's answer."""

    status: int
    """The HTTP status."""
    kind: str
    """The media type."""
    location: str
    """The target of a redirect; empty: no redirect."""
    body: bytes
    """The content."""

    @property
    def text(self) -> str:
        """The content as text."""
        return self.body.decode(errors="replace")

    @property
    def said(self) -> str:
        """The status, with the error if the server raised one."""
        return f"{self.status}: {self.text}" if self.kind == _RAISED else str(self.status)


@dataclass
class Crawl:
    """The results of a crawl."""

    pages: dict[str, str] = field(default_factory=dict)
    """The HTML of the pages that were read, by URL, in order."""
    answers: dict[str, str] = field(default_factory=dict)
    """The HTML of pages that answer forms, by the form's page and URL, in order."""
    asked: int = 0
    """The number of requested URLs."""
    sent: int = 0
    """The number of submitted forms."""
    broken: list[Broken] = field(default_factory=list)
    """The defects."""
    ends: dict[str, JsonValue] = field(default_factory=dict)
    """States in which no task is done, by action: forms sent empty, buttons pressed."""


class Opened:
    """An open visit of a world; requests look like those of a browser that follows links."""

    def __init__(self, application: ASGIApp, world: World, token: str) -> None:
        """`token` names the visit to the application."""
        self._application = application
        self._world = world
        self._token = token

    async def ask(
        self, address: str, body: bytes | None = None, *, is_first: bool = False
    ) -> Answer:
        """Return the answer to a request; with a body the request submits a form.

        On worlds whose scripts draw pages, every request but the first has the scripts' header.
        """
        parts = urlsplit(address)
        headers = [
            (b"host", self._world.host.encode()),
            (b"cookie", f"{_COOKIE}={self._token}".encode()),
            (b"accept", b"text/html"),
        ]
        if not is_first and self._world.behaviour.delivery is not Delivery.SERVER:
            headers.append((PART.lower().encode(), b"page"))
        if body is not None:
            headers.append((b"content-type", b"application/x-www-form-urlencoded"))
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "GET" if body is None else "POST",
            "scheme": "http",
            "path": parts.path or "/",
            "raw_path": (parts.path or "/").encode(),
            "query_string": parts.query.encode(),
            "root_path": "",
            "headers": headers,
            "server": (self._world.host, 80),
        }
        begun: Message = {}
        out = bytearray()

        async def receive() -> Message:
            return {"type": "http.request", "body": body or b"", "more_body": False}

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                begun.update(message)
            else:
                out.extend(message.get("body", b""))

        try:
            await self._application(scope, receive, send)
        except Exception as error:  # noqa: BLE001 - whatever a server raises is its error
            status = HTTPStatus.INTERNAL_SERVER_ERROR
            return Answer(status, _RAISED, "", repr(error).encode())
        found = {name.decode().lower(): value.decode() for name, value in begun["headers"]}
        kind = found.get("content-type", "").partition(";")[0]
        return Answer(begun["status"], kind, found.get("location", ""), bytes(out))

    async def open(self, address: str) -> tuple[str, Answer]:
        """Return the final URL and answer of a request, following redirects."""
        answer = await self.ask(address)
        for _ in range(_REDIRECTS):
            if not answer.location:
                break
            address = urljoin(address, answer.location)
            answer = await self.ask(address)
        return address, answer


Serve = Callable[[WorldServer], ASGIApp]
"""Returns the application to serve; tests insert leaks or defects."""


class Trial:
    """A world under test."""

    def __init__(self, world: World, rows: Rows, serve: Serve = lambda server: server) -> None:
        """`serve` wraps the server; only tests use it."""
        self.world = world
        self._rows = rows
        self._database = make_database(world, rows)
        self._server = WorldServer(_COOKIE)
        self._application = serve(self._server)
        self._visits = 0

    @contextmanager
    def visit(self) -> Iterator[tuple[Opened, Callable[[], JsonValue]]]:
        """Open a visit, and yield it with a function that reads its state."""
        self._visits += 1
        token = f"trial-{self._visits}"
        self._server.open(self.world, self._database, token)
        try:
            yield Opened(self._application, self.world, token), lambda: self._server.state(token)
        finally:
            self._server.close(token)

    async def crawl(self) -> Crawl:
        """Read pages of each kind, request all their links, and submit their forms."""
        crawl = Crawl()
        with self.visit() as (opened, _):
            await self._read(opened, crawl)
        forms = [
            (page, form) for page, html in crawl.pages.items() for form in PageReader(html).forms
        ]
        for page, form in forms:
            with self.visit() as (opened, _):
                await self._send(opened, crawl, page, form, gone=_GONE)
        posted = [(page, form) for page, form in forms if form.method == "post"]
        for what, is_empty in (
            ("every form is sent empty", True),
            ("every button is pressed", False),
        ):
            with self.visit() as (opened, state):
                for page, form in posted:
                    await self._send(opened, crawl, page, form, is_empty=is_empty)
                crawl.ends[what] = state()
        return crawl

    async def _read(self, opened: Opened, crawl: Crawl) -> None:
        waiting, seen, kinds = deque(["/"]), {"/"}, Counter[str]()
        first = await opened.ask("/", is_first=True)
        if first.status != HTTPStatus.OK:
            crawl.broken.append(Broken(WorldGate.LIVE, f"/: answers {first.said}"))
        while waiting:
            address = waiting.popleft()
            at, answer = await opened.open(address)
            crawl.asked += 1
            if answer.status != HTTPStatus.OK:
                crawl.broken.append(Broken(WorldGate.LIVE, f"{address}: answers {answer.said}"))
            kind = _kind(at)
            if kinds[kind] >= _EACH or len(crawl.pages) >= _PAGES:
                continue
            kinds[kind] += 1
            if answer.kind == "text/html":
                crawl.pages[at] = answer.text
            for found in _addresses(answer):
                target = self._own(at, found, crawl)
                if target is not None and target not in seen:
                    seen.add(target)
                    waiting.append(target)

    def _own(self, page: str, address: str, crawl: Crawl) -> str | None:
        """Return the path of a URL within the world; None: not a page, or at another origin."""
        if address.startswith(("data:", "#", "mailto:", "tel:")) or not address:
            return None
        whole = urlsplit(urljoin(f"{self.world.origin}{page}", address))
        if f"{whole.scheme}://{whole.netloc}" != self.world.origin:
            crawl.broken.append(Broken(WorldGate.NETWORK_POLICY, f"{page}: names {address[:120]}"))
            return None
        return whole._replace(scheme="", netloc="", fragment="").geturl() or "/"

    async def _send(
        self,
        opened: Opened,
        crawl: Crawl,
        page: str,
        form: Form,
        *,
        is_empty: bool = False,
        gone: frozenset[int] = frozenset(),
    ) -> None:
        """Submit a form with each of its buttons; record server errors and statuses in `gone`."""
        for name, value, action in form.buttons or [("", "", "")]:
            target = self._own(page, action or form.action or page, crawl)
            if target is None:
                continue
            said = [(key, "" if is_empty else text) for key, text in form.fields]
            body = urlencode([*said, *([(name, value)] if name else [])])
            crawl.sent += 1
            if form.method == "post":
                answer = await opened.ask(target, body.encode())
            else:
                answer = await opened.ask(f"{urlsplit(target).path}?{body}")
            if answer.kind == "text/html":
                crawl.answers[f"{page} > {target}{' (empty)' if is_empty else ''}"] = answer.text
            if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR or answer.status in gone:
                because = f"{page}: the form to {target} answers {answer.said}"
                crawl.broken.append(Broken(WorldGate.LIVE, because))

    async def gates(self, crawl: Crawl) -> AsyncIterator[Broken]:
        """Yield the gates that a crawled world fails, as far as they need no browser."""
        for one in dict.fromkeys(crawl.broken):
            yield one
        shown = Explained(self.world, self._rows).foreign({**crawl.pages, **crawl.answers})
        for page, text, foreign in shown:
            because = f"{page}: '{foreign}' of '{text}' is no word of its language"
            yield Broken(WorldGate.LANGUAGE, because)
        with self.visit() as (opened, _), self.visit() as (other, others):
            before = others()
            for page in crawl.pages:
                if (await opened.ask(page)).body != (await other.ask(page)).body:
                    yield Broken(
                        WorldGate.EPISODE_DETERMINISM, f"{page}: two visits find two pages"
                    )
            for page, html in crawl.pages.items():
                for form in PageReader(html).forms:
                    await self._send(opened, Crawl(), page, form)
            if others() != before:
                yield Broken(WorldGate.EPISODE_ISOLATION, "what a visit changes is in another")


def _kind(address: str) -> str:
    """Return the kind of a page: its URL without numbers and values."""
    parts = urlsplit(address)
    names = sorted(pair.partition("=")[0] for pair in parts.query.split("&") if pair)
    return f"{_NUMBER.sub('0', parts.path)}?{'&'.join(names)}"


def _addresses(answer: Answer) -> Iterator[str]:
    """Yield the URLs in an answer."""
    if answer.kind == "text/html":
        page = PageReader(answer.text)
        yield from (*page.links, *page.loaded)
    elif answer.kind == "text/css":
        for one, other in _CSS_ADDRESS.findall(answer.text):
            yield one or other
