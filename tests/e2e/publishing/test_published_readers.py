"""A run in a real lake, published, and read with the readers people have."""

import asyncio
import importlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import duckdb
import pandas as pd  # type: ignore[import-untyped] # it ships no types
import polars as pl
import pyarrow.parquet as pq
import pytest
from conftest import ROOT
from support.episodes.factories import (
    HEIGHT,
    WIDTH,
    commit_whole_unit,
    make_prompt,
    make_task,
    make_unit,
    make_verdict,
)
from support.runs.exports import Parrot
from support.runs.memory_run import RULE, TEST, TRAIN, VALIDATION, publish_stored

from schemas.base import sha256_hex
from schemas.configuration.config import RunConfig
from schemas.configuration.sections import StorageSection
from schemas.tasks.task import SPLITS
from schemas.verdicts.verdict import Status
from storage.lake.lake import Lake
from storage.objects.local import LocalStore
from storage.publish.destinations.store import FolderDestination
from storage.publish.plan.config_columns import TABLE_CONFIGS, config_schema
from storage.publish.verify import verify_published
from storage.run_file import create_run

ROW_GROUP_BYTES = 100_000_000


async def make_run(at: Path) -> None:
    """Commit a unit of each split, judge it, and seal a version."""
    store = LocalStore(at)
    run = await create_run(store, RunConfig(), provenance={"commit": "abc"})
    lake = Lake(str(at), store, StorageSection())
    for number, template in enumerate((TRAIN, VALIDATION, TEST, TRAIN)):
        tasks = [make_task(10 * number + place, template=template) for place in range(2)]
        unit, episodes = make_unit(
            tasks, attempts=2, run_id=run.run_id, prompt=make_prompt() if number == 1 else None
        )
        await commit_whole_unit(lake, unit, tasks=tasks, episodes=episodes)
        for verifier in RULE.passed:
            verdicts = [
                make_verdict(
                    episode,
                    verifier=verifier,
                    status=Status.FAILED
                    if verifier == "replay" and episode is episodes[-1]
                    else Status.PASSED,
                )
                for episode in episodes
            ]
            await lake.commit_verdicts(
                unit, verifier=verifier, version="1", round_=0, verdicts=verdicts
            )
    await lake.seal()
    await lake.close()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    at = tmp_path_factory.mktemp("run")
    asyncio.run(make_run(at))
    return at


@pytest.fixture(scope="module")
def dataset(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    to = tmp_path_factory.mktemp("published") / "dataset"
    asyncio.run(publish_stored(run, to, Parrot()))
    return to


@pytest.fixture(scope="module")
def hf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """Import `datasets` with no network and a home of its own: it reads both when imported."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        patch.setenv("HF_DATASETS_OFFLINE", "1")
        patch.setenv("HF_HUB_DISABLE_TELEMETRY", "1")
        patch.setenv("HF_HOME", str(tmp_path_factory.mktemp("hf")))
        datasets = importlib.import_module("datasets")
        datasets.disable_progress_bars()
        yield datasets


def _files(dataset: Path, config: str) -> list[Path]:
    return sorted((dataset / "data" / config).glob("*.parquet"))


def test_the_steps_load_with_their_pictures(hf: ModuleType, dataset: Path, tmp_path: Path) -> None:
    loaded = hf.load_dataset(str(dataset), "steps", cache_dir=str(tmp_path))

    assert set(loaded) == set(SPLITS)
    first: dict[str, Any] = loaded["train"][0]
    first["screenshot"].load()
    assert first["screenshot"].size == (WIDTH, HEIGHT)
    assert {name: len(rows) for name, rows in loaded.items()} == {
        "train": 18,
        "validation": 9,
        "test": 9,
    }


def test_the_steps_stream_with_their_pictures(hf: ModuleType, dataset: Path) -> None:
    stream = hf.load_dataset(str(dataset), "steps", split="train", streaming=True)
    raw = stream.cast_column("screenshot", hf.Image(decode=False))

    decoded = next(iter(stream))
    stored = next(iter(raw))
    decoded["screenshot"].load()
    assert decoded["screenshot"].size == (WIDTH, HEIGHT)
    assert sha256_hex(stored["screenshot"]["bytes"]) == stored["screenshot_sha256"]


@pytest.mark.parametrize(
    ("config", "rows"),
    [
        ("trajectories", 12),
        ("tasks", 8),
        ("attempts", 16),
        ("results", 8),
        ("verdicts", 16 * len(RULE.passed)),
        ("observations", 36),
        ("calls", 6),
        ("prompts", 1),
        ("sft", 24),
    ],
)
def test_every_other_config_loads(
    hf: ModuleType, dataset: Path, tmp_path: Path, config: str, rows: int
) -> None:
    loaded = hf.load_dataset(str(dataset), config, cache_dir=str(tmp_path))

    assert sum(len(split) for split in loaded.values()) == rows
    names = config_schema(config).names
    assert all(split.column_names == names for split in loaded.values())
    for split in loaded:
        stream = hf.load_dataset(str(dataset), config, split=split, streaming=True)
        assert next(iter(stream)) == loaded[split][0]


def test_without_a_name_the_steps_load_with_their_pictures(
    hf: ModuleType, dataset: Path, tmp_path: Path
) -> None:
    loaded = hf.load_dataset(str(dataset), split="train", cache_dir=str(tmp_path))

    assert loaded.column_names == config_schema("steps").names
    assert loaded[0]["screenshot"].size == (WIDTH, HEIGHT)


def test_the_card_and_the_footer_agree_on_the_columns(hf: ModuleType, dataset: Path) -> None:
    for config in (*TABLE_CONFIGS, "sft"):
        by_card = hf.load_dataset_builder(str(dataset), config).info.features
        for path in _files(dataset, config):
            assert hf.Features.from_arrow_schema(pq.read_schema(path)) == by_card


def test_a_file_alone_loads_with_its_pictures(
    hf: ModuleType, dataset: Path, tmp_path: Path
) -> None:
    [path] = dataset.glob("data/steps/train-*.parquet")
    loaded = hf.load_dataset("parquet", data_files=str(path), cache_dir=str(tmp_path))

    assert loaded["train"][0]["screenshot"].size == (WIDTH, HEIGHT)


def test_duckdb_joins_steps_with_trajectories(dataset: Path) -> None:
    with duckdb.connect() as connection:
        steps, trajectories = (
            connection.read_parquet(str(dataset / "data" / config / "*.parquet"))
            for config in ("steps", "trajectories")
        )
        found = steps.join(trajectories, "episode_id").aggregate(
            "count(*), min(octet_length(screenshot.bytes)) > 100, count(DISTINCT episode_id), "
            "bool_and(accepted)"
        )
        rows = found.fetchall()

    assert rows == [(36, True, 12, True)]


def test_pandas_reads_pictures_that_are_those_recorded(dataset: Path) -> None:
    frame = pd.concat(pd.read_parquet(path) for path in _files(dataset, "steps"))

    assert len(frame) == 36
    for picture, sha256 in zip(frame["screenshot"], frame["screenshot_sha256"], strict=True):
        assert sha256_hex(picture["bytes"]) == sha256


def test_polars_scans_without_reading_pictures(dataset: Path) -> None:
    steps = pl.scan_parquet(dataset / "data" / "steps" / "*.parquet")
    found = steps.group_by("action_type").len().sort("action_type").collect()

    assert found.to_dict(as_series=False) == {"action_type": ["click", "none"], "len": [24, 12]}


def test_files_are_as_the_hub_likes_them(dataset: Path) -> None:
    for path in sorted(dataset.rglob("*.parquet")):
        metadata = pq.read_metadata(path)
        footer = json.loads(pq.read_schema(path).metadata[b"huggingface"])
        for number in range(metadata.num_row_groups):
            group = metadata.row_group(number)
            assert group.total_byte_size <= ROW_GROUP_BYTES
            columns = [group.column(place) for place in range(group.num_columns)]
            assert all(column.has_offset_index for column in columns)
            assert [column.path_in_schema for column in columns if not column.has_column_index] == [
                column.path_in_schema for column in columns if "." in column.path_in_schema
            ]
            for column in columns:
                if column.path_in_schema == "screenshot.bytes":
                    assert column.compression == "UNCOMPRESSED"
                    assert "PLAIN_DICTIONARY" not in column.encodings
        features = footer["info"]["features"]
        pictures = {name for name, feature in features.items() if _holds_pictures(feature)}
        assert pictures == PICTURES.get(path.parent.name, set())


def _holds_pictures(feature: dict[str, Any] | list[dict[str, Any]]) -> bool:
    """Return whether a feature is a picture, or a list of them."""
    if isinstance(feature, list):
        return _holds_pictures(feature[0])
    if "feature" in feature:
        return _holds_pictures(feature["feature"])
    return bool(feature.get("_type") == "Image")  # a struct has none


PICTURES = {
    "steps": {"screenshot"},
    "grounding": {"image"},
    "sft": {"images"},
    "preference": {"images"},
    "kto": {"images"},
    "step_labels": {"images"},
}
"""Which columns are pictures, by config."""

HEAVY = {
    "observations": {"elements"},
    "calls": {"messages", "reply", "prompt_token_ids", "completion_token_ids"},
    "prompts": {"text", "tools"},
}
"""What is long at every step, by the config that holds it."""


def test_heavy_text_is_in_configs_of_its_own(dataset: Path) -> None:
    """Whoever looks at steps, in the Hub's viewer too, does not load every page's elements."""
    columns = {
        folder.name: {*pq.read_schema(_files(dataset, folder.name)[0]).names}
        for folder in (dataset / "data").iterdir()
    }

    for config, heavy in HEAVY.items():
        assert heavy <= columns[config]
    light = columns["trajectories"] | columns["steps"] | columns["tasks"]
    light |= columns["attempts"] | columns["results"] | columns["verdicts"]
    assert light & {"elements", "messages", "prompt_token_ids", "completion_token_ids"} == set()


def test_the_dataset_agrees_with_its_manifest(dataset: Path) -> None:
    proof = asyncio.run(verify_published(FolderDestination(dataset), deep=True))

    assert (proof.findings, proof.leftovers) == ((), ())


def test_publishing_from_the_lake_again_changes_nothing(run: Path, dataset: Path) -> None:
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in _all(dataset)}

    report = asyncio.run(publish_stored(run, dataset, Parrot()))

    assert report.put == report.deleted == 0
    assert {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in _all(dataset)} == before


def _all(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


_KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from support.runs.exports import Parrot
from support.runs.memory_run import publish_stored
from storage.objects.local import LocalStore

left = int(sys.argv[3])
really_put = LocalStore._put

def put(self, path, data):
    global left
    left -= 1
    if left < 0:
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / ".tmp-0123456789abcdef").write_bytes(data[: len(data) // 2])
        os.kill(os.getpid(), signal.SIGKILL)
    really_put(self, path, data)

LocalStore._put = put
asyncio.run(publish_stored(Path(sys.argv[1]), Path(sys.argv[2]), Parrot()))
"""


@pytest.mark.parametrize(
    "writes",
    [5, *(pytest.param(writes, marks=pytest.mark.full) for writes in (0, 16))],
)
def test_a_killed_publication_is_completed_by_the_next(
    run: Path, dataset: Path, tmp_path: Path, writes: int
) -> None:
    to = tmp_path / dataset.name
    paths = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    ended = subprocess.run(
        [sys.executable, "-c", _KILLED, str(run), str(to), str(writes)],
        env={**os.environ, "PYTHONPATH": paths},
        check=False,
        timeout=120,
    )
    assert ended.returncode == -signal.SIGKILL
    assert not (to / "manifest.json").exists()

    asyncio.run(publish_stored(run, to, Parrot()))

    assert {p.relative_to(to): p.read_bytes() for p in _all(to)} == {
        p.relative_to(dataset): p.read_bytes() for p in _all(dataset)
    }
