"""Three prompts that kill a vllm of a run's own, each time and in processes of its own, cost their episodes alone."""

import asyncio
import sys

import pytest
from source_tree import ROOT
from support.runs.commands import SECONDS
from support.servers.engine_servers import prompt

from flows.resources.engines import open_policies
from generators.engine.client.client import OpenAIEngine
from generators.engine.protocol import Sampling
from schemas.configuration.config import RunConfig
from schemas.configuration.sections import EngineKind, EngineSection, PolicyName, PolicySection
from schemas.errors import RolloutFailure

PROGRAM = ROOT / "tests" / "support" / "servers" / "simulator_as_vllm.py"
DEADLY = ("episode-1", "episode-4", "episode-7")
EPISODES, TURNS = 10, 4


async def _live(engine: OpenAIEngine, session: str) -> str:
    """Return how an episode ended: empty if it had all of its replies."""
    async with engine.live(session):
        for turn in range(TURNS):
            try:
                await engine.reply(prompt(f"{turn}"), Sampling(max_tokens=16), session=session)
            except RolloutFailure as failure:
                return failure.message
    return ""


@pytest.mark.full
async def test_a_run_outlives_three_prompts_that_kill_its_own_vllm_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(ROOT)
    config = RunConfig(
        policy=PolicySection(name=PolicyName.MODEL, dialect="holotron"),
        engine=EngineSection(
            kind=EngineKind.VLLM,
            model="some/model",
            command=(sys.executable, str(PROGRAM)),
            args=tuple(arg for session in DEADLY for arg in ("--deadly", session)),
        ),
    )

    async with asyncio.timeout(SECONDS), open_policies(config) as runtime:
        assert runtime._vllm is not None
        assert runtime._engine is not None
        (vllm,), engine = runtime._vllm.live.values(), runtime._engine
        sessions = [f"episode-{number}" for number in range(EPISODES)]
        async with asyncio.TaskGroup() as group:
            tasks = {one: group.create_task(_live(engine, one)) for one in sessions}
        ends = {session: task.result() for session, task in tasks.items()}
        restarts = vllm.restarts
        await vllm.wait_ready()

    failed = {session: why for session, why in ends.items() if why}
    assert failed.keys() == set(DEADLY)
    assert all("asked alone" in why for why in failed.values()), failed
    assert restarts <= 2 + len(DEADLY)
