import re
import sys

import pytest

from generators.sites.judging.whole_words import _one_case, has_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Tell me the Owner of it.", "owner"),
        ("the OWNER, please", "Owner"),
        ("(4)", "4"),
        ("costs 3.50 €", "3.50 €"),
        ("İ", "i"),
        ("straße", "STRAßE"),
    ],
)
def test_words_are_found_whole_and_in_whatever_case(text: str, words: str) -> None:
    assert has_words(text, words)


@pytest.mark.parametrize(
    ("text", "words"),
    [("14 rows", "4"), ("coowner", "owner"), ("3x50", "3.50"), ("the own er", "owner"), ("", "a")],
)
def test_a_part_of_a_word_and_other_words_are_not(text: str, words: str) -> None:
    assert not has_words(text, words)


def test_no_letter_that_a_pattern_takes_for_another_is_passed_over() -> None:
    """The letters are looked for first, so they have to be the same wherever a pattern says so."""
    letters = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
    cased = [one for one in letters if {one.lower(), one.upper(), one.casefold()} != {one}]
    for one in cased:
        alike = re.findall(re.escape(one), "".join(cased), re.IGNORECASE)
        assert {_one_case(other) for other in alike} == {_one_case(one)}, one
