"""A server's state is strict JSON of a bearable size, without what differs between equal visits."""

import pytest
from pydantic import JsonValue

from generators.sites.judging import state as state_module
from generators.sites.judging.state import (
    MAX_STATE_BYTES,
    MAX_STATE_DEPTH,
    mask_state,
    parse_state,
    state_digest,
)
from schemas.errors import BadState

USERS: JsonValue = {
    "users": [{"id": 1, "token": "x", "seen": {"at": 5}}, {"id": 2}],
    "log": [],
    "~a/b": {"x": 1},
}


def test_a_state_is_read_as_it_was_sent() -> None:
    raw = b'\xef\xbb\xbf{"a": [1, 1.5, null, "\\u00e9\\ud83e\\udd51"]}'

    assert parse_state(raw, "the state of shop") == {"a": [1, 1.5, None, "é🥑"]}


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "is no JSON: Expecting value"),
        (b"<html>", "is no JSON: .*it begins with b'<html>'"),
        (b'{"a": 1} x', "is no JSON: Extra data"),
        (b"\xff{}", r"is not UTF-8 \(byte 0\)"),
        (b'{"a": NaN}', "holds NaN, which JSON does not have"),
        (b"[-Infinity]", "holds -Infinity, which JSON does not have"),
        (b"[1e999]", "holds 1e999, which is larger than any float"),
        (b"[" + b"9" * 5_000 + b"]", "is no JSON: Exceeds the limit"),
        (b'{"a": {"b": 1, "c": 2, "b": 3}}', "has 'b' twice in one object"),
        (b'["\\ud800"]', "holds half a surrogate pair; expected valid Unicode"),
        (b"[" * 100_000 + b"]" * 100_000, "is nested more than 64 levels deep"),
        (b'{"a":' * 65 + b"1" + b"}" * 65, "is nested more than 64 levels deep"),
    ],
)
def test_what_is_no_state_is_named_with_its_origin(raw: bytes, message: str) -> None:
    with pytest.raises(BadState, match=f"^the state of shop {message}"):
        parse_state(raw, "the state of shop")


def test_a_state_as_deep_as_allowed_is_read() -> None:
    raw = b"[" * MAX_STATE_DEPTH + b"1" + b"]" * MAX_STATE_DEPTH

    assert parse_state(raw, "a state")


def test_a_state_that_is_too_large_is_refused_before_it_is_parsed() -> None:
    raw = b" " * (MAX_STATE_BYTES + 1)

    with pytest.raises(BadState, match="a state has 64,000,001 bytes; expected at most 64,000,000"):
        parse_state(raw, "a state")


def test_a_state_as_large_as_allowed_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_module, "MAX_STATE_BYTES", 4)

    assert parse_state(b"1234", "a state") == 1234


def test_the_digest_does_not_depend_on_the_order_of_names() -> None:
    assert state_digest({"a": 1, "b": 2}) == state_digest({"b": 2, "a": 1})
    assert state_digest([1]) != state_digest([True])
    assert state_digest({}) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


@pytest.mark.parametrize(
    ("pointer", "left"),
    [
        ("/users/*/token", [{"id": 1, "seen": {"at": 5}}, {"id": 2}]),
        ("/users/*/seen/at", [{"id": 1, "token": "x", "seen": {}}, {"id": 2}]),
        ("/users/0", [{"id": 2}]),
        ("/users/*", []),
        ("/*/0/id", [{"token": "x", "seen": {"at": 5}}, {"id": 2}]),
    ],
)
def test_a_mask_takes_out_what_it_names(pointer: str, left: JsonValue) -> None:
    masked = mask_state(USERS, [pointer])

    assert isinstance(masked, dict)
    assert masked["users"] == left
    assert masked["log"] == []


def test_several_masks_take_out_all_that_they_name_and_leave_the_state_as_it_is() -> None:
    assert mask_state(USERS, ["/users", "/~0a~1b/x"]) == {"log": [], "~a/b": {}}
    assert isinstance(USERS, dict)
    assert len(USERS) == 3


@pytest.mark.parametrize(
    ("pointer", "message"),
    [
        ("users", "mask 'users': expected a JSON pointer"),
        ("", "mask '': it would take out the whole state"),
        ("/user", "mask '/user' names nothing in the state; / has log, users, ~a/b"),
        (
            "/users/*/tokn",
            "mask '/users/.*/tokn' names nothing in the state; /users/. has id, seen, token",
        ),
        ("/users/7", "mask '/users/7' names nothing"),
        ("/users/*/token/*", "mask .* names nothing in the state; /users/./token has no names"),
    ],
)
def test_a_mask_that_names_nothing_is_refused(pointer: str, message: str) -> None:
    with pytest.raises(BadState, match=message):
        mask_state(USERS, [pointer])


def test_a_mask_of_an_empty_table_is_no_mistake() -> None:
    assert mask_state(USERS, ["/log/*/at"]) == USERS


def test_later_in_a_visit_a_mask_may_name_nothing() -> None:
    assert mask_state(USERS, ["/sessions"], unknown_ok=True) == USERS
