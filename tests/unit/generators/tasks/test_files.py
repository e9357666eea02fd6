"""Task files: what a row may state, what is computed, and how every mistake is named."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.inputs.offered_parts import installed, offer

from generators.tasks.files import BadRow, TaskRow, parse_row
from generators.tasks.site_offers import SiteOffer, make_template_task, site_offers
from generators.tasks.task_file_reader import MAX_MISTAKES, read_task_file
from schemas.errors import BadTasks
from schemas.tables.tables import arrow_schema, to_row
from schemas.tasks.task import Task

Stated = dict[str, object]
"""A row, as it is written down."""

MINIWOB = site_offers()["miniwob"]
WIKI = SiteOffer("wiki", version="2")
SITES = {"miniwob": MINIWOB, "wiki": WIKI}
GOOD: Stated = {"site": "miniwob", "template_id": "click-test", "seed": 1}
TOLD: Stated = {
    "site": "wiki",
    "instruction": "Find the newest page.",
    "start_url": "http://wiki.test/",
}
MOST = 100


def read(path: Path) -> list[Task]:
    return read_task_file(path, SITES, max_tasks=MOST).tasks


def from_lines(folder: Path, *lines: str | Stated) -> list[Task]:
    path = folder / "tasks.jsonl"
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts))
    return read(path)


def refusal(folder: Path, *lines: str | Stated) -> str:
    with pytest.raises(BadTasks) as refused:
        from_lines(folder, *lines)
    return str(refused.value)


def test_a_row_may_state_every_column_of_a_task() -> None:
    assert set(TaskRow.model_fields) == set(Task.model_fields)


def test_a_template_and_a_seed_are_a_task(tmp_path: Path) -> None:
    (task,) = from_lines(tmp_path, GOOD)
    expected = make_template_task(MINIWOB, "click-test", seed=1, source="tasks.jsonl")
    assert task == expected


def test_an_instruction_and_a_start_are_a_task_where_there_are_no_templates(
    tmp_path: Path,
) -> None:
    (task,) = from_lines(tmp_path, TOLD)
    assert task.instruction == "Find the newest page."
    assert task.template_id == task.task_id
    assert task.split == ""
    labelled, other = from_lines(
        tmp_path, TOLD | {"template_id": "find"}, TOLD | {"instruction": "Find the oldest page."}
    )
    assert labelled.template_id == "find"
    assert labelled.task_id == task.task_id, "a label is no part of the identity"
    assert other.task_id != task.task_id


def test_files_of_a_row_are_the_task_s_and_decide_who_it_is(tmp_path: Path) -> None:
    files = [{"name": "bill.txt", "text": "12"}, {"name": "logo.png", "base64": "MQ=="}]
    plain, given = from_lines(tmp_path, TOLD, TOLD | {"files": files})

    assert plain.files is None
    assert [one.contents for one in given.files or ()] == [b"12", b"1"]
    assert given.task_id != plain.task_id


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ([{"name": "../x", "text": "1"}], "files.0.name = '../x': a file's name is a name alone"),
        ([{"name": "/etc/passwd", "text": "1"}], "a file's name is a name alone"),
        ([{"name": "a"}], "a file has either text or base64"),
        ([{"name": "a", "path": "a"}], "unknown column 'files.0.path'"),
        ([{"name": "a", "text": "1"}, {"name": "a", "text": "2"}], "two files are called 'a'"),
        ("bill.txt", "files: is not a row of JSON values"),
    ],
)
def test_files_that_are_none_are_named(tmp_path: Path, files: object, said: str) -> None:
    assert said in refusal(tmp_path, TOLD | {"files": files})


def test_templates_take_no_files(tmp_path: Path) -> None:
    files = [{"name": "a", "text": "1"}]
    assert "files: pages of miniwob take none" in refusal(tmp_path, GOOD | {"files": files})


def test_what_a_row_states_freely_is_taken_and_leaves_the_identity_alone(tmp_path: Path) -> None:
    stated = {
        "max_steps": 12,
        "difficulty": "easy",
        "tags": ["mine"],
        "feasible": True,
        "answer_kind": "verbatim",
        "rubric": {"look": None},
        "expires_at": "2030-01-01T00:00:00Z",
        "source": "people",
    }
    (task,) = from_lines(tmp_path, GOOD | stated)
    (plain,) = from_lines(tmp_path, GOOD)
    assert task.task_id == plain.task_id
    assert task.model_dump(include=set(stated)) == stated | {
        "tags": ("mine",),
        "expires_at": datetime(2030, 1, 1, tzinfo=UTC),
    }


def test_parameters_belong_to_the_identity_as_objects_or_as_text(tmp_path: Path) -> None:
    (plain,) = from_lines(tmp_path, GOOD)
    (written,) = from_lines(tmp_path, GOOD | {"parameters": {"b": 1, "a": [2]}})
    (kept,) = from_lines(tmp_path, GOOD | {"parameters": '{"a": [2], "b": 1}'})
    assert written == kept
    assert written.parameters == {"a": [2], "b": 1}
    assert written.task_id != plain.task_id


def test_a_probe_that_no_package_has_is_refused_with_its_line(tmp_path: Path) -> None:
    shop = SiteOffer("shop", origin="http://shop.test", judges_state=True)
    stated = {"site": "shop", "instruction": "Buy a kettle.", "start_url": "/"}
    lines = [stated | {"expect": {"probe": name}} for name in ("total", "totl")]
    path = tmp_path / "tasks.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    with installed(tmp_path):
        offer(tmp_path, "sums", {"stepmill.probes:total": "nothing_imports_it:total"})
        with pytest.raises(BadTasks) as refused:
            read_task_file(path, {"shop": shop}, max_tasks=MOST)

    assert str(refused.value).splitlines()[:1] == [
        f"{path}: line 2: expect.probe: there is no probe 'totl'; did you mean 'total'?; there are total"
    ]
    assert "line 1" not in str(refused.value)


def test_null_states_nothing(tmp_path: Path) -> None:
    (task,) = from_lines(tmp_path, GOOD | dict.fromkeys(("tags", "task_id", "parameters")))
    assert task == from_lines(tmp_path, GOOD)[0]


def test_a_goal_that_the_page_states_is_passed_over(tmp_path: Path) -> None:
    (task,) = from_lines(tmp_path, GOOD | {"instruction": "Do something else."})
    assert task.instruction == ""


def test_blank_lines_a_byte_order_mark_and_windows_line_ends_are_nothing(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    line = json.dumps(GOOD).encode()
    path.write_bytes(b"\xef\xbb\xbf" + line + b"\r\n\r\n  \n" + line.replace(b"1", b"2") + b"\r\n")
    assert [task.seed for task in read(path)] == [1, 2]


def test_the_tasks_table_of_a_run_is_a_task_file(tmp_path: Path) -> None:
    tasks = [
        make_template_task(MINIWOB, "click-test", seed=seed, source="miniwob") for seed in (1, 2)
    ]
    told = [task.model_copy(update={"instruction": "Click the button."}) for task in tasks]
    path = tmp_path / "tasks.parquet"
    pq.write_table(
        pa.Table.from_pylist(list(map(to_row, told)), schema=arrow_schema("tasks")), path
    )
    assert read(path) == tasks


def test_a_table_may_have_few_columns_and_a_time(tmp_path: Path) -> None:
    at = datetime(2030, 1, 1, tzinfo=UTC)
    table = pa.table(
        {
            "site": ["miniwob", "miniwob"],
            "template_id": ["click-test", "enter-text"],
            "seed": pa.array([1, 2], pa.int32()),
            "expires_at": pa.array([at, None], pa.timestamp("us", tz="UTC")),
        }
    )
    path = tmp_path / "no-suffix"
    pq.write_table(table, path)
    assert [task.expires_at for task in read(path)] == [at, None]


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ('{"site": "miniwob", ', "is not a row of JSON values"),
        ("[1]", "is not a JSON object: [1]; a task file has one object a line"),
        ("nonsense", "is not a row of JSON values"),
        ('{"site": "miniwob", "site": "wiki"}', "states 'site' twice"),
        ('{"site": "\\ud800"}', "not valid UTF-8"),
        ('{"site": "miniwob", "seed": 1e999}', "is not a row of JSON values"),
        ("[" * 100_000, "is not a row of JSON values"),
        ("{}", "site is missing"),
        (GOOD | {"site": "minwob"}, "unknown site 'minwob' (there are: miniwob, wiki); did you"),
        (GOOD | {"site": "apps"}, "unknown site 'apps'"),
        (GOOD | {"sead": 1}, "unknown column 'sead'; did you mean 'seed'?"),
        (GOOD | {"template_id": "clik-test"}, "has no template 'clik-test'; did you mean 'click-"),
        ({"site": "miniwob", "seed": 1}, "template_id is missing"),
        ({"site": "miniwob", "template_id": "click-test"}, "seed is missing"),
        (GOOD | {"seed": "1"}, "seed = '1': "),
        (GOOD | {"seed": True}, "seed = True: "),
        (GOOD | {"seed": 1.0}, "seed = 1.0: "),
        (GOOD | {"seed": -1}, "seed = -1: "),
        (GOOD | {"seed": 2**63}, "seed = 9223372036854775808: "),
        (GOOD | {"max_steps": 0}, "max_steps = 0: "),
        (GOOD | {"tags": "typing"}, "tags = 'typing': "),
        (GOOD | {"answer_kind": "guess"}, "answer_kind = 'guess': "),
        (GOOD | {"parameters": "[1]"}, "parameters = [1]: "),
        (GOOD | {"parameters": "{"}, "is not a row of JSON values"),
        (GOOD | {"expires_at": "2030-01-01T00:00:00"}, "expires_at = '2030-01-01T00:00:00': "),
        (GOOD | {"task_id": "0" * 32}, "task_id = '000"),
        (GOOD | {"split": "dev"}, "split = 'dev': "),
        (GOOD | {"split": "test"}, "split = 'test', but an earlier line of the template"),
        (GOOD | {"site_version": "0.9"}, "site_version = '0.9', but this task's is '1.1.0'"),
        (GOOD | {"start_url": "http://127.0.0.1:80/"}, "start_url = 'http://127.0.0.1:80/', but"),
        ({"site": "wiki", "instruction": "Go."}, "start_url is missing"),
        ({"site": "wiki", "start_url": "http://wiki.test/"}, "instruction is missing"),
        (TOLD | {"instruction": ""}, "instruction = '': "),
        (TOLD | {"start_url": "ftp://wiki.test/"}, "expected an http or https address"),
        (TOLD | {"start_url": "http://[wiki/"}, "start_url = 'http://[wiki/': "),
        (TOLD | {"start_url": "http://me:word@wiki.test/"}, "holds a user name or password"),
    ],
)
def test_a_wrong_row_is_named_with_its_line(tmp_path: Path, line: str | Stated, named: str) -> None:
    said = refusal(tmp_path, GOOD | {"seed": 99}, "", line)
    assert f"{tmp_path / 'tasks.jsonl'}: line 3: " in said
    assert named in said


def test_bytes_that_are_no_text_are_named_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(json.dumps(GOOD).encode() + b"\n" + '{"site": "é"}'.encode("latin-1"))
    with pytest.raises(BadTasks, match="line 2: holds text that is not valid UTF-8"):
        read(path)


def test_two_rows_of_one_task_are_both_named(tmp_path: Path) -> None:
    said = refusal(tmp_path, GOOD, GOOD | {"seed": 2}, GOOD | {"tags": ["again"]})
    assert "line 3: is the same task as line 1" in said


def test_several_mistakes_are_told_at_once_but_not_without_end(tmp_path: Path) -> None:
    said = refusal(tmp_path, GOOD | {"seed": -1, "sead": 2}, "x").splitlines()
    assert [line.split(": ")[1] for line in said] == ["line 1", "line 1", "line 2"]
    said = refusal(tmp_path, *["x"] * 50).splitlines()
    assert len(said) == MAX_MISTAKES + 1
    assert "what follows line 10 was not read" in said[-1]


def test_a_file_without_tasks_is_refused(tmp_path: Path) -> None:
    assert "holds no task" in refusal(tmp_path, "", "  ")


def test_a_file_of_too_many_tasks_is_refused(tmp_path: Path) -> None:
    said = refusal(tmp_path, *(GOOD | {"seed": seed} for seed in range(MOST + 1)))
    assert f"more than {MOST} tasks" in said


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadTasks, match="cannot be read"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("table", "named"),
    [
        ({"site": ["miniwob"], "sead": [1]}, "unknown column 'sead'; did you mean 'seed'?"),
        ({"site": ["miniwob"], "template_id": ["click-test"], "seed": [None]}, "row 1: seed is"),
        (
            {"site": ["miniwob"] * 2, "template_id": ["click-test"] * 2, "seed": [1, 1]},
            "row 2: is the same task as row 1",
        ),
        ({"site": [b"miniwob"]}, "row 1: is not a row of JSON values"),
        ({"site": pa.array([], pa.string())}, "holds no task"),
    ],
)
def test_a_wrong_table_is_refused(
    tmp_path: Path, table: dict[str, list[object]], named: str
) -> None:
    path = tmp_path / "tasks.parquet"
    pq.write_table(pa.table(table), path)
    with pytest.raises(BadTasks) as refused:
        read(path)
    assert named in str(refused.value)


def test_a_torn_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tasks.parquet"
    pq.write_table(pa.table({"site": ["miniwob"]}), path)
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(BadTasks, match="not a readable Parquet file"):
        read(path)


def test_a_column_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tasks.parquet"
    columns = [pa.array(["miniwob"]), pa.array(["wiki"])]
    pq.write_table(pa.Table.from_arrays(columns, names=["site", "site"]), path)
    with pytest.raises(BadTasks, match="two columns are called 'site'"):
        read(path)


def test_a_list_that_is_too_large_is_to_be_written_line_by_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("generators.tasks.task_file_reader._MAX_ARRAY", 10)
    path = tmp_path / "tasks.json"
    path.write_text('[{"site": "miniwob"}]', encoding="utf-8")

    with pytest.raises(BadTasks, match="one JSON array of more than 10 bytes: write one task a"):
        read(path)


WRONG_STEP: Stated = {"do": "answer"}


@pytest.mark.parametrize(
    ("reference", "mistakes"),
    [
        ([], ["reference = []: expected at least one step; a task that needs no action has"]),
        ([WRONG_STEP], ["reference.0 = {'do': 'answer'}: 'answer' needs 'text'"]),
    ],
)
def test_a_mistake_of_a_reference_is_told_once_and_with_what_to_do(
    reference: list[Stated], mistakes: list[str]
) -> None:
    with pytest.raises(BadRow) as refused:
        parse_row({"site": "miniwob", "reference": reference})

    assert [one[: len(told)] for one, told in zip(refused.value.args, mistakes, strict=True)] == (
        mistakes
    )


def test_a_reference_that_only_answers_is_one() -> None:
    row = parse_row({"site": "miniwob", "reference": [{"do": "answer", "text": "impossible"}]})

    assert row.reference is not None
    assert len(row.reference) == 1
