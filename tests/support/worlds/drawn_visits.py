"""Visits of worlds that seeds draw, over ASGI: in a browser without scripts, by bare requests, and what they are paid."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple, cast

import httpx
from support.worlds import drawn
from support.worlds.world_browser import WorldBrowser

from generators.sites.gates import Attempted
from generators.sites.judging.answers import read_number
from generators.sites.state import ServerState, judge_states
from generators.tasks.worlds.ground.task import WorldTask, to_task
from generators.tasks.worlds.ground.world_rows import Setting
from generators.tasks.worlds.references.sheets import with_ways_out
from generators.tasks.worlds.references.steps import Steps, answer
from generators.verify.shown import Shown, Words
from generators.worlds.serving.server import WorldServer
from generators.worlds.state.database import Rows, make_database
from schemas.tasks.expectation import Expectation, Matches
from schemas.tasks.reference import Do
from schemas.tasks.task import Task
from schemas.worlds.world import World

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
async def visiting(
    world: World, rows: Rows | None = None, *, start: str = "/"
) -> AsyncIterator[Seen]:
    """Visit a world, with the rows that it draws where none are given, and open a page of it."""
    server = WorldServer("visit")
    server.open(world, make_database(world, drawn.rows_of(world) if rows is None else rows), "a")
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(server),
        base_url=world.origin,
        cookies={"visit": "a"},
        follow_redirects=True,
    ) as client:
        browser = WorldBrowser(client)
        await browser.open(start)
        yield Seen(browser, client, server)
    server.close("a")


async def reward(world: World, steps: Steps, expect: Expectation) -> float:
    """Return what steps are paid that are to change what is expected and nothing else."""
    steps = with_ways_out(setting_of(world), steps)
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


async def attempt(world: World, rows: Rows, task: Task) -> tuple[Attempted, list[str]]:
    """Carry out a task's reference; return its ends, and the texts of the pages it opened.

    What it writes or answers stands in the instruction or on a page that it has opened.
    """
    assert task.expect is not None
    assert task.reference
    async with visiting(world, rows, start=task.start_url) as seen:
        before = ServerState(seen.server.state("a"))
        for step in task.reference:
            follows = step.do is Do.ANSWER and task.expect.facts
            is_refusal = step.do is Do.ANSWER and isinstance(task.expect.answer, Matches)
            is_refusal = is_refusal and bool(task.expect.looked)
            needed = task.expect.facts if follows else filter(None, (step.text,))
            needed = () if is_refusal else needed
            for text in (
                needed if step.do not in {Do.PRESS, Do.DRAG, Do.FIND, Do.READ, Do.TAB} else ()
            ):
                stated = (task.instruction, *seen.browser.read)
                assert any(_states(each, text) for each in stated), (
                    f"'{text}' of {task.instruction} stands nowhere"
                )
            await seen.browser.do(step)
        after = ServerState(seen.server.state("a"))
        return Attempted(before, after, seen.browser.answer), seen.browser.read


def _states(text: str, wanted: str) -> bool:
    """Return whether a text has another, whatever its capital letters, or the same number, amount or day."""
    shown, bare = Shown((Words(None, [(text, None)]),), ()), wanted.strip()
    number, parts = read_number(bare), bare.split("/")
    if len(parts) == len(("month", "day", "year")) and all(part in text for part in parts):
        return True
    return shown.find(bare) is not None or (
        number is not None
        and any(read_number(word.strip('",.;?')) == number for word in text.split())
    )


async def paid(task: Task, attempted: Attempted) -> float:
    """Return what the end of an attempt is paid."""
    judgement = await judge_states(
        task, before=attempted.before, after=attempted.after, answer=attempted.answer
    )
    return judgement.reward


def setting_of(world: World) -> Setting:
    return Setting(world, drawn.rows_of(world))
