"""A collection in a bucket on the Hub by the commands, and read with the readers people have."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hub.publishing import BUCKET, TO_BUCKET
from hub.server import TOKEN, LocalHub
from source_tree import ROOT
from support.runs.commands import SECONDS, Said, environment, stepmill
from support.stores.two_nights import make_night

_READ = """
import json, os, sys
import duckdb, fsspec
import pyarrow.dataset as ds
from datasets import disable_progress_bars
from huggingface_hub import HfFileSystem
from stepmill import open_dataset

disable_progress_bars()
place, lines = sys.argv[1:]
exec(lines)
with fsspec.open(f"{place}/manifest.json") as file:
    told = json.load(file)["counts"]
with duckdb.connect() as connection:
    connection.register_filesystem(HfFileSystem())
    rows = connection.read_parquet(f"{place}/data/steps/train-*.parquet").project("step").fetchall()
own = [open_dataset(place, version=n).table("attempts").num_rows for n in (1, 2)]
print(json.dumps({
    "datasets": len(data), "duckdb": len(rows), "fsspec": told["attempts"], "stepmill": own,
    "episode": data[0]["episode_id"],
    "files": [path.removeprefix("buckets/org/store/") for path in HfFileSystem().find(place)],
}), flush=True)
os._exit(0)
"""


@pytest.fixture
def known(hub: LocalHub, tmp_path: Path) -> dict[str, str]:
    """The surroundings of processes that know the Hub."""
    home = {"HF_ENDPOINT": hub.url, "HF_TOKEN": TOKEN, "HF_HOME": str(tmp_path / "home")}
    return home | {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}


def _read(known: dict[str, str], lines: list[str]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", _READ, TO_BUCKET, "\n".join(lines)],
        env=environment(known),
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _audited(known: dict[str, str], run: str) -> Said:
    return stepmill("audit", run, "--deep", f"--set=publish.to=['{TO_BUCKET}']", env=known)


def test_nights_are_added_read_audited_and_withdrawn_by_the_commands(
    hub: LocalHub, known: dict[str, str], tmp_path: Path
) -> None:
    runs = [str(tmp_path / name) for name in ("one", "two")]
    for run, template in zip(runs, ("click-test", "click-button"), strict=True):
        asyncio.run(make_night(run, templates=[template]))

    said = stepmill("publish", *runs, "--to", TO_BUCKET, "--no-prefect", "--json", env=known)
    assert said.code == 0, said.err
    found = _read(known, json.loads(said.out.splitlines()[-1])["loading"])
    audit = _audited(known, runs[0])
    withdrawn = stepmill(
        *("withdraw", TO_BUCKET, found["episode"], "--reason=private", "--json"), env=known
    )
    compacted = stepmill("compact", TO_BUCKET, "--json", env=known)

    assert found["stepmill"][0] < found["stepmill"][1] == found["fsspec"]
    assert found["datasets"] == found["duckdb"] > 0
    assert audit.code == 0, audit.out + audit.err
    assert f"{TO_BUCKET}: whole (version 2" in audit.out
    assert (withdrawn.code, compacted.code) == (0, 0), withdrawn.err + compacted.err
    assert withdrawn.answer["version"] == 3
    assert compacted.answer["removed"] == 2 + len(
        _data(found["files"]) - _data(hub.objects(BUCKET))
    )
    assert _audited(known, runs[0]).code == 0


def _data(paths: Iterable[str]) -> set[str]:
    """Return the data files and indexes among the paths of the bucket."""
    return {path for path in paths if path.startswith(("demo/data/", "demo/index/"))}
