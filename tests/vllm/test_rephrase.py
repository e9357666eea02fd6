"""`stepmill tasks rephrase` with real vLLM: a model of random weights is asked, and nothing of its nonsense is kept."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.runs.commands import called
from support.servers.engine_serve import Serving
from support.worlds import drawn

from flows.terminal import ExitCode

pytestmark = pytest.mark.timeout(1_200)  # a start takes half a minute, on a busy machine several

KINDS = ("edit", "find", "delete", "count")


@pytest.fixture(scope="module", name="address")
def _address() -> Iterator[str]:
    running = Serving()
    try:
        yield running.url()
    finally:
        running.end()


def test_nothing_that_means_something_else_is_kept(address: str, tmp_path: Path) -> None:
    seed = drawn.english("banking")
    tasks = [task for kind in KINDS if (task := drawn.task("banking", kind, seed)) is not None]
    source, target = tmp_path / "tasks.jsonl", tmp_path / "other.jsonl"
    kept = ("site", "template_id", "seed", "parameters", "expect")
    rows = [task.model_dump(mode="json", include=set(kept)) for task in tasks]
    source.write_text("".join(f"{json.dumps(row)}\n" for row in rows))

    said = called(
        *("tasks", "rephrase", str(source), "--engine", address, "--to", str(target), "--json")
    )

    assert said.code == ExitCode.SHORT, said.err
    told = json.loads(said.out)
    assert (told["goals"], told["rephrased"]) == (len(tasks), 0)
    assert sum(told["refused"].values()) == len(tasks)
    assert not any("the engine gave no reply" in reason for reason in told["refused"])
    written = [json.loads(line) for line in target.read_text().splitlines()]
    assert [row["instruction"] for row in written] == [task.instruction for task in tasks]
