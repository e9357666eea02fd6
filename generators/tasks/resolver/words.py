"""The words by which goals say what is meant, in each language: `words/en.toml` says what its tables mean."""

import tomllib
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import NamedTuple

from generators.tasks.resolver.tokens import key_of, spelling_of, stem

_FILES = Path(__file__).with_name("words")

_VERBS = ("be", "have", "do", "of", "pronouns", "reduced", "questions", "relatives", "joints")

_SHORTEST = 4
"""Shorter words are not looked for behind a slip."""

ENGLISH = "en"
"""The language of goals whose words tell none."""


class Cue(StrEnum):
    """What a word of a goal says; the names of the tables of `words/en.toml`."""

    ABOVE = "above"
    BELOW = "below"
    NOT = "not"
    ALL = "all"
    ONE = "one"
    SET = "set"
    COND = "cond"
    PLAIN = "plain"
    TELL = "tell"
    TO = "to"
    AS = "as"
    OF = "of"
    AND = "and"
    OR = "or"
    IT = "it"
    NEW = "new"
    DELETE = "delete"
    COUNT = "count"
    SUM = "sum"
    MEAN = "mean"
    SPAN = "span"
    MOST = "most"
    LEAST = "least"
    LATEST = "latest"
    EARLIEST = "earliest"
    DEAREST = "dearest"
    CHEAPEST = "cheapest"
    FIRST = "first"
    SECOND = "second"
    THIRD = "third"
    FOURTH = "fourth"
    FIFTH = "fifth"
    THREE = "three"
    SAME = "same"
    SWAP = "swap"
    UNDO = "undo"
    IF = "if"
    ELSE = "else"
    ASK = "ask"
    UNDER = "under"
    TIMES = "times"
    BACK = "back"
    FRONT = "front"
    FREE = "free"
    IMPOSSIBLE = "impossible"
    RELATIVE = "relative"
    NOISE = "noise"
    FIELD = "field"
    LINK = "link"
    NOW = "now"
    BUY = "buy"
    REQUEST = "request"
    START = "start"
    ANY = "any"
    STAY = "stay"
    IN = "in"
    SAY = "say"
    FOR = "for"
    WRITE = "write"
    MONDAY = "monday"
    TUESDAY = "tuesday"
    WEDNESDAY = "wednesday"
    THURSDAY = "thursday"
    FRIDAY = "friday"


ENDS = frozenset({Cue.MOST, Cue.LEAST, Cue.LATEST, Cue.EARLIEST, Cue.DEAREST, Cue.CHEAPEST})
"""Words for an end of an order."""


class Words(NamedTuple):
    """The words of one language."""

    cues: Mapping[tuple[str, ...], frozenset[Cue]]
    """What phrases say."""
    spellings: Mapping[tuple[str, ...], Mapping[str, frozenset[Cue]]]
    """What phrases say by their spelling, of those that differ from another by accents alone, as `é` and `e`."""
    lengths: Mapping[str, tuple[int, ...]]
    """The lengths of phrases by their first word, the longest first."""
    months: Mapping[str, int]
    """Months by name, whole and short."""
    long_months: Mapping[str, str]
    """Names of months of several words, each with one of a word."""
    numbers: Mapping[str, int]
    """Numbers in words."""
    common: frozenset[str]
    """Words that mean nothing by themselves."""
    idle: frozenset[str]
    """Words of requests that say nothing of rows; any other word that a reading leaves out may change what is asked."""
    articles: frozenset[str]
    """The articles of one certain thing."""
    flags: Mapping[str, int]
    """What is said of what is yes or no, beside the world's own words."""
    known: frozenset[str]
    """All words of the file."""
    slips: Mapping[str, str]
    """Words with a letter missing or two exchanged, with the word that is meant."""
    be: frozenset[str]
    """The forms of `be`, behind which a predicate may do without."""
    have: frozenset[str]
    """The forms of `have`, and what is said for it."""
    do: frozenset[str]
    """The forms of `do` in questions."""
    of: frozenset[str]
    """Words between the name of a field and its row."""
    pronouns: frozenset[str]
    """Words for a row that was named before."""
    reduced: frozenset[str]
    """The forms of `have` that describe: `with`."""
    questions: frozenset[str]
    """Words that begin questions for an answer."""
    relatives: frozenset[str]
    """Words behind which a predicate describes."""
    joints: frozenset[str]
    """Words before a value that a bound stands for, as `after` for `on`."""
    endings: tuple[tuple[str, str], ...]
    """Endings that inflect words, the longest first, each with what stands in its place."""
    plain: Mapping[str, list[str]]
    """What the messages of each kind of task say in plain words; of several sentences the first that can be filled."""
    has_capital_nouns: bool
    """Whether every noun begins with a capital letter, so that it says nothing of names."""
    forms: Mapping[str, str]
    """Imperatives whose form behind `that you` has more than another first letter, with it."""
    has_article: bool
    """Whether a certain thing is marked by an article that is written with it."""
    prefixes: tuple[frozenset[str], ...]
    """Words that are written with the next one, by their place before it."""
    has_spaces: bool
    """Whether spaces stand between words; otherwise each sign is a word."""
    has_plurals: bool
    """Whether a noun says by its form that several are meant."""
    is_head_last: bool
    """Whether what is said of a value stands behind it, and a noun behind what describes it."""


def languages() -> list[str]:
    """Return the languages of goals, English first."""
    return sorted(
        (path.stem for path in _FILES.glob("*.toml")), key=lambda one: (one != ENGLISH, one)
    )


@cache
def words_of(language: str) -> Words:
    """Return the words of a language.

    Raises:
        ValueError: its file has an unknown table.
    """
    told = tomllib.loads((_FILES / f"{language}.toml").read_text(encoding="utf-8"))
    cues: dict[tuple[str, ...], frozenset[Cue]] = {}
    for name, phrases in told["cues"].items():
        for phrase in phrases:
            key = key_of(phrase)
            cues[key] = cues.get(key, frozenset()) | {Cue(name)}
    spellings: dict[tuple[str, ...], dict[str, frozenset[Cue]]] = {}
    for name, phrases in (*told["cues"].items(), (None, told["flags"])):
        for phrase in phrases:
            by = spellings.setdefault(key_of(phrase), {})
            more = () if name is None else (Cue(name),)
            by[spelling_of(phrase)] = by.get(spelling_of(phrase), frozenset()).union(more)
    lengths: dict[str, set[int]] = {}
    for key in cues:
        lengths.setdefault(key[0], set()).add(len(key))
    endings = tuple((ending, instead) for ending, instead in told.get("endings", ()))
    own = {*key_of(" ".join(told["common"])), *(part for key in cues for part in key)}
    return Words(
        cues,
        {key: by for key, by in spellings.items() if len(by) > 1},
        {first: tuple(sorted(some, reverse=True)) for first, some in lengths.items()},
        {
            key_of(name)[0]: number
            for names, number in _months(told)
            for name in names
            if " " not in name
        },
        {name: names[0] for names, _ in _months(told) for name in names if " " in name},
        {key_of(name)[0]: number for name, number in told.get("numbers", {}).items()},
        frozenset(key_of(" ".join(told["common"]))),
        frozenset(key_of(" ".join(told.get("idle", ())))),
        frozenset(told["articles"]),
        told["flags"],
        frozenset(own),
        slips_of(own, own, endings),
        **{name: frozenset(told.get("verbs", {}).get(name, ())) for name in _VERBS},
        endings=endings,
        plain=told.get("plain", {}),
        has_capital_nouns=bool(told.get("has_capital_nouns", False)),
        forms=told.get("forms", {}),
        has_article=bool(told.get("has_article", False)),
        prefixes=tuple(frozenset(some) for some in told.get("prefixes", ())),
        has_spaces=bool(told.get("has_spaces", True)),
        has_plurals=bool(told.get("has_plurals", True)),
        is_head_last=bool(told.get("is_head_last", False)),
    )


def _months(told: Mapping[str, list[list[str]]]) -> Iterable[tuple[list[str], int]]:
    return ((names, number) for number, names in enumerate(told["months"], start=1))


def slips_of(
    words: set[str], known: set[str], endings: tuple[tuple[str, str], ...]
) -> dict[str, str]:
    """Return what a single slip makes of words, with the word; without what is known, may be of several, or inflects it."""
    found: dict[str, set[str]] = {}
    for word in words:
        if len(word) < _SHORTEST:
            continue
        for at in range(len(word)):
            found.setdefault(word[:at] + word[at + 1 :], set()).add(word)
            if at + 1 < len(word):
                found.setdefault(f"{word[:at]}{word[at + 1]}{word[at]}{word[at + 2 :]}", set()).add(
                    word
                )
    return {
        slip: next(iter(some))
        for slip, some in found.items()
        if len(some) == 1 and slip not in known and not _is_form(slip, next(iter(some)), endings)
    }


def _is_form(slip: str, word: str, endings: tuple[tuple[str, str], ...]) -> bool:
    """Return whether what a slip would be is rather the word with another ending, as `kleine` is of `kleiner`."""
    return len(slip) < len(word) and stem(slip, endings) == stem(word, endings)
