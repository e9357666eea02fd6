"""Seats to be measured: a server in this process, clients in another one, and the same episodes without a door."""

import asyncio
import contextlib
import json
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from bench.loading.seat_clients import STEPS, TASKS, TOKEN, Played, action
from flows.serving.app import open_doors
from flows.serving.client_engines import ClientEngine, ClientEngines
from flows.serving.run_door import RunRequest, policy_of
from flows.serving.seating import Seats
from generators.policy.model.try_account import Account
from generators.policy.protocol import Decision, Policy, PolicyCard, PolicyInput
from generators.seats.actions import decision_of, read_message
from schemas.configuration.config import RunConfig, resolve
from schemas.episodes.episode import PolicyKind
from schemas.episodes.viewport import Viewport
from schemas.tasks.selector import Selector

TEMPLATE = "click-checkboxes-large"
ROOT = Path(__file__).parents[2]
CARD = PolicyCard(name="bench", kind=PolicyKind.SCRIPTED)


def config_of(*, sessions: int, **sections: Any) -> RunConfig:
    """Return the configuration of a server of the bench, whose tasks no action ends."""
    layer: dict[str, Any] = {
        "run": {"url": str(Path(tempfile.mkdtemp(prefix="seats-")) / "run")},
        "tasks": {"include": [TEMPLATE], "seeds": [0, TASKS - 1], "unit_size": 64},
        "browser": {"sessions": sessions},
        "limits": {"steps": STEPS, "stuck_steps": STEPS + 1, "seconds": 600},
        "verify": {"verifiers": ["structure", "outcome"]},
        "accept": {"passed": ["structure", "outcome"]},
        "seats": {"max_waiting": 4_000, "wait_seconds": 600},
    }
    for name, keys in sections.items():
        layer[name] = {**layer.get(name, {}), **keys}
    return resolve([("the bench", layer)])


def served(seats: Seats) -> AbstractAsyncContextManager[str]:
    """Open the doors to seats; the block gets their address."""
    return open_doors(seats, {"trainer": TOKEN}, shutdown_seconds=1.0)


class Clients:
    """The process of the clients."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.pid = process.pid
        """Its id."""
        self.cpu = 0.0
        """The CPU seconds that it has used."""

    async def ask(self, work: str, **given: Any) -> Any:
        """Return the result of a piece of work."""
        to, back = self._process.stdin, self._process.stdout
        if to is None or back is None:
            raise SystemExit("the clients' process has no pipes")
        to.write(json.dumps([work, given]).encode() + b"\n")
        line = await back.readline()
        if not line:
            raise SystemExit(f"the clients' process ended while it did {work}")
        told = json.loads(line)
        self.cpu = told["cpu"]
        return told["found"]


@contextlib.asynccontextmanager
async def clients() -> AsyncIterator[Clients]:
    """Run the process of the clients."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.loading.seat_clients"),
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=1 << 26,
    )
    try:
        yield Clients(process)
    finally:
        process.kill()
        await process.wait()


Open = Callable[[RunConfig], AbstractAsyncContextManager[Seats]]
"""Opens seats."""


class Room(NamedTuple):
    """Seats, their address, and the process of their clients."""

    seats: Seats
    url: str
    clients: Clients


@contextlib.asynccontextmanager
async def room_of(config: RunConfig, opening: Open) -> AsyncIterator[Room]:
    """Open seats, doors and clients."""
    async with clients() as there, opening(config) as seats, served(seats) as url:
        yield Room(seats, url, there)


async def quiet(room: Room) -> None:
    """Wait until everything that ended is committed."""
    keeper = room.seats.keeper
    async with asyncio.timeout(900):
        while room.seats.turnstile.in_use or keeper.committed < keeper.kept:  # noqa: ASYNC110 - no event says it
            await asyncio.sleep(0.2)


class Given:
    """A policy that takes the actions of the clients at once, and notes the ms from each to the next page."""

    card = CARD

    def __init__(self, viewport: Viewport, times: list[float]) -> None:
        self._viewport, self._times = viewport, times
        self._acted: float | None = None

    async def act(self, turn: PolicyInput) -> Decision:
        """Return the next action."""
        if self._acted is not None:
            self._times.append((time.perf_counter() - self._acted) * 1e3)
        told = read_message({"action": action(len(turn.history))})
        decision = decision_of(told, self._viewport, None)
        self._acted = time.perf_counter()
        return decision


async def play_many_here(seats: Seats, count: int, episodes: int) -> Played:
    """Play episodes in this process with the clients' actions, so many at once."""
    times, free, begun = list[float](), asyncio.Semaphore(count), time.perf_counter()

    async def one(index: int) -> int:
        async with free:
            task = await seats.desk.draw(Selector(index=index % TASKS))
            episode = await seats.play(
                "here", task, lambda _planned, _account, viewport: Given(viewport, times)
            )
        return episode.n_steps

    async with asyncio.TaskGroup() as group:
        playing = [group.create_task(one(index)) for index in range(episodes)]
    return times, sum(task.result() for task in playing), time.perf_counter() - begun


async def run_many_here(seats: Seats, count: int, episodes: int, asked: dict[str, Any]) -> Played:
    """Play episodes in this process with the policy that the run door would play them with."""
    request = RunRequest.model_validate(asked)
    engine = ClientEngine(
        endpoint=request.endpoint,
        model=request.model,
        policy=policy_of(request, seats.config.policy),
    )
    engines, free, begun = (
        ClientEngines(seats.config),
        asyncio.Semaphore(count),
        time.perf_counter(),
    )
    async with engines.hold(engine) as runtime:

        async def one(index: int) -> int:
            def make(planned: Any, account: Account, viewport: Viewport) -> Policy:
                return runtime.policies.make(
                    engine.policy,
                    seed=planned.seed,
                    task=planned.task,
                    account=account,
                    viewport=viewport,
                )

            async with free:
                task = await seats.desk.draw(Selector(index=index % TASKS))
                episode = await seats.play(
                    *("here", task, make),
                    live=lambda planned: runtime.live(engine.policy, planned.seed),
                )
            return episode.n_steps

        async with asyncio.TaskGroup() as group:
            playing = [group.create_task(one(index)) for index in range(episodes)]
    await engines.close()
    return [], sum(task.result() for task in playing), time.perf_counter() - begun


def own_cpu() -> float:
    """Return the CPU seconds that this process has used, its browsers and clients not counted."""
    return sum(os.times()[:2])


def browser_cpu(but: int) -> float:
    """Return the CPU seconds that the processes below this one have used, but for that of the clients."""
    total = os.times().children_user + os.times().children_system
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if child.pid != but:
                times = child.cpu_times()
                total += times.user + times.system + times.children_user + times.children_system
    return total
