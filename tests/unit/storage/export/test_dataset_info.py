"""The file by which LLaMA-Factory finds the rows of an export, read as its loader reads it.

Its own code reads it in `make test-trainers`.
"""

import hashlib
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import datasets  # type: ignore[import-untyped] # it has no types
import pytest
from support.episodes.compared_attempts import Pointing, attempt, run_of
from support.episodes.factories import make_verdict
from support.runs.exports import Parrot, exported
from support.runs.memory_run import MemoryRun, MemorySnapshot, commit_unit, contents, small_run

from schemas.configuration.sections import RowKind
from storage.export import output_folder
from storage.export.dataset_info import DATASET_INFO
from storage.export.output_folder import MANIFEST
from storage.export.protocol import Format, GroupFormat
from storage.export.registry import Spelling
from storage.export.training_rows import Preference, TrainingRows
from storage.publish.training.options import SystemPrompt
from storage.publish.training.preference import PairMaker
from storage.publish.training.rows import RowMaker

FORMATS: dict[RowKind, Format | GroupFormat] = {
    RowKind.SFT: TrainingRows(RowMaker(RowKind.SFT, Parrot())),
    RowKind.KTO: TrainingRows(RowMaker(RowKind.KTO, Parrot())),
    RowKind.PREFERENCE: Preference(PairMaker(Pointing())),
}


def labelled() -> MemorySnapshot:
    """Return a run of one episode whose steps are labelled."""
    run = MemoryRun()
    [episode] = commit_unit(run, 1, "click-test", tasks=1, attempts=1, n_steps=2)
    steps = [{"label": label, "visible_change": True} for label in ("on_path", "mistake")]
    verdict = make_verdict(episode, verifier="steps")
    run.judge([verdict.model_copy(update={"evidence": {"steps": steps}})])
    return run.seal()


def snapshot_for(kind: RowKind) -> MemorySnapshot:
    """Return a run that gives rows of a kind."""
    match kind:
        case RowKind.KTO:
            return labelled()
        case RowKind.PREFERENCE:
            return run_of([attempt(0, [1, 2, 3])], [attempt(1, [1, 5, 6])]).seal()
    return small_run().seal()


def info_of(folder: Path) -> dict[str, Any]:
    """Return what a folder's file says, by the name of each dataset."""
    read: dict[str, Any] = json.loads((folder / DATASET_INFO).read_text(encoding="utf-8"))
    return read


def loaded(folder: Path, name: str, cache: Path) -> list[dict[str, Any]]:
    """Return the rows of a dataset, as `llamafactory.data.loader` calls for them."""
    entry = info_of(folder)[name]
    place = os.path.join(folder, entry["script_url"])  # noqa: PTH118 - as the trainer does it
    rows = datasets.load_dataset(path=place, split=entry["split"], cache_dir=str(cache))
    return list(rows)


@pytest.mark.parametrize("kind", FORMATS)
def test_every_kind_that_the_trainer_loads_has_its_columns_named(
    kind: RowKind, tmp_path: Path
) -> None:
    exported(snapshot_for(kind), FORMATS[kind], tmp_path / "to", include_rejected=True)

    for name, entry in info_of(tmp_path / "to").items():
        rows = loaded(tmp_path / "to", name, tmp_path / "cache")
        assert name == f"{kind.value}_{entry['split']}"
        assert rows
        assert set(entry["columns"].values()) <= rows[0].keys()
        assert entry["ranking"] is (kind is RowKind.PREFERENCE)
        spoken = rows[0][entry["columns"]["messages"]]
        tags = {entry["tags"][f"{role}_tag"] for role in ("system", "user", "assistant")}
        assert {turn[entry["tags"]["role_tag"]] for turn in spoken} <= tags
        assert all(turn[entry["tags"]["content_tag"]] for turn in spoken)


def test_each_split_is_a_dataset_with_all_of_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output_folder, "SHARD_BYTES", 12_000)
    report = exported(small_run().seal(), FORMATS[RowKind.SFT], tmp_path / "to")
    names = ["sft_train", "sft_validation", "sft_test"]
    files = Counter(path.name.split("-")[0] for path in (tmp_path / "to").glob("*.parquet"))

    assert list(info_of(tmp_path / "to")) == names
    assert max(files.values()) > 1
    rows = [row for name in names for row in loaded(tmp_path / "to", name, tmp_path / "cache")]
    assert len({row["id"] for row in rows}) == len(rows) == report.lines


def test_a_system_prompt_that_is_left_to_the_trainer_is_found_in_its_column(tmp_path: Path) -> None:
    maker = RowMaker(RowKind.SFT, Parrot(), SystemPrompt.TRAINER)
    exported(small_run().seal(), TrainingRows(maker), tmp_path / "to")
    column = info_of(tmp_path / "to")["sft_train"]["columns"]["system"]

    [row, *_] = loaded(tmp_path / "to", "sft_train", tmp_path / "cache")

    assert row[column] == "You are a parrot."
    assert row["messages"][0]["role"] == "user"


@pytest.mark.parametrize(
    "format_",
    [
        TrainingRows(RowMaker(RowKind.STEP_LABELS, Parrot())),
        TrainingRows(RowMaker(RowKind.SFT, Parrot()), spelling=Spelling.BASE64),
    ],
)
def test_rows_that_the_trainer_has_no_loader_for_have_no_file(
    format_: Format, tmp_path: Path
) -> None:
    report = exported(labelled(), format_, tmp_path)

    assert report.lines
    assert DATASET_INFO not in contents(tmp_path)


def test_no_rows_no_file(tmp_path: Path) -> None:
    alone = run_of([attempt(0, [1, 2, 3])], []).seal()

    exported(alone, FORMATS[RowKind.PREFERENCE], tmp_path, include_rejected=True)

    assert contents(tmp_path).keys() == {MANIFEST}


def test_the_manifest_lists_the_file_and_a_changed_one_is_written_again(tmp_path: Path) -> None:
    exported(small_run().seal(), FORMATS[RowKind.SFT], tmp_path)
    before = contents(tmp_path)
    (listed,) = json.loads(before[MANIFEST])["guides"]

    assert listed == {
        "path": DATASET_INFO,
        "bytes": len(before[DATASET_INFO]),
        "sha256": hashlib.sha256(before[DATASET_INFO]).hexdigest(),
    }
    assert not exported(small_run().seal(), FORMATS[RowKind.SFT], tmp_path).written
    (tmp_path / DATASET_INFO).write_text("{}", encoding="utf-8")
    assert exported(small_run().seal(), FORMATS[RowKind.SFT], tmp_path).written
    assert contents(tmp_path) == before
