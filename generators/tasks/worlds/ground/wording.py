"""The wording of goals: drawn from a small grammar, in several registers and languages.

A goal is one request, in most registers with sentences around it: the requester, an irrelevant aside, a deadline.
Values are inserted as pages show them; words that belong to the goal, as `above`, are terms that every language
translates.
"""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import NamedTuple

from pydantic import TypeAdapter

from generators.tasks.worlds.ground.task_kind import TaskKind
from generators.tasks.worlds.ground.world_rows import TERM, quote

ENGLISH = "en"
"""The language that has terse goals."""

_TERSE = "terse"
_TERSE_SHARE = 0.1
_OPENED, _ASIDE, _CLOSED, _IMPOSSIBLE = 0.7, 0.3, 0.6, 0.1
"""The shares of goals with each sentence around their request."""

_PART = re.compile(r"\[([^\[\]]*)\]")
_LABELS = ("field", "fact", "link", "ground", "name", "state")


class Grammar(NamedTuple):
    """The grammar of goals; sentences by language."""

    person: dict[str, list[str]]
    """First and last names."""
    team: dict[str, list[str]]
    day: dict[str, list[str]]
    weekday: dict[str, list[str]]
    opening: dict[str, list[str]]
    aside: dict[str, dict[str, list[str]]]
    """By subject and language."""
    closing: dict[str, list[str]]
    impossible: dict[str, list[str]]
    """Instructions for answering a task that cannot be done."""
    terms: dict[str, dict[str, str]]
    """Translations of terms, by language."""


@cache
def grammar() -> Grammar:
    """Return the grammar of goals."""
    path = Path(__file__).with_name("wordings.toml")
    told = tomllib.loads(path.read_text(encoding="utf-8"))
    return TypeAdapter(Grammar).validate_python([told[name] for name in Grammar._fields])


def word(
    kind: TaskKind,
    words: Mapping[str, str],
    random: Random,
    *,
    language: str = ENGLISH,
    is_twin: bool = False,
) -> str:
    """Return a goal in a kind's sentences, with placeholders filled from `words`.

    `language` is that of the world; `is_twin`: whether the task is impossible, so that the goal says how to answer then.
    """
    rules, share = grammar(), random.random()
    requests = kind.requests
    register = _TERSE if language == ENGLISH and share < _TERSE_SHARE else language
    parts = [random.choice(requests[register])]
    if register != _TERSE:
        if random.random() < _OPENED:
            parts.insert(0, random.choice(rules.opening[language]))
        if kind.aside is not None and random.random() < _ASIDE:
            parts.append(random.choice(rules.aside[kind.aside][language]))
        if random.random() < _CLOSED:
            parts.append(random.choice(rules.closing[language]))
    if is_twin or random.random() < _IMPOSSIBLE:
        parts.append(random.choice(rules.impossible[language]))
    given = {**words, **_draw_names(rules, language, random)}
    if language != ENGLISH:
        given |= {name: quote(words[name].strip('"')) for name in _LABELS if name in words}
    goal = " ".join(_fill(_spread(part, random), given) for part in parts)
    return " ".join(TERM.sub(lambda found: rules.terms[language][found[1]], goal).split())


def _draw_names(rules: Grammar, language: str, random: Random) -> dict[str, str]:
    """Return the names and days in sentences around a request."""
    first, last = rules.person["first"], rules.person["last"]
    return {
        "person": f"{random.choice(first)} {random.choice(last)}",
        "person2": f"{random.choice(first)} {random.choice(last)}",
        "team": random.choice(rules.team[language]),
        "day": random.choice(rules.day[language]),
        "weekday": random.choice(rules.weekday.get(language) or rules.day[language]),
    }


def _spread(part: str, random: Random) -> str:
    """Return a sentence with each group of alternatives resolved."""
    chosen = _PART.sub(lambda found: random.choice(found[1].split("|")), part)
    return " ".join(chosen.split())


def _fill(part: str, given: Mapping[str, str]) -> str:
    text = part.format_map(given)
    return text[0].upper() + text[1:]
