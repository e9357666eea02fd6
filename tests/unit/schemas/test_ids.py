"""Ids are for ever: golden values, and no dependence on order, place or time."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue
from support.inputs.strategies import json_values

from schemas import ids
from schemas.base import canonical_json, content_hash
from schemas.tasks.task import task_id

RUN = "0123456789abcdef0123456789abcdef"
TASK = "7673b3c9b4b2569f499e47d6bcaa6682"


def _task_id(**changes: JsonValue) -> str:
    content = {
        "site": "miniwob",
        "site_version": "1.1.0",
        "template_id": "click-test",
        "seed": 7,
        "start_url": "http://miniwob.localhost/miniwob/click-test.html",
        "instruction": None,
        "parameters": {},
    }
    return task_id(**(content | changes))  # type: ignore[arg-type] # changed on purpose


def test_ids_are_what_they_have_always_been() -> None:
    assert _task_id() == TASK
    assert ids.group_id(RUN, TASK) == "c977bff3301eae3830fd937298ce0f2b"
    assert ids.episode_id(RUN, TASK, 0) == "10028e7eb87c5ab5c1fc9cad7079021c"
    assert ids.unit_id(RUN, [TASK], 2) == "a77720e66a24dd45c660c08eea3e9d5f"
    assert ids.verdict_transaction("u", "replay", "1", 0) == "020652a1c01f61de56d81c5ce6bc1e84"


@pytest.mark.parametrize(
    "change",
    [
        {"site": "apps"},
        {"site_version": None},
        {"template_id": None},
        {"seed": 8},
        {"start_url": "http://miniwob.localhost/"},
        {"instruction": ""},
        {"parameters": {"a": 1}},
    ],
)
def test_a_task_is_its_content(change: dict[str, JsonValue]) -> None:
    assert _task_id(**change) != TASK


def test_a_seed_keeps_all_its_bits() -> None:
    assert _task_id(seed=2**63 - 1) != _task_id(seed=2**63 - 2)


def test_an_id_takes_every_part_into_account() -> None:
    different = {
        ids.episode_id(RUN, TASK, 0),
        ids.episode_id(RUN, TASK, 1),
        ids.episode_id(RUN, "other", 0),
        ids.episode_id("other", TASK, 0),
        ids.group_id(RUN, TASK),
        ids.unit_id(RUN, [TASK], 1),
        ids.unit_id(RUN, [TASK, TASK], 1),
        ids.unit_id(RUN, [TASK], 2),
        ids.verdict_transaction("u", "v", "1", 0),
        ids.verdict_transaction("u", "v", "1", 1),
        ids.verdict_transaction("u", "v", "2", 0),
        ids.verdict_transaction("u", "v1", "", 0),
    }

    assert len(different) == 12
    assert all(len(made) == 32 and int(made, 16) >= 0 for made in different)


@given(st.dictionaries(st.text(max_size=5), json_values, max_size=5), st.randoms())
def test_the_order_of_fields_changes_no_id(
    value: dict[str, JsonValue], chance: random.Random
) -> None:
    shuffled = list(value.items())
    chance.shuffle(shuffled)

    assert content_hash(dict(shuffled)) == content_hash(value)


@given(json_values, json_values)
def test_different_values_have_different_ids(one: JsonValue, other: JsonValue) -> None:
    same = canonical_json(one) == canonical_json(other)

    assert (content_hash(one) == content_hash(other)) == same


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {"a": [float("-inf")]}])
def test_what_json_cannot_say_has_no_canonical_form(value: object) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json(value)


def test_canonical_json_is_short_sorted_and_plain() -> None:
    assert canonical_json({"b": [1, 1.0, None], "a": "é\n"}) == '{"a":"é\\n","b":[1,1.0,null]}'
