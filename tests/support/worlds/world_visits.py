"""Visits of the hand-made world over ASGI: what a page's words are, and what a session does."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from html.parser import HTMLParser

import httpx2
from pydantic import JsonValue
from support.worlds.made_world import SHOP, shop_rows
from typing_extensions import override

from generators.worlds.serving.faults import Trouble
from generators.worlds.serving.server import WorldServer
from generators.worlds.state.database import Rows, make_database
from schemas.worlds.world import World


class Names(HTMLParser):
    """The words of a page's links, labels and buttons, and what fields hold."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.links: dict[str, str] = {}
        self.buttons: list[str] = []
        self.labels: dict[str, str] = {}
        self.options: list[str] = []
        self.fields: dict[str, str] = {}
        self.open: list[tuple[str, dict[str, str]]] = []
        self.feed(page)

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if tag not in {"input", "meta", "link"}:
            self.open.append((tag, found))
        if tag in {"input", "select", "textarea"}:
            self.fields[found["name"]] = found.get("value", "")

    @override
    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag, f"</{tag}> closes nothing that is open"

    @override
    def handle_data(self, data: str) -> None:
        if not self.open or not data.strip():
            return
        tag, attrs = self.open[-1]
        match tag:
            case "a":
                self.links[data] = attrs["href"]
            case "button" if (
                "aria-controls" not in attrs
            ):  # which shows a narrow window's navigation
                self.buttons.append(data)
            case "label":
                self.labels[data] = attrs["for"]
            case "option":
                self.options.append(data)
            case _:
                pass


@dataclass(frozen=True)
class Hands:
    """What a session does in its visit."""

    http: httpx2.AsyncClient
    server: WorldServer
    visit: str

    async def see(self, path: str, status: int = 200) -> str:
        answer = await self.http.get(path)
        assert answer.status_code == status, f"{path}: {answer.text}"
        return answer.text

    async def names(self, path: str) -> Names:
        return Names(await self.see(path))

    async def send(self, path: str, **form: str) -> httpx2.Response:
        return await self.http.post(path, data=form)

    def table(self, name: str) -> list[dict[str, JsonValue]]:
        state = self.server.state(self.visit)
        assert isinstance(state, dict)
        rows: list[dict[str, JsonValue]] = state[name]  # type: ignore[assignment]
        return rows

    def row(self, name: str, row: int) -> dict[str, JsonValue]:
        (found,) = [one for one in self.table(name) if one["id"] == row]
        return found


@asynccontextmanager
async def visiting(
    server: WorldServer | None = None,
    name: str = "one",
    world: World = SHOP,
    rows: Rows | None = None,
    trouble: Trouble | None = None,
) -> AsyncIterator[Hands]:
    server = server or WorldServer("visit")
    server.open(world, make_database(world, rows or shop_rows()), name, trouble)
    transport = httpx2.ASGITransport(server)
    async with httpx2.AsyncClient(
        transport=transport, base_url=world.origin, cookies={"visit": name}
    ) as http:
        yield Hands(http, server, name)
    server.close(name)
