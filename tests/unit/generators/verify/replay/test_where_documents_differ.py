"""Where a replay parts in the document alone, two digests are not all that is said."""

import pytest
from support.episodes.damaged_episodes import (
    BUTTON,
    in_step,
    on_element,
    on_page,
    recorded,
    replayed,
)

OTHER = BUTTON.model_copy(update={"name": "Stop", "text": "Stop"})
HIDDEN = "the listed elements are equal, so it is in what is not listed"
LISTED = "what is listed of it differs too"


async def test_of_equal_elements_it_is_said_what_finds_the_difference() -> None:
    found = await replayed(on_page(1, dom_sha256="0")(await recorded()))

    assert f"({HIDDEN}" in found.because
    assert "`stepmill sites check` visits the start page twice" in found.because
    assert LISTED not in found.because


async def test_of_unequal_elements_the_first_and_its_attribute_are_named() -> None:
    damaged = on_page(1, dom_sha256="0")(on_element(name="Stop")(await recorded()))

    found = await replayed(damaged)

    assert f"({LISTED}); elements[1].name: 'Stop' → 'Go'" in found.because
    assert HIDDEN not in found.because


@pytest.mark.parametrize(
    ("elements", "said"),
    [
        (
            (BUTTON,),
            "number of elements: 1 → 2, the first of which only the replay has elements[1]: ",
        ),
        (
            (BUTTON, BUTTON, OTHER),
            "number of elements: 3 → 2, the first of which only the record has elements[2]: ",
        ),
    ],
)
async def test_an_element_that_only_one_has_is_shown(
    elements: tuple[object, ...], said: str
) -> None:
    found = await replayed(in_step(1, elements=elements)(await recorded()))

    assert f"{said}Element(role='button'" in found.because


async def test_of_lists_that_part_before_their_ends_the_pair_is_shown() -> None:
    found = await replayed(in_step(1, elements=(OTHER,))(await recorded()))

    assert "number of elements: 1 → 2; elements[0].name: 'Stop' → 'Go'" in found.because


async def test_a_document_that_is_equal_is_not_spoken_of() -> None:
    found = await replayed(on_page(1, title="x")(await recorded()))

    assert found.because == "diverged at step 1 because title: 'x' → 'scripted'"
