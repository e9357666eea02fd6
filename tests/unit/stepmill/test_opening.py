"""Runs, datasets and collections, opened from Python: the same episodes and tables of each."""

import asyncio
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import CopyRun
from support.episodes.factories import MadeRun, commit_whole_unit, make_whole_run
from support.runs.commands import called

import stepmill
from schemas.errors import BadConfig, Damaged, NotFound
from stepmill import Dataset, FullEpisode, Rows, open_dataset, open_run, picture
from storage.objects.local import LocalStore

SETTINGS = {"STEPMILL_ACCEPT__PASSED": "['outcome']", "STEPMILL_PUBLISH__TRAINING_ROWS": "[]"}
"""Accept what `outcome` passed: nobody else judged the small runs."""


@pytest.fixture(autouse=True)
def judged(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="module")
def made(copy_run: CopyRun, tmp_path_factory: pytest.TempPathFactory) -> MadeRun:
    """A run, with its dataset beside it, which are copied."""
    run = copy_run(tmp_path_factory.mktemp("made") / "run")
    to = str(run.folder.with_name("dataset"))
    done = called("publish", run.url, "--no-prefect", "--to", to, env=SETTINGS)
    assert done.code == 0, done.err
    return run


@pytest.fixture
def run(made: MadeRun, tmp_path: Path) -> MadeRun:
    place = tmp_path / "run"
    shutil.copytree(made.folder, place)
    return replace(made, place=place, store=LocalStore(place))


@pytest.fixture
def dataset(made: MadeRun, tmp_path: Path) -> Path:
    to = tmp_path / "dataset"
    shutil.copytree(made.folder.with_name("dataset"), to)
    return to


def _by_id(rows: Rows) -> dict[str, FullEpisode]:
    return {one.episode.episode_id: one for one in rows.episodes()}


def test_a_run_and_its_dataset_have_the_same_episodes(run: MadeRun, dataset: Path) -> None:
    stored, published = open_run(run.url), open_dataset(dataset)

    assert _by_id(stored) == _by_id(published)
    assert len(_by_id(stored)) == 8
    assert (stored.run_id, stored.version) == (run.run_id, 1)
    assert (published.manifest.run, published.version) == (run.run_id, 1)
    assert (stored.address, published.address) == (run.url, str(dataset))


def test_a_run_and_its_dataset_have_the_same_tables(run: MadeRun, dataset: Path) -> None:
    stored, published = open_run(run.url), open_dataset(dataset)

    assert published.configs == stored.configs
    for config in published.configs:
        assert stored.table(config).equals(published.table(config)), config
        assert stored.table(config).num_rows, config


def test_an_episode_has_its_pictures_calls_task_and_verdict(run: MadeRun) -> None:
    first = next(open_run(run.url).episodes())

    assert {picture(step).format for step in first.episode.steps} == {"JPEG"}
    assert len(first.episode.steps) == first.episode.n_steps + 1
    assert first.episode.calls
    assert first.episode.prompts
    assert first.task.task_id == first.episode.task_id
    assert first.acceptance.accepted


@pytest.fixture(params=["run", "dataset"])
def rows(request: pytest.FixtureRequest, run: MadeRun, dataset: Path) -> Rows:
    return open_run(run.url) if request.param == "run" else open_dataset(dataset)


def test_episodes_are_chosen_by_split_verdict_and_id(rows: Rows) -> None:
    ids = [one.episode.episode_id for one in rows.episodes()]
    (split,) = {one.acceptance.split for one in rows.episodes()}
    others = {"train", "validation", "test"} - {split}

    assert len([*rows.episodes(split=split, accepted=True)]) == len(ids)
    assert [*rows.episodes(accepted=False)] == []
    assert [one for other in others for one in rows.episodes(split=other)] == []
    assert {rows.table("steps", split=other).num_rows for other in others} == {0}
    chosen = [one.episode.episode_id for one in rows.episodes(ids={ids[5], ids[2]})]
    assert chosen == [ids[2], ids[5]]
    assert rows.episode(ids[3]).episode.episode_id == ids[3]


def test_columns_are_read_alone_and_in_the_order_that_is_asked_for(rows: Rows) -> None:
    assert rows.table("steps", columns=["step", "episode_id"]).column_names == [
        "step",
        "episode_id",
    ]
    assert "screenshot" in rows.table("steps").column_names
    assert rows.table("steps", columns=["screenshot"])["screenshot"].null_count == 0
    assert rows.table("tasks", columns=["task_id"]).num_rows == 4


def test_frames_of_both_kinds_have_the_rows_of_the_table(rows: Rows) -> None:
    columns, table = ["episode_id", "step", "url"], rows.table("steps")

    assert rows.to_polars("steps").shape == (table.num_rows, table.num_columns)
    polars = rows.to_polars("steps", columns=columns)
    pandas = rows.to_pandas("steps", columns=columns)
    assert polars.rows() == [tuple(row) for row in pandas.itertuples(index=False)]
    assert polars.columns == columns


def test_unknown_names_are_refused_with_the_nearest(rows: Rows) -> None:
    with pytest.raises(NotFound, match="no table 'step'; did you mean 'steps'"):
        rows.table("step")
    with pytest.raises(NotFound, match="no column 'thougt'; did you mean 'thought'"):
        rows.table("steps", columns=["thougt"])
    with pytest.raises(NotFound, match="no split 'trian'; did you mean 'train'"):
        rows.table("steps", split="trian")
    with pytest.raises(NotFound, match="no split 'trian'"):
        next(rows.episodes(split="trian"))
    with pytest.raises(NotFound, match="there is no episode 0000"):
        rows.episode("0000")


def test_what_was_withdrawn_is_not_there(run: MadeRun, dataset: Path) -> None:
    gone, *_ = _by_id(open_run(run.url))
    for place in (run.url, str(dataset)):
        assert called("withdraw", place, gone, "--reason=shows a name").code == 0

    assert gone not in _by_id(open_run(run.url))
    assert len(_by_id(open_dataset(dataset))) == 7
    assert open_dataset(dataset).manifest.withdrawn[0].reason == "shows a name"


def test_a_file_that_was_altered_or_cut_or_is_gone_is_named(dataset: Path) -> None:
    file = next((dataset / "data/steps").iterdir())
    whole = file.read_bytes()

    file.write_bytes(whole[:-1] + b"!")
    assert open_dataset(dataset).table("tasks").num_rows == 4
    with pytest.raises(Damaged, match=rf"{dataset}: a file cannot be read.*{file.name}"):
        next(open_dataset(dataset).episodes())
    file.write_bytes(whole[:-1])
    with pytest.raises(Damaged, match=rf"{file.name}, of .* bytes by its manifest"):
        open_dataset(dataset)
    file.unlink()
    with pytest.raises(Damaged, match=rf"{file.name}, .* is not there"):
        open_dataset(dataset)


def test_a_picture_that_is_not_the_recorded_one_is_named(dataset: Path) -> None:
    file = next((dataset / "data/steps").iterdir())
    rows = pq.read_table(file)
    pictures: list[Any] = rows["screenshot"].to_pylist()
    pictures[1] = {**pictures[1], "bytes": pictures[0]["bytes"] + b"x"}
    at = rows.schema.get_field_index("screenshot")
    column = pa.array(pictures, rows.schema.field(at).type)
    pq.write_table(rows.set_column(at, rows.schema.field(at), column), file)
    _restate_size(dataset, file)

    with pytest.raises(Damaged, match="step 1: the picture is not the recorded one"):
        [*open_dataset(dataset).episodes()]


def _restate_size(dataset: Path, file: Path) -> None:
    """Let the manifest say the size that a file has now, as whoever altered it would."""
    manifest = dataset / "manifest.json"
    told = json.loads(manifest.read_text(encoding="utf-8"))
    (listed,) = (one for one in told["files"] if one["path"].endswith(file.name))
    listed["bytes"] = file.stat().st_size
    manifest.write_text(json.dumps(told), encoding="utf-8")


def test_what_is_not_there_is_refused(run: MadeRun, dataset: Path, tmp_path: Path) -> None:
    for opened in (open_run, open_dataset):
        with pytest.raises(NotFound, match="nowhere"):
            opened(tmp_path / "nowhere")
    with pytest.raises(NotFound):
        open_run(dataset)
    with pytest.raises(BadConfig, match="the folder of a run"):
        open_dataset(run.url)
    with pytest.raises(NotFound, match="no version 7"):
        open_dataset(dataset, version=7)
    with pytest.raises(NotFound, match="7"):
        open_run(run.url, version=7)


def test_a_run_that_goes_on_stays_as_it_was_opened(run: MadeRun) -> None:
    before = open_run(run.url)
    asyncio.run(_go_on(run))

    assert len(_by_id(before)) == 8
    assert len(_by_id(open_run(run.url))) == 12
    assert len(_by_id(open_run(run.url, version=1))) == 8


async def _go_on(run: MadeRun) -> None:
    """Commit one more unit, and seal nothing."""
    unit, lake = run.unit(100), run.lake()
    await commit_whole_unit(lake, unit.unit_id, tasks=unit.tasks, episodes=unit.episodes)
    await lake.close()


@pytest.fixture
def collection(run: MadeRun, tmp_path: Path) -> Dataset:
    """Two nights, the second with another run."""
    other = asyncio.run(make_whole_run(tmp_path / "other", units=1))
    to = tmp_path / "collection"
    for night in (run, other):
        done = called("publish", night.url, "--no-prefect", "--append", "--to", str(to))
        assert done.code == 0, done.err
    return open_dataset(to)


def test_a_collection_has_the_episodes_of_all_nights(collection: Dataset, run: MadeRun) -> None:
    assert [night.published for night in collection.manifest.nights] == [8, 4]
    assert collection.version == 2
    assert len(_by_id(collection)) == 12
    assert _by_id(open_run(run.url)).keys() < _by_id(collection).keys()
    assert collection.table("trajectories").num_rows == 12


def test_of_a_collection_what_was_withdrawn_is_gone_from_the_newest_version_alone(
    collection: Dataset,
) -> None:
    gone, *_ = _by_id(collection)
    assert called("withdraw", collection.address, gone, "--reason=shows a name").code == 0

    after = open_dataset(collection.address)
    assert after.version == 3
    assert {*_by_id(after)} == {*_by_id(collection)} - {gone}
    assert gone in _by_id(open_dataset(collection.address, version=2))


def test_an_earlier_version_of_a_collection_has_what_it_had(
    collection: Dataset, run: MadeRun
) -> None:
    first = open_dataset(collection.address, version=1)

    assert (first.version, len(_by_id(first))) == (1, 8)
    assert first.table("steps").equals(open_run(run.url).table("steps"))
    assert first.manifest.counts.trajectories == 8
    assert (first.manifest.counts.episodes, len(first.manifest.nights)) == (8, 1)
    with pytest.raises(NotFound, match="no version 3: it holds version 2"):
        open_dataset(collection.address, version=3)


def test_an_earlier_version_is_gone_once_its_files_were_compacted(collection: Dataset) -> None:
    gone, *_ = _by_id(collection)
    assert called("withdraw", collection.address, gone, "--reason=shows a name").code == 0
    assert called("compact", collection.address).code == 0

    with pytest.raises(NotFound, match="version 2"):
        open_dataset(collection.address, version=2)
    assert len(_by_id(open_dataset(collection.address))) == 11


async def test_it_works_where_an_event_loop_runs(run: MadeRun) -> None:
    assert len(_by_id(open_run(run.url))) == 8


def test_the_package_says_what_it_has() -> None:
    assert {"make_run", "open_dataset", "open_run", "picture"} < {*dir(stepmill)}
    with pytest.raises(AttributeError, match="module 'stepmill' has no attribute 'open'"):
        stepmill.open  # noqa: B018 - that it is not there
