"""What an argument of a tool can be: its schema, its reading and its saying, one class a kind.

A kind goes between three forms of a value: what a model writes (JSON), what an action's field
holds, and the schema that tells a server's grammar about it. Reading is strict in values: a
number in quotation marks is no number.
"""

import math
from dataclasses import dataclass
from typing import Literal, Protocol

from pydantic import JsonValue

from generators.policy.dialects.coordinates import Convention, Frame
from generators.policy.dialects.protocol import CannotSay, Unreadable
from generators.policy.dialects.shared import json_schema
from generators.policy.dialects.shared.sanitize import mended, odd_character, one_line
from schemas.base import JsonObject, Record

_QUOTED = 60
"""Characters of a bad value that are told back to the model."""


class Scale(Record):
    """How numbers of a point are meant, and how long a text may get."""

    frame: Frame
    """The sizes between which points are carried over."""
    convention: Convention
    """What the numbers of a point mean."""
    text_limit: int | None = None
    """Characters of a text in the schema; None: the reply's tokens bound it."""


def quoted(value: JsonValue) -> str:
    """Return a value as it is told back to the model, shortened."""
    return f"'{one_line(str(value)[:1_000], _QUOTED)}'"


class Kind(Protocol):
    """What an argument can be."""

    def schema(self, scale: Scale) -> JsonObject:
        """Return the JSON schema of what a model writes."""
        ...

    def check(self, value: JsonValue, scale: Scale) -> JsonValue:
        """Return what a model wrote in its canonical form.

        Raises:
            Unreadable: what it must be instead, as the end of a sentence.
        """
        ...

    def read(self, value: JsonValue, scale: Scale) -> JsonValue:
        """Return what an action's field holds for a checked value."""
        ...

    def say(self, held: JsonValue, scale: Scale) -> JsonValue:
        """Return what a model writes for what an action's field holds.

        Raises:
            CannotSay: it has no words for it, and why.
        """
        ...


@dataclass(frozen=True)
class Text:
    """Free text: any printable Unicode, tabs and line ends."""

    least: int = 0
    """Characters."""
    mends: bool = False
    """What is no text is replaced and not refused: words for a reader, of no effect."""

    def schema(self, scale: Scale) -> JsonObject:
        """Return the schema of free text."""
        return json_schema.text(scale.text_limit)

    def check(self, value: JsonValue, scale: Scale) -> JsonValue:
        """Return the text as it is."""
        del scale
        if not isinstance(value, str):
            raise Unreadable(f"must be a text in quotation marks, but is {quoted(value)}")
        if self.mends:
            return mended(value)
        if odd := odd_character(value):
            raise Unreadable(f"holds {odd}, which nobody can type; leave that character out")
        if len(value) < self.least:
            raise Unreadable("must not be empty")
        return value

    def read(self, value: JsonValue, scale: Scale) -> JsonValue:
        """Return the text as it is."""
        del scale
        return value

    def say(self, held: JsonValue, scale: Scale) -> JsonValue:
        """Return the text as it is."""
        try:
            return self.check(held, scale)
        except Unreadable as error:
            raise CannotSay(f"a text {error}") from error


@dataclass(frozen=True)
class Whole:
    """A whole number within bounds."""

    least: int
    """The smallest."""
    most: int
    """The largest."""

    def schema(self, scale: Scale) -> JsonObject:
        """Return the schema of a whole number."""
        del scale
        return json_schema.whole(self.least, self.most)

    def check(self, value: JsonValue, scale: Scale) -> JsonValue:
        """Return the number."""
        del scale
        return whole_number(value, self.least, self.most)

    def read(self, value: JsonValue, scale: Scale) -> JsonValue:
        """Return the number."""
        del scale
        return value

    def say(self, held: JsonValue, scale: Scale) -> JsonValue:
        """Return the number, if it lies within bounds."""
        try:
            return self.check(held, scale)
        except Unreadable as error:
            raise CannotSay(f"a number {error}") from error


@dataclass(frozen=True)
class Choice:
    """One word out of a few."""

    of: tuple[str, ...]
    """The words."""

    def schema(self, scale: Scale) -> JsonObject:
        """Return the schema of a choice."""
        del scale
        return json_schema.choice(self.of)

    def check(self, value: JsonValue, scale: Scale) -> JsonValue:
        """Return the word."""
        del scale
        if value not in self.of:
            raise Unreadable(f"must be one of {', '.join(self.of)}, but is {quoted(value)}")
        return value

    def read(self, value: JsonValue, scale: Scale) -> JsonValue:
        """Return the word."""
        del scale
        return value

    def say(self, held: JsonValue, scale: Scale) -> JsonValue:
        """Return the word, if it is one of them."""
        try:
            return self.check(held, scale)
        except Unreadable as error:
            raise CannotSay(f"a word {error}") from error


@dataclass(frozen=True)
class Flag:
    """Yes or no."""

    def schema(self, scale: Scale) -> JsonObject:
        """Return the schema of yes or no."""
        del scale
        return json_schema.flag()

    def check(self, value: JsonValue, scale: Scale) -> JsonValue:
        """Return the flag."""
        del scale
        if not isinstance(value, bool):
            raise Unreadable(f"must be true or false, but is {quoted(value)}")
        return value

    def read(self, value: JsonValue, scale: Scale) -> JsonValue:
        """Return the flag."""
        del scale
        return value

    def say(self, held: JsonValue, scale: Scale) -> JsonValue:
        """Return the flag."""
        del scale
        return held


@dataclass(frozen=True)
class Coordinate:
    """One half of a point, in the convention of the scale."""

    axis: Literal["x", "y"]
    """Across or down."""

    def schema(self, scale: Scale) -> JsonObject:
        """Return the schema of a number up to the picture's far edge."""
        edge = self._edge(scale)
        if scale.convention is Convention.UNIT:
            return json_schema.number(0, edge)
        return json_schema.whole(0, int(edge))

    def check(self, value: JsonValue, scale: Scale) -> JsonValue:
        """Return the number, if it lies on the picture."""
        edge = self._edge(scale)
        if scale.convention is not Convention.UNIT:
            return whole_number(value, 0, int(edge))
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Unreadable(f"must be a number from 0 to 1, but is {quoted(value)}")
        if not 0 <= value <= edge:
            raise Unreadable(f"must lie from 0 to 1, but is {quoted(value)}")
        return round(float(value), 4)

    def read(self, value: JsonValue, scale: Scale) -> JsonValue:
        """Return CSS px."""
        assert isinstance(value, int | float)  # noqa: S101 - checked before
        across, down = scale.frame.to_css(scale.convention, value, value)
        return across if self.axis == "x" else down

    def say(self, held: JsonValue, scale: Scale) -> JsonValue:
        """Return the number for CSS px, if they lie on the picture."""
        size = scale.frame.viewport_width if self.axis == "x" else scale.frame.viewport_height
        if not isinstance(held, int | float) or not 0 <= held <= size:
            raise CannotSay(f"{self.axis}={held} lies outside the picture")
        across, down = scale.frame.from_css(scale.convention, held, held)
        said = across if self.axis == "x" else down
        return said if scale.convention is Convention.UNIT else int(said)

    def _edge(self, scale: Scale) -> float:
        across, down = scale.frame.span(scale.convention)
        return across if self.axis == "x" else down


def whole_number(value: JsonValue, least: int, most: int) -> int:
    """Return a whole number within bounds, however it was written.

    Raises:
        Unreadable: it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Unreadable(f"must be a whole number, but is {quoted(value)}")
    if isinstance(value, float) and not (math.isfinite(value) and value.is_integer()):
        raise Unreadable(f"must be a whole number without decimals, but is {quoted(value)}")
    if not least <= value <= most:
        raise Unreadable(f"must lie from {least} to {most}, but is {value:.6g}")
    return int(value)
