"""Masks for what differs between two equal visits, each with an example of what it would hide.

A mask hides what changes for a reason, such as a token, and as readily a fault that makes every replay diverge. The two
values beside it let a person judge which it is.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pydantic import JsonValue

from schemas.configuration.masks import Masks
from schemas.episodes.state_delta import Change, Delta

MAX_EXAMPLE = 40
"""Maximum number of characters of each value in an example."""

_WORD = re.compile(r"[\w+/=.-]+|[^\w+/=.-]+")
_CONTEXT_CHARS = 24


class MaskKind(StrEnum):
    """The key of `[masks]` that a mask belongs to."""

    FIELDS = "fields"
    PATTERNS = "patterns"
    STATE = "state"


@dataclass(frozen=True, slots=True)
class SuggestedMask:
    """A mask for one difference."""

    kind: MaskKind | None
    """The key that it belongs to; None: no mask can hide the difference."""
    mask: str
    """The name, pattern or pointer; empty without a mask."""
    one: str
    """What the first visit has there, quoted and cut."""
    other: str
    """What the second visit has there, quoted and cut."""

    @property
    def sentence(self) -> str:
        """The mask, and an example of what it hides."""
        if self.kind is None:
            return (
                "nothing by a pattern: the documents have different structures, first where one has "
                f"{self.one} and the other {self.other}"
            )
        name = self.mask if self.kind is MaskKind.STATE else f"{self.kind.value}: '{self.mask}'"
        return f"{name} (hides {self.one} and {self.other})"


@dataclass(frozen=True, slots=True)
class PageLook:
    """A page in one visit."""

    source: str
    """Its document."""
    fields: tuple[tuple[str, str], ...]
    """The names and values of its form fields."""
    masks: Masks
    """The masks that the application has already."""


def state_masks(delta: Delta) -> Iterator[SuggestedMask]:
    """Yield the differing places of a state as pointers for masks, without duplicates."""
    seen: set[str] = set()
    for change in (*delta.added, *delta.changed, *delta.removed):
        for pointer, one, other in _places(change):
            if pointer not in seen:
                seen.add(pointer)
                yield SuggestedMask(
                    kind=MaskKind.STATE, mask=pointer, one=_quote(one), other=_quote(other)
                )


def _places(change: Change) -> Iterator[tuple[str, JsonValue, JsonValue]]:
    """Yield the pointers of a change, each with the earlier and the later value."""
    if not change.fields:
        yield change.at or "/", change.before, change.after
    for name in change.fields:
        escaped = name.replace("~", "~0").replace("/", "~1")
        yield f"{change.at}/*/{escaped}", _member(change.before, name), _member(change.after, name)


def _member(row: JsonValue, name: str) -> JsonValue:
    return row.get(name) if isinstance(row, dict) else None


def page_masks(one: PageLook, other: PageLook) -> Iterator[SuggestedMask]:
    """Yield masks for the differences of two visits' pages: names of fields, else patterns."""
    named = set[str]()
    for (name, value), (_, found) in zip(one.fields, other.fields, strict=False):
        if value != found and name not in {*one.masks.fields, *named}:
            named.add(name)
            yield SuggestedMask(
                kind=MaskKind.FIELDS, mask=name, one=_quote(value), other=_quote(found)
            )
    sources = [_WORD.findall(look.masks.hide(look.source)) for look in (one, other)]
    if len(sources[0]) != len(sources[1]):
        yield _first_difference(*sources)
        return
    masked_values = {
        text
        for look in (one, other)
        for name, text in look.fields
        if name in {*look.masks.fields, *named}
    }
    patterns = set[str]()
    for at, (word, found) in enumerate(zip(*sources, strict=True)):
        if word == found or {word, found} & masked_values:
            continue
        before = "".join(sources[0][max(0, at - _CONTEXT_CHARS) : at])[-_CONTEXT_CHARS:]
        pattern = f"{re.escape(before)}({_shape(word, found)})"
        if pattern not in patterns:
            patterns.add(pattern)
            yield SuggestedMask(
                kind=MaskKind.PATTERNS, mask=pattern, one=_quote(word), other=_quote(found)
            )


def _first_difference(one: Sequence[str], other: Sequence[str]) -> SuggestedMask:
    """Return the first place where two documents of different structures differ, with what precedes it."""
    pairs = enumerate(zip(one, other, strict=False))
    first = next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
    before = "".join(one[max(0, first - _CONTEXT_CHARS) : first])[-_CONTEXT_CHARS:]
    shown = ("".join([before, *words[first : first + MAX_EXAMPLE]]) for words in (one, other))
    quoted = [_quote(text, _CONTEXT_CHARS + MAX_EXAMPLE) for text in shown]
    return SuggestedMask(kind=None, mask="", one=quoted[0], other=quoted[1])


def _quote(value: JsonValue, length: int = MAX_EXAMPLE) -> str:
    if value is None:
        return "nothing"
    text = repr(value)
    return text if len(text) <= length else f"{text[: length - 1]}…"


def _shape(word: str, found: str) -> str:
    if word.isdigit() and found.isdigit():
        return r"\d+"
    return r"[\w+/=.-]+"
