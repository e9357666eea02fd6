"""What a task expects is told beside what was found, as the judge judges it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from generators.sites.judging.compare import compare_states
from generators.sites.judging.differences import (
    MAX_EXTRA,
    TEXT_BYTES,
    Difference,
    DifferenceKind,
    differences,
)
from generators.sites.judging.judge import explain
from schemas.tasks.expectation import parse_expectation

ORDERS: JsonValue = [
    {"id": 17, "name": "Chair", "status": "open", "note": ""},
    {"id": 18, "name": "Desk", "status": "open", "note": ""},
]
SHIPPED: JsonValue = {"table": "orders", "where": {"id": 17}, "set": {"status": "shipped"}}
ADDED: JsonValue = {"table": "orders", "where": {"name": "Lamp", "status": "open"}}


def _orders(**changes: JsonValue) -> JsonValue:
    """Return the state in which the orders of some ids have these members, or are gone."""
    rows: list[JsonValue] = []
    for row in ORDERS if isinstance(ORDERS, list) else []:
        assert isinstance(row, dict)
        change = changes.get(f"_{row['id']}", {})
        if isinstance(change, dict):
            rows.append({**row, **change})
    more = changes.get("more")
    return {"orders": [*rows, *(more if isinstance(more, list) else [])], "lang": "en"}


def _told(expect: JsonValue, after: JsonValue, answer: str | None = None) -> list[Difference]:
    delta = compare_states(_orders(), after)
    return list(differences(parse_expectation(expect, "a task"), delta=delta, answer=answer))


RUG: JsonValue = {"table": "orders", "where": {"name": "Rug"}}
LAMP: dict[str, JsonValue] = {"id": 19, "name": "Lamp", "status": "open", "note": ""}
CASES: list[tuple[str, JsonValue, JsonValue, list[str]]] = [
    (
        "a row with another value",
        {"changed": [SHIPPED]},
        _orders(_17={"status": "lost"}),
        ['wrong: orders row 17 ("Chair") · status: expected "shipped", found "lost"'],
    ),
    (
        "nothing done",
        {"changed": [SHIPPED]},
        _orders(),
        ['missing: orders row 17 · status: expected "shipped", found no such change'],
    ),
    (
        "another row instead",
        {"changed": [SHIPPED]},
        _orders(_18={"status": "shipped"}),
        [
            'missing: orders row 17 · status: expected "shipped", found no such change',
            'extra: orders row 18 ("Desk") · status: expected "open", as before, found "shipped"',
        ],
    ),
    (
        "more of the row than was asked",
        {"changed": [SHIPPED]},
        _orders(_17={"status": "lost", "note": "x"}),
        [
            'wrong: orders row 17 ("Chair") · status: expected "shipped", found "lost"',
            'extra: orders row 17 ("Chair") · note: expected "", as before, found "x"',
        ],
    ),
    (
        "done",
        {"changed": [SHIPPED]},
        _orders(_17={"status": "shipped"}),
        ['as expected: orders row 17 ("Chair") · status: expected "shipped", found "shipped"'],
    ),
    (
        "a new row with a wrong member",
        {"added": [ADDED]},
        _orders(more=[{**LAMP, "status": "lost"}]),
        ['wrong: orders row 19 ("Lamp") · status: expected "open", found "lost"'],
    ),
    (
        "no new row",
        {"added": [ADDED]},
        _orders(),
        [
            'missing: orders: expected a row added where name is "Lamp" and status is "open", found none was added'
        ],
    ),
    (
        "one new row too many",
        {"added": [ADDED]},
        _orders(more=[LAMP, {**LAMP, "id": 20}]),
        [
            'extra: orders rows: expected 1 added where name is "Lamp" and status is "open", found 2: 19, 20',
            'as expected: orders row 19 ("Lamp"): expected added where name is "Lamp" and status is "open", found added',
            'as expected: orders row 20 ("Lamp"): expected added where name is "Lamp" and status is "open", found added',
        ],
    ),
    (
        "a row that should go stays, and another goes",
        {"removed": [{"table": "orders", "key": 17}]},
        _orders(_18=None),
        [
            "missing: orders row 17: expected removed, found it is still there",
            'extra: orders row 18 ("Desk"): expected the row kept, found it was removed',
        ],
    ),
]


@pytest.mark.parametrize(("name", "expect", "after", "said"), CASES, ids=[c[0] for c in CASES])
def test_each_difference_is_told(
    name: str, expect: JsonValue, after: JsonValue, said: list[str]
) -> None:
    del name
    assert [f"{one.kind}: {one}" for one in _told(expect, after)] == said


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("42", 'as expected: the answer: expected "42", found "42"'),
        ("41", 'wrong: the answer: expected "42", found "41"'),
        (None, 'missing: the answer: expected "42", found no answer'),
    ],
)
def test_the_answer_is_told_beside_the_expected_one(answer: str | None, said: str) -> None:
    [one] = _told({"answer": "42"}, _orders(), answer)

    assert f"{one.kind}: {one}" == said


def test_an_exact_number_is_told_as_it_is_and_a_long_pattern_is_cut() -> None:
    [number] = _told({"answer": {"number": 490}}, _orders(), "")
    [pattern] = _told({"answer": {"matches": "a" * 400}}, _orders(), "")

    assert number.expected == "490"
    assert len(pattern.expected) < 200


def test_two_rules_are_not_told_of_one_row() -> None:
    rules: JsonValue = [ADDED, RUG]

    told = _told({"added": rules}, _orders(more=[LAMP]))

    assert [one.kind for one in told] == [DifferenceKind.MISSING, DifferenceKind.AS_EXPECTED]


def test_of_a_probe_nothing_is_told() -> None:
    assert _told({"probe": "mine"}, _orders(_17=None)) == []


def test_many_extra_differences_are_counted_and_long_values_cut() -> None:
    more: list[JsonValue] = [{**LAMP, "id": 100 + n, "name": "x" * 5_000} for n in range(50)]

    told = _told({"changed": [SHIPPED]}, _orders(_17={"status": "shipped"}, more=more))

    assert [one.found for one in told if one.what == "and more"] == [f"{50 - MAX_EXTRA} more"]
    assert all(len(one.what.encode()) <= TEXT_BYTES for one in told)


def test_a_credential_is_masked() -> None:
    rule: JsonValue = {"table": "users", "where": {"id": 1}, "set": {"password": "hush-hush"}}

    def users(password: str) -> JsonValue:
        return {"users": [{"id": 1, "password": password}]}

    expectation = parse_expectation({"changed": [rule]}, "a task")

    told = differences(
        expectation, delta=compare_states(users("old-one"), users("wrong-one")), answer=None
    )

    words = " ".join(map(str, told))
    assert "password" in words
    assert not any(secret in words for secret in ("hush-hush", "old-one", "wrong-one"))


STATUS = st.sampled_from(["open", "shipped", "lost"])
CHANGE = st.none() | st.fixed_dictionaries({}, optional={"status": STATUS, "note": st.just("x")})
EXPECT: st.SearchStrategy[JsonValue] = st.sampled_from(
    [
        {"changed": [SHIPPED]},
        {"added": [ADDED]},
        {"removed": [{"table": "orders", "key": 17}]},
        {"changed": [SHIPPED], "answer": "42"},
        {"changed": [SHIPPED], "nothing_else": False},
        {"added": [ADDED, RUG], "unchecked": ["/orders/*/note"]},
    ]
)


@given(
    expect=EXPECT,
    first=CHANGE,
    second=CHANGE,
    more=st.lists(STATUS, max_size=2),
    answer=st.sampled_from(["42", "1"]),
)
def test_something_is_unmet_exactly_if_the_judge_says_so(
    expect: JsonValue, first: JsonValue, second: JsonValue, more: list[str], answer: str
) -> None:
    rows: list[JsonValue] = [{**LAMP, "id": 19 + n, "status": one} for n, one in enumerate(more)]
    after = _orders(_17=first, _18=second, more=rows)
    delta = compare_states(_orders(), after)
    expectation = parse_expectation(expect, "a task")

    told = differences(expectation, delta=delta, answer=answer)

    unmet = [one for one in told if one.kind is not DifferenceKind.AS_EXPECTED]
    assert bool(unmet) == bool(explain(expectation, delta=delta, answer=answer))
