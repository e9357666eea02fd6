"""The grammar of goals: one file for each language of worlds, read and checked here."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from string import Formatter
from typing import Literal, NamedTuple

from pydantic import TypeAdapter

from schemas.worlds.language import Language

_FILES = Path(__file__).with_name("goals")
_DRAWN = {"person", "person2", "team", "day", "weekday"}
"""The placeholders that mean nothing to a task."""

_INNER = re.compile(r"\[([^\[\]]*)\]")


class Grammar(NamedTuple):
    """The grammar of goals in one language; `goals/en.toml` says at its head what its tables mean."""

    acts: Mapping[str, list[str]]
    """What is to be done, by kind of task; frames make sentences of it."""
    asks: Mapping[str, list[str]]
    """What is asked for, likewise."""
    wonders: Mapping[str, list[str]]
    """The same as a clause."""
    requests: Mapping[str, list[str]]
    """Whole requests, likewise."""
    frames: Mapping[Literal["act", "ask", "wonder"], list[str]]
    opening: list[str]
    closing: list[str]
    reasons: Mapping[str, list[str]]
    """Why somebody wants it, by kind of task; `change` and `question` are those of kinds without their own."""
    aside: Mapping[Literal["one", "several"], list[str]]
    impossible: list[str]
    """Sentences that say how to answer if the task cannot be done."""
    refusals: str
    """The pattern of answers that say that a task cannot be done."""
    replies: list[str]
    """Some such answers."""
    repairs: list[tuple[re.Pattern[str], str]]
    """Patterns of words that do not go together, each with what stands in their place; `\\ue001` is the mark before what is
    put in."""
    polite: list[str]
    """Words by which a goal is polite."""
    phrases: Mapping[str, list[str]]
    days: Mapping[Literal["months", "this_year", "other_year"], list[str]]
    terms: Mapping[str, str]
    names: Mapping[str, list[str]]
    doubtful: Mapping[str, list[str]]
    """Patterns that no sentence of a kind of task has, because it would have two readings."""
    given: Mapping[str, list[str]] = {}
    """What fills placeholders of a kind of task that none of its English sentences has."""
    verbs: Mapping[str, list[str]] = {}
    """The forms of mentions that speak in verbs, each with the phrases where a field has no words for it; a language that
    lacks one has no sentence with it."""

    def tables(self) -> tuple[Mapping[str, list[str]], ...]:
        """Return the tables of sentences by kind of task."""
        return (self.acts, self.asks, self.wonders, self.requests)

    def has(self, kind: str) -> bool:
        """Return whether there are words for a kind of task."""
        return any(kind in table for table in self.tables())


@cache
def languages() -> list[Language]:
    """Return the languages of goals, sorted."""
    return sorted(Language(path.stem) for path in _FILES.glob("*.toml"))


@cache
def grammar(language: Language) -> Grammar:
    """Return the grammar of goals in a language.

    Raises:
        ValueError: its file lacks a table, a term or a phrase, or has a sentence that is doubtful or cannot be filled.
    """
    told = read_grammar((_FILES / f"{language}.toml").read_text(encoding="utf-8"))
    faults = list(
        find_faults(told, told if language is Language.ENGLISH else grammar(Language.ENGLISH))
    )
    if faults:
        raise ValueError(f"goals in '{language}': {'; '.join(faults)}")
    return told


def read_grammar(text: str) -> Grammar:
    """Return the grammar of a file's text.

    Raises:
        ValueError: a table is missing, unknown or no list of texts.
    """
    told = tomllib.loads(text)
    if unknown := told.keys() - {*Grammar._fields}:
        raise ValueError(f"unknown tables of goals: {', '.join(sorted(unknown))}")
    return TypeAdapter(Grammar).validate_python(told)


def find_faults(told: Grammar, english: Grammar) -> Iterator[str]:
    """Yield what a language's grammar has that nothing fills, what it lacks, and what has two readings."""
    for name in ("terms", "phrases", "frames", "names", "days"):
        if missing := getattr(english, name).keys() - getattr(told, name).keys():
            yield f"[{name}] lacks {', '.join(sorted(missing))}"
    for kind in _kinds(told):
        sentences = _sentences(told, kind)
        known = _placeholders(_sentences(english, kind)) | {*english.given.get(kind, ())}
        if not known:
            yield f"no kind of task is called '{kind}'"
        elif unknown := _placeholders(sentences) - known - _DRAWN:
            yield f"'{kind}' has unknown placeholders {', '.join(sorted(unknown))}"
        if lacking := _forms(sentences) & english.verbs.keys() - told.verbs.keys():
            yield f"'{kind}' has forms without phrases: {', '.join(sorted(lacking))}"
        yield from _doubts(kind, sentences, told.doubtful.get(kind, ()))
    if strange := told.reasons.keys() - {"change", "question"} - {*_kinds(english)}:
        yield f"[reasons] has no kinds of tasks: {', '.join(sorted(strange))}"
    for sentence in _all_sentences(told):
        if sentence.count("[") != sentence.count("]"):
            yield f"brackets do not match in '{sentence}'"


def _kinds(told: Grammar) -> list[str]:
    return sorted({kind for table in told.tables() for kind in table})


def _doubts(kind: str, sentences: Sequence[str], doubtful: Sequence[str]) -> Iterator[str]:
    for sentence in sentences:
        found = (re.search(pattern, sentence, re.IGNORECASE) for pattern in doubtful)
        if any(found):
            yield f"'{kind}' has a sentence with two readings: '{sentence}'"


def _sentences(told: Grammar, kind: str) -> list[str]:
    return [each for table in told.tables() for each in table.get(kind, ())]


def _all_sentences(told: Grammar) -> Iterator[str]:
    parts = [part for table in told.tables() for part in table.values()]
    parts += [*told.aside.values(), *told.frames.values(), *told.reasons.values()]
    yield from (each for part in parts for each in part)
    yield from (*told.opening, *told.closing, *told.impossible, *told.replies)


def _placeholders(sentences: Sequence[str]) -> set[str]:
    return {
        name for text in sentences for _, name, _, _ in Formatter().parse(text) if name is not None
    }


def _forms(sentences: Sequence[str]) -> set[str]:
    return {form for text in sentences for _, _, form, _ in Formatter().parse(text) if form}


def spread(text: str, random: Random) -> str:
    """Return a sentence with one alternative of each [one|another], inner ones first."""
    while (found := _INNER.search(text)) is not None:
        text = f"{text[: found.start()]}{random.choice(found[1].split('|'))}{text[found.end() :]}"
    return text
