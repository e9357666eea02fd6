"""A day or an amount is the same in any notation, and no other one is."""

import pytest

from generators.verify.notations import days_in, is_same_day, without_cents
from generators.verify.shown import Shown, Words


def _shown(text: str) -> Shown:
    return Shown((Words(None, [(text, None)]),), ())


@pytest.mark.parametrize(
    "said",
    [
        *("Due on 4 March.", "March 4th", "the 4th of March", "Mar 4, 2026", "4. März 2026"),
        *("4 de marzo de 2026", "le 4 mars", "2026-03-04", "04.03.2026", "2026年3月4日"),
        *("4 مارس", "يوم 4 مارس 2026"),
    ],
)
@pytest.mark.parametrize("typed", ["2026-03-04", "04.03.2026", "03/04/2026", "4 March 2026"])
def test_a_day_that_was_said_is_typed_in_the_notation_of_a_page(said: str, typed: str) -> None:
    assert _shown(said).find(typed) is not None


def test_months_of_the_arabic_west_are_known() -> None:
    assert _shown("12 فيفري 2023").find("12/02/2023") is not None
    assert _shown("12 جانفي 2023").find("12/02/2023") is None


@pytest.mark.parametrize(
    "said", ["5 March", "4 May", "March 2026", "4 March 2025", "43 March", "room 4", "34.03.2026"]
)
def test_another_day_has_no_basis(said: str) -> None:
    assert _shown(said).find("2026-03-04") is None


def test_an_amount_is_typed_with_its_cents() -> None:
    assert _shown("raise it to $1,200").find("1200.00") is not None
    assert _shown("auf 1.200 €").find("1.200,00") is not None
    assert _shown("raise it to $1,200").find("1200.50") is None
    assert without_cents("1200.05") is None


def test_a_day_without_a_year_is_that_of_any_year() -> None:
    assert is_same_day((None, 3, 4), (2026, 3, 4))
    assert not is_same_day((2025, 3, 4), (2026, 3, 4))
    assert days_in("30 February") == set()
