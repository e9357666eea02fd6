"""An answer is right in every usual spelling, and in no other words."""

from decimal import Decimal

import pytest
from pydantic import JsonValue

from generators.sites.judging.answers import (
    answer_matches,
    normalise,
    other_spellings,
    read_number,
)
from schemas.tasks.expectation import Expectation, parse_expectation


def _expect(answer: JsonValue) -> Expectation:
    return parse_expectation({"answer": answer}, "a task")


def _accepts(expected: JsonValue, answer: str) -> bool:
    matcher = _expect(expected).answer
    assert matcher is not None
    return answer_matches(matcher, answer)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1234.5", "1234.5"),
        ("1,234.50", "1234.5"),
        ("$1,234.5", "1234.5"),
        ("-$5", "-5"),
        ("$ -5", "-5"),
        ("€ 1.234,50", "1234.5"),
        ("1.234.567", "1234567"),
        ("1 234 567,5", "1234567.5"),
        ("20,41", "20.41"),
        ("1,234", "1234"),
        ("1.234", "1.234"),
        ("12%", "12"),
        ("12 %.", "12"),
        (" +.5 ", "0.5"),
        ("3.", "3"),
        ("'42'", "42"),
        ("\u2212 7", "-7"),
        ("1'000", "1000"),
    ],
)
def test_a_number_is_read_in_its_usual_spellings(text: str, number: str) -> None:
    assert read_number(text) == Decimal(number)


@pytest.mark.parametrize(
    "text", ["", "$", "-", ".", "abc", "1e5", "12,34,5", "1,2345.6,7", "5 apples", "9" * 600, "$$5"]
)
def test_what_is_no_number_is_not_read_as_one(text: str) -> None:
    assert read_number(text) is None


@pytest.mark.parametrize(
    "text", ['"“Ann  Lee”."', " ann\tlee ", "ANN LEE.", "'Ann Lee'", "\uff21nn Lee"]
)
def test_a_text_is_compared_without_its_dress(text: str) -> None:
    assert normalise(text) == "ann lee"


@pytest.mark.parametrize(
    ("expected", "answer", "right"),
    [
        ("Ann Lee", "ann lee.", True),
        ("Ann Lee", "Ann", False),
        ("Ann Lee", "Ann Lee and Bob", False),
        ("Ann Lee", "", False),
        (20.41, "$20.410", True),
        (20.41, "20.4", False),
        ("$20.41", "20.41", True),
        ("$20.41", "€20.41", False),
        ("12%", "$12", False),
        ("007", "7", False),
        ("0.50", "0.5", True),
        ({"equals": 3}, "3.0", True),
        ({"one_of": ["red", 5]}, "5.00", True),
        ({"one_of": ["red", 5]}, "blue", False),
        ({"number": 20.41, "within": 0.01}, "20.42", True),
        ({"number": 20.41, "within": 0.01}, "20.43", False),
        ({"number": 20.41, "within": 0.01}, "about twenty", False),
        ({"matches": "[a-z]+ lee"}, " ann  lee ", True),
        ({"matches": "[a-z]+ lee"}, "Ann Lee", False),
        ({"matches": ".*"}, "x" * 10_001, False),
        ({"contains": ["lamp", 5]}, "Five? 5.0: the LAMP!", True),
        ({"contains": ["lamp", 5]}, "15 lamps", False),
        ({"contains": ["lamp", 5]}, "5", False),
        ({"contains": "C++"}, "c++, of course", True),
        ({"contains": "New  York"}, "It is in new york.", True),
        ({"any": True}, "whatever", True),
        ({"any": True}, "  ", False),
    ],
)
def test_an_answer_is_right_or_wrong(expected: JsonValue, answer: str, *, right: bool) -> None:
    assert _accepts(expected, answer) == right


def test_no_answer_makes_the_judge_hang() -> None:
    assert read_number("1," * 5_000) is None
    assert not _accepts({"matches": "(a|a)*b"}, "a" * 10_000)
    assert not _accepts({"contains": "a" * 5_000}, "a " * 50_000)


@pytest.mark.parametrize(
    ("answer", "some"),
    [
        ("Ann Lee", {"ANN LEE", "ann lee.", '"Ann Lee"', "  Ann Lee ", "Ann  Lee"}),
        (1234.5, {"1,234.5", "$1,234.5", "1234.50", "1234.5."}),
        ("$5", {"5", "5.00", "$5."}),
        ({"number": 1e21}, {"1,000,000,000,000,000,000,000"}),
        ({"one_of": ["red", 7]}, {"RED", "$7", "7.00"}),
        ({"contains": ["red", 7]}, {"red, 7", "7 AND RED", "It is red; 7."}),
        ("007", {"007", "'007'"}),
    ],
)
def test_every_other_spelling_is_accepted(answer: JsonValue, some: set[str]) -> None:
    expectation = _expect(answer)
    assert expectation.answer is not None

    spellings = other_spellings(expectation)

    assert some <= set(spellings)
    assert len(set(spellings)) == len(spellings)
    assert [s for s in spellings if not answer_matches(expectation.answer, s)] == []


def test_where_no_spelling_can_be_told_there_is_none() -> None:
    assert other_spellings(_expect({"matches": "a+"})) == []
    assert other_spellings(_expect({"any": True})) == []
    assert other_spellings(parse_expectation({"added": [{"table": "t"}]}, "a task")) == []
