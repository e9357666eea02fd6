"""States of servers: comparing, masking and judging agree with one another, whatever a state holds."""

from effort import THOROUGH
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pydantic import JsonValue
from support.inputs import strategies

from generators.sites.judging.answers import other_spellings
from generators.sites.judging.compare import compare_states
from generators.sites.judging.judge import judge
from generators.sites.judging.near_misses import MissKind, near_misses
from generators.sites.judging.state import mask_state, parse_state, state_digest
from schemas.base import canonical_json
from schemas.episodes.state_delta import Change, ChangeOf, Delta, apply_delta
from schemas.json_pointer import ABSENT, find, join_pointer, split_pointer
from schemas.tasks.expectation import parse_expectation

ROW = st.dictionaries(
    st.sampled_from(["id", "name", "qty", "tags"]),
    st.integers(0, 4) | strategies.texts | strategies.json_values,
    max_size=4,
)
ROWS = st.lists(ROW, max_size=6)
TABLE = ROWS | st.dictionaries(strategies.texts, ROW, max_size=4) | strategies.json_values
STATE = (
    st.dictionaries(st.sampled_from(["a", "b", "c/d", "~"]), TABLE, max_size=4)
    | st.dictionaries(st.sampled_from(["x", ""]), st.dictionaries(st.just("y"), TABLE), max_size=2)
    | TABLE
)
"""States whose parts are often tables, and often of another kind in the other state."""


@given(before=STATE, after=STATE)
def test_a_delta_applied_to_the_earlier_state_gives_the_later_one(
    before: JsonValue, after: JsonValue
) -> None:
    earlier = canonical_json(before)

    made = apply_delta(compare_states(before, after), before)

    assert canonical_json(made) == canonical_json(after)
    assert canonical_json(before) == earlier


@given(before=STATE, after=STATE)
def test_a_delta_is_empty_exactly_if_the_digests_are_equal(
    before: JsonValue, after: JsonValue
) -> None:
    equal = state_digest(before) == state_digest(after)

    assert compare_states(before, after).is_empty == equal
    assert compare_states(before, before).is_empty


@given(before=STATE, after=STATE)
def test_a_delta_is_read_back_from_its_text(before: JsonValue, after: JsonValue) -> None:
    delta = compare_states(before, after)

    read = Delta.from_json(delta.to_json())

    assert read == delta
    assert read.to_json() == delta.to_json()


@given(state=STATE)
def test_a_state_is_read_as_it_was_written(state: JsonValue) -> None:
    read = parse_state(canonical_json(state).encode(), "a state")

    assert canonical_json(read) == canonical_json(state)


@given(state=STATE, pattern=st.lists(st.sampled_from(["a", "b", "*", "0", "id"]), min_size=1))
def test_what_is_masked_is_gone_and_masking_again_changes_nothing(
    state: JsonValue, pattern: list[str]
) -> None:
    pointer = ""
    for part in pattern:
        pointer = join_pointer(pointer, part)

    masked = mask_state(state, [pointer], unknown_ok=True)

    if not set(pattern) & {"0", "*"}:  # of an array the next element takes the place
        assert find(masked, pointer) is ABSENT
    if "0" not in pattern:
        assert mask_state(masked, [pointer], unknown_ok=True) == masked


@given(parts=st.lists(strategies.texts, max_size=4))
def test_a_pointer_is_split_into_what_it_was_joined_from(parts: list[str]) -> None:
    pointer = ""
    for part in parts:
        pointer = join_pointer(pointer, part)

    assert split_pointer(pointer) == tuple(parts)


def _told(change: Change) -> JsonValue:
    """Return a rule that says all about one changed, added or removed row."""
    row = change.after if change.before is None else change.before
    assert isinstance(row, dict)
    where: JsonValue = {name: {"equals": value} for name, value in row.items()}
    rule: dict[str, JsonValue] = {"table": change.at, "where": where}
    if change.key is not None and change.position is None:
        rule["key"] = {"equals": change.key}
    if change.before is not None and change.after is not None:
        assert isinstance(change.after, dict)
        rule["set"] = {name: {"equals": change.after[name]} for name in change.fields}
    return rule


ITEMS = st.dictionaries(
    st.sampled_from(["item", "qty"]), st.integers(0, 3) | st.sampled_from(["a", "b"]), min_size=2
)


@given(
    before=st.dictionaries(st.integers(1, 6), ITEMS, min_size=1),
    after=st.dictionaries(st.integers(1, 6), ITEMS, min_size=1),
    as_object=st.booleans(),
    answer=st.none() | st.integers(-5, 2_000) | st.sampled_from(["Ann Lee", "$20.50", "007"]),
)
@settings(max_examples=100 if THOROUGH else 25)
def test_what_happened_is_accepted_and_its_near_misses_are_not(
    *,
    before: dict[int, dict[str, JsonValue]],
    after: dict[int, dict[str, JsonValue]],
    as_object: bool,
    answer: str | int | None,
) -> None:
    states: list[JsonValue] = [
        {
            "orders": {f"o{key}": dict(row) for key, row in side.items()}
            if as_object
            else [{"id": key, **row} for key, row in side.items()],
            "users": [{"id": 1, "name": "ann"}],
            "lang": "en",
        }
        for side in (before, after)
    ]
    delta = compare_states(*states)
    rows = {
        name: [_told(c) for c in changes if c.of is ChangeOf.ROW]
        for name, changes in (
            ("added", delta.added),
            ("changed", delta.changed),
            ("removed", delta.removed),
        )
    }
    assume(any(rows.values()) or answer is not None)
    expectation = parse_expectation({**rows, "answer": answer}, "a task")

    def reward(state: JsonValue, said: str | None) -> float:
        found = compare_states(states[0], state)
        return judge(expectation, before=states[0], after=state, delta=found, answer=said).reward

    spellings: list[str | None] = [*other_spellings(expectation)] or [None]
    assert [said for said in spellings if reward(states[1], said) != 1] == []
    misses = near_misses(expectation, before=states[0], after=states[1])
    assert [miss.what for miss in misses if reward(miss.state, miss.answer) != 0] == []
    assert MissKind.SIDE_EFFECT in {miss.kind for miss in misses}
