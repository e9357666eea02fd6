"""What seeds draw, as one digest each: run as a program, it draws everything afresh and prints the digests.

python tests/support/worlds/digests.py SEED …
"""

import asyncio
import json
import sys
from collections.abc import Callable
from hashlib import sha256

import httpx2
from pydantic import TypeAdapter
from support.worlds.made_world import SHOP, shop_rows

from generators.tasks.worlds.draw import draw_task, draw_tasks
from generators.tasks.worlds.ground.task import WorldTask
from generators.worlds.drawing.draw import FAMILIES, draw_whole
from generators.worlds.serving.server import WorldServer
from generators.worlds.state.database import Rows, make_database
from schemas.base import canonical_json
from schemas.tasks.task import Task
from schemas.worlds.world import World
from stepmill_applications.parts import APPLICATIONS

KINDS = ("find", "edit", "rank-three", "procedure", "aggregate")
"""The kinds of the tasks that are drawn in families, one for each family in turn."""

PAGES = ("/", "/orders?status=Open", "/purchase/1", "/product/1/edit", "/_/style.css")


def world_digests(
    seeds: list[int], whole: Callable[[str, int], tuple[World, Rows]] = draw_whole
) -> dict[str, str]:
    """Return the digests of the worlds of all families with their rows."""
    return {
        f"world {family} {seed}": _digest(world.sha256 + canonical_json(rows))
        for family in FAMILIES
        for seed in seeds
        for world, rows in [whole(family, seed)]
    }


def task_digests(
    draw: Callable[[str, int], Task] = draw_task,
    draw_shops: Callable[[World, Rows, int, int], list[WorldTask]] = draw_tasks,
) -> dict[str, str]:
    """Return the digests of the shop's tasks, and of one task of each family."""
    kinds = [(family, KINDS[number % len(KINDS)]) for number, family in enumerate(FAMILIES)]
    shops = TypeAdapter(list[WorldTask]).dump_json(draw_shops(SHOP, shop_rows(), 3, 24))
    return {"tasks of the shop": _digest(shops.decode())} | {
        f"task {family}/{kind}": _digest(draw(f"{family}/{kind}", 0).model_dump_json())
        for family, kind in kinds
    }


def application_digests() -> dict[str, str]:
    """Return the digests of the tasks of the applications that can be installed."""
    return {
        f"tasks of {name}": _digest(repr([application.draw_tasks(seed) for seed in range(3)]))
        for name, application in APPLICATIONS.items()
    }


async def visit_digests() -> dict[str, str]:
    """Return the digests of the shop's database and of its pages, when they are opened first."""
    database, server = make_database(SHOP, shop_rows()), WorldServer("visit")
    server.open(SHOP, database, "one")
    found = {"database of the shop": sha256(database).hexdigest()}
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(server), base_url=SHOP.origin, cookies={"visit": "one"}
    ) as http:
        for path in PAGES:
            found[path] = sha256((await http.get(path)).content).hexdigest()
        await http.post("/product/1/edit", data={"name": "x"})
    return found


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


if __name__ == "__main__":
    fresh = world_digests([*map(int, sys.argv[1:])]) | task_digests() | application_digests()
    sys.stdout.write(json.dumps(fresh | asyncio.run(visit_digests())))
