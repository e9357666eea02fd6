"""A whole run asks a vLLM of its own, which is killed in the middle and loses nothing."""

import contextlib
import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import psutil
import pytest
from deltalake import DeltaTable
from source_tree import ROOT
from support.runs.commands import Said, called, start, until

from generators.engine.vllm.command import LOCAL_VLLM

pytestmark = [pytest.mark.browser, pytest.mark.timeout(1_800)]

CONFIG = "configs/laptop-vllm.toml"
EPISODES = 32
SECONDS = 1_500.0
LEAST_STOPPED = 0.95
TILE, AROUND = 16, 2
"""Tokens of a tile of a picture, and those that enclose a picture."""

MOST_TILES = 13
"""Of a picture of the configuration's size, its thumbnail included."""


@dataclass(frozen=True, slots=True)
class Made:
    """A finished run whose engine was killed while it was asked."""

    run: Path
    said: Said
    left: int
    """Processes that outlived the command."""

    def rows(self, table: str) -> list[dict[str, Any]]:
        """Return the rows of a table."""
        return list(DeltaTable(self.run / "tables" / table).to_pyarrow_table().to_pylist())


def servers(command: psutil.Process) -> list[psutil.Process]:
    """Return the API server that a command runs, if it does now."""
    found = []
    for process in command.children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if "serve" in process.cmdline() and str(LOCAL_VLLM) in " ".join(process.cmdline()):
                found.append(process)
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    run = tmp_path_factory.mktemp("laptop") / "run"
    process = start(
        "generate", "--json", "--no-prefect", f"--config={CONFIG}", f"--run={run}",
        "--set=tasks.seeds=[0,7]", "--set=tasks.unit_size=4",
    )  # fmt: skip
    command = psutil.Process(process.pid)
    try:
        until(lambda: process.poll() is not None or any(run.glob("spool/*/*")))
        assert process.poll() is None, process.communicate()[1]
        family = command.children(recursive=True)
        for server in servers(command):
            server.kill()
        out, err = process.communicate(timeout=SECONDS)
    finally:
        with contextlib.suppress(psutil.NoSuchProcess):
            command.kill()
    _, alive = psutil.wait_procs(family, timeout=30)
    return Made(run, Said(process.returncode, out, err), len(alive))


def test_an_engine_killed_in_the_middle_costs_no_episode(made: Made) -> None:
    episodes = made.rows("episodes")

    assert made.said.code == 0, made.said.err
    assert "starting it again" in made.said.err
    assert made.said.answer["episodes"] == len(episodes) == EPISODES
    assert {row["failure_kind"] for row in episodes} <= {None, "policy"}
    assert made.left == 0


def test_every_reply_that_ended_by_itself_is_a_valid_action(made: Made) -> None:
    calls = made.rows("calls")
    [prompt] = made.rows("prompts")[:1]
    schema = json.loads(prompt["tools"])
    stopped = [call["reply"] for call in calls if call["finish_reason"] == "stop"]

    assert len(calls) > EPISODES // 2
    assert len(stopped) >= LEAST_STOPPED * len(calls)
    for reply in stopped:
        jsonschema.validate(json.loads(reply, strict=False), schema)


def test_tokens_and_usage_are_on_record(made: Made) -> None:
    calls = made.rows("calls")
    asked = [row for row in made.rows("episodes") if row["policy"] == "model"]
    shown = called("show", str(made.run), "--json").answer["engine"]

    for call in calls:
        assert len(call["prompt_token_ids"]) == call["prompt_tokens"]
        assert len(call["completion_token_ids"]) == call["completion_tokens"]
        assert len(call["completion_logprobs"]) == call["completion_tokens"]
        assert call["logprobs_mode"] == "processed"
        assert call["model"] == "models/tiny"
        assert call["structured_mode"] == "json_schema"
        assert call["reasoning"] is None
    assert {row["engine"] for row in asked} == {"vllm"}
    assert {row["engine_version"] for row in asked} != {None}
    assert isinstance(shown, dict)
    assert shown["prompt_tokens"] == sum(call["prompt_tokens"] for call in calls)
    assert called("audit", str(made.run), "--deep").code == 0


def test_what_every_call_took_is_on_record(made: Made) -> None:
    calls = made.rows("calls")
    shown = called("show", str(made.run), "--json").answer["engine"]

    for call in calls:
        tiles, rest = divmod(call["image_tokens"] - AROUND * len(call["image_steps"]), TILE)
        assert rest == 0
        assert 1 < tiles <= MOST_TILES * len(call["image_steps"])
        assert call["cached_tokens"] == 0  # no prefix cache works on a CPU: that it is none is said
        assert 0 <= call["queue_ms"] < call["ttft_ms"] <= call["total_ms"]
    assert isinstance(shown, dict)
    assert shown["image_tokens"] == sum(call["image_tokens"] for call in calls)
    assert shown["cached_tokens"] == 0


def test_the_configuration_is_the_one_that_newcomers_are_told_of() -> None:
    read = tomllib.loads((ROOT / CONFIG).read_text(encoding="utf-8"))

    assert read["engine"]["kind"] == "vllm"
    assert read["browser"]["sessions"] == 8
