"""The requests that a page has open: which its time waits for, and which are streams that never end.

Virtual time stands while a request is in flight, so that a slow server uses none of it. A stream is no such request: an
`EventSource`, a beacon, an answer whose body goes on, a long poll that is answered when there is news. It is told by its
kind where that says so, else by how long it takes; an address that took so long once is taken for one at once.
"""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import Any
from urllib.parse import urlsplit

from generators.browser.page_calls import Channel

BODY_SECONDS = 2.0
"""Real time after which the body of unknown length that a script reads is a stream, from its headers, seconds."""

AHEAD_SECONDS = 2.0
"""Real time that a document gets that is fetched before anybody asks for it; the browser may never tell its end, seconds."""

ANSWER_SECONDS = 10.0
"""Real time after which a script's request without any answer is a long poll, seconds."""

LONGEST_SECONDS = 30.0
"""Real time after which no request is waited for any more, seconds."""

SILENT_SECONDS = 0.8
"""Real time without news on any stream, after which time goes on after an action, seconds."""

NEWS_SECONDS = 5.0
"""Longest real time that is given to streams that are never silent, seconds."""

_ENDLESS = frozenset({"EventSource", "WebSocket", "Ping", "CSPViolationReport"})
"""Kinds of requests, as DevTools calls them, that no page waits for."""

_OF_SCRIPTS = frozenset({"Fetch", "XHR", "Other"})
_STREAMED = frozenset({"text/event-stream", "multipart/x-mixed-replace"})
_BEATS = 3
"""News of one size at one distance that make a heartbeat: so many before it."""
_DRIFT = 0.25
"""Share of its period by which a heartbeat may be early or late."""


@dataclass(slots=True)
class _Request:
    """A request that has not ended."""

    frame: str
    loader: str
    address: str
    kind: str
    begun: float
    answered: float | None = None
    """When the headers of its answer came; None: they have not."""
    is_streamed: bool = False
    """Whether its answer is of a kind that goes on."""
    is_sized: bool = False
    """Whether its answer says how long it is."""
    news: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=_BEATS + 1))
    """When something came, and how many characters or bytes."""


class OpenRequests:
    """Follows the requests of one page."""

    def __init__(self) -> None:
        self._open: dict[str, _Request] = {}
        self._long: set[str] = set()
        self._news_at = 0.0

    async def follow(self, channel: Channel) -> None:
        """Follow the requests of a page from now on.

        Raises:
            RolloutFailure: the browser does not answer.
        """
        for event, handler in (
            ("requestWillBeSent", self._on_sent),
            ("responseReceived", self._on_answered),
            ("dataReceived", self._on_data),
            ("eventSourceMessageReceived", self._on_message),
            ("loadingFinished", self._on_ended),
            ("loadingFailed", self._on_ended),
            ("webSocketCreated", self._on_socket),
            ("webSocketFrameReceived", self._on_frame),
            ("webSocketClosed", self._on_ended),
        ):
            channel.on(f"Network.{event}", handler)
        channel.on_lost(lambda _: self._open.clear())
        channel.on("Page.frameNavigated", self._on_navigated)
        channel.on("Page.frameDetached", self._on_detached)
        channel.on("Target.attachedToTarget", self._on_worker)
        await channel.send("Network.enable", {"maxTotalBufferSize": 0, "maxResourceBufferSize": 0})

    @property
    def has_streams(self) -> bool:
        """Whether a stream is open."""
        return any(map(self._is_stream, self._open.values()))

    @property
    def awaited(self) -> bool:
        """Whether a request is open that the page's time waits for."""
        return not all(map(self._is_stream, self._open.values()))

    @property
    def loads_document(self) -> bool:
        """Whether the page or a frame in it loads a document."""
        return any(one.kind == "Document" for one in self._open.values())

    @property
    def silent_seconds(self) -> float:
        """Real time since the last news on a stream that is no heartbeat, seconds."""
        return time.monotonic() - self._news_at

    def _is_stream(self, one: _Request) -> bool:
        if one.kind in _ENDLESS or one.is_streamed or one.address in self._long:
            return True
        since, limit = one.begun, LONGEST_SECONDS
        if one.kind == "Prefetch":
            limit = AHEAD_SECONDS
        elif one.kind in _OF_SCRIPTS:
            if one.answered is None:
                limit = ANSWER_SECONDS
            elif not one.is_sized:
                since, limit = one.answered, BODY_SECONDS
        if time.monotonic() - since < limit:
            return False
        self._long.add(one.address)
        return True

    def _on_sent(self, event: dict[str, Any]) -> None:
        parts = urlsplit(event["request"]["url"])
        if parts.scheme in {"http", "https"}:
            self._open[event["requestId"]] = _Request(
                frame=event.get("frameId", ""),
                loader=event.get("loaderId", ""),
                address=f"{parts.scheme}://{parts.netloc}{parts.path}",
                kind=event.get("type", ""),
                begun=time.monotonic(),
            )

    def _on_answered(self, event: dict[str, Any]) -> None:
        one = self._open.get(event["requestId"])
        if one is not None:
            one.answered = time.monotonic()
            answer = event["response"]
            one.is_sized = any(name.lower() == "content-length" for name in answer["headers"])
            one.is_streamed = answer["mimeType"] in _STREAMED

    def _on_data(self, event: dict[str, Any]) -> None:
        one = self._open.get(event["requestId"])
        if one is not None and one.kind in _OF_SCRIPTS and self._is_stream(one):
            self._note(one, event["dataLength"])

    def _on_message(self, event: dict[str, Any]) -> None:
        one = self._open.get(event["requestId"])
        if one is not None:
            self._note(one, len(event["data"]))

    def _on_socket(self, event: dict[str, Any]) -> None:
        parts = urlsplit(event["url"])
        self._open[event["requestId"]] = _Request(
            frame="",
            loader="",
            address=f"{parts.scheme}://{parts.netloc}{parts.path}",
            kind="WebSocket",
            begun=time.monotonic(),
        )

    def _on_frame(self, event: dict[str, Any]) -> None:
        one = self._open.get(event["requestId"])
        if one is not None:
            self._note(one, len(event["response"]["payloadData"]))

    def _note(self, one: _Request, size: int) -> None:
        one.news.append((time.monotonic(), size))
        if not _is_beat(one.news):
            self._news_at = time.monotonic()

    def _on_ended(self, event: dict[str, Any]) -> None:
        self._open.pop(event["requestId"], None)

    def _on_navigated(self, event: dict[str, Any]) -> None:
        frame, loader = event["frame"]["id"], event["frame"]["loaderId"]
        self._keep(lambda one: one.frame != frame or one.loader == loader)

    def _on_detached(self, event: dict[str, Any]) -> None:
        self._keep(lambda one: one.frame != event["frameId"])

    def _on_worker(self, event: dict[str, Any]) -> None:
        """Take the script of a worker that runs for ended: the browser tells that to the worker alone."""
        parts = urlsplit(event["targetInfo"]["url"])
        address = f"{parts.scheme}://{parts.netloc}{parts.path}"
        self._keep(lambda one: one.kind != "Script" or one.address != address)

    def _keep(self, holds: Callable[[_Request], bool]) -> None:
        self._open = {name: one for name, one in self._open.items() if holds(one)}


def _is_beat(news: deque[tuple[float, int]]) -> bool:
    """Return whether the last news is of the size and at the distance of those before it."""
    if len(news) <= _BEATS or len({size for _, size in news}) > 1:
        return False
    times = [at for at, _ in news]
    periods = [later - earlier for earlier, later in pairwise(times)]
    usual = median(periods)
    return all(abs(period - usual) <= usual * _DRIFT for period in periods)
