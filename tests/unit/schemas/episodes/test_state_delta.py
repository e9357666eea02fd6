"""A delta is one text, is read back, and is of two states only."""

import pytest
from pydantic import JsonValue

from schemas.episodes.state_delta import Change, ChangeOf, Delta, apply_delta
from schemas.errors import Damaged

ADDED = Change(at="/orders", key=3, position=0, after={"id": 3})
CHANGED = Change(
    at="/orders",
    key=1,
    position=0,
    before={"id": 1, "n": 1},
    after={"id": 1, "n": 2},
    fields=("n",),
)
REMOVED = Change(at="/users", key="ann", before={"age": 5})
VALUE = Change(of=ChangeOf.VALUE, at="/lang", before="en", after="de")
BEFORE: JsonValue = {"orders": [{"id": 1, "n": 1}], "users": {"ann": {"age": 5}}, "lang": "en"}


def test_the_same_changes_in_any_order_make_the_same_text() -> None:
    one = Delta.of(added=[ADDED], changed=[CHANGED, VALUE], removed=[REMOVED])
    other = Delta.of(added=[ADDED], changed=[VALUE, CHANGED], removed=[REMOVED])

    assert one.to_json() == other.to_json()
    assert one.to_json().startswith(
        '{"added":[{"after":{"id":3},"at":"/orders","key":3,"position":0}]'
    )
    assert Delta().to_json() == "{}"
    assert Delta().is_empty


def test_a_delta_makes_the_later_state_and_leaves_the_earlier_as_it_is() -> None:
    delta = Delta.of(added=[ADDED], changed=[CHANGED, VALUE], removed=[REMOVED])

    after = apply_delta(delta, BEFORE)

    assert after == {"orders": [{"id": 3}, {"id": 1, "n": 2}], "users": {}, "lang": "de"}
    assert BEFORE == {"orders": [{"id": 1, "n": 1}], "users": {"ann": {"age": 5}}, "lang": "en"}


@pytest.mark.parametrize(
    "text", ["", "[]", '{"added":[{}]}', '{"other":1}', '{"added":[{"at":"x"}]}']
)
def test_what_is_no_delta_is_named(text: str) -> None:
    with pytest.raises(Damaged, match="not the text of a delta"):
        Delta.from_json(text)


@pytest.mark.parametrize(
    ("delta", "before"),
    [
        (Delta(added=(REMOVED.model_copy(update={"after": {}}),)), BEFORE),
        (Delta(removed=(REMOVED,)), {"users": {}}),
        (Delta(removed=(REMOVED,)), {"users": 5}),
        (Delta(changed=(CHANGED,)), {"orders": []}),
        (Delta(changed=(CHANGED,)), {}),
        (Delta(changed=(VALUE.model_copy(update={"at": "/a/b"}),)), BEFORE),
        (Delta(removed=(VALUE.model_copy(update={"at": "/b"}),)), BEFORE),
        (
            Delta(changed=(Change(of=ChangeOf.ORDER, at="/orders", before=[1, 2], after=[2, 1]),)),
            BEFORE,
        ),
        (Delta(changed=(Change(of=ChangeOf.ORDER, at="/orders"),)), BEFORE),
    ],
)
def test_a_delta_of_another_state_is_refused(delta: Delta, before: JsonValue) -> None:
    with pytest.raises(Damaged, match="of another state"):
        apply_delta(delta, before)
