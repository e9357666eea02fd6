"""The ledger of a run agrees with its server's counters to the token, repair turns and lost replies included.

What a run asks beside its episodes' calls, and what is lost on the way, is in the simulator's log of requests.
"""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from support.runs.commands import UNREPLAYED, called
from support.servers.engine_servers import scripted_engine

from generators.engine.client.metrics import EngineMetrics, read_metrics
from generators.engine.client.transport import Transport

pytestmark = pytest.mark.browser

COUNTERS = {
    "prompt_tokens": "prompt_tokens",
    "cached_tokens": "cached_prompt_tokens",
    "completion_tokens": "generation_tokens",
}
"""A figure of the ledger, and the server's counter of it."""

FLAGS = ("--speed=1000", "--enable-prompt-tokens-details")
"""A server in a hurry, which reports what it cached."""

FAULTS = ("--fault=empty:1:after=1", "--fault=cut:1:after=3", "--fault=aborted:1:after=5")
"""A reply that cannot be read, one that ends in the middle, and one that the server ends itself."""


async def _read_pages(url: str) -> tuple[EngineMetrics | None, dict[str, Any]]:
    """Return the server's counters, and its log of requests."""
    async with Transport(url) as transport:
        log = await transport.get("/requests?last=64", seconds=60.0)
    return await read_metrics(url), json.loads(log.body)


@pytest.mark.parametrize(
    ("preset", "caches"),
    [("holotron-fp16", True), pytest.param("holotron-uncached", False, marks=pytest.mark.full)],
)
def test_the_ledger_agrees_with_the_servers_counters(
    tmp_path: Path, preset: str, *, caches: bool
) -> None:
    run = tmp_path / "run"
    with scripted_engine(f"--preset={preset}", *FLAGS, *FAULTS) as (_, url):
        said = called(
            "generate",
            "--json",
            "--no-prefect",
            f"--run={run}",
            "--set=policy.name=model",
            "--set=engine.kind=openai",
            f"--set=engine.urls=['{url}/v1']",
            "--set=engine.usd_per_million={prompt=1.0,cached=0.1,completion=4.0}",
            "--set=browser.viewport=[512,512]",
            "--set=browser.sessions=2",
            "--set=tasks.include=['click-checkboxes-large','choose-list']",
            "--set=tasks.seeds=[0,1]",
            "--set=limits.steps=5",
            *UNREPLAYED,
        )
        counted, log = asyncio.run(_read_pages(url))
    engine: Any = called("show", str(run), "--json").answer["engine"]
    lines = called("show", str(run)).out
    asked = log["last"]
    lost = [one for one in asked if one["outcome"] == "broken" or one["finish_reason"] == "abort"]
    beside = [*lost, *(one for one in asked if one["session"] == "preflight")]

    assert said.code in (0, 1), said.err
    assert counted is not None
    assert len(asked) == log["chats"] == engine["calls"] + len(beside)
    for figure, counter in COUNTERS.items():
        elsewhere = sum(one[figure] for one in beside)
        assert engine[figure] + elsewhere == getattr(counted, counter), figure
        assert engine[figure] == sum(own[figure] for own in engine["owners"].values()), figure
    aborted, cut = lost  # the log begins with the newest
    assert engine["wasted_tokens"] == (
        cut["prompt_tokens"] + aborted["prompt_tokens"] + aborted["completion_tokens"]
    )
    assert engine["owners"]["repair"]["calls"] == 1
    assert (engine["cached_tokens"] > 0) == caches
    assert caches or engine["again_tokens"] > 0
    assert engine["prompt_tokens"] == (
        engine["cached_tokens"] + engine["new_tokens"] + engine["again_tokens"]
    )
    assert f"{engine['wasted_tokens']:,} tokens of lost replies" in lines
