"""A vLLM that a run started and that stands still is started again, and the run's requests are asked again."""

import asyncio
import sys
from pathlib import Path

import pytest
from source_tree import ROOT
from support.runs.commands import SECONDS
from support.servers.engine_servers import prompt

from flows.resources.engines import open_policies
from generators.engine.protocol import Sampling
from schemas.configuration.config import RunConfig
from schemas.configuration.sections import EngineKind, EngineSection, PolicyName, PolicySection

PROGRAM = ROOT / "tests" / "support" / "servers" / "simulator_as_vllm.py"


@pytest.mark.full
async def test_a_run_outlives_a_vllm_of_its_own_that_stands_still(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    config = RunConfig(
        policy=PolicySection(name=PolicyName.MODEL, dialect="holotron"),
        engine=EngineSection(
            kind=EngineKind.VLLM,
            model="some/model",
            command=(sys.executable, str(PROGRAM)),
            args=("--stuck", str(tmp_path / "started")),
            wedged_seconds=1.0,
        ),
    )

    async with asyncio.timeout(SECONDS), open_policies(config) as runtime:
        assert runtime._vllm is not None
        assert runtime._engine is not None
        (vllm,), engine = runtime._vllm.live.values(), runtime._engine
        async with asyncio.TaskGroup() as group:
            asked = [
                group.create_task(engine.reply(prompt(), Sampling(max_tokens=16), session=str(one)))
                for one in range(4)
            ]
        restarts = vllm.restarts

    assert restarts == 1
    assert [task.result().retries >= 1 for task in asked] == [True] * 4
