"""A dataset on the Hub, read with the readers people have, and published by the command."""

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from hub.publishing import DATASET, TO
from hub.server import TOKEN, LocalHub
from support.episodes.factories import (
    HEIGHT,
    WIDTH,
    commit_whole_unit,
    make_prompt,
    make_task,
    make_unit,
    make_verdict,
)
from support.runs.kill_at import Doom
from support.runs.memory_run import RULE, TEST, TRAIN, VALIDATION
from support.runs.small_runs import scripted_trial

from schemas.configuration.config import RunConfig
from schemas.configuration.sections import StorageSection
from storage.lake.lake import Lake
from storage.objects.local import LocalStore
from storage.run_file import create_run

SECONDS = 240

_LOAD = """
import json, os, time
from datasets import load_dataset
begun = time.perf_counter()
stream = load_dataset("org/data", "steps", split="train", streaming=True)
opened = time.perf_counter()
row = next(iter(stream))
seconds = time.perf_counter() - opened
row["screenshot"].load()
plain = load_dataset("org/data", "steps")
others = ("trajectories", "tasks", "attempts", "results", "verdicts", "observations", "calls", "prompts")
tagged = load_dataset("org/data", "trajectories", revision="v1", split="test")
print(json.dumps({
    "seconds": seconds,
    "opening": opened - begun,
    "size": row["screenshot"].size,
    "rows": {name: len(split) for name, split in plain.items()},
    "picture": plain["test"][0]["screenshot"].size,
    "others": {name: sum(map(len, load_dataset("org/data", name).values())) for name in others},
    "tagged": len(tagged),
}), flush=True)
os._exit(0)  # a stream that is not read to its end leaves threads that may abort the process
"""


async def _make_run(at: Path) -> None:
    """Commit a unit of each split, judge it, and seal a version."""
    store = LocalStore(at)
    run = await create_run(store, RunConfig(), provenance={"commit": "abc"})
    lake = Lake(str(at), store, StorageSection())
    for number, template in enumerate((TRAIN, VALIDATION, TEST)):
        tasks = [make_task(10 * number + place, template=template) for place in range(2)]
        prompt = make_prompt() if number == 1 else None
        unit, episodes = make_unit(tasks, attempts=2, run_id=run.run_id, prompt=prompt)
        await commit_whole_unit(lake, unit, tasks=tasks, episodes=episodes)
        for name in RULE.passed:
            verdicts = [make_verdict(episode, verifier=name) for episode in episodes]
            await lake.commit_verdicts(
                unit, verifier=name, version="1", round_=0, verdicts=verdicts
            )
    await lake.seal()
    await lake.close()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    at: Path = tmp_path_factory.mktemp("run")
    asyncio.run(_make_run(at))
    return at


either = pytest.mark.parametrize(
    "served", ["xet", pytest.param("lfs", marks=pytest.mark.full)], indirect=True
)
"""Marks what is asked of a Hub without Xet where there is little time, too."""


@pytest.fixture(scope="module", params=["xet", pytest.param("lfs", marks=pytest.mark.full)])
def served(
    request: pytest.FixtureRequest, run: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[LocalHub, dict[str, str]]]:
    """Publish the run by the command, to a Hub with Xet or without; return the environment."""
    folder: Path = tmp_path_factory.mktemp("served")
    xet = request.param == "xet"
    with LocalHub(folder / "hub", xet=xet) as hub:
        environment = _environment(hub, folder / "home", xet=xet)
        done = _stepmill("publish", str(run), "--to", TO, environment=environment)
        assert done.returncode == 0, done.stderr
        yield hub, environment


def _environment(hub: LocalHub, home: Path, *, xet: bool) -> dict[str, str]:
    return {
        **os.environ,
        "HF_ENDPOINT": hub.url,
        "HF_HOME": str(home),
        "HF_TOKEN": TOKEN,
        "HF_HUB_DISABLE_XET": "" if xet else "1",
        "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
    }


def _stepmill(*argv: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "flows.cli", *argv, "--no-prefect", "--json"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )


@pytest.mark.full
@either
def test_it_loads_plain_and_streamed_with_its_pictures(
    served: tuple[LocalHub, dict[str, str]],
) -> None:
    _, environment = served
    done = subprocess.run(
        [sys.executable, "-c", _LOAD],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])

    assert found["size"] == found["picture"] == [WIDTH, HEIGHT]
    assert found["rows"] == {"train": 12, "validation": 12, "test": 12}
    assert found["others"] == {
        "trajectories": 12,
        "tasks": 6,
        "attempts": 12,
        "results": 6,
        "verdicts": 12 * len(RULE.passed),
        "observations": 36,
        "calls": 8,
        "prompts": 1,
    }
    assert found["tagged"] == 4


def test_the_command_says_where_it_is_and_changes_nothing_again(
    run: Path, served: tuple[LocalHub, dict[str, str]]
) -> None:
    hub, environment = served
    commits = list(hub.repo(DATASET).commits)

    done = _stepmill("publish", str(run), "--to", TO, environment=environment)

    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["destination"], report["put"], report["deleted"]) == (TO, 0, 0)
    assert hub.repo(DATASET).commits == commits
    assert list(hub.repo(DATASET).tags) == ["v1"]


def test_the_token_is_nowhere(run: Path, served: tuple[LocalHub, dict[str, str]]) -> None:
    hub, environment = served
    unknown = environment | {"HF_TOKEN": "hf_asecretnobodyshouldsee", "HF_DEBUG": "1"}
    done = _stepmill("publish", str(run), "--to", TO, environment=unknown)

    assert done.returncode == 2
    assert "the Hub does not know the token" in done.stderr
    assert not re.search("hf_asecret", done.stdout + done.stderr)
    kept = [path for path in (*run.rglob("*"), *hub.state.blobs.iterdir()) if path.is_file()]
    assert kept
    assert not [path for path in kept if TOKEN.encode() in path.read_bytes()]


@pytest.mark.full
def test_a_run_publishes_itself_when_it_ends(
    served: tuple[LocalHub, dict[str, str]], tmp_path: Path
) -> None:
    hub, environment = served
    trial = scripted_trial(tmp_path / "trial")
    to = json.dumps([str(trial.to), "hf://datasets/org/made"])
    argv = (*trial.argv, "--set", f"publish.to={to}", "--set", "publish.license=mit")
    doom = Doom(argv=argv, base=trial.base, scripted=True)
    paths = os.pathsep.join([str(ROOT), str(ROOT / "tests")])

    done = subprocess.run(
        [
            sys.executable,
            str(ROOT / "tests" / "support" / "runs" / "kill_at.py"),
            doom.model_dump_json(),
        ],
        env=environment | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )

    assert done.returncode == 0, done.stderr
    published = json.loads(done.stdout)["published"]
    assert len(published) == 2
    files = {p.relative_to(trial.to).as_posix() for p in trial.to.rglob("*") if p.is_file()}
    assert files == hub.files("org/made").keys()
    assert b'license: "mit"' in hub.text("org/made", "README.md")
    assert list(hub.repo("org/made").tags) == ["v1"]
