"""The wording of goals: composed by a seed from the parts that a person would say.

A goal is one request of its kind, in a precise or a plain form (`speech.py`), sometimes with a greeting, a reason, an
irrelevant remark, or what to answer if it cannot be done; here and there it is written in small letters, or with a
wrong letter in a word of ours.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from random import Random
from string import Formatter
from typing import NamedTuple

from generators.tasks.messages.bank import bank
from generators.tasks.worlds.ground.field_words import END, KEPT, NAMED, SAID
from generators.tasks.worlds.ground.grammar import Grammar, spread
from generators.tasks.worlds.ground.mentions import Said
from generators.tasks.worlds.ground.messages import Message, draw_message
from generators.tasks.worlds.ground.speech import Speaker
from generators.tasks.worlds.ground.task_kind import TaskKind
from generators.tasks.worlds.ground.voice import Voice
from generators.tasks.worlds.ground.world_rows import Setting

_PRECISE = 0.05
"""The share of goals in the precise form."""

_OPENED, _REASON, _ASIDE, _CLOSED = 0.03, 0.03, 0.005, 0.02
"""The shares of goals with each sentence around their request."""

_REFUSAL, _PERSONS, _LOWER, _TYPO, _UNENDED = 0.02, 0.25, 0.08, 0.02, 0.1
"""The shares of goals that say what to answer if they cannot be done, whatever is so, that may name persons who have
nothing to do with it, that are in small letters, that have a wrong letter, and that lack their last full stop."""

WHOLE = 0.93
"""The share of goals that are whole messages of the bank, where it has one."""

_SMALL = 0.2
"""The share of whole messages whose own words have no capitals."""

_TRIES = 20
_PERSON = re.compile(r"\{person2?\}")
_MARKED = re.compile(f"([{KEPT}{SAID}{NAMED}])([^{KEPT}{SAID}{NAMED}{END}]*){END}")
_UNMARKED = re.compile(
    rf"[{KEPT}{NAMED}][^{END}]*{END}|\bI\b|([^{KEPT}{NAMED}{END}]+?)(?=\bI\b|[{KEPT}{NAMED}{END}]|$)"
)
"""What is put in letter by letter, the word `I`, or words of ours (the first group)."""

_NAME = re.compile(f"{NAMED}([^{END}]*){END}")
_REPAIRED_NAME = re.compile(f"{KEPT}([^{KEPT}{SAID}{NAMED}{END}]*){NAMED}{END}")
_WORD = re.compile(r"\b[a-z]{5,}\b")
_BEGINS = re.compile(rf"(?:^|[.?!] ){SAID}?[^\W\d_]")
"""The first letter of a sentence."""

MASK = "§"
"""What stands for a value, a title or a name in a masked goal."""


class Goal(NamedTuple):
    """A task's goal, and how it was made."""

    text: str
    told: str
    """The text, and below it all that it says of pages in quotation marks, word for word as they show it."""
    masked: str
    """The text with a mark for each value, title and name of a person or website."""
    manners: tuple[str, ...]
    """How it was made, sorted: `precise` or `plain`, and `described`, `short`, `spoken`, `polite`, `reason`, `aside`,
    `person`, `lower`, `typo` and `refusal`, which says how to answer if it cannot be done."""
    names: Mapping[str, str]
    """What it calls rows, by title: the title or a part of it; empty: it describes the row."""
    facts: frozenset[tuple[str, str, str]]
    """What it says of rows that it describes: title, field and value as pages show it."""


def word(
    setting: Setting,
    kind: TaskKind,
    words: Mapping[str, Said],
    random: Random,
    *,
    rules: Grammar,
    whole: float = WHOLE,
) -> Goal | None:
    """Return a goal in a kind's sentences, with placeholders filled from `words`; None: the language has none.

    `whole` is the share of goals that are whole messages of the bank, where it has one.
    """
    is_whole = random.random() < whole
    message = _draw_message(setting, kind, words, random) if is_whole else None
    core = _draw_request(kind, random, rules) if message is None else message.text
    if core is None:
        return None
    is_precise = message is None and random.random() < _PRECISE
    speaker = Speaker(setting, rules, random, is_precise=is_precise, is_whole=message is not None)
    if message is None:
        parts, manners = _around(core, kind, random, rules)
    else:
        parts, manners, words = [core], {"whole"}, message.words
        if random.random() < _REFUSAL:
            parts.append(spread(random.choice(rules.impossible), random).strip())
            manners.add("refusal")
    named = Counter(
        name for part in parts for _, name, _, _ in Formatter().parse(part) if name is not None
    )
    repeated = [name for name, count in named.items() if count > 1]
    given = {**speaker.voices(words, repeated=repeated), **_draw_names(rules, random)}
    marked = " ".join(_fill(part, given) for part in parts)
    marked = _repair(marked, rules)
    manners |= speaker.manners
    marked = re.sub(r"\n\s*[.]?\s*", "\n", re.sub(r"[ \t]+", " ", marked)).strip()
    marked = _roughen(marked, random, manners)
    text = _MARKED.sub(lambda found: found[2], marked)
    if any(_pattern_of(one).search(text) for one in rules.polite):
        manners.add("polite")
    quoted = "\n".join(f'"{one}"' for one in dict.fromkeys(speaker.told))
    return Goal(
        text,
        f"{text}\n{quoted}",
        _MARKED.sub(lambda found: found[2] if found[1] == SAID else MASK, marked),
        tuple(sorted(manners)),
        speaker.names,
        frozenset(speaker.facts),
    )


def _draw_message(
    setting: Setting, kind: TaskKind, words: Mapping[str, Said], random: Random
) -> Message | None:
    """Return a whole message from the bank; None: it has none."""
    world = setting.world
    return draw_message(bank(world.language.value, world.family), kind.name, words, random)


@cache
def _pattern_of(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)


def _draw_request(kind: TaskKind, random: Random, rules: Grammar) -> str | None:
    """Return the request of a goal, spread; None: the language has none."""
    drawn = [
        (frames, one)
        for table, frames in (
            (rules.acts, rules.frames["act"]),
            (rules.asks, rules.frames["ask"]),
            (rules.wonders, rules.frames["wonder"]),
            (rules.requests, ["{~}"]),
        )
        for one in table.get(kind.name, ())
    ]
    for _ in range(_TRIES if drawn else 0):
        frames, said = random.choice(drawn)
        text = spread(random.choice(frames).replace("{~}", said), random).strip()
        if not _PERSON.search(text) or random.random() < _PERSONS:
            return text
    return None


def _around(
    core: str, kind: TaskKind, random: Random, rules: Grammar
) -> tuple[list[str], set[str]]:
    """Return the sentences of a goal, spread, and their manners."""
    has_person = random.random() < _PERSONS

    def draw(sentences: Sequence[str]) -> str:
        for _ in range(_TRIES):
            text = spread(random.choice(sentences), random).strip()
            if has_person or not _PERSON.search(text):
                return text
        return ""

    parts, manners = [core], set[str]()
    if random.random() < _REASON:
        reason = draw(_reasons(kind, rules))
        parts.insert(random.choice((0, 1)) if not reason.startswith("~") else 1, reason.lstrip("~"))
        manners.add("reason")
    if kind.aside is not None and random.random() < _ASIDE:
        parts.append(draw(rules.aside[kind.aside]))
        manners.add("aside")
    if random.random() < _OPENED:
        opening = draw(rules.opening)
        parts[:1] = [f"{opening} {parts[0]}"] if opening.endswith(",") else [opening, parts[0]]
    if random.random() < _REFUSAL:
        parts.append(draw(rules.impossible))
        manners.add("refusal")
    if random.random() < _CLOSED:
        parts.append(draw(rules.closing))
    if any(_PERSON.search(part) for part in parts):
        manners.add("person")
    return [part for part in parts if part], manners


def _reasons(kind: TaskKind, rules: Grammar) -> list[str]:
    """Return why somebody wants a task of a kind."""
    is_question = kind.name in {*rules.asks, *rules.wonders}
    return rules.reasons.get(kind.name) or rules.reasons["question" if is_question else "change"]


def _draw_names(rules: Grammar, random: Random) -> dict[str, Voice | str]:
    """Return the names and days in sentences around a request."""
    names = rules.names
    persons = {
        name: f"{KEPT}{random.choice(names['first'])} {random.choice(names['last'])}{END}"
        for name in ("person", "person2")
    }
    return {**persons, **{each: random.choice(names[each]) for each in ("team", "day", "weekday")}}


def _repair(marked: str, rules: Grammar) -> str:
    """Return a goal whose words go together; for patterns a title or a value is what stays letter by letter."""
    marked = _NAME.sub(f"{KEPT}\\1{NAMED}{END}", marked)
    for wrong, right in rules.repairs:
        marked = wrong.sub(right, marked)
    return _REPAIRED_NAME.sub(f"{NAMED}\\1{END}", marked)


def _fill(part: str, given: Mapping[str, Voice | str]) -> str:
    """Return sentences with their placeholders filled, which begin with a capital letter unless a value begins them."""
    text = part.format_map(given)
    kept = [found.span() for found in _MARKED.finditer(text) if found[1] != SAID]
    for found in _BEGINS.finditer(text):
        at = found.end() - 1
        if not any(start <= at < end for start, end in kept):
            text = text[:at] + text[at].upper() + text[at + 1 :]
    return text


def _roughen(marked: str, random: Random, manners: set[str]) -> str:
    """Return a goal as it may be typed in a hurry."""
    if "whole" in manners:
        return _hurry(marked, random)
    if "plain" in manners and random.random() < _LOWER and not _has_capitals(marked):
        manners.add("lower")
        marked = marked.lower()
    if random.random() < _TYPO:
        wrong = _misspell(marked, random)
        if wrong != marked:
            manners.add("typo")
            marked = wrong
    return marked[:-1] if marked.endswith(".") and random.random() < _UNENDED else marked


def _hurry(marked: str, random: Random) -> str:
    """Return a whole message as people type it: at times without capitals of its own, or without its last full stop."""
    if random.random() < _SMALL:
        marked = _UNMARKED.sub(lambda found: found[0].lower() if found[1] else found[0], marked)
    return marked[:-1] if marked.endswith(".") and random.random() < _UNENDED else marked


def _has_capitals(marked: str) -> bool:
    """Return whether a goal has capital letters that have to stay, as those of a text that is to be written."""
    kept = (found[2] for found in _MARKED.finditer(marked) if found[1] == KEPT)
    return any(text != text.lower() for text in kept)


def _misspell(marked: str, random: Random) -> str:
    """Return a goal with two letters swapped or one left out in a word of ours."""
    spans = [found.span() for found in _MARKED.finditer(marked)]
    own = [
        found
        for found in _WORD.finditer(marked)
        if not any(start <= found.start() < end for start, end in spans)
        and marked[found.start() - 1 : found.start()] != '"'  # a word to be said as it is
    ]
    if not own:
        return marked
    found = random.choice(own)
    one, at = found[0], random.randrange(1, len(found[0]) - 2)
    is_swapped = random.random() < 1 / 2
    wrong = one[:at] + (one[at + 1] + one[at] + one[at + 2 :] if is_swapped else one[at + 1 :])
    return marked[: found.start()] + wrong + marked[found.end() :]
