"""What is wrong with a world is found: each gate rejects a world that was made to break it alone."""

from collections.abc import Callable

import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from support.worlds.made_world import SHOP, shop_rows

from generators.worlds.checking.crawl import Broken, Crawl, Trial, WorldGate
from generators.worlds.rendering.overlays import PART
from generators.worlds.serving.server import WorldServer
from schemas.worlds.behaviour import Delivery
from schemas.worlds.world import World

Change = Callable[[Scope, bytes], bytes]


def _changed(change: Change) -> Callable[[WorldServer], ASGIApp]:
    """Return what serves a world with its pages changed."""

    def serve(server: WorldServer) -> ASGIApp:
        async def application(scope: Scope, receive: Receive, send: Send) -> None:
            async def pass_on(message: Message) -> None:
                if message["type"] == "http.response.body":
                    message = {**message, "body": change(scope, message.get("body", b""))}
                await send(message)

            await server(scope, receive, pass_on)

        return application

    return serve


async def _try(
    serve: Callable[[WorldServer], ASGIApp], world: World = SHOP
) -> tuple[Crawl, list[Broken]]:
    trial = Trial(world, shop_rows(), serve)
    crawl = await trial.crawl()
    return crawl, [one async for one in trial.gates(crawl)]


def _delivered(delivery: Delivery) -> World:
    return SHOP.model_copy(
        update={"behaviour": SHOP.behaviour.model_copy(update={"delivery": delivery})}
    )


@pytest.mark.parametrize("delivery", [Delivery.SERVER, Delivery.SINGLE_PAGE])
async def test_a_world_that_works_passes_and_was_looked_at(delivery: Delivery) -> None:
    crawl, broken = await _try(lambda server: server, _delivered(delivery))

    assert broken == []
    assert {"/", "/products", "/product/1", "/product/1/edit", "/purchase/new"} <= set(crawl.pages)
    assert len(crawl.pages) > 20
    assert crawl.asked > len(crawl.pages)
    assert crawl.sent > 20
    before = dict(shop_rows())
    assert [state for state in crawl.ends.values() if state == before] == []


LIVE = {
    "/": b'<a href="/nowhere">Lamp, small</a>',
    "/product/1": b'<form method="post" action="/nothing"><button>Apply</button></form>',
    "/product/2": b'<link rel="stylesheet" href="/_/none.css">',
}
ELSEWHERE = {
    "/": b'<img src="https://example.com/pixel.png">',
    "/product/1": b'<a href="//example.com/">Lamp, small</a>',
    "/product/2": b'<form action="http://example.com/"></form>',
}
"""What leads nowhere or elsewhere, at the end of a page."""


@pytest.mark.parametrize(
    ("gate", "ends", "because"),
    [
        (
            WorldGate.LIVE,
            LIVE,
            {
                "/nowhere: answers 404",
                "/product/1: the form to /nothing answers 404",
                "/_/none.css: answers 404",
            },
        ),
        (
            WorldGate.NETWORK_POLICY,
            ELSEWHERE,
            {
                "/: names https://example.com/pixel.png",
                "/product/1: names //example.com/",
                "/product/2: names http://example.com/",
            },
        ),
    ],
)
async def test_a_page_that_leads_nowhere_or_elsewhere_is_found(
    gate: WorldGate, ends: dict[str, bytes], because: set[str]
) -> None:
    def change(scope: Scope, body: bytes) -> bytes:
        return body.replace(b"</main>", ends.get(scope["path"], b"") + b"</main>")

    _, broken = await _try(_changed(change))

    assert set(broken) == {Broken(gate, one) for one in because}


async def test_a_shell_that_is_not_there_is_found() -> None:
    def serve(server: WorldServer) -> ASGIApp:
        async def application(scope: Scope, receive: Receive, send: Send) -> None:
            if PART.lower().encode() not in dict(scope["headers"]):
                raise RuntimeError("there is no shell")
            await server(scope, receive, send)

        return application

    _, broken = await _try(serve, _delivered(Delivery.SINGLE_PAGE))

    assert broken == [Broken(WorldGate.LIVE, "/: answers 500: RuntimeError('there is no shell')")]


async def test_pages_that_differ_from_visit_to_visit_are_found() -> None:
    def change(scope: Scope, body: bytes) -> bytes:
        cookie = dict(scope["headers"])[b"cookie"]
        return body.replace(b"</main>", cookie + b"</main>") if scope["path"] == "/" else body

    _, broken = await _try(_changed(change))

    assert Broken(WorldGate.EPISODE_DETERMINISM, "/: two visits find two pages") in broken


async def test_a_visit_that_changes_another_is_found() -> None:
    def serve(server: WorldServer) -> ASGIApp:
        async def application(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["method"] == "POST":  # every form goes to the last visit that was opened
                last = max(server._visits, key=lambda token: int(token.rpartition("-")[2]))
                others = [pair for pair in scope["headers"] if pair[0] != b"cookie"]
                scope = {**scope, "headers": [*others, (b"cookie", f"visit={last}".encode())]}
            await server(scope, receive, send)

        return application

    _, broken = await _try(serve)

    assert broken == [Broken(WorldGate.EPISODE_ISOLATION, "what a visit changes is in another")]


async def test_a_server_that_fails_is_found() -> None:
    def serve(server: WorldServer) -> ASGIApp:
        async def application(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["path"] == "/product/2":
                raise RuntimeError("there is no such shelf")
            await server(scope, receive, send)

        return application

    trial = Trial(SHOP, shop_rows(), serve)
    crawl = await trial.crawl()

    assert (
        Broken(WorldGate.LIVE, "/product/2: answers 500: RuntimeError('there is no such shelf')")
        in crawl.broken
    )
