"""How thoughts are counted: by their skeletons, and by what they name."""

from bench.thoughts import Told, count, names_visible, skeleton


def test_a_skeleton_has_neither_quotations_nor_digits() -> None:
    assert skeleton("I see 4 rows from \"A\" to “B 2”, so I click 'C'.") == skeleton(
        "I see 12 rows from \"X\" to “Y”, so I click 'Z'."
    )
    assert skeleton("It isn't Ada's: I wait.") == "It isn't Ada's: I wait."
    assert skeleton('"A" is open.') != skeleton('"A" is here.')


def told(thought: str, goal: str = 'Open "Lamp small".') -> Told:
    return Told(thought, goal, ("Lamp small", "Lamp", "large", "Chair 4"))


def test_what_the_picture_shows_and_the_goal_does_not_say_is_named() -> None:
    assert names_visible(told('I see "Lamp small" and "Chair 4".'))
    assert names_visible(told('Not "Lamp large".'))


def test_what_the_goal_says_or_no_picture_shows_or_no_mark_is_around_does_not_count() -> None:
    assert not names_visible(told('I open "Lamp small".'))
    assert not names_visible(told('I look for "Table".'))
    assert not names_visible(told('I look for "Chai".'))
    assert not names_visible(told("I see Chair 4."))


def test_the_figures_are_shares_of_all_thoughts() -> None:
    thoughts = [told(f'I see "Chair 4" {"so " * number}.') for number in range(60)]
    found = count([*thoughts, *thoughts[:20]])
    assert (found["thoughts"], found["skeletons"]) == (80, 60)
    assert (found["top_20"], found["top_50"]) == (0.5, 0.875)
    assert found["names_visible"] == 1.0
    assert found["held"] is False
