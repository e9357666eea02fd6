"""A folder of Harbor's directories as a source: what is not a task of Stepmill is refused, and why is said."""

from pathlib import Path

import pytest

from generators.tasks.benchmarks import FileFormat
from generators.tasks.site_offers import site_offers
from generators.tasks.task_file_reader import examine_task_file, read_task_file
from schemas.errors import BadTasks

OFFERS = site_offers()
FOREIGN = 'schema_version = "1.4"\n[task]\nname = "harbor/hello-world"\n[environment]\n'
OURS = '[metadata.stepmill]\nsite = "miniwob"\ntemplate_id = "click-test"\nseed = 7\n'


def directory(folder: Path, name: str, text: str | bytes) -> None:
    (folder / name).mkdir(parents=True)
    data = text if isinstance(text, bytes) else text.encode()
    (folder / name / "task.toml").write_bytes(data)


def refusal(folder: Path) -> str:
    with pytest.raises(BadTasks) as refused:
        read_task_file(folder, OFFERS, max_tasks=9)
    return str(refused.value)


def test_a_task_is_read_from_its_table_alone(tmp_path: Path) -> None:
    directory(tmp_path, "b", OURS)
    directory(tmp_path, "a", OURS.replace("7", "6"))
    (tmp_path / "README.md").write_text("Not a task.")
    (tmp_path / "empty").mkdir()
    file = examine_task_file(tmp_path, OFFERS, max_tasks=9)
    assert [task.seed for task in file.tasks] == [6, 7]
    assert (file.format, file.mistakes) == (FileFormat.HARBOR, [])


def test_a_directory_alone_is_a_source_too(tmp_path: Path) -> None:
    directory(tmp_path, "one", OURS)
    (task,) = read_task_file(tmp_path / "one", OFFERS, max_tasks=9).tasks
    assert (task.template_id, task.seed) == ("click-test", 7)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (FOREIGN, "directory x: task.toml lacks [metadata.stepmill], which names the task by site"),
        ("metadata = 3\n", "lacks [metadata.stepmill]"),
        ("metadata = { stepmill = 3 }\n", "lacks [metadata.stepmill]"),
        ("[task\n", "directory x: task.toml is no TOML"),
        (b"a = '\xff'\n", "task.toml is no TOML"),
        (OURS.replace("click-test", "clik-test"), "did you mean 'click-test'"),
        (OURS.replace("seed = 7", ""), "seed is missing"),
        (OURS + 'task_id = "0"\n', "task_id = '0', but this task's is"),
        (OURS + "speed = 3\n", "unknown column 'speed'; did you mean 'seed'?"),
        (OURS + "expires_at = 2026-01-01\n", "is not a row of JSON values"),
    ],
)
def test_what_is_no_task_of_stepmill_is_refused(
    tmp_path: Path, text: str | bytes, told: str
) -> None:
    directory(tmp_path, "good", OURS.replace("7", "6"))
    directory(tmp_path, "x", text)
    assert told in refusal(tmp_path)


def test_the_same_task_in_two_directories_is_refused(tmp_path: Path) -> None:
    directory(tmp_path, "a", OURS)
    directory(tmp_path, "b", OURS)
    assert "directory b: is the same task as directory a" in refusal(tmp_path)


def test_a_folder_without_any_directory_of_harbor_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    assert (
        "is a folder and cannot be read as tasks, because none of its folders has a task.toml"
        in refusal(tmp_path)
    )
