"""What a call has got lies beside its target, line by line, and only the target is left at its end."""

from pathlib import Path

import pytest

from flows.job.paid_replies import PaidReplies
from schemas.errors import BadConfig


def test_another_call_finds_what_one_has_got(tmp_path: Path) -> None:
    target = tmp_path / "new.jsonl"
    with PaidReplies(target, "a file") as paid:
        assert paid.done == {}
        paid.add("one", {"goal": "Bücher?", "refused": None})
    with paid.path.open("ab") as file:
        file.write(b'{"key": "torn')
    with PaidReplies(target, "a file") as again:
        assert again.done == {"one": {"goal": "Bücher?", "refused": None}}
        again.add("two", {"goal": "", "refused": "it says nothing"})
    with PaidReplies(target, "a file") as last:
        assert [*last.done] == ["one", "two"]
        last.finish(["x", "y"])
    assert target.read_text() == "x\ny\n"
    assert [path.name for path in tmp_path.iterdir()] == ["new.jsonl"]


def test_a_call_that_got_nothing_leaves_nothing(tmp_path: Path) -> None:
    with PaidReplies(tmp_path / "new.jsonl", "a file"):
        pass
    assert not [*tmp_path.iterdir()]


def test_two_calls_do_not_write_at_once(tmp_path: Path) -> None:
    target = tmp_path / "new.jsonl"
    with PaidReplies(target, "a file"), pytest.raises(BadConfig, match="another call"):
        PaidReplies(target, "a file")


@pytest.mark.parametrize(
    ("there", "why"),
    [
        (b'{"about": "another"}\n', "about another, not a file"),
        (b"[]\n", "not a file of replies"),
        (b"no json\n", "not a file of replies"),
        (b"{}\n", "about None"),
        (b"a letter of somebody", "not a file of replies"),
        (b'{"about": "another"}\nmore', "about another, not a file"),
    ],
)
def test_what_is_no_file_of_these_replies_is_left_alone(
    tmp_path: Path, there: bytes, why: str
) -> None:
    part = tmp_path / "new.jsonl.part"
    part.write_bytes(there)
    with pytest.raises(BadConfig, match=why):
        PaidReplies(tmp_path / "new.jsonl", "a file")
    assert part.read_bytes() == there


def test_a_line_about_what_it_holds_that_a_kill_has_torn_is_begun_anew(tmp_path: Path) -> None:
    part = tmp_path / "new.jsonl.part"
    part.write_bytes(b'{"about": "a fi')
    with PaidReplies(tmp_path / "new.jsonl", "a file") as paid:
        paid.add("one", {})
    assert part.read_bytes() == b'{"about": "a file"}\n{"key": "one"}\n'


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match="there is no folder"):
        PaidReplies(tmp_path / "missing" / "new.jsonl", "a file")
