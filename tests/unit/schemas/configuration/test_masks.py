"""What is masked leaves a text; of a pattern with a group, the group alone."""

import pytest

from generators.verify.differences import compare
from schemas.configuration.masks import Masks


@pytest.mark.parametrize(
    ("pattern", "text", "left"),
    [
        (r"nonce=\w+", "a nonce=abc b nonce=def", "a  b "),
        (r'id="(\d+)"', 'id="12" id="x"', 'id="" id="x"'),
        (r"(\d+)-\d+", "12-34", "-34"),
        (r"a(b)?c", "abc ac", "ac "),
        ("never", "a text", "a text"),
    ],
)
def test_what_a_pattern_matches_is_left_out(pattern: str, text: str, left: str) -> None:
    assert Masks(patterns=(pattern,)).hide(text) == left


def test_texts_are_compared_without_what_is_masked_and_all_else_as_it_is() -> None:
    masks = Masks(patterns=(r"\d+",))

    assert list(compare("url", "/ticket/12", "/ticket/13", masks)) == []
    assert list(compare("url", "/ticket/12", "/ticket/13"))
    assert list(compare("url", "/ticket/12", "/order/12", masks)) == ["url: '/ticket/' → '/order/'"]
    assert list(compare("width", 12, 13, masks))
