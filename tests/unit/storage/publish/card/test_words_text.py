"""The card's section on words: it says how goals, thoughts and notes were made, and escapes what tasks hold."""

from collections import Counter

from storage.publish.card.survey import Goals, Survey
from storage.publish.card.words_text import words_lines


def said(known: Survey) -> str:
    return "\n".join(words_lines(known))


def test_what_was_published_is_counted_by_how_it_was_made() -> None:
    goals = Goals(total=8, unquoted=6, manners=Counter(described=3, plain=5))
    known = Survey(goals=goals, thoughts=Counter(template=40, policy=2), notes=7)

    text = said(known)

    assert "of 8 tasks 75 % quote nothing" in text
    assert "plain 5, described 3" in text
    assert "Thoughts, 40 of `template`: sentences of a grammar" in text
    assert "Thoughts, 2 of `policy`: the policy's own words" in text
    assert "Notes: 7 steps" in text


def test_nothing_is_said_of_what_is_not_there() -> None:
    text = said(Survey(goals=Goals(total=2), thoughts=Counter(policy=1)))

    assert "0 % quote nothing" in text
    assert "manners" not in text
    assert "Notes" not in text
    assert said(Survey()) == "* Nothing is published that has words."


def test_a_manner_that_a_task_file_states_is_escaped() -> None:
    text = said(Survey(goals=Goals(total=1, manners=Counter({"<b>`x`\n# title": 1}))))

    assert "<b>" not in text
    assert "\n# title" not in text
