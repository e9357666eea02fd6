"""Visits of worlds that seeds draw, over ASGI: in a browser without scripts, by bare requests, and what they are paid."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple, cast

import httpx
from support.worlds.world_browser import WorldBrowser

from generators.sites.state import ServerState, judge_states
from generators.tasks.worlds.moves import Steps, answer
from generators.tasks.worlds.setting import Setting
from generators.tasks.worlds.task import WorldTask, to_task
from generators.worlds.content import draw_rows
from generators.worlds.database import make_database
from generators.worlds.server import WorldServer
from schemas.expectation import Expectation
from schemas.world import World

Row = dict[str, str | int | None]


class Seen(NamedTuple):
    """A visit of a world: in a browser, by bare requests, and its state."""

    browser: WorldBrowser
    http: httpx.AsyncClient
    server: WorldServer

    def table(self, name: str) -> list[Row]:
        """Return the rows of an entity."""
        tables = cast(dict[str, list[Row]], self.server.state("a"))
        return tables[name]


@asynccontextmanager
async def visiting(world: World) -> AsyncIterator[Seen]:
    server = WorldServer("visit")
    server.open(world, make_database(world, draw_rows(world)), "a")
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(server),
        base_url=world.origin,
        cookies={"visit": "a"},
        follow_redirects=True,
    ) as client:
        browser = WorldBrowser(client)
        await browser.open("/")
        yield Seen(browser, client, server)
    server.close("a")


async def reward(world: World, steps: Steps, expect: Expectation) -> float:
    """Return what steps are paid that are to change what is expected and nothing else."""
    task = WorldTask(
        kind="made",
        seed=0,
        instruction="x",
        expect=expect,
        reference=(*steps, answer()),
        answer_kind="none",
    )
    async with visiting(world) as seen:
        before = ServerState(seen.server.state("a"))
        for step in steps:
            await seen.browser.do(step)
        after = ServerState(seen.server.state("a"))
    judged = await judge_states(to_task(world, task), before=before, after=after, answer="")
    return judged.reward


def setting_of(world: World) -> Setting:
    return Setting(world, draw_rows(world))
