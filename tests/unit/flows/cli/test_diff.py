"""`stepmill diff`: two nights, two versions, a run and its dataset, and what cannot be compared."""

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from source_tree import ROOT
from support.runs.commands import Said, called
from support.runs.memory_run import contents, published, two_versions
from support.stores.copies import manifest_in, without_columns
from support.stores.two_nights import grow, judge_again, make_night, make_two_nights

from storage.publish.plan.manifest import MANIFEST

SCREEN_LINES = 30


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of two runs of the same tasks, which no test changes."""
    folder = tmp_path_factory.mktemp("nights")
    (folder / "runs").mkdir()
    asyncio.run(make_two_nights(folder / "runs"))
    return folder


@pytest.fixture
def copies(tmp_path: Path) -> tuple[Path, Path]:
    """Return two versions of a run, each published to a folder of its own."""
    before, after = two_versions()
    one, other = tmp_path / "one", tmp_path / "other"
    published(before, one)
    published(after, other)
    return one, other


def _diff(*words: str | Path) -> Said:
    return called("diff", *map(str, words))


def _answer(*words: str | Path) -> Any:
    said = _diff(*words, "--json")
    assert said.code == 0, said.err
    return said.answer


def _rows(answer: Any) -> dict[str, tuple[int, int, int]]:
    return {one["config"]: (one["added"], one["removed"], one["changed"]) for one in answer["rows"]}


def test_the_example_of_the_page_is_what_the_command_says(
    nights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (ROOT / "docs" / "running.md").read_text(encoding="utf-8")
    section = page.partition("### What changed from one night to the next")[2]
    command = section.partition("```sh\n")[2].partition("\n```")[0]
    expected = section.partition("```text\n")[2].partition("```")[0]
    monkeypatch.chdir(nights)

    said = called(*command.split()[1:])

    assert (said.code, said.err) == (0, "")
    assert said.out == expected


def test_two_nights_of_many_templates_fit_a_screen(tmp_path: Path) -> None:
    names = [f"template-{number:02}" for number in range(14)]
    lost = [{(name, number % 4) for number, name in enumerate(names)}, {(names[3], 0)}]

    for place, some in zip(("a", "b"), lost, strict=True):
        asyncio.run(make_night(tmp_path / place, templates=names, lost=some))
    said = _diff(tmp_path / "a", tmp_path / "b")
    whole = _diff(tmp_path / "a", tmp_path / "b", "--all")

    assert said.out.count("\n") <= SCREEN_LINES
    assert "and 7 more that differ, 1 of equal yields, or on one side alone: --all" in said.out
    assert "template-00" in whole.out
    assert all(name in whole.out for name in names)


def test_in_json_it_has_the_episodes_and_the_yields(nights: Path) -> None:
    answer = _answer(nights / "runs" / "monday", nights / "runs" / "tuesday")

    assert answer["same"] is False
    assert answer["matched"] == {
        "by_id": 0,
        "by_task": 20,
        "only_first": 0,
        "only_second": 4,
        "ambiguous": 0,
    }
    assert answer["steps"] == {"same": 20, "other": 0, "unknown": 0}
    assert (len(answer["added"]), answer["removed"]) == (4, [])
    [worse, better] = answer["verdicts"]
    assert (worse["template"], worse["before"], worse["after"], worse["verifier"]) == (
        "choose-list",
        "accepted",
        "rejected",
        "replay",
    )
    assert len(worse["episodes"]) == 4
    assert better["reason"] == "replay: failed: The site said so."
    [yields] = answer["yields"]
    found = {one["template"]: one["difference"] for one in yields["accepted"]}
    assert found["choose-list"]["value"] == -1.0
    assert found["choose-list"]["high"] < 0
    assert found["enter-time"] is None


def test_other_pictures_at_the_same_tasks_are_other_steps(tmp_path: Path) -> None:
    for place, salt in (("a", 0), ("b", 7)):
        asyncio.run(make_night(tmp_path / place, templates=["click-test"], salt=salt))

    answer = _answer(tmp_path / "a", tmp_path / "b")

    assert answer["steps"] == {"same": 0, "other": 4, "unknown": 0}
    [steps] = [one for one in answer["rows"] if one["config"] == "steps"]
    assert "screenshot_sha256" in steps["columns"]
    assert not {"at", "episode_id", "unit_id"} & steps["columns"].keys()


def test_of_two_versions_of_a_run_only_what_is_new_is_read(tmp_path: Path) -> None:
    async def make() -> None:
        made = await make_night(tmp_path / "run")
        await grow(made, "enter-time")
        await judge_again(made, "click-test")

    asyncio.run(make())
    grown = _answer(f"{tmp_path}/run@1", f"{tmp_path}/run@2")
    judged = _answer(f"{tmp_path}/run@2", tmp_path / "run")

    assert grown["matched"]["by_id"] == 20
    assert len(grown["added"]) == 4
    assert _rows(grown)["steps"] == (12, 0, 0)
    assert [one["unread"] for one in grown["rows"] if one["config"] == "steps"] == [60]
    assert _rows(judged)["verdicts"] == (4, 0, 0)
    assert judged["results"] == {"accepted → accepted": 20, "accepted → rejected": 4}


def test_a_run_is_judged_by_the_rule_that_is_set(nights: Path) -> None:
    rule = "--set=accept.passed=['outcome']"

    answer = _answer(nights / "runs" / "monday", nights / "runs" / "tuesday", rule)

    assert answer["verdicts"] == []
    assert answer["results"] == {"accepted → accepted": 20}


def test_a_run_and_its_dataset_hold_the_same(tmp_path: Path) -> None:
    run, data = tmp_path / "run", tmp_path / "data"
    asyncio.run(make_night(run, templates=["click-test"], lost={("click-test", 0)}))
    made = called("publish", str(run), "--to", str(data), "--no-prefect")
    assert made.code == 0, made.err

    there, back = _answer(run, data), _answer(data, run)
    said = _diff(run, data)

    for answer, side in ((there, "removed"), (back, "added")):
        rows = _rows(answer)
        assert rows["episodes/attempts"] == (0, 0, 0)
        assert rows["verdicts"] == (0, 0, 0)
        assert rows["steps"] == ((0, 3, 0) if side == "removed" else (3, 0, 0))  # of the rejected
        assert answer["steps"] == {"same": 3, "other": 0, "unknown": 1}
        assert answer["verdicts"] == []
    assert "note     trajectories, results, " in said.out


def test_two_datasets_are_compared_by_config(copies: tuple[Path, Path]) -> None:
    answer = _answer(*copies)

    assert answer["results"] == {"accepted → rejected": 2, "accepted → accepted": 1}
    assert _rows(answer)["trajectories"] == (2, 2, 0)
    assert _rows(answer)["attempts"] == (2, 0, 2)
    assert len(answer["added"]) == 2


def test_a_dataset_is_the_same_as_its_copy(copies: tuple[Path, Path], tmp_path: Path) -> None:
    shutil.copytree(copies[0], tmp_path / "copy")

    said = _diff(copies[0], tmp_path / "copy")

    assert said.out.endswith("same     nothing differs\n")


def _collection(nights: Path, tmp_path: Path) -> Path:
    data = tmp_path / "data"
    for name in ("monday", "tuesday"):
        run = shutil.copytree(nights / "runs" / name, tmp_path / name)
        made = called("publish", str(run), "--to", str(data), "--append", "--no-prefect")
        assert made.code == 0, made.err
    return data


def test_a_collection_has_its_versions(nights: Path, tmp_path: Path) -> None:
    data = _collection(nights, tmp_path)

    answer = _answer(f"{data}@1", data)
    missing = _diff(f"{data}@9", data)
    withdrawn = called("withdraw", str(data), answer["added"][0], "--reason", "shows a name")
    assert withdrawn.code == 0, withdrawn.err
    after = _answer(f"{data}@2", data)

    assert [answer[side]["version"] for side in ("first", "second")] == [1, 2]
    assert [answer[side]["kind"] for side in ("first", "second")] == ["collection"] * 2
    assert answer["matched"]["by_id"] == answer["first"]["episodes"] > 0
    assert len(answer["added"]) == answer["second"]["episodes"] - answer["first"]["episodes"] > 0
    assert answer["removed"] == []
    assert after["removed"] == answer["added"][:1]
    assert "1 of the episodes in A alone were withdrawn from B" in after["notes"]
    assert missing.err.endswith("has no version 9: it holds version 2\n")


def test_a_version_of_a_collection_that_lost_a_file_is_refused(
    nights: Path, tmp_path: Path
) -> None:
    data = _collection(nights, tmp_path)
    listed = data / "versions" / "000001.json"
    listed.write_text(listed.read_text().replace("/train-", "/train-0", 1))

    gone = _diff(f"{data}@1", data)
    listed.write_text("{}")
    damaged = _diff(f"{data}@1", data)

    assert "version 1 is not whole any more: data/" in gone.err
    assert "is not the list of the files of a version" in damaged.err
    assert (gone.code, damaged.code) == (2, 2)


def test_nothing_is_written(copies: tuple[Path, Path]) -> None:
    before = [contents(place) for place in copies]

    _answer(*copies)

    assert [contents(place) for place in copies] == before


def test_rules_that_differ_are_told(copies: tuple[Path, Path]) -> None:
    manifest = manifest_in(copies[1])
    rule = {**manifest.rule, "min_reward": 0.5}
    (copies[1] / MANIFEST).write_bytes(manifest.model_copy(update={"rule": rule}).to_bytes())

    said = _diff(*copies)

    assert "note     the rules differ: accept.min_reward is 1.0 in A and 0.5 in B" in said.out


def test_an_older_schema_is_told_and_not_guessed(copies: tuple[Path, Path]) -> None:
    without_columns(copies[0], "attempts", "deciding_reason", "success")
    without_columns(copies[0], "steps", "note")

    answer = _answer(*copies)
    said = _diff(*copies)

    assert "steps: not compared, B alone has it: note" in said.out
    assert "attempts: not compared, B alone has it: success, deciding_reason" in said.out
    assert {one["first"] for one in answer["yields"][0]["success"]} == {None}
    [attempts] = [one for one in answer["rows"] if one["config"] == "attempts"]
    assert "success" not in attempts["columns"]


def test_a_dataset_without_attempts_tells_of_its_trajectories_alone(
    copies: tuple[Path, Path],
) -> None:
    manifest = manifest_in(copies[0])
    files = tuple(file for file in manifest.files if file.config != "attempts")
    (copies[0] / MANIFEST).write_bytes(manifest.model_copy(update={"files": files}).to_bytes())

    answer = _answer(*copies)

    assert "A has no attempts: nothing is known of those that it did not publish" in answer["notes"]
    assert answer["first"]["episodes"] == 3
    assert answer["templates"][0]["template"] == "click-test"


def test_rows_without_the_column_that_names_them_are_not_compared(
    copies: tuple[Path, Path],
) -> None:
    without_columns(copies[0], "verdicts", "round")

    answer = _answer(*copies)

    assert "verdicts: not compared: one side has no column round" in answer["notes"]
    assert "verdicts" not in _rows(answer)


def _half_published(place: Path) -> None:
    (place / MANIFEST).rename(place / ".publishing")


def _lost_file(place: Path) -> None:
    next((place / "data" / "steps").iterdir()).unlink()


def _cut_file(place: Path) -> None:
    path = next((place / "data" / "steps").iterdir())
    path.write_bytes(path.read_bytes()[:-1])


def _torn_file(place: Path) -> None:
    path = next((place / "data" / "steps").iterdir())
    path.write_bytes(b"x" * path.stat().st_size)


def _foreign_manifest(place: Path) -> None:
    (place / MANIFEST).write_text(json.dumps({"kind": "another"}))


def _no_task_ids(place: Path) -> None:
    without_columns(place, "attempts", "task_id")


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (_half_published, "a publication began here and has not ended"),
        (_lost_file, "by its manifest, is not there; a publication is under way"),
        (_cut_file, "by its manifest, is "),
        (_torn_file, "a file cannot be read"),
        (_foreign_manifest, "is not a manifest of a dataset"),
        (_no_task_ids, "attempts has no column task_id, so nothing is compared"),
    ],
)
def test_a_dataset_that_is_not_whole_is_refused(
    spoil: Callable[[Path], None], told: str, copies: tuple[Path, Path]
) -> None:
    spoil(copies[1])

    said = _diff(*copies)

    assert (said.code, said.out) == (2, "")
    assert told in said.err
    assert "other" in said.err
    assert said.err.count("\n") == 1


def test_what_is_neither_run_nor_dataset_is_refused(nights: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    run = nights / "runs" / "monday"

    for words in ((tmp_path, run), (run, tmp_path), (run, tmp_path / "nowhere")):
        said = _diff(*words)
        assert (said.code, said.out) == (2, "")
        assert "expected a run (run.json) or a published dataset (manifest.json)" in said.err


def test_a_version_that_does_not_exist_is_refused(nights: Path, copies: tuple[Path, Path]) -> None:
    run = nights / "runs" / "monday"

    of_run = _diff(f"{run}@7", run)
    of_dataset = _diff(copies[0], f"{copies[1]}@7")

    assert "has no version 7; there are: 1" in of_run.err
    assert "has no version 7: it holds version 2 alone; the run itself has all" in of_dataset.err
    assert (of_run.code, of_dataset.code) == (2, 2)


def test_a_run_that_has_not_ended_its_first_version_is_refused(
    nights: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    shutil.copytree(nights / "runs" / "monday", run)
    shutil.rmtree(run / "versions")

    said = _diff(run, nights / "runs" / "monday")

    assert "has no version yet" in said.err
    assert said.code == 2


def test_a_column_of_another_type_is_compared_by_its_values(copies: tuple[Path, Path]) -> None:
    manifest = manifest_in(copies[0])
    for file in manifest.files:
        if file.config == "tasks":
            path = copies[0] / file.path
            table = pq.read_table(path)
            place = table.schema.get_field_index("max_steps")
            wide = table.set_column(place, "max_steps", table["max_steps"].cast(pa.int64()))
            pq.write_table(wide, path)
            changed = file.model_copy(update={"bytes": path.stat().st_size})
            files = tuple(changed if one == file else one for one in manifest.files)
            manifest = manifest.model_copy(update={"files": files})
    (copies[0] / MANIFEST).write_bytes(manifest.to_bytes())

    assert _rows(_answer(*copies))["tasks"] == (1, 0, 0)
