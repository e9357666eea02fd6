"""The words of idiom that `make measure` counts: a fixed definition, held by fixed sentences."""

from pathlib import Path

import pytest

from bench.measuring.idiom import TURNS, idiom_rate, idiom_words, prose

IDIOM = {
    "Draws so many of these tasks.": "so many",
    "The row of an id; None if there is none.": "is none",
    "A list is told a choice by its first letters.": "told",
    "Changes somebody makes are kept.": "nobody",
    "Returns the role of who is signed in.": "who … is",
    "The address stands in what it answers.": "what it",
    "The rows show what a page that is left had.": "what … that",
    "Return what pages write for a field.": "Return what",
    "A page. What cannot be read fails the unit.": "What",
}

PLAIN = (
    "Number of tasks to draw.",
    "None if the row does not exist.",
    "Return the text that pages write for a field.",
    "Options that are a prefix of another option are skipped.",
    "Whether the rows differ, and by how much.",
    "It waits as long as there are pages, so that many rows are read.",
)


def test_each_turn_is_one_of_the_definition() -> None:
    assert sorted(IDIOM.values()) == sorted(TURNS)


@pytest.mark.parametrize("sentence", IDIOM)
def test_a_turn_is_counted_once(sentence: str) -> None:
    assert len(idiom_words(f'"""{sentence}"""')) == 1


@pytest.mark.parametrize("sentence", PLAIN)
def test_plain_words_are_not_counted(sentence: str) -> None:
    assert idiom_words(f'"""{sentence}"""') == []


def test_names_of_the_code_are_no_prose() -> None:
    assert idiom_words("nobody = told = 1\nif nobody is told: pass\n") == []


def test_strings_docstrings_and_comments_are_prose() -> None:
    source = (
        '"""A page:\n    what\n    it shows."""\n'
        "# a row is told\n# to nobody\n\n# so\n\n# many\n"
        'x = f"{nobody} is {1} so many times"\n'
    )

    assert sorted(prose(source)) == sorted(
        ["A page: what it shows.", "is", "so many times", "a row is told to nobody", "so", "many"]
    )
    assert sorted(idiom_words(source)) == ["nobody", "so many", "told", "what it"]


def test_the_rate_is_of_all_lines(tmp_path: Path) -> None:
    path = tmp_path / "page.py"
    path.write_text('"""A page that nobody opens."""\n' + "\n" * 199)

    assert idiom_rate([path]) == 5
    assert idiom_rate([]) == 0
