"""The words of a text, as goals and the world's own texts are compared: without case, accents and hyphens."""

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

_QUOTED = re.compile(
    r'"([^"]*)"|“([^”]*)”|„([^“”]*)[“”]|«\s*([^»]*?)\s*»|「([^」]*)」|『([^』]*)』'
    r"|(?<!\w)['‘]([^'‘’]+)['’](?!\w)"  # noqa: RUF001 - the quotation marks that people type
)
_TOKEN = re.compile(
    r"[\u3005\u3040-\u30ff\u3400-\u9fff]"  # a language without spaces: a character each
    r"|\d+|(?:[^\W\d_\u3005\u3040-\u30ff\u3400-\u9fff][\u064b-\u065f\u0670]*)+|[^\w\s]"
)
_JOINTS = re.compile(r"(?<=\w)['’`‐-](?=\w)|[\u0640\u200c-\u200f]")  # noqa: RUF001 - marks within words
_MARKS = re.compile("[\u0300-\u036f\u0610-\u061a\u064b-\u0652\u0670]|(?<=\u0627)[\u0653-\u0655]")
_LETTERS = str.maketrans({"\u0629": "\u0647", "\u0671": "\u0627", "、": ",", "،": ",", "؛": ";"})
"""Letters and marks that are written in two ways."""

_ARTICLE = re.compile(r"ال(?=(?:[^\W\d_][\u064b-\u065f\u0670]*){2,}$)")

_QUOTATION = frozenset("\"'“”„«»「」『』‘’")  # noqa: RUF001 - quotation marks

STOPS = frozenset(".?!;。？！؟")  # noqa: RUF001 - the marks of several scripts
"""Marks that end a sentence, or a part of it that stands alone."""


class Token(NamedTuple):
    """A word, a number or a mark."""

    text: str
    """As it is compared."""
    start: int
    """Its place in the text."""
    end: int
    """The place behind it."""
    quote: int
    """The number of the quotation that it is in; -1: it is in none."""


class Quote(NamedTuple):
    """A quotation."""

    text: str
    """What stands in it."""
    start: int
    """The place of its first letter."""
    end: int
    """The place behind its last letter."""


def fold(text: str) -> str:
    """Return a text without case, accents, Arabic vowel signs and hamza."""
    if text.isascii():  # the common case
        return text.lower()
    bare = _MARKS.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFC", bare).translate(_LETTERS).casefold()


def bare_word(word: str) -> str:
    """Return a word as it is compared: folded, and without the Arabic article."""
    return fold(_ARTICLE.sub("", word, count=1) if word.startswith("ال") else word)


@lru_cache(maxsize=2**14)  # texts of rows are compared again and again
def key_of(text: str) -> tuple[str, ...]:
    """Return the words of a text as they are compared."""
    return tuple(token.text for token in split(text))


def spelling_of(text: str) -> str:
    """Return the words of a text with their accents, in small letters."""
    return " ".join(text[one.start : one.end].casefold() for one in split(text))


def find_quotes(text: str) -> list[Quote]:
    """Return a text's quotations, in their order."""
    found = list[Quote]()
    for one in _QUOTED.finditer(text):
        number = one.lastindex or 1
        if one[number].strip():
            found.append(Quote(one[number], one.start(number), one.end(number)))
    return found


def split(text: str, quotes: list[Quote] | None = None) -> list[Token]:
    """Return the words of a text; hyphens and apostrophes within words join, and part nothing."""
    out, places = list[Token](), iter(quotes or ())
    quote, number = next(places, None), 0
    joints = {one.start() for one in _JOINTS.finditer(text)}
    for found in _TOKEN.finditer(text):
        start, end = found.span()
        if start in joints or found[0] in _QUOTATION:
            continue
        while quote is not None and start >= quote.end:
            quote, number = next(places, None), number + 1
        held = number if quote is not None and start >= quote.start else -1
        out.append(Token(bare_word(found[0]), start, end, held))
    return out


def stem(word: str, endings: tuple[tuple[str, str], ...]) -> str:
    """Return a word without the first of the endings that it has, if enough of it is left."""
    for ending, instead in endings:
        if word.endswith(ending) and len(word) >= len(ending) + 3:
            return word[: len(word) - len(ending)] + instead
    return word
