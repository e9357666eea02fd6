"""Training rows as configs of a published dataset: what is in them, and when they are made again."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import datasets  # type: ignore[import-untyped] # it has no types
import pyarrow.parquet as pq
import pytest
from support.episodes.compared_attempts import Pointing, attempt, run_of
from support.episodes.factories import RUN_ID, make_verdict
from support.episodes.scenes import clicking, element
from support.episodes.trainer_rules import check_row
from support.runs.exports import exported
from support.runs.memory_run import (
    RULE,
    TRAIN,
    MemoryRun,
    MemorySnapshot,
    commit_unit,
    contents,
    findings,
    published,
    tables_of,
    written_at,
)

from schemas.configuration.sections import RowKind
from schemas.episodes.episode import Episode
from schemas.verdicts.step_label import Label
from storage.export.training_rows import TrainingRows
from storage.publish.plan import build as build_module
from storage.publish.plan.config_columns import TABLE_CONFIGS, config_schema
from storage.publish.plan.manifest import read_manifest
from storage.publish.plan.plan import TrainingTerms, plan_files
from storage.publish.plan.selection import select
from storage.publish.training.rows import RowMaker

PARTED = {0: ["on_path"], 1: ["mistake"], 2: ["on_path", "on_path"]}
"""What `steps` says of the actions of each attempt."""

KINDS = [kind.value for kind in RowKind]


def attempts_made() -> list[Episode]:
    """Return an attempt that did the task, one that failed, and another one that did it."""
    seen = clicking(element("Save", (10, 9, 60, 20)))
    shown = {name: getattr(seen, name) for name in ("elements", "sights", "target")}
    return [
        attempt(0, [11], changes={0: shown}),
        attempt(1, [55], changes={0: shown}),
        attempt(2, [12, 13]),
    ]


def compared_run(labels: dict[int, Any] | None = None) -> MemoryRun:
    """Return a run of one task with all of them."""
    done, failed, other = attempts_made()
    return run_of([done, other], [failed], labels=PARTED if labels is None else labels)


def rows(folder: Path, config: str) -> list[dict[str, Any]]:
    """Return all rows of a config, read by Parquet alone."""
    found = sorted((folder / "data" / config).glob("*.parquet"))
    return [row for path in found for row in pq.read_table(path).to_pylist()]


def files_of(folder: Path, *configs: str) -> dict[str, int]:
    """Return when each file of some configs was written."""
    return {
        path: at for path, at in written_at(folder).items() if Path(path).parent.name in configs
    }


@pytest.fixture(scope="module")
def snapshot() -> MemorySnapshot:
    return compared_run().seal()


@pytest.fixture(scope="module")
def dataset(snapshot: MemorySnapshot, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a dataset with rejected attempts and rows of every kind."""
    to = tmp_path_factory.mktemp("published") / "dataset"
    published(snapshot, to, renderer=Pointing(), include_rejected=True)
    return to


@pytest.mark.parametrize("config", KINDS)
def test_each_kind_loads_whole_and_streamed_with_its_pictures(
    dataset: Path, tmp_path: Path, config: str
) -> None:
    loaded = datasets.load_dataset(str(dataset), config, cache_dir=str(tmp_path))
    stream = datasets.load_dataset(str(dataset), config, split="train", streaming=True)
    stored = rows(dataset, config)

    assert len(loaded["train"]) == len(list(stream)) == len(stored) > 0
    assert loaded["train"].column_names == config_schema(config).names
    for row, plain in zip(loaded["train"], stored, strict=True):
        pictures = [row["image"]] if config == "grounding" else row["images"]
        assert len(pictures) == (1 if config == "grounding" else len(plain["images"]))
        assert all(picture.size > (0, 0) for picture in pictures)


@pytest.mark.parametrize("config", KINDS)
def test_the_card_and_the_footer_spell_the_columns_alike(dataset: Path, config: str) -> None:
    by_card = datasets.load_dataset_builder(str(dataset), config).info.features
    for path in (dataset / "data" / config).glob("*.parquet"):
        assert datasets.Features.from_arrow_schema(pq.read_schema(path)) == by_card


def test_every_row_is_one_that_trainers_take(dataset: Path) -> None:
    for config in ("sft", "kto", "step_labels"):
        for row in rows(dataset, config):
            check_row(row)


@pytest.mark.parametrize("kind", [RowKind.KTO, RowKind.STEP_LABELS])
def test_the_rows_are_those_of_the_export(
    dataset: Path, snapshot: MemorySnapshot, tmp_path: Path, kind: RowKind
) -> None:
    exported(snapshot, TrainingRows(RowMaker(kind, Pointing())), tmp_path, include_rejected=True)
    found = [row for path in tmp_path.glob("*.parquet") for row in pq.read_table(path).to_pylist()]

    assert rows(dataset, kind.value) == found != []


def test_replies_of_a_rejected_attempt_are_labelled_and_never_to_be_learnt(dataset: Path) -> None:
    """Who trains on `sft` learns every row of it; the other kinds say which reply is the bad one."""
    attempts = {row["episode_id"]: row["accepted"] for row in rows(dataset, "attempts")}
    rejected = {id_ for id_, accepted in attempts.items() if not accepted}

    assert len(rejected) == 1
    assert not {row["episode_id"] for row in rows(dataset, "sft")} & rejected
    assert {row["label"] for row in rows(dataset, "sft")} == {True}
    assert {row["episode_id"] for row in rows(dataset, "kto") if not row["label"]} == rejected
    assert {row["rejected_episode_id"] for row in rows(dataset, "preference")} == rejected
    assert rejected < {row["episode_id"] for row in rows(dataset, "step_labels")}


def test_rows_of_rejected_attempts_are_published_only_where_that_is_asked_for(
    snapshot: MemorySnapshot, tmp_path: Path
) -> None:
    published(snapshot, tmp_path, renderer=Pointing())
    accepted = {row["episode_id"] for row in rows(tmp_path, "trajectories")}
    card = (tmp_path / "README.md").read_text()

    for config in ("sft", "kto", "step_labels", "grounding"):
        assert {row["episode_id"] for row in rows(tmp_path, config)} <= accepted, config
    assert len(rows(tmp_path, "sft")) == 3
    assert not (tmp_path / "data" / "preference").exists()
    assert "No attempt here gives a row of `preference`." in card


def test_a_stretch_without_a_row_is_known_and_not_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody judged the steps, so two kinds have no row at all."""
    unjudged = compared_run(labels={}).seal()
    published(unjudged, tmp_path, renderer=Pointing())
    before = contents(tmp_path), written_at(tmp_path)
    manifest = read_manifest((tmp_path / "manifest.json").read_bytes(), "it")
    built: list[str] = []
    monkeypatch.setattr(build_module, "_training_rows", lambda *_: built.append("again"))
    published(unjudged, tmp_path, renderer=Pointing())

    assert {file.config for file in manifest.files} >= {"sft", "grounding"}
    assert not {file.config for file in manifest.files} & {"kto", "step_labels"}
    assert len(manifest.empty) == 2
    assert (contents(tmp_path), written_at(tmp_path)) == before
    assert built == []
    assert findings(tmp_path) == []


def test_other_words_make_other_replies_and_leave_all_else(
    snapshot: MemorySnapshot, tmp_path: Path
) -> None:
    class Shouting(Pointing):
        def __init__(self) -> None:
            super().__init__()
            self.about = {"dialect": "parrot", "louder": True}

    published(snapshot, tmp_path, renderer=Pointing(), include_rejected=True)
    same = files_of(tmp_path, *TABLE_CONFIGS, "grounding")
    replies = files_of(tmp_path, "sft", "preference", "kto", "step_labels")
    report = published(snapshot, tmp_path, renderer=Shouting(), include_rejected=True)

    assert files_of(tmp_path, *TABLE_CONFIGS, "grounding") == same
    # The words are the same, so the bytes are, and the manifest alone says what they were made from.
    assert files_of(tmp_path, "sft", "preference", "kto", "step_labels") == replies
    assert report.put == 1


def test_a_step_judged_anew_changes_the_rows_it_decides(tmp_path: Path) -> None:
    run = compared_run()
    published(run.seal(), tmp_path, renderer=Pointing(), include_rejected=True)
    before = {config: rows(tmp_path, config) for config in KINDS}
    [episode, *_] = attempts_made()
    first = episode.episode_id
    verdict = make_verdict(episode, verifier="steps", round_=1)
    evidence = {"steps": [{"label": Label.MISTAKE.value}]}
    run.judge([verdict.model_copy(update={"evidence": evidence})])
    published(run.seal(), tmp_path, renderer=Pointing(), include_rejected=True)
    after = {config: rows(tmp_path, config) for config in KINDS}

    labels = {row["episode_id"]: row["step_label"] for row in after["step_labels"]}
    assert labels[first] == "mistake"
    assert {row["episode_id"]: row["label"] for row in after["kto"]}[first] is False
    assert len(before["preference"]) == 1
    assert after["preference"] == []
    assert after["grounding"] == before["grounding"]
    assert findings(tmp_path) == []


def test_kinds_that_are_not_asked_for_any_more_are_removed(
    snapshot: MemorySnapshot, tmp_path: Path
) -> None:
    published(snapshot, tmp_path, renderer=Pointing(), include_rejected=True)
    published(
        snapshot,
        tmp_path,
        renderer=Pointing(),
        include_rejected=True,
        training_rows=(RowKind.PREFERENCE,),
    )
    manifest = json.loads((tmp_path / "manifest.json").read_text())

    kept = {file["config"] for file in manifest["files"]}
    assert kept & {*KINDS} == {"preference"}
    assert not list((tmp_path / "data").glob("sft/*"))


def test_the_card_counts_the_rows_and_names_the_dialect(dataset: Path) -> None:
    card = (dataset / "README.md").read_text()
    counted = Counter({config: len(rows(dataset, config)) for config in KINDS})

    for config in KINDS:
        assert f"| `{config}` | {counted[config]} | 0 | 0 |" in card, config
        assert f"### `{config}`" in card
    assert "are in the words of `parrot`" in card


def test_attempts_at_one_task_are_compared_in_one_file() -> None:
    """Files so small that any two episodes part do not part what is compared."""
    run = MemoryRun()
    commit_unit(run, 1, TRAIN, tasks=4, attempts=3, rejects=[1, 5])
    tables = tables_of(run.seal())
    chosen = select(tables, RULE, include_rejected=True)
    terms = TrainingTerms(tuple(RowKind), Pointing())
    plan = plan_files(tables, chosen, run_id=RUN_ID, shard_bytes=1, training=terms)
    files = {config: [f for f in plan.files if f.config == config] for config in KINDS}

    assert [len(file.episodes) for file in files["sft"]] == [1] * 10
    assert [len(file.episodes) for file in files["kto"]] == [1] * 12
    assert [len(file.episodes) for file in files["preference"]] == [3, 3]
    for file in files["preference"]:
        assert len({episode.task_id for episode in file.episodes}) == 1
