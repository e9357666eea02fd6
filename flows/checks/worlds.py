"""Checks worlds and their tasks with their gates.

Pages of a world are read without a browser. Its tasks are checked for shortcuts, for leaks, and for rewards in the
end states of aimless visits. In a browser a page of each kind is checked, and some tasks go through the gates of
`flows/checks/tasks.py`. Another process, with another time zone, locale and hash seed, draws everything again.
Nothing is stored.
"""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import product
from typing import NamedTuple
from urllib.parse import urlencode

from flows.checks.tasks import GateKeeper
from flows.checks.world_pages import SIZE, SIZES, find_defects, open_in_place, open_world
from flows.resources.browsers import Browsers
from generators.sites.gates import Gate
from generators.sites.state import ServerState, judge_states
from generators.tasks.worlds.draw import draw_tasks
from generators.tasks.worlds.ground.task import WorldTask, to_task
from generators.tasks.worlds.ground.world_rows import Setting
from generators.tasks.worlds.kinds import KINDS
from generators.tasks.worlds.leaks import Looked, find_leaks, operand_searches, shortcut_that_pays
from generators.worlds.checking.crawl import Crawl, Trial, WorldGate
from generators.worlds.drawing.draw import draw, draw_whole
from schemas.base import Record
from schemas.configuration.config import RunConfig, resolve
from schemas.tasks.reference import MAX_STEPS
from schemas.worlds.world import World

_ELSEWHERE = {"PYTHONHASHSEED": "77", "TZ": "Pacific/Chatham", "LC_ALL": "C", "LANG": "C"}
_NOWHERE = "zzqx"
"""A search term that no title contains."""

_SECONDS = 900.0
"""Time limit of an attempt at a task of a world, in seconds."""

_DIGESTS = (
    "import json, sys; from flows.checks.worlds import world_digest; "
    "print(json.dumps([world_digest(*each) for each in json.load(sys.stdin)]))"
)


class WorldCheck(Record):
    """The results of the gates for one world."""

    world: str
    """Its family and seed, as `shop/7`."""
    pages: int
    """The number of pages that were read."""
    addresses: int
    """The number of requested URLs."""
    forms: int
    """The number of submitted forms."""
    tasks: int
    """The number of tasks that were drawn and checked without a browser."""
    attempted: int
    """The number of these tasks that went through all gates, in a browser."""
    again: int
    """The number of invalid draws of its seed."""
    failing: tuple[tuple[str, str], ...]
    """The failed gates of the world and its tasks, each with the finding; empty: all passed."""


class _Wrong(NamedTuple):
    gate: str
    because: str


def check_config() -> RunConfig:
    """Return the configuration of a check's attempts, whose limits suffice for every reference."""
    settings = {
        "browser": {"viewport": [*SIZE]},
        "limits": {"steps": MAX_STEPS, "seconds": _SECONDS},
    }
    return resolve([("a check of worlds", settings)])


@dataclass(frozen=True, slots=True)
class WorldKeeper:
    """Checks worlds with the gates."""

    keeper: GateKeeper
    """Checks their tasks with the gates of tasks."""
    browsers: Browsers
    """Sessions."""
    attempts: int
    """The number of tasks of each world that go through all gates."""

    async def check(self, family: str, seed: int) -> WorldCheck:
        """Return the results of the gates for the world of a seed.

        Raises:
            BadTasks: the world does not exist.
        """
        world, rows, again = draw(family, seed)
        setting, trial = Setting(world, rows), Trial(world, rows)
        crawl = await trial.crawl()
        tasks = draw_tasks(world, rows, seed, len(KINDS))
        failing = [_Wrong(one.gate, one.because) async for one in trial.gates(crawl)]
        for task in tasks:
            failing += [one async for one in task_failures(setting, trial, crawl, task)]
        failing += [one async for one in self._look(world, crawl)]
        for task in tasks[: self.attempts]:
            held = await self.keeper.check(to_task(world, task))
            failing += [_Wrong(gate, f"{task.kind}: {because}") for gate, because in held.failing]
        return WorldCheck(
            world=f"{family}/{seed}",
            pages=len(crawl.pages),
            addresses=crawl.asked,
            forms=crawl.sent,
            tasks=len(tasks),
            attempted=min(self.attempts, len(tasks)),
            again=again,
            failing=tuple(dict.fromkeys((one.gate, one.because) for one in failing)),
        )

    async def _look(self, world: World, crawl: Crawl) -> AsyncIterator[_Wrong]:
        """Yield the usability defects of a page of each kind, and of what it opens over itself, in each window."""
        kinds = {_kind(page): page for page in reversed(crawl.pages)}
        for size, page in product(SIZES, kinds.values()):
            async with open_world(self.browsers, world, page, size=size) as session:
                found = await find_defects(session)
                if await open_in_place(session):
                    await session.settle()
                    found += await find_defects(session)
                for defect in found:
                    yield _Wrong(WorldGate.USABLE, f"{page} at {size[0]} × {size[1]}: {defect}")


def _kind(page: str) -> str:
    """Return the kind of a page: its path without numbers."""
    return "/".join("0" if part.isdigit() else part for part in page.partition("?")[0].split("/"))


async def task_failures(
    setting: Setting, trial: Trial, crawl: Crawl, task: WorldTask
) -> AsyncIterator[_Wrong]:
    """Yield the gates that a task fails, as far as they need no browser."""
    searches = dict[str, tuple[str, str]]()
    whole = to_task(setting.world, task)
    with trial.visit() as (opened, state):
        before = ServerState(state())
        for view, query in operand_searches(setting, task):
            found, empty = (f"/{view}?{urlencode({'q': text})}" for text in (query, _NOWHERE))
            searches[found] = ((await opened.ask(found)).text, (await opened.ask(empty)).text)
    for leak, because in find_leaks(setting, task, Looked(crawl.pages, searches)):
        yield _Wrong(Gate.NO_SOLUTION_LEAKAGE, f"{task.kind}: {leak.value}: {because}")
    if paid := shortcut_that_pays(setting, task):
        yield _Wrong(Gate.CANARY_FLOOR, f"{task.kind}: {paid} is rewarded")
    for what, end in crawl.ends.items():
        said = await judge_states(whole, before=before, after=ServerState(end), answer="")
        if said.reward:
            yield _Wrong(Gate.CANARY_FLOOR, f"{task.kind}: {what}, and that is rewarded")


def world_digest(family: str, seed: int) -> str:
    """Return the hash of everything that a seed draws: the specification, rows, tasks and pages."""

    async def pages(trial: Trial) -> dict[str, str]:
        with trial.visit() as (opened, _):
            first = (await opened.ask("/", is_first=True)).text
            paths = ("/", *(f"/{view.name}" for view in world.views))
            return {"": first} | {path: (await opened.ask(path)).text for path in paths}

    world, rows = draw_whole(family, seed)
    drawn = [task.model_dump_json() for task in draw_tasks(world, rows, seed, len(KINDS))]
    shown = asyncio.run(pages(Trial(world, rows)))
    return sha256(json.dumps([world.sha256, rows, drawn, shown]).encode()).hexdigest()


def drawn_elsewhere(worlds: Sequence[tuple[str, int]]) -> Iterator[tuple[str, str]]:
    """Yield the worlds that another process draws differently, each with a message."""
    here = [world_digest(*each) for each in worlds]
    for each, mine, theirs in zip(worlds, here, _ask_elsewhere(worlds), strict=True):
        if mine != theirs:
            name = f"{each[0]}/{each[1]}"
            yield name, "another process, time zone, locale and hash seed draw another world"


def _ask_elsewhere(worlds: Sequence[tuple[str, int]]) -> list[str]:
    done = subprocess.run(  # noqa: S603 - our own module
        [sys.executable, "-c", _DIGESTS],
        input=json.dumps(worlds),
        env={**os.environ, **_ELSEWHERE, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=True,
    )
    found: list[str] = json.loads(done.stdout)
    return found
