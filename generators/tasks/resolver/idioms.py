"""The messages of a family of worlds as patterns, which a goal may match whole."""

import re
from collections.abc import Collection, Mapping
from functools import cache, cached_property
from typing import NamedTuple

from generators.tasks.messages.bank import bank

_INNER = re.compile(r"\[([^\[\]]*)\]")
_GAP = re.compile(r"\{([^{}]*)\}")
_SPACE = re.compile(r"[ \t]+")

_LAST = re.compile(r"\b(the|our|an?) $")
"""What may be said otherwise before a gap."""

_MANY_FORMS = 64
"""Of a message with more alternatives than this some are not known."""


class Idiom:
    """A message, or a part of one, to be recognised."""

    def __init__(self, kind: str, key: str, text: str, lexicon: Mapping[str, str]) -> None:
        """`lexicon` has the patterns of some gaps."""
        self.kind, self.key = kind, key
        self._text, self._lexicon = _SPACE.sub(" ", text).strip(), lexicon
        self.slots = tuple(name for name, _ in names_in(text))
        """What stands in its gaps, by the numbers of its groups."""
        fixed = _GAP.split(text.rstrip(".?! "))[::2]
        self.anchor = max((_LAST.sub("", part).strip().casefold() for part in fixed), key=len)
        """The longest run of its fixed words, in small letters."""

    def match(self, text: str) -> re.Match[str] | None:
        """Return how a text is this message, with what stands in its gaps; None: it is not."""
        return self._pattern.fullmatch(text)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        out, at, text = list[str](), 0, self._text
        text = text.removesuffix(".")
        for name, span in names_in(text):
            out += [_words_of(text[at : span[0]]), self._lexicon.get(name, "(.+?)")]
            at = span[1]
        out.append(_words_of(text[at:]) + r"\.?")
        return re.compile("".join(out), re.IGNORECASE | re.DOTALL)


class Idioms(NamedTuple):
    """What people of a trade say, to be recognised."""

    messages: tuple[Idiom, ...]
    """Whole messages, in all their forms."""
    now: tuple[Idiom, ...]
    """What is said of a row that has a value new."""


@cache
def idioms(language: str, family: str) -> Idioms:
    """Return the idioms of a family of worlds in a language."""
    told = bank(language, family)
    begins = {text.partition("{value}")[0] for texts in told.now.values() for text in texts}
    tops = {one for both in told.tops.values() for some in both for one in some}
    lexicon = {"news": f"({_any_of(begins)}.*?)", "top": f"({_any_of(tops)})"}
    messages = (
        Idiom(kind, key, form, lexicon)
        for kind, table in told.kinds.items()
        for key, texts in table.items()
        for text in texts
        for form in _forms(text)[:_MANY_FORMS]
    )
    now = (Idiom("now", key, text, lexicon) for key, texts in told.now.items() for text in texts)
    return Idioms(tuple(messages), tuple(now))


def names_in(text: str) -> list[tuple[str, tuple[int, int]]]:
    """Return the names of a text's gaps, with their places."""
    return [(found[1], found.span()) for found in _GAP.finditer(text)]


def _any_of(texts: Collection[str]) -> str:
    """Return the pattern of any of some texts."""
    some = sorted(texts, key=lambda one: (-len(one), one))
    return f"(?:{'|'.join(map(re.escape, some))})" if some else "(?!)"


def _forms(text: str) -> list[str]:
    """Return all forms of a text with [one|another]."""
    found = _INNER.search(text)
    if found is None:
        return [text]
    return [
        form
        for part in found[1].split("|")
        for form in _forms(text[: found.start()] + part + text[found.end() :])
    ]


def _words_of(text: str) -> str:
    """Return the pattern of fixed words: an article may be `an` or lack, and a list of lines ends without a full stop."""
    told = re.sub(r"(^|\\ )a\\ $", r"\1an?\\ ", re.escape(text))
    told = re.sub(r"(the|our)\\ $", r"(?:\1\\ )?", told)
    return re.sub(r"^\\\.\\ ", r"(?:\\. |\\n)", told)
