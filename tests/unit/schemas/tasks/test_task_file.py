"""The files of a task: names alone, contents within bounds, and a part of its identity."""

import base64

import pytest
from pydantic import ValidationError

from schemas.tasks.task import task_id
from schemas.tasks.task_file import MAX_FILE_BYTES, MAX_FILES, TaskFile, check_files


def test_contents_are_text_or_bytes() -> None:
    assert TaskFile(name="a.txt", text="né").contents == "né".encode()
    assert (
        TaskFile(name="a.bin", base64=base64.b64encode(b"\x00\xff").decode()).contents
        == b"\x00\xff"
    )


@pytest.mark.parametrize(
    "name",
    [
        *(
            "",
            ".",
            "..",
            "a/b",
            "../a",
            "/etc/passwd",
            "a\\b",
            "a\x00",
            "a\n",
            " a",
            "a ",
            "C:a",
            "a*",
        ),
        "x" * 201,
    ],
)
def test_a_name_is_a_name_alone(name: str) -> None:
    with pytest.raises(ValidationError, match="name"):
        TaskFile(name=name, text="1")


@pytest.mark.parametrize(
    ("contents", "said"),
    [
        ({}, "either text or base64"),
        ({"text": "1", "base64": "MQ=="}, "either text or base64"),
        ({"base64": "nonsense!"}, "base64"),
        ({"text": "x" * (MAX_FILE_BYTES + 1)}, "at most 1,048,576 bytes"),
    ],
)
def test_contents_that_are_none_are_refused(contents: dict[str, str], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        TaskFile.model_validate({"name": "a.txt", **contents})


def test_files_of_one_task_have_names_of_their_own_and_are_few() -> None:
    one = TaskFile(name="a.txt", text="1")
    check_files([one])
    with pytest.raises(ValueError, match=r"two files are called 'a\.txt'"):
        check_files([one, one])
    with pytest.raises(ValueError, match="at most 20 files"):
        check_files([TaskFile(name=f"{n}.txt", text="1") for n in range(MAX_FILES + 1)])


def test_files_are_a_part_of_a_task_s_identity_in_any_form_and_order() -> None:
    def identity(*files: TaskFile) -> str:
        return task_id(
            site="s",
            site_version=None,
            template_id=None,
            seed=0,
            start_url="http://s/",
            instruction="Attach it.",
            parameters={},
            files=files,
        )

    one, other = TaskFile(name="a.txt", text="1"), TaskFile(name="b.txt", text="2")
    same = TaskFile(name="a.txt", base64=base64.b64encode(b"1").decode())
    assert identity(one, other) == identity(other, same)
    assert len({identity(), identity(one), identity(TaskFile(name="a.txt", text="2"))}) == 3
