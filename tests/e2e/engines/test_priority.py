"""A server that schedules by priority is told which episodes are older, and no other server is."""

import asyncio
from collections.abc import Sequence

import pytest
from support.runs.commands import SECONDS
from support.servers.engine_servers import engine, prompt

from flows.resources.engines import open_engine
from generators.engine.client.client import OpenAIEngine
from generators.engine.protocol import Sampling
from generators.engine.simulator.faults import Fault, FaultKind
from generators.engine.simulator.server import SimulatorServer
from schemas.configuration.config import RunConfig
from schemas.configuration.sections import EngineKind, EngineSection

SAMPLING = Sampling(max_tokens=16)


async def _ask_in_turn(client: OpenAIEngine, sessions: Sequence[str]) -> None:
    for session in sessions:
        await client.reply(prompt(session), SAMPLING, session=session)


def _sent(server: SimulatorServer, field: str = "priority") -> list[object]:
    """Return a field of the requests that came in, oldest first; "none" where it is missing."""
    return [chat.body.get(field, "none") for chat in reversed(list(server.request_log.latest(64)))]


async def test_older_episodes_have_a_lower_priority_and_who_lives_nowhere_the_lowest() -> None:
    async with (
        asyncio.timeout(SECONDS),
        SimulatorServer() as server,
        engine([server.url], by_priority=True) as client,
        client.live("old"),
    ):
        async with client.live("middle"), client.live("young"):
            asked = ("young", "old/validator", "judge", "middle", "old")
            await _ask_in_turn(client, asked)
        async with client.live("later"):
            await _ask_in_turn(client, ("later", "old"))

    assert _sent(server) == [3, 1, 0, 2, 1, 4, 1]


async def test_a_request_that_is_sent_again_keeps_its_priority() -> None:
    async with (
        asyncio.timeout(SECONDS),
        SimulatorServer() as server,
        engine([server.url], by_priority=True) as client,
        client.live("old"),
        client.live("young"),
    ):
        server.add_fault(Fault(kind=FaultKind.HTTP_500, times=2, session="young"))
        await _ask_in_turn(client, ("young",))

    assert _sent(server) == [2, 2, 2]


@pytest.mark.parametrize(("args", "told"), [((), "none"), (("--scheduling-policy", "priority"), 1)])
async def test_only_a_server_that_was_started_so_is_told(
    args: tuple[str, ...], told: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers: list[SimulatorServer] = []
    start = SimulatorServer.__aenter__

    async def remember(server: SimulatorServer) -> SimulatorServer:
        servers.append(server)
        return await start(server)

    monkeypatch.setattr(SimulatorServer, "__aenter__", remember)
    config = RunConfig(engine=EngineSection(kind=EngineKind.SIMULATOR, args=args))
    async with asyncio.timeout(SECONDS), open_engine(config) as client, client.live("episode"):
        await _ask_in_turn(client, ("episode",))

    assert _sent(servers[0]) == [told]
