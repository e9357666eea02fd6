"""A mask is suggested with what it would hide, so that a person sees whether it is chance or a fault."""

import pytest
from pydantic import JsonValue

from flows.checks.suggested_masks import PageLook, page_masks, state_masks
from generators.sites.judging.compare import compare_states
from schemas.configuration.masks import Masks


def look(source: str, masks: Masks | None = None, **fields: str) -> PageLook:
    return PageLook(source, tuple(fields.items()), masks or Masks())


def said_of_pages(one: PageLook, other: PageLook) -> list[str]:
    return [mask.sentence for mask in page_masks(one, other)]


def test_a_field_and_a_pattern_are_shown_with_both_values() -> None:
    one = look('<p>Signed in</p><i class="of the page" data-build="7">', csrf="a1")
    other = look('<p>Signed out</p><i class="of the page" data-build="12">', csrf="b2")

    assert said_of_pages(one, other) == [
        "fields: 'csrf' (hides 'a1' and 'b2')",
        r"patterns: '<p>Signed\ ([\w+/=.-]+)' (hides 'in' and 'out')",
        r"""patterns: 'f\ the\ page"\ data\-build="(\d+)' (hides '7' and '12')""",
    ]


def test_of_documents_of_different_structures_the_first_difference_is_shown() -> None:
    (mask,) = page_masks(look("<ul><li>Ada</li></ul>"), look("<ul><li>Ada</li><li>Bo</li></ul>"))

    assert mask.kind is None
    assert mask.sentence == (
        "nothing by a pattern: the documents have different structures, first where one has "
        "'<ul><li>Ada</li></ul>' and the other '<ul><li>Ada</li><li>Bo</li></ul>'"
    )


def test_what_is_equal_or_masked_needs_no_mask() -> None:
    masks = Masks(fields=("csrf",), patterns=(r"build=(\d+)",))

    assert said_of_pages(look("<p>1</p>"), look("<p>1</p>")) == []
    assert said_of_pages(look("build=1", masks, csrf="a"), look("build=2", masks, csrf="b")) == []


STATES: tuple[tuple[JsonValue, JsonValue, list[str]], ...] = (
    ({"resets": 1}, {"resets": 2}, ["/resets (hides 1 and 2)"]),
    (
        {"notes": [{"id": 1, "at": "9:00"}, {"id": 2, "at": "9:00"}]},
        {"notes": [{"id": 1, "at": "9:01"}, {"id": 2, "at": "9:02"}]},
        ["/notes/*/at (hides '9:00' and '9:01')"],
    ),
    ({"notes": []}, {"notes": [{"id": 1}]}, ["/notes (hides nothing and {'id': 1})"]),
    ({"a": 1}, {"a": 1}, []),
)


@pytest.mark.parametrize(("before", "after", "said"), STATES)
def test_a_pointer_is_shown_once_with_both_values(
    before: JsonValue, after: JsonValue, said: list[str]
) -> None:
    found = [mask.sentence for mask in state_masks(compare_states(before, after))]

    assert found[: len(said)] == said
    assert bool(found) is bool(said)


def test_a_long_value_is_cut() -> None:
    (mask,) = page_masks(look("<p>x</p>", csrf="a" * 500), look("<p>x</p>", csrf="b"))

    assert len(mask.one) == 40
    assert mask.one.endswith("…")
