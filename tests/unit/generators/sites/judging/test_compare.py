"""What differs between two states is told by rows where there are tables, and by values elsewhere."""

import random
import time

import pytest
from pydantic import JsonValue

from generators.sites.judging.compare import compare_states
from schemas.base import canonical_json
from schemas.episodes.state_delta import Change, ChangeOf, Delta, apply_delta
from schemas.errors import BadState


def test_rows_of_an_array_are_told_apart_by_their_id() -> None:
    before: JsonValue = {"orders": [{"id": 1, "n": 1}, {"id": 2, "n": 1}]}
    after: JsonValue = {"orders": [{"id": 2, "n": 5}, {"id": 3, "n": 1}]}

    assert compare_states(before, after) == Delta(
        added=(Change(at="/orders", key=3, position=1, after={"id": 3, "n": 1}),),
        changed=(
            Change(
                at="/orders",
                key=2,
                position=1,
                before={"id": 2, "n": 1},
                after={"id": 2, "n": 5},
                fields=("n",),
            ),
        ),
        removed=(Change(at="/orders", key=1, position=0, before={"id": 1, "n": 1}),),
    )


def test_rows_of_an_object_are_told_apart_by_their_names() -> None:
    before: JsonValue = {"users": {"ann": {"age": 5}}}
    after: JsonValue = {"users": {"ann": {"age": 6, "x": None}, "b/c": {"age": 1}}}

    delta = compare_states(before, after)

    assert delta.added == (Change(at="/users", key="b/c", after={"age": 1}),)
    assert [(c.key, c.fields) for c in delta.changed] == [("ann", ("age", "x"))]


def test_everything_else_is_compared_at_its_place() -> None:
    before: JsonValue = {"set": {"lang": "en", "tags": ["a"], "old": None}, "n": 1}
    after: JsonValue = {"set": {"lang": "de", "tags": ["a", "b"], "new": 2}, "n": 1}

    delta = compare_states(before, after)

    assert [(c.at, c.before, c.after) for c in delta.changed] == [
        ("/set/lang", "en", "de"),
        ("/set/tags", ["a"], ["a", "b"]),
    ]
    assert [(c.at, c.after) for c in delta.added] == [("/set/new", 2)]
    assert [(c.at, c.before) for c in delta.removed] == [("/set/old", None)]


@pytest.mark.parametrize("nothing", [{}, {"cart": None}, {"cart": {}}])
def test_rows_of_a_table_that_was_not_there_yet_are_added_rows(
    nothing: dict[str, JsonValue],
) -> None:
    delta = compare_states(nothing, {"cart": {"items": [{"id": 7}]}})

    rows = [c for c in delta.added if c.of is ChangeOf.ROW]
    assert rows == [Change(at="/cart/items", key=7, position=0, after={"id": 7})]
    others = {c.of for c in (*delta.added, *delta.changed)} - {ChangeOf.ROW}
    assert others == {ChangeOf.CONTAINER}


@pytest.mark.parametrize(
    ("key", "fields"),
    [
        ("id", {"id": 1, "name": "a"}),
        ("_id", {"_id": 1, "name": "a"}),
        ("order_id", {"order_id": 1}),
    ],
)
def test_the_best_key_is_found(key: str, fields: dict[str, JsonValue]) -> None:
    before: JsonValue = {"orders": [fields | {"q": 1}]}
    after: JsonValue = {"orders": [fields | {"q": 2, "name": "b"}]}

    (change,) = compare_states(before, after).changed

    assert change.key == fields[key]


def test_a_name_that_two_rows_share_is_no_key() -> None:
    before: JsonValue = [{"name": "a", "n": 1}, {"name": "a", "n": 2}]
    after: JsonValue = [{"name": "a", "n": 1}, {"name": "a", "n": 3}]

    delta = compare_states(before, after)

    assert [(c.key, c.position, c.after) for c in delta.added] == [(None, 1, {"name": "a", "n": 3})]
    assert [(c.key, c.position, c.before) for c in delta.removed] == [
        (None, 1, {"name": "a", "n": 2})
    ]


@pytest.mark.parametrize("name", ["/tags", "tags"])
def test_a_declared_key_of_several_members_is_used(name: str) -> None:
    before: JsonValue = {"tags": [{"a": 1, "b": 1, "v": 0}, {"a": 1, "b": 2, "v": 0}]}
    after: JsonValue = {"tags": [{"a": 1, "b": 1, "v": 0}, {"a": 1, "b": 2, "v": 9}]}

    (change,) = compare_states(before, after, keys={name: "a, b"}).changed

    assert (change.key, change.fields) == ([1, 2], ("v",))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"a": 1}, {"a": 1}], "the key 'a' of table '/t' is 1 in two rows"),
        ([{"a": 1}, {"b": 1}], "the key 'a' of table '/t' is no text or whole number in row 1"),
        ([{"a": True}], "the key 'a' of table '/t' is no text or whole number in row 0"),
        ([{"a": 1.0}], "the key 'a' of table '/t' is no text or whole number in row 0"),
    ],
)
def test_a_declared_key_that_identifies_no_row_is_refused(
    rows: list[JsonValue], message: str
) -> None:
    for before, after in (([], rows), (rows, [])):
        with pytest.raises(BadState, match=message):
            compare_states({"t": before}, {"t": after}, keys={"t": "a"})


def test_another_order_of_the_same_rows_is_a_change_of_its_own() -> None:
    before: JsonValue = {"t": [{"id": 1}, {"id": 2}, {"id": 3}]}
    after: JsonValue = {"t": [{"id": 9}, {"id": 3}, {"id": 2}, {"id": 1}]}

    delta = compare_states(before, after)

    assert delta.changed == (Change(of=ChangeOf.ORDER, at="/t", before=[1, 2, 3], after=[3, 2, 1]),)
    assert delta.added == (Change(at="/t", key=9, position=0, after={"id": 9}),)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (1, 1.0),
        (0.0, -0.0),
        ("1", 1),
        (None, 0),
        ([], {}),
        ([1], [True]),
        ("\u00e9", "e\u0301"),
    ],
)
def test_what_has_another_text_differs(one: JsonValue, other: JsonValue) -> None:
    assert not compare_states({"a": one}, {"a": other}).is_empty
    assert not compare_states([{"id": 1, "a": one}], [{"id": 1, "a": other}]).is_empty


def test_states_that_differ_too_much_are_refused_with_a_place() -> None:
    after: JsonValue = {"log": [{"id": n, "text": "x" * 1_000} for n in range(1_000)]}

    with pytest.raises(
        BadState, match="differ by more than 1,000,000 bytes, the last of them at '/log'"
    ):
        compare_states({"log": []}, after)


def test_the_bound_is_that_of_the_text() -> None:
    def text(length: int) -> str:
        return compare_states({"a": ""}, {"a": "x" * length}).to_json()

    assert len(text(999_900)) <= 1_000_000
    with pytest.raises(BadState):
        text(1_000_000)


def test_comparing_large_tables_takes_time_by_their_size() -> None:
    rows: list[JsonValue] = [{"id": n, "item": f"item {n}", "tags": [1, 2]} for n in range(20_000)]
    others = [row | {"item": "x"} if isinstance(row, dict) else row for row in rows[:1_000]]
    shuffled = [*others, *rows[1_000:19_000]]
    random.Random(1).shuffle(shuffled)
    began = time.process_time()

    delta = compare_states({"t": rows}, {"t": shuffled})

    assert time.process_time() - began < 10  # a quadratic comparison takes minutes
    assert len(delta.removed) == 1_000
    assert len(delta.changed) == 1_001
    assert canonical_json(apply_delta(delta, {"t": rows})) == canonical_json({"t": shuffled})
