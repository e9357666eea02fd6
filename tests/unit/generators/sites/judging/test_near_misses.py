"""Near misses look like success, are none, and are rejected."""

from collections import defaultdict
from copy import deepcopy

import pytest
from pydantic import JsonValue

from generators.sites.judging.compare import compare_states
from generators.sites.judging.judge import judge
from generators.sites.judging.near_misses import MissKind, NearMiss, near_misses
from schemas.errors import BadExpectation
from schemas.tasks.expectation import Expectation, parse_expectation

ORDERS: list[JsonValue] = [
    {"id": 1, "item": "Lamp", "status": "open"},
    {"id": 2, "item": "Desk", "status": "open"},
]
BEFORE: dict[str, JsonValue] = {
    "orders": ORDERS,
    "users": {"ann": {"theme": "dark"}, "bob": {"theme": "dark"}},
    "settings": {"lang": "en", "page": 1},
    "log": [{"at": 1}],
}
PAID: JsonValue = {"table": "orders", "where": {"id": 1}, "set": {"status": "paid"}}


def _paid(item: str = "Lamp") -> dict[str, JsonValue]:
    after = deepcopy(BEFORE)
    after["orders"] = [{"id": 1, "item": item, "status": "paid"}, ORDERS[1]]
    return after


def _misses(
    expect: JsonValue, after: JsonValue, before: JsonValue = BEFORE
) -> tuple[Expectation, dict[MissKind, list[NearMiss]]]:
    expectation = parse_expectation(expect, "a task")
    out = defaultdict(list)
    for miss in near_misses(expectation, before=before, after=after):
        out[miss.kind].append(miss)
    return expectation, out


def _reward(expectation: Expectation, miss: NearMiss, before: JsonValue = BEFORE) -> float:
    delta = compare_states(before, miss.state)
    return judge(
        expectation, before=before, after=miss.state, delta=delta, answer=miss.answer
    ).reward


def test_a_changed_row_is_missed_in_every_way() -> None:
    expectation, misses = _misses({"changed": [PAID]}, _paid())

    assert [m.what for m in misses[MissKind.STEP_MISSING]] == ["row 1 of /orders is not changed"]
    assert [m.what for m in misses[MissKind.WRONG_RECORD]] == [
        "row 2 instead of row 1 of /orders is changed"
    ]
    assert [m.what for m in misses[MissKind.EXTRA_RECORD]] == [
        "row 2 is changed as well as row 1 of /orders"
    ]
    assert [m.what for m in misses[MissKind.ONE_FIELD_OFF]] == [
        "status of row 1 of /orders is another"
    ]
    assert len(misses[MissKind.SIDE_EFFECT]) == 12
    assert misses[MissKind.WRONG_RECORD][0].state == BEFORE | {
        "orders": [ORDERS[0], {"id": 2, "item": "Desk", "status": "paid"}]
    }
    assert all(_reward(expectation, m) == 0 for kind in misses.values() for m in kind)


def test_added_removed_and_plain_values_are_missed_too() -> None:
    before = deepcopy(BEFORE)
    after: dict[str, JsonValue] = deepcopy(BEFORE) | {
        "orders": [ORDERS[1], {"id": 3, "item": "Chair", "note": None}],
        "users": {"cyd": {"theme": "x"}, "ann": {"theme": "dark"}, "bob": {"theme": "dark"}},
        "settings": {"lang": "de", "page": 1},
    }
    expect: JsonValue = {
        "added": [
            {"table": "orders", "where": {"item": {"matches": "Ch.*"}, "note": None}},
            {"table": "users", "key": "cyd"},
        ],
        "removed": [{"table": "orders", "where": {"item": "Lamp"}}],
        "values": {"/settings/lang": "de"},
        "answer": {"one_of": ["Ann Lee", 7]},
    }

    expectation, misses = _misses(expect, after)

    assert {kind: len(found) for kind, found in misses.items()} == {
        MissKind.STEP_MISSING: 4,
        MissKind.ONE_FIELD_OFF: 3,
        MissKind.EXTRA_RECORD: 3,
        MissKind.WRONG_RECORD: 2,
        MissKind.SIDE_EFFECT: 10,
        MissKind.WRONG_ANSWER: 9,
    }
    assert all(_reward(expectation, m) == 0 for kind in misses.values() for m in kind)
    assert all(m.answer == "Ann Lee" for m in misses[MissKind.STEP_MISSING])
    assert before == BEFORE


def test_where_anything_else_may_happen_nothing_else_is_a_miss() -> None:
    expectation, misses = _misses({"changed": [PAID], "nothing_else": False}, _paid())

    assert set(misses) == {MissKind.STEP_MISSING, MissKind.ONE_FIELD_OFF, MissKind.WRONG_RECORD}
    assert all(_reward(expectation, m) == 0 for kind in misses.values() for m in kind)


def test_what_is_left_unchecked_is_no_side_effect() -> None:
    unchecked: JsonValue = ["/users", "/log/*/at", "/settings", "/orders/*/item"]

    expectation, misses = _misses({"changed": [PAID], "unchecked": unchecked}, _paid())

    assert [m.what for m in misses[MissKind.SIDE_EFFECT]] == [
        'row {"at":1} of /log is removed as well',
        'a copy of row {"at":1} of /log is added as well',
        "row 2 of /orders is removed as well",
        "a copy of row 2 of /orders is added as well",
    ]
    assert all(_reward(expectation, m) == 0 for kind in misses.values() for m in kind)


@pytest.mark.parametrize(
    ("weak", "kind"),
    [
        ({"changed": [PAID | {"set": {"status": {"matches": ".*"}}}]}, MissKind.ONE_FIELD_OFF),  # type: ignore[operator]
        ({"answer": {"matches": ".*"}}, MissKind.WRONG_ANSWER),
        ({"values": {"/settings/lang": {"matches": "..+"}}}, MissKind.ONE_FIELD_OFF),
    ],
)
def test_a_pattern_that_takes_anything_is_found_out(weak: JsonValue, kind: MissKind) -> None:
    after = _paid() if kind is MissKind.ONE_FIELD_OFF and "changed" in str(weak) else BEFORE

    expectation, misses = _misses(weak, after)

    assert any(_reward(expectation, miss) == 1 for miss in misses[kind])


def test_a_table_that_went_with_its_rows_stays_if_a_row_does() -> None:
    before: JsonValue = {"cart": {"items": [{"id": 1}, {"id": 2}]}}
    expect: JsonValue = {"removed": [{"table": "items", "count": 2}]}

    ends: tuple[JsonValue, ...] = ({}, {"cart": None}, {"cart": {"items": []}})
    for after in ends:
        expectation, misses = _misses(expect, after, before)
        assert len(misses[MissKind.STEP_MISSING]) == 1
        assert all(_reward(expectation, m, before) == 0 for kind in misses.values() for m in kind)


def test_keys_of_several_members_and_no_keys_are_missed_as_well() -> None:
    before: JsonValue = {
        "pairs": [{"a": 1, "b": 1}, {"a": 1, "b": 2}],
        "bare": [{"x": 1}, {"x": 1}],
    }
    after: JsonValue = {
        "pairs": [{"a": 1, "b": 1}, {"a": 7, "b": 7}],
        "bare": [{"x": 1}, {"x": 1}, {"x": 5}],
    }
    expectation = parse_expectation(
        {
            "added": [{"table": "pairs", "where": {"a": 7}}, {"table": "bare", "where": {"x": 5}}],
            "removed": [{"table": "pairs", "where": {"b": 2}}],
        },
        "a task",
    )

    misses = near_misses(expectation, before=before, after=after, keys={"pairs": "a,b"})

    assert {miss.kind for miss in misses} == set(MissKind) - {MissKind.WRONG_ANSWER}
    for miss in misses:
        delta = compare_states(before, miss.state, keys={"pairs": "a,b"})
        judged = judge(expectation, before=before, after=miss.state, delta=delta, answer=None)
        assert judged.reward == 0, miss.what


def test_a_rule_about_no_table_is_an_error_here_too() -> None:
    with pytest.raises(BadExpectation, match="no table 'nowhere'"):
        _misses({"added": [{"table": "nowhere"}]}, BEFORE)


@pytest.mark.parametrize("way", ["changed", "added"])
def test_a_list_in_a_text_is_missed_by_a_part_fewer_and_by_one_more(way: str) -> None:
    wanted = "Red, Blue, Black"
    others: list[JsonValue] = [{"id": 2, "tags": "Green"}, {"id": 4, "tags": "Green, Blue"}]
    first: list[JsonValue] = [{"id": 1, "tags": "Red, Blue"}] if way == "changed" else []
    before: dict[str, JsonValue] = {"things": [*first, *others]}
    after: dict[str, JsonValue] = {"things": [{"id": 1, "tags": wanted}, *others]}
    rule: JsonValue = (
        {"table": "things", "where": {"id": 1}, "set": {"tags": wanted}}
        if way == "changed"
        else {"table": "things", "where": {"id": 1, "tags": wanted}}
    )

    expectation, misses = _misses({way: [rule]}, after, before)

    off = misses[MissKind.ONE_FIELD_OFF]
    assert {"Blue, Black", f"{wanted}, Green"} <= {
        tags for miss in off for tags in _texts(miss.state)
    }
    assert {_reward(expectation, miss, before) for miss in off} == {0.0}


def _texts(state: JsonValue) -> list[str]:
    """Return all texts in a state."""
    if isinstance(state, str):
        return [state]
    inside = state.values() if isinstance(state, dict) else state if isinstance(state, list) else ()
    return [text for value in inside for text in _texts(value)]


def test_what_other_rows_have_is_no_answer() -> None:
    answers: list[tuple[JsonValue, set[str]]] = [("Lamp", {"Desk"}), ({"number": 2}, {"1"})]
    for answer, others in answers:
        expectation = parse_expectation({"answer": answer}, where="here")
        rows: JsonValue = {
            "orders": [
                {"id": 1, "item": "Lamp", "count": 1},
                {"id": 2, "item": "Desk", "count": 2},
                {"id": 3, "item": "LAMP", "count": 2},
            ]
        }

        misses = near_misses(expectation, before=rows, after=rows)

        said = {miss.answer for miss in misses if miss.kind is MissKind.WRONG_ANSWER}
        assert others <= said
        assert "LAMP" not in said
