"""A value of a state is what a matcher expects, or it is not."""

import pytest
from pydantic import JsonValue

from generators.sites.judging.matching import describe, value_matches, values_equal
from schemas.json_pointer import ABSENT
from schemas.tasks.expectation import Matcher, parse_expectation


def _matcher(stated: JsonValue) -> Matcher:
    return parse_expectation({"values": {"/x": stated}}, "a task").values["/x"]


@pytest.mark.parametrize(
    ("stated", "value", "fits"),
    [
        (5, 5, True),
        (5, 5.0, True),
        (1, True, False),
        (5, "5", False),
        ("Lamp", "lamp", False),
        (None, None, True),
        (None, 0, False),
        ([1, {"a": 2}], [1.0, {"a": 2}], True),
        ([1], [1, 2], False),
        ([1], [True], False),
        ({"equals": {"a": 1}}, {"a": 1}, True),
        ({"equals": {"a": 1}}, {"a": 1, "b": 2}, False),
        ({"equals": {"a": 1}}, {"b": 1}, False),
        ({"one_of": ["a", 1]}, 1, True),
        ({"one_of": ["a", 1]}, True, False),
        ({"number": 20.41, "within": 0.01}, 20.42, True),
        ({"number": 20.41, "within": 0.01}, "20.40", True),
        ({"number": 20.41, "within": 0.01}, 20.43, False),
        ({"number": 1}, True, False),
        ({"number": 1}, [1], False),
        ({"matches": "[a-z]+"}, "abc", True),
        ({"matches": "[a-z]+"}, "abc1", False),
        ({"matches": ".*"}, 5, False),
        ({"matches": "a*"}, "a" * 10_001, False),
        ({"contains": "Lam"}, "a Lamp", True),
        ({"contains": ["Lam", "x"]}, "a Lamp", False),
        ({"contains": ["a", 1]}, ["b", 1.0, "a"], True),
        ({"contains": ["a", 1]}, ["a", True], False),
        ({"contains": ["a"]}, {"a": 1}, False),
        ({"any": True}, None, True),
    ],
)
def test_a_value_fits_or_not(stated: JsonValue, value: JsonValue, *, fits: bool) -> None:
    assert value_matches(_matcher(stated), value) == fits


@pytest.mark.parametrize("stated", [None, {"any": True}, {"equals": None}, {"one_of": [None]}])
def test_what_is_absent_fits_nothing(stated: JsonValue) -> None:
    assert not value_matches(_matcher(stated), ABSENT)


def test_a_truth_value_is_equal_only_to_itself() -> None:
    assert values_equal(first=True, second=True)
    assert not values_equal(first=False, second=0)


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        ("a", '"a"'),
        ({"equals": {"a": 1}}, '{"a":1}'),
        ({"one_of": ["a", 1]}, 'one of ["a",1]'),
        ({"number": 20.41, "within": 0.5}, "a number within 0.5 of 20.41"),
        ({"matches": "a+"}, "what 'a+' matches"),
        ({"contains": "a"}, 'what contains ["a"]'),
        ({"any": True}, "anything"),
    ],
)
def test_a_matcher_is_put_into_words(stated: JsonValue, words: str) -> None:
    assert describe(_matcher(stated)) == words
