import pytest

from generators.policy.teacher.goals import (
    nth,
    numbers,
    ordinal,
    ordinals,
    part,
    parts,
    quote,
    quotes,
    to_int,
)
from generators.policy.teacher.page import SkillError


def test_a_goal_that_reads_otherwise_is_not_guessed_at() -> None:
    with pytest.raises(SkillError, match="not one I understand"):
        part(r"Select (\d+)", "Choose seven")


def test_the_parts_of_a_goal_are_its_groups() -> None:
    assert parts(r"from (\w+) to (\w+)", "Go from here to there.") == ("here", "there")


def test_quotations_come_in_order() -> None:
    goal = 'Type "one" and then "two words".'

    assert quotes(goal) == ["one", "two words"]
    assert quote(goal) == "one"
    with pytest.raises(SkillError, match="quotes nothing"):
        quote("Press it.")


@pytest.mark.parametrize(
    ("goal", "places"),
    [("Find the 1st word", [1]), ("the 12th and the last", [12, -1]), ("the second box", [2])],
)
def test_places_are_read_in_words_and_figures(goal: str, places: list[int]) -> None:
    assert ordinals(goal) == places
    assert ordinal(goal) == places[0]


def test_a_goal_without_a_place_says_so() -> None:
    with pytest.raises(SkillError, match="names no place"):
        ordinal("Press it.")


@pytest.mark.parametrize(
    ("place", "written"),
    [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (12, "12th"), (21, "21st")],
)
def test_places_are_written_as_people_do(place: int, written: str) -> None:
    assert nth(place) == written


def test_numbers_keep_their_sign() -> None:
    assert numbers("from -3 to 17") == [-3, 17]
    assert to_int(" -3 ") == -3
    with pytest.raises(SkillError, match="'-' is not a number"):
        to_int("-")
