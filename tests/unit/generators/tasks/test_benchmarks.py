"""WebVoyager's and Online-Mind2Web's files: what their rows give, and which rows give nothing."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from generators.tasks.benchmarks import FileFormat
from generators.tasks.site_offers import LIVE, SiteOffer
from generators.tasks.task_file_reader import TaskFile, examine_task_file, read_task_file
from schemas.errors import BadTasks

Stated = dict[str, object]

SHOP = SiteOffer("shop", version="1", origin="http://shop.test:8080")
SITES = {"live": LIVE, "shop": SHOP}
VOYAGE: Stated = {
    "web_name": "Shop",
    "id": "Shop--0",
    "ques": "Find a kettle.",
    "web": "https://www.shop.com/",
}
MIND: Stated = {
    "task_id": "ade4c09ad3fdb1607209750924cd232f",
    "confirmed_task": "Find a trail.",
    "website": "https://www.trails.gov/",
    "reference_length": 7,
    "level": "medium",
}


def written(folder: Path, *rows: Stated | str) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows))
    return path


def read(folder: Path, *rows: Stated | str) -> TaskFile:
    return examine_task_file(written(folder, *rows), SITES, max_tasks=100)


def unmapped(folder: Path, row: Stated | str, *, beside: Stated) -> str:
    file = read(folder, beside, row)
    assert len(file.tasks) == 1
    assert file.mistakes == []
    (line,) = file.unmapped
    return line


def test_a_row_of_webvoyager_is_a_task_on_the_live_web(tmp_path: Path) -> None:
    file = read(tmp_path, VOYAGE)
    (task,) = file.tasks
    assert file.format is FileFormat.WEBVOYAGER
    assert (task.site, task.instruction, task.start_url) == (
        "live",
        "Find a kettle.",
        "https://www.shop.com/",
    )
    assert (task.template_id, task.tags) == ("webvoyager/Shop", ("webvoyager", "Shop"))
    assert task.parameters == {"id": "Shop--0"}
    assert task.source == "rows.jsonl"


def test_a_row_of_online_mind2web_is_a_task_with_its_level(tmp_path: Path) -> None:
    file = read(tmp_path, MIND)
    (task,) = file.tasks
    assert file.format is FileFormat.ONLINE_MIND2WEB
    assert (task.site, task.instruction, task.difficulty) == ("live", "Find a trail.", "medium")
    assert task.template_id == "online-mind2web/www.trails.gov"
    assert task.parameters == {"id": MIND["task_id"], "reference_length": 7}


@pytest.mark.parametrize(
    ("length", "level"), [(5, "easy"), (6, "medium"), (10, "medium"), (11, "hard"), (None, None)]
)
def test_a_level_that_is_not_stated_follows_from_the_length(
    tmp_path: Path, length: int | None, level: str | None
) -> None:
    (task,) = read(tmp_path, MIND | {"level": None, "reference_length": length}).tasks
    assert task.difficulty == level


def test_the_goal_may_be_called_task_description(tmp_path: Path) -> None:
    row = {key: value for key, value in MIND.items() if key != "confirmed_task"}
    (task,) = read(tmp_path, row | {"task_description": "Find a dog."}).tasks
    assert task.instruction == "Find a dog."


def test_a_start_on_a_known_sites_origin_is_that_sites_task(tmp_path: Path) -> None:
    (task,) = read(tmp_path, VOYAGE | {"web": "http://SHOP.test:8080/kettles"}).tasks
    assert (task.site, task.site_version) == ("shop", "1")
    (other,) = read(tmp_path, VOYAGE | {"web": "http://shop.test/kettles"}).tasks
    assert other.site == "live"


def test_an_array_over_several_lines_is_read_with_the_lines_of_its_items(tmp_path: Path) -> None:
    path = tmp_path / "Online_Mind2Web.json"
    rows = [MIND, MIND | {"website": "trails.gov"}, MIND | {"task_id": "other"}]
    path.write_text("\n" + json.dumps(rows, indent=2))
    file = examine_task_file(path, SITES, max_tasks=100)
    assert len(file.tasks) == 2
    (line,) = file.unmapped
    assert f"{path}: line 10: website = 'trails.gov': expected an http or https" in line


@pytest.mark.parametrize("text", ["[", "[{}", "[{} {}]", "[{}] {}", "[{},", '[{"a": 1}, x]'])
def test_a_torn_array_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "rows.json"
    path.write_text(text)
    with pytest.raises(BadTasks, match="is not one JSON array"):
        read_task_file(path, SITES, max_tasks=100)


def test_an_empty_array_holds_no_task(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text("[\n]")
    with pytest.raises(BadTasks, match="holds no task"):
        read_task_file(path, SITES, max_tasks=100)


def test_a_table_of_a_benchmark_is_read(tmp_path: Path) -> None:
    path = tmp_path / "test.parquet"
    pq.write_table(pa.Table.from_pylist([MIND, MIND | {"website": None}]), path)
    file = examine_task_file(path, SITES, max_tasks=100)
    assert [task.instruction for task in file.tasks] == ["Find a trail."]
    assert file.unmapped == [f"{path}: row 2: website is missing"]


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"ques": None}, "ques is missing"),
        ({"ques": ""}, "ques is missing"),
        ({"id": None}, "id is missing"),
        ({"id": 3}, "id is no text"),
        ({"web_name": None}, "web_name is missing"),
        ({"web": None}, "web is missing"),
        ({"web": "www.shop.com"}, "web = 'www.shop.com': expected an http or https address"),
        ({"web": "http://[shop/"}, "web = 'http://[shop/': "),
        ({"web": "https://me:word@shop.com/"}, "holds a user name or password"),
        ({}, "is the same task as line 1"),
    ],
)
def test_a_row_of_webvoyager_without_a_task_is_told_with_its_line(
    tmp_path: Path, changed: Stated, named: str
) -> None:
    line = unmapped(tmp_path, VOYAGE | changed, beside=VOYAGE)
    assert line.startswith(f"{tmp_path / 'rows.jsonl'}: line 2: ")
    assert named in line


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"task_id": None}, "task_id is missing"),
        ({"confirmed_task": None}, "confirmed_task is missing"),
        ({"website": None}, "website is missing"),
        ({"reference_length": "7"}, "reference_length = '7': expected a number of steps"),
        ({"reference_length": True}, "reference_length = True: expected"),
        ({"reference_length": 0}, "reference_length = 0: expected"),
        ({"level": 3}, "difficulty = 3"),
    ],
)
def test_a_row_of_online_mind2web_without_a_task_is_told(
    tmp_path: Path, changed: Stated, named: str
) -> None:
    assert named in unmapped(tmp_path, MIND | changed, beside=MIND)


def test_a_line_that_is_no_object_is_told_wherever_it_is(tmp_path: Path) -> None:
    file = read(tmp_path, "nonsense", VOYAGE, '{"id": 1, "id": 2}', "3")
    assert file.format is FileFormat.WEBVOYAGER
    assert [line.split(": ")[1] for line in file.unmapped] == ["line 1", "line 3", "line 4"]
    assert "states 'id' twice" in file.unmapped[1]


def test_fields_that_nothing_is_made_of_are_counted(tmp_path: Path) -> None:
    more = {"upstream_url": "https://x.test/", "task_type": "easy"}
    file = read(tmp_path, VOYAGE | more, VOYAGE | {"id": "Shop--1", "task_type": "hard"})
    assert file.fields_left_out == {"task_type": 2, "upstream_url": 1}
    assert len(file.tasks) == 2


def test_a_benchmark_without_any_task_is_refused_with_the_reasons(tmp_path: Path) -> None:
    with pytest.raises(BadTasks, match=r"holds no task\n.*line 1: web is missing"):
        read_task_file(written(tmp_path, VOYAGE | {"web": ""}), SITES, max_tasks=100)


def test_a_task_of_ones_own_starts_on_its_sites_origin(tmp_path: Path) -> None:
    own: Stated = {"site": "shop", "instruction": "Buy.", "start_url": "http://shop.test:8080/x"}
    assert len(read(tmp_path, own).tasks) == 1
    (line,) = read(tmp_path, own | {"start_url": "http://shop.test/x"}).mistakes
    assert "tasks of shop start on http://shop.test:8080" in line


def test_an_examination_names_every_mistake(tmp_path: Path) -> None:
    wrong: Stated = {"site": "nowhere"}
    file = read(tmp_path, *[wrong] * 50)
    assert len(file.mistakes) == 50
