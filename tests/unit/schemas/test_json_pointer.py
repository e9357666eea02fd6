"""Where a place in a JSON value is, and whether there is anything."""

import pytest
from pydantic import JsonValue

from schemas.json_pointer import ABSENT, covers, find, join_pointer, split_pointer

STATE: JsonValue = {"a/b": {"~": [10, None, {"": 5}]}, "n": None}


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("", STATE),
        ("/a~1b/~0/0", 10),
        ("/a~1b/~0/1", None),
        ("/a~1b/~0/2/", 5),
        ("/n", None),
        ("/a~1b/~0/3", ABSENT),
        ("/a~1b/~0/-1", ABSENT),
        ("/a~1b/~0/01", ABSENT),
        ("/a~1b/~0/²", ABSENT),
        ("/a~1b/~0/9999999999999999999", ABSENT),
        ("/n/x", ABSENT),
        ("/b", ABSENT),
    ],
)
def test_a_pointer_finds_what_lies_there(pointer: str, value: object) -> None:
    assert find(STATE, pointer) == value


@pytest.mark.parametrize("pointer", ["a", "a/b", "/a~", "/~2"])
def test_a_malformed_pointer_is_refused(pointer: str) -> None:
    with pytest.raises(ValueError, match="JSON pointer"):
        split_pointer(pointer)


def test_a_part_is_escaped_when_it_is_joined() -> None:
    assert join_pointer(join_pointer("", "a/b"), "~") == "/a~1b/~0"


@pytest.mark.parametrize(
    ("pattern", "covered"),
    [("/a/*/c", True), ("/a", True), ("", True), ("/a/b/c/d", False), ("/a/x/c", False)],
)
def test_a_pattern_covers_a_place_and_what_is_in_it(pattern: str, *, covered: bool) -> None:
    assert covers(split_pointer(pattern), ("a", "b", "c")) == covered
