"""Sentences are told in one of their ways, and what stands in their slots stays as it is."""

import re
from pathlib import Path
from random import Random

import pytest
from support.episodes.said import says

from generators.policy import sentences as folder
from generators.policy.sentences.vary import sentence, sentences, vary

FILES = sorted(path.stem for path in Path(folder.__file__).parent.glob("*.toml"))
GROUP = re.compile("⟪[^⟪⟫]*⟫")


def told(text: str) -> set[str]:
    return {vary(text, Random(seed)) for seed in range(60)}


def test_each_alternative_of_a_group_is_said() -> None:
    assert told("⟪I open|Let me open⟫ it.") == {"I open it.", "Let me open it."}


def test_a_group_in_a_group_is_resolved_first() -> None:
    assert told("⟪a ⟪b|c⟫|d⟫.") == {"a b.", "a c.", "d."}


def test_an_alternative_of_nothing_leaves_no_blank_behind() -> None:
    assert told("I go ⟪on|⟫ now.") == {"I go on now.", "I go now."}


def test_a_text_without_groups_stays_as_it_is() -> None:
    assert told("One.\nTwo.") == {"One.\nTwo."}


def test_a_mark_that_is_no_group_ends() -> None:
    assert told("a ⟪ b") == {"a ⟪ b"}


@pytest.mark.parametrize("name", ["a|b", "⟪a|b⟫", "{on}", 'say "a"', "a\nb", "⟪policy.ends⟫{}"])
def test_a_name_is_said_as_it_is(name: str) -> None:
    assert all(name in one for one in told(sentence("policy.covered", on=name)))


def test_the_same_random_numbers_choose_the_same_words() -> None:
    text = sentence("policy.finds_on_named", on="Lamp")
    assert vary(text, Random(3)) == vary(text, Random(3))
    assert len(told(text)) > 10


def test_a_place_that_nothing_fills_is_an_error() -> None:
    with pytest.raises(KeyError, match="on"):
        vary(sentence("policy.covered", on=None), Random(1))


@pytest.mark.parametrize("name", FILES)
def test_slots_stand_outside_of_groups_and_groups_end(name: str) -> None:
    for key, lines in sentences(name).items():
        assert lines, key
        for line in lines:
            rest = line
            while found := GROUP.search(rest):
                assert "{" not in found[0], (key, line)
                assert "|" in found[0], (key, line)
                rest = rest.replace(found[0], "", 1)
            assert not set("⟪⟫|") & set(rest), (key, line)


@pytest.mark.parametrize("name", FILES)
def test_no_way_to_say_a_sentence_has_a_blank_too_many(name: str) -> None:
    for key, lines in sentences(name).items():
        for line in lines:
            for one in told(line):
                assert not re.search(r" [,.;:?](?:\s|$)", one), (key, one)
                assert one.count('"') % 2 == 0, (key, one)


def test_every_sentence_that_is_said_is_told_by_its_key() -> None:
    for key in sentences("policy"):
        slots = {"on": "A", "next": "B", "thing": "C", "told": "D", "text": "E", "way": "up"}
        slots |= {"heading": "F", "facts": "G", "aim": "H."}
        assert all(
            says(one, f"policy.{key}", on="A") for one in told(sentence(f"policy.{key}", **slots))
        )
        assert not says("It is Monday.", f"policy.{key}")
