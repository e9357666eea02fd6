"""The run door plays whole episodes at a client's engine, and answers with the reward and the exact tokens."""

import base64
from pathlib import Path

from support.servers.seat_server import seats_config, served

from generators.engine.simulator.options import SimulatorOptions
from generators.engine.simulator.server import SimulatorServer


async def test_an_episode_is_played_at_the_clients_engine_and_kept(tmp_path: Path) -> None:
    async with SimulatorServer(SimulatorOptions()) as engine:
        async with served(seats_config(tmp_path)) as server:
            status, told = await server.run(
                {"task": {"name": "click-test", "index": 1}, "endpoint": engine.url}
            )

        assert status == 200, told
        assert told["failure_kind"] is None
        assert isinstance(told["reward"], float)
        turns = told["trace"]["turns"]
        assert len(turns) >= told["n_steps"] >= 1
        for turn in turns:
            size = len(turn["prompt_token_ids"]) + len(turn["completion_token_ids"])
            assert len(turn["loss_mask"]) == size
            assert len(turn["per_token_logps"]) == len(turn["completion_token_ids"])
            (*_, shown) = turn["metadata"]["pictures"]
            assert shown["length"] > 0
            assert base64.b64decode(told["pictures"][shown["url"]]).startswith(b"\xff\xd8")
        assert server.seats.keeper.committed == 1
