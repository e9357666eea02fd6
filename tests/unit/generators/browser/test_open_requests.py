"""Which requests a page's time waits for, by their kind and by how long they take."""

from collections.abc import Callable
from typing import Any

import pytest

from generators.browser.open_requests import (
    AHEAD_SECONDS,
    ANSWER_SECONDS,
    BODY_SECONDS,
    LONGEST_SECONDS,
    OpenRequests,
)


class Page:
    """A channel whose events the test makes, in a time that the test lets pass."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.handlers: dict[str, Callable[[Any], None]] = {}

    def on(self, event: str, handler: Callable[[Any], None]) -> None:
        self.handlers[event] = handler

    def on_lost(self, handler: Callable[[Any], None]) -> None:
        self.handlers["lost"] = handler

    async def send(self, method: str, parameters: object) -> dict[str, Any]:
        del method, parameters
        return {}

    def ask(self, name: str, path: str, kind: str = "Fetch", loader: str = "one") -> None:
        request = {"url": f"http://site.localhost{path}"}
        said = {"requestId": name, "request": request, "type": kind}
        self.handlers["Network.requestWillBeSent"](said | {"frameId": "f", "loaderId": loader})

    def answer(self, name: str, mime: str = "text/plain", **headers: str) -> None:
        response = {
            "mimeType": mime,
            "headers": {k.replace("_", "-"): v for k, v in headers.items()},
        }
        self.handlers["Network.responseReceived"]({"requestId": name, "response": response})

    def message(self, name: str, data: str) -> None:
        self.handlers["Network.eventSourceMessageReceived"]({"requestId": name, "data": data})

    def end(self, name: str) -> None:
        self.handlers["Network.loadingFinished"]({"requestId": name})


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Page:
    made = Page()
    monkeypatch.setattr("generators.browser.open_requests.time.monotonic", lambda: made.now)
    return made


async def _followed(page: Page) -> OpenRequests:
    requests = OpenRequests()
    await requests.follow(page)  # type: ignore[arg-type]
    return requests


@pytest.mark.parametrize("kind", ["EventSource", "Ping", "WebSocket"])
async def test_what_never_ends_by_its_kind_is_not_awaited(page: Page, kind: str) -> None:
    requests = await _followed(page)
    page.ask("1", "/news", kind)
    page.ask("2", "/list")

    assert (requests.has_streams, requests.awaited) == (True, True)
    page.end("2")
    assert (requests.has_streams, requests.awaited) == (True, False)


async def test_an_answer_that_goes_on_is_a_stream_and_one_that_says_its_length_is_not(
    page: Page,
) -> None:
    requests = await _followed(page)
    page.ask("1", "/stream")
    page.answer("1")
    page.ask("2", "/large")
    page.answer("2", Content_Length="4000000")
    page.now += BODY_SECONDS

    assert (requests.has_streams, requests.awaited) == (True, True)
    page.end("2")
    assert requests.awaited is False


async def test_a_long_poll_is_known_the_second_time(page: Page) -> None:
    requests = await _followed(page)
    page.ask("1", "/poll?n=1", "XHR")
    assert requests.awaited is True
    page.now += ANSWER_SECONDS
    assert requests.awaited is False
    page.end("1")

    page.ask("2", "/poll?n=2", "XHR")

    assert (requests.has_streams, requests.awaited) == (True, False)


async def test_a_picture_is_awaited_longer_than_a_poll_but_not_for_ever(page: Page) -> None:
    requests = await _followed(page)
    page.ask("1", "/slow.png", "Image")
    page.now += LONGEST_SECONDS - 1
    assert requests.awaited is True
    page.now += 1

    assert requests.awaited is False


async def test_what_is_fetched_ahead_of_need_is_awaited_a_moment_alone(page: Page) -> None:
    requests = await _followed(page)
    page.ask("1", "/next", "Prefetch")
    assert requests.awaited is True
    page.now += AHEAD_SECONDS

    assert requests.awaited is False


async def test_a_new_document_ends_the_requests_of_the_one_before(page: Page) -> None:
    requests = await _followed(page)
    page.ask("1", "/list", loader="one")
    page.ask("2", "/list", loader="two")
    page.handlers["Page.frameNavigated"]({"frame": {"id": "f", "loaderId": "two"}})
    assert requests.awaited is True
    page.end("2")

    assert requests.awaited is False


async def test_a_heartbeat_is_no_news_and_what_differs_from_it_is(page: Page) -> None:
    requests = await _followed(page)
    page.ask("1", "/news", "EventSource")
    for _ in range(6):
        page.now += 5
        page.message("1", "beat")
    page.now += 1
    assert requests.silent_seconds >= 10

    page.message("1", "Ada has written")

    assert requests.silent_seconds == 0
