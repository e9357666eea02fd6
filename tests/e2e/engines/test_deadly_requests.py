"""A request that kills its server is asked alone, ends as one failure, and costs nobody else a reply."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from support.engines.mortal_engine import MortalEngine
from support.runs.commands import SECONDS
from support.servers.engine_servers import engine, held_port, prompt, until

from generators.engine.client.client import OpenAIEngine
from generators.engine.client.endpoint_health import Phase
from generators.engine.protocol import Reply, Sampling
from generators.engine.vllm.restart_policy import RestartCounter, RestartPolicy
from schemas.errors import FailureKind, RolloutFailure

SESSIONS, TURNS = 12, 3


async def _revive(
    server: MortalEngine,
    client: OpenAIEngine,
    number: int = 0,
    *,
    counter: RestartCounter | None = None,
    rows: list[int] | None = None,
) -> None:
    """Start a server again whenever its client has found that it is dead, until `counter` gives it up.

    `rows` gets how many deaths in a row there were at each death.
    """

    async def is_known() -> bool:
        return client._open_pool.endpoints[number].health.phase is Phase.DEAD

    while True:
        await server.dead.wait()
        await until(is_known)
        if counter is not None and counter.count_death(0.0) is None:
            return
        if counter is not None and rows is not None:
            rows.append(counter.deaths_in_a_row)
        await server.start()


@asynccontextmanager
async def _revival(*tasks: asyncio.Task[Any]) -> AsyncIterator[None]:
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


async def _converse(client: OpenAIEngine, number: int, deadly: int | None) -> list[Reply]:
    """Return the replies of one conversation, whose prompt of the turn `deadly` kills the server; None: none does."""
    return [
        await client.reply(
            prompt("poison" if turn == deadly else f"{number}/{turn}", picture=True),
            Sampling(),
            session=f"episode-{number}",
        )
        for turn in range(TURNS)
    ]


async def _ask_all(
    client: OpenAIEngine, deadly: Mapping[int, int]
) -> list[list[Reply] | RolloutFailure]:
    """Return how each conversation ended: with all of its replies, or as a failure.

    `deadly` says of some in which turn they kill the server.
    """

    async def converse(number: int) -> list[Reply] | RolloutFailure:
        try:
            return await _converse(client, number, deadly.get(number))
        except RolloutFailure as failure:
            return failure

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(converse(number)) for number in range(SESSIONS)]
    return [task.result() for task in tasks]


@pytest.mark.parametrize(
    "deadly",
    [{3: 1}, {3: 1, 7: 1}, {1: 1, 3: 1, 7: 1}, {1: 0, 3: 1, 7: 2}, {2: 0, 4: 1, 6: 2, 8: 0, 10: 1}],
    ids=["one", "two at once", "three at once", "three in turn", "five"],
)
async def test_a_prompt_that_kills_the_server_each_time_is_its_episodes_failure_alone(
    deadly: Mapping[int, int],
) -> None:
    blamed, counter, rows = 0, RestartCounter(RestartPolicy()), list[int]()

    def blame() -> None:
        nonlocal blamed
        blamed += 1
        counter.forgive()

    with held_port() as port:
        async with (
            MortalEngine(port) as server,
            engine([server.url], on_deadly_request=blame) as client,
            _revival(asyncio.create_task(_revive(server, client, counter=counter, rows=rows))),
            asyncio.timeout(SECONDS),
        ):
            ends = await _ask_all(client, deadly)

    failures = {n: end for n, end in enumerate(ends) if isinstance(end, RolloutFailure)}
    assert failures.keys() == deadly.keys()
    assert all(len(end) == TURNS for end in ends if isinstance(end, list))
    for failure in failures.values():
        assert failure.kind is FailureKind.ENGINE
        assert "bytes of messages, 1 pictures among them" in failure.message
        assert re.search(r"asked alone after \d deaths of its server", failure.message)
    assert server.under_way.count(1) >= len(deadly), "each was alone at its last"
    assert blamed == len(deadly)
    assert max(rows) < (RestartPolicy().backoff.tries or 0), "it would be given up"
    if len(set(deadly.values())) == 1:
        assert len(server.under_way) <= 2 + len(deadly), "two among others, and one of each"


async def test_a_server_that_dies_of_whatever_it_is_asked_is_given_up() -> None:
    counter, given_up = RestartCounter(RestartPolicy()), asyncio.Event()

    async def revive(server: MortalEngine, client: OpenAIEngine) -> None:
        await _revive(server, client, counter=counter)
        given_up.set()

    with held_port() as port:
        async with (
            MortalEngine(port, word="") as server,
            engine([server.url], on_deadly_request=counter.forgive) as client,
            _revival(asyncio.create_task(revive(server, client))),
            asyncio.timeout(SECONDS),
            _revival(asyncio.create_task(_ask_all(client, {}))),
        ):
            await given_up.wait()

    assert len(server.under_way) <= 4 + 2 * (RestartPolicy().backoff.tries or 0)


async def test_with_two_servers_it_kills_three_times_in_all() -> None:
    with held_port() as one_port, held_port() as other_port:
        async with (
            MortalEngine(one_port) as one,
            MortalEngine(other_port) as other,
            engine([one.url, other.url]) as client,
            _revival(
                asyncio.create_task(_revive(one, client)),
                asyncio.create_task(_revive(other, client, 1)),
            ),
            asyncio.timeout(SECONDS),
        ):
            ends = await _ask_all(client, {5: 1})

    assert [n for n, end in enumerate(ends) if isinstance(end, RolloutFailure)] == [5]
    assert len(one.under_way) + len(other.under_way) == 3


async def test_a_server_that_only_died_twice_of_itself_costs_no_reply() -> None:
    with held_port() as port:
        async with (
            MortalEngine(port) as server,
            engine([server.url]) as client,
            _revival(asyncio.create_task(_revive(server, client))),
            asyncio.timeout(SECONDS),
        ):
            asked = asyncio.create_task(_ask_all(client, {}))
            for _ in range(2):

                async def is_asked() -> bool:
                    return bool(server._asking)

                await until(is_asked)
                deaths = len(server.under_way)
                server._die()

                async def is_back(deaths: int = deaths) -> bool:
                    return len(server.under_way) > deaths and not server.dead.is_set()

                await until(is_back)
            ends = await asked

    assert all(isinstance(end, list) and len(end) == TURNS for end in ends)
    assert len(server.under_way) == 2
