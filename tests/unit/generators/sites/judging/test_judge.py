"""The judge pays for what a task expects, for nothing less and for nothing more."""

from copy import deepcopy

import pytest
from pydantic import JsonValue

from generators.sites.judging.compare import compare_states
from generators.sites.judging.judge import explain, judge
from generators.sites.judging.protocol import REASON_BYTES, Judgement
from schemas.errors import BadExpectation
from schemas.tasks.expectation import parse_expectation

State = dict[str, JsonValue]

BEFORE: State = {
    "orders": [
        {"id": 1, "item": "Lamp", "qty": 1, "status": "open", "to": {"city": "Oslo", "zip": "1"}},
        {"id": 2, "item": "Desk", "qty": 1, "status": "open", "to": {"city": "Rome", "zip": "2"}},
        {"id": 3, "item": "Desk", "qty": 2, "status": "paid", "to": {"city": "Bonn", "zip": "3"}},
    ],
    "users": {"ann": {"theme": "dark", "seen": 1}, "bob": {"theme": "dark", "seen": 1}},
    "settings": {"lang": "en", "page": 1},
    "tags": [{"label": "a"}, {"label": "a"}, {"label": "b"}],
    "shop": {"users": {"eve": {"n": 1}}},
}
PAID: JsonValue = {"table": "orders", "where": {"id": 1}, "set": {"status": "paid"}}
BOUGHT: JsonValue = {"table": "orders", "where": {"item": "Chair", "qty": {"number": 2}}}
CHAIR: State = {"id": 4, "item": "Chair", "qty": 2, "status": "open"}


def _judged(
    expect: JsonValue, after: JsonValue, *, answer: str | None = None, before: JsonValue = BEFORE
) -> Judgement:
    return judge(
        parse_expectation(expect, "a task"),
        before=before,
        after=after,
        delta=compare_states(before, after),
        answer=answer,
    )


def _with(**tables: JsonValue) -> State:
    return deepcopy(BEFORE) | tables


def _orders(*changed: State, without: tuple[int, ...] = ()) -> list[JsonValue]:
    """Return the orders with some members of some rows replaced, and with new rows."""
    rows = {row["id"]: row for row in deepcopy(BEFORE["orders"]) if isinstance(row, dict)}  # type: ignore[union-attr]
    for each in changed:
        rows[each["id"]] = rows.get(each["id"], {}) | each
    return [row for key, row in rows.items() if key not in without]


def test_what_was_expected_and_nothing_else_is_paid() -> None:
    after = _with(orders=_orders({"id": 1, "status": "paid"}, CHAIR, without=(3,)))

    judgement = _judged(
        {"changed": [PAID], "added": [BOUGHT], "removed": [{"table": "orders", "key": 3}]}, after
    )

    assert judgement.reward == 1.0
    assert judgement.reasons == (
        'expected 1 row added in /orders where item is "Chair" and qty is a number within 0 of 2, found 1',
        'expected 1 row changed in /orders where id is 1 so that status becomes "paid", found 1',
        "expected 1 row removed in /orders where the key is 3, found 1",
        "expected nothing else to differ, and nothing does",
    )


@pytest.mark.parametrize(
    "expect", [{"changed": [PAID]}, {"added": [BOUGHT]}, {"values": {"/settings/lang": "de"}}]
)
def test_doing_nothing_is_not_paid(expect: JsonValue) -> None:
    assert _judged(expect, BEFORE).reward == 0.0


def test_what_was_true_from_the_start_is_no_change() -> None:
    expect: JsonValue = {
        "changed": [{"table": "orders", "where": {"id": 3}, "set": {"status": "paid"}}],
        "nothing_else": False,
    }

    assert _judged(expect, _with(orders=_orders({"id": 3, "qty": 9}))).reward == 0.0


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (_orders({"id": 2, "status": "paid"}), "found 0; of the row 2 id is 2, expected 1"),
        (_orders({"id": 1, "status": "sent"}), 'the new status is "sent", expected "paid"'),
        (_orders(), "no row was changed there"),
    ],
)
def test_a_rule_that_is_not_met_says_what_comes_nearest(after: JsonValue, said: str) -> None:
    judgement = _judged({"changed": [PAID]}, _with(orders=after))

    assert judgement.reward == 0.0
    assert said in judgement.reasons[0]


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (
            _with(orders=_orders({"id": 1, "status": "paid", "qty": 5})),
            "qty of row 1 of /orders changed",
        ),
        (
            _with(orders=_orders({"id": 1, "status": "paid"}, {"id": 2, "qty": 3})),
            "qty of row 2 of /orders",
        ),
        (_with(orders=_orders({"id": 1, "status": "paid"}, CHAIR)), "row 4 of /orders added"),
        (
            _with(orders=_orders({"id": 1, "status": "paid"}, without=(2,))),
            "row 2 of /orders removed",
        ),
        (
            _with(orders=_orders({"id": 1, "status": "paid"}), settings={"lang": "de", "page": 1}),
            "/settings/lang",
        ),
        (
            _with(
                orders=_orders({"id": 1, "status": "paid"}),
                users={"ann": {"theme": "dark", "seen": 1}},
            ),
            'row "bob" of /users',
        ),
        (_with(orders=_orders({"id": 1, "status": "paid"}), more=1), "/more added"),
        (
            _with(
                orders=_orders({"id": 1, "status": "paid"}), tags=[{"label": "a"}, {"label": "b"}]
            ),
            'row {"label":"a"} of /tags removed',
        ),
        (
            _with(
                orders=_orders({"id": 1, "status": "paid"}),
                tags=[{"label": "b"}, {"label": "a"}, {"label": "a"}],
            ),
            "the order of /tags changed",
        ),
    ],
)
def test_what_else_differs_is_not_paid_and_named(after: JsonValue, said: str) -> None:
    expect: JsonValue = {"changed": [PAID]}

    judgement = _judged(expect, after)

    assert judgement.reward == 0.0
    assert said in judgement.reasons[-1]
    assert "found 1" in judgement.reasons[0]
    assert _judged({"changed": [PAID], "nothing_else": False}, after).reward == 1.0


def test_many_other_differences_are_counted() -> None:
    after = _with(orders=_orders(*({**CHAIR, "id": n} for n in range(10, 18))))

    (*_, last) = _judged({"values": {"/settings/lang": "en"}}, after).reasons

    assert last.endswith("row 14 of /orders added; and 3 more")


def test_another_order_of_the_rows_that_a_rule_is_about_is_no_side_effect() -> None:
    after = _with(orders=_orders({"id": 1, "status": "paid"})[::-1])

    assert _judged({"changed": [PAID]}, after).reward == 1.0


def test_a_row_that_fits_and_has_changed_otherwise_is_a_side_effect() -> None:
    expect: JsonValue = {
        "changed": [{"table": "orders", "where": {"status": "open"}, "set": {"qty": 5}}]
    }
    after = _with(orders=_orders({"id": 1, "qty": 5}, {"id": 2, "qty": 7}))

    assert "qty of row 2 of /orders changed" in _judged(expect, after).reasons[-1]


@pytest.mark.parametrize(("qty", "paid"), [((5, 1), 0.0), ((5, 5), 1.0)])
def test_as_many_rows_as_expected_are_counted(qty: tuple[int, int], paid: float) -> None:
    expect: JsonValue = {
        "changed": [{"table": "orders", "where": {"status": "open"}, "set": {"qty": 5}, "count": 2}]
    }
    after = _with(orders=_orders({"id": 1, "qty": qty[0]}, {"id": 2, "qty": qty[1]}))

    assert _judged(expect, after).reward == paid


def test_one_row_too_many_is_not_paid_even_if_anything_else_may_differ() -> None:
    after = _with(orders=_orders(CHAIR, CHAIR | {"id": 5}))

    judgement = _judged({"added": [BOUGHT], "nothing_else": False}, after)

    assert judgement.reward == 0.0
    assert judgement.reasons[0].endswith("found 2")


def test_a_member_of_a_member_is_told_from_its_neighbours() -> None:
    expect: JsonValue = {
        "changed": [{"table": "/orders", "where": {"/to/city": "Oslo"}, "set": {"/to/zip": "9"}}]
    }

    assert _judged(
        expect, _with(orders=_orders({"id": 1, "to": {"city": "Oslo", "zip": "9"}}))
    ).reward
    wrong = _judged(expect, _with(orders=_orders({"id": 1, "to": {"city": "Bern", "zip": "9"}})))
    assert "to/city of row 1 of /orders changed" in wrong.reasons[-1]


def test_a_row_is_named_by_its_key() -> None:
    expect: JsonValue = {"changed": [{"table": "/users", "key": "bob", "set": {"theme": "light"}}]}
    users = deepcopy(BEFORE["users"])
    assert isinstance(users, dict)

    right = users | {"bob": {"theme": "light", "seen": 1}}
    wrong = users | {"ann": {"theme": "light", "seen": 1}}

    assert _judged(expect, _with(users=right)).reward == 1.0
    assert 'the key is "ann", expected "bob"' in _judged(expect, _with(users=wrong)).reasons[0]


@pytest.mark.parametrize(
    "unchecked",
    ["/users/*/seen", "/users/bob/seen", "/users/bob", "/users", "/*/bob"],
)
def test_what_is_left_unchecked_may_differ(unchecked: str) -> None:
    users: JsonValue = {"ann": {"theme": "dark", "seen": 1}, "bob": {"theme": "dark", "seen": 7}}
    after = _with(orders=_orders({"id": 1, "status": "paid"}), users=users)

    assert _judged({"changed": [PAID]}, after).reward == 0.0
    assert _judged({"changed": [PAID], "unchecked": [unchecked]}, after).reward == 1.0
    other = _judged({"changed": [PAID], "unchecked": ["/users/ann/seen", "/user"]}, after)
    assert other.reward == 0.0


@pytest.mark.parametrize("unchecked", ["/orders/0", "/orders/*", "/orders/0/qty"])
def test_a_row_of_an_array_may_be_left_unchecked_by_its_place_at_the_end(unchecked: str) -> None:
    after = _with(orders=_orders({"id": 2, "qty": 7}, without=(1,)))
    expect: JsonValue = {"removed": [{"table": "orders", "key": 1}], "unchecked": [unchecked]}

    assert _judged(expect, after).reward == 1.0
    assert _judged(expect | {"unchecked": ["/orders/1"]}, after).reward == 0.0  # type: ignore[operator]


def test_values_are_those_of_the_end_and_may_differ() -> None:
    expect: JsonValue = {"values": {"/settings/lang": "de", "/orders/1/qty": 7}}
    right = _with(orders=_orders({"id": 2, "qty": 7}), settings={"lang": "de", "page": 1})

    assert _judged(expect, right).reward == 1.0
    wrong = _judged(expect, _with(settings={"lang": "fr", "page": 1}))
    assert 'expected "de" at /settings/lang, found "fr"' in wrong.reasons
    gone = _judged({"values": {"/settings/lang": "de"}}, _with(settings={"page": 1}))
    assert 'expected "de" at /settings/lang, found nothing' in gone.reasons


@pytest.mark.parametrize(
    ("answer", "reward", "said"),
    [
        ("$20.41", 1.0, 'as the answer, found "$20.41"'),
        ("20.42", 0.0, 'as the answer, found "20.42"'),
        (None, 0.0, "as the answer, found none"),
    ],
)
def test_the_answer_counts_where_one_is_expected(
    answer: str | None, reward: float, said: str
) -> None:
    judgement = _judged({"answer": 20.41}, BEFORE, answer=answer)

    assert judgement.reward == reward
    assert said in judgement.reasons[-1]
    assert _judged({"answer": 20.41}, _with(more=1), answer=answer).reward == 0.0


def test_an_answer_that_nobody_asked_for_changes_nothing() -> None:
    expect: JsonValue = {"values": {"/settings/lang": "en"}}

    assert _judged(expect, BEFORE, answer="impossible") == _judged(expect, BEFORE)


@pytest.mark.parametrize(
    ("expect", "message"),
    [
        (
            {"added": [{"table": "order"}]},
            "no table 'order' in the state, before or after; its tables are: /o",
        ),
        ({"added": [{"table": "/order"}]}, "no table '/order' in the state"),
        ({"added": [{"table": "/settings"}]}, "no table '/settings' in the state"),
        ({"removed": [{"table": "lang"}]}, "no table 'lang' in the state"),
        ({"changed": [{"table": "/x", "set": {"a": 1}}]}, "no table '/x' in the state"),
        (
            {"added": [{"table": "users"}]},
            "several tables are called 'users': say which of /shop/users, /users",
        ),
        (
            {"values": {"/settings/long": 1}},
            "a value is expected at '/settings/long', where the state has nothing",
        ),
    ],
)
def test_a_rule_about_what_no_state_has_is_an_error_and_no_failure(
    expect: JsonValue, message: str
) -> None:
    with pytest.raises(BadExpectation, match=message):
        _judged(expect, BEFORE)


def test_a_table_that_only_one_state_has_is_known() -> None:
    carts: JsonValue = {"carts": [{"id": 1}]}

    assert _judged({"added": [{"table": "carts"}]}, carts, before={}).reward == 1.0
    assert _judged({"removed": [{"table": "carts"}]}, {}, before=carts).reward == 1.0
    assert _judged({"added": [{"table": ""}]}, [{"id": 1}], before=[]).reward == 1.0


def test_a_table_that_a_policy_broke_is_no_mistake_of_the_task() -> None:
    ends: tuple[JsonValue, ...] = ("gone", [1], None, {"a": 1})
    for broken in ends:
        judgement = _judged({"changed": [PAID]}, _with(orders=broken))

        assert judgement.reward == 0.0
    assert _judged({"added": [BOUGHT]}, "gone").reward == 0.0


def test_a_reason_is_bounded_whatever_the_state_holds() -> None:
    after = _with(orders=_orders(CHAIR | {"item": "x" * 10_000}))

    judgement = _judged({"added": [BOUGHT]}, after, answer="y" * 10_000)

    assert all(len(reason.encode()) <= REASON_BYTES for reason in judgement.reasons)


EXPLAINED: list[tuple[JsonValue, JsonValue, str | None, list[str]]] = [
    (
        {"changed": [PAID]},
        _with(),
        None,
        [
            (
                'expected 1 row changed in orders where id is 1 so that status becomes "paid", found 0; '
                "no row was changed there"
            )
        ],
    ),
    (
        {"changed": [PAID]},
        _with(orders=_orders({"id": 1, "status": "lost"})),
        None,
        [
            (
                'expected 1 row changed in /orders where id is 1 so that status becomes "paid", found 0; '
                'of the row 1 the new status is "lost", expected "paid"'
            ),
            "expected nothing else to differ, found status of row 1 of /orders changed",
        ],
    ),
    (
        {"added": [BOUGHT], "values": {"/settings/lang": "de"}},
        _with(settings={"lang": "fr", "page": 1}),
        None,
        [
            (
                'expected 1 row added in orders where item is "Chair" and qty is a number within 0 of 2, found 0; '
                "no row was added there"
            ),
            'expected "de" at /settings/lang, found "fr"',
        ],
    ),
    ({"answer": "42"}, _with(), "41", ['expected "42" as the answer, found "41"']),
    ({"answer": "42"}, _with(), None, ['expected "42" as the answer, found none']),
    ({"changed": [PAID]}, _with(orders=_orders({"id": 1, "status": "paid"})), None, []),
]


@pytest.mark.parametrize(("expect", "after", "answer", "told"), EXPLAINED)
def test_what_was_not_met_is_told_from_what_differs_alone(
    expect: JsonValue, after: JsonValue, answer: str | None, told: list[str]
) -> None:
    delta = compare_states(BEFORE, after)
    found = explain(parse_expectation(expect, "a task"), delta=delta, answer=answer)

    assert found == tuple(told)
