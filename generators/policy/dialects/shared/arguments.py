"""The types of a tool's arguments: JSON schema, parsing and formatting.

A type is the metadata of an annotated field: pydantic parses the field with it and gets the sizes
that bound it as the validation's context. Parsing is strict: a number in quotation marks is refused.
A value has three forms: the JSON that a model writes, the canonical form of that, and the value of
the action's field.
"""

import math
from dataclasses import dataclass
from types import NoneType
from typing import Literal, get_args

from pydantic import GetCoreSchemaHandler, JsonValue, ValidationInfo
from pydantic_core import CoreSchema, core_schema
from typing_extensions import override

from generators.policy.dialects.coordinates import Convention, Frame
from generators.policy.dialects.protocol import InexpressibleAction, UnreadableReply
from generators.policy.dialects.shared.json_schema import text_schema
from generators.policy.dialects.shared.sanitize import (
    find_control_char,
    one_line,
    replace_control_chars,
)
from schemas.base import JsonObject, Record

_QUOTED_CHARS = 60
"""Characters of a bad value in the error that the model gets."""


class Scale(Record):
    """The meaning of a point's numbers, and the largest length of a text."""

    frame: Frame
    """The sizes between which points are converted."""
    convention: Convention
    """The meaning of a point's numbers."""
    text_limit: int | None = None
    """Largest length of a text in the schema, characters; None: only the reply's tokens limit it."""


def quote(value: JsonValue) -> str:
    """Return a value in quotation marks, shortened, for an error; the repair turn breaks its switch words."""
    return f"'{one_line(str(value)[:1_000], _QUOTED_CHARS, switch_words=())}'"


class ArgumentType:
    """The type of an argument; in this base class an action has the value as it was parsed."""

    def schema(self, scale: Scale) -> JsonObject:
        """Return the JSON schema of the value that a model writes."""
        raise NotImplementedError

    def parse(self, value: JsonValue, scale: Scale) -> JsonValue:
        """Return the canonical form of a model's value.

        Raises:
            UnreadableReply: the value is invalid; the text is the end of a sentence.
        """
        raise NotImplementedError

    def to_action(self, value: JsonValue, scale: Scale) -> JsonValue:
        """Return the value of an action's field for a parsed value."""
        del scale
        return value

    def from_action(self, held: JsonValue, scale: Scale) -> JsonValue:
        """Return a model's form of the value of an action's field.

        Raises:
            InexpressibleAction: a model cannot write it; the text says why.
        """
        try:
            return self.parse(held, scale)
        except UnreadableReply as error:
            raise InexpressibleAction(f"a value {error}") from error

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Have pydantic parse a field of this type; null passes where the annotation allows it."""
        del handler
        parsing = core_schema.with_info_plain_validator_function(self._validate)
        return core_schema.nullable_schema(parsing) if NoneType in get_args(source) else parsing

    def _validate(self, value: JsonValue, info: ValidationInfo) -> JsonValue:
        assert isinstance(info.context, Scale)  # noqa: S101 - tools give no other
        return self.parse(value, info.context)


@dataclass(frozen=True)
class Text(ArgumentType):
    """Free text: any printable Unicode, tabs and line ends."""

    min_length: int = 0
    """Characters."""
    repairs: bool = False
    """Control characters are replaced and not refused: the text is for readers and has no effect."""

    @override
    def schema(self, scale: Scale) -> JsonObject:
        return text_schema(scale.text_limit)

    @override
    def parse(self, value: JsonValue, scale: Scale) -> JsonValue:
        if not isinstance(value, str):
            raise UnreadableReply(f"must be a text in quotation marks, but is {quote(value)}")
        if self.repairs:
            return replace_control_chars(value)
        if odd := find_control_char(value):
            raise UnreadableReply(f"holds {odd}, which nobody can type; leave that character out")
        if len(value) < self.min_length:
            raise UnreadableReply("must not be empty")
        return value


@dataclass(frozen=True)
class Integer(ArgumentType):
    """A whole number within bounds."""

    min: int
    """Inclusive."""
    max: int
    """Inclusive."""

    @override
    def schema(self, scale: Scale) -> JsonObject:
        return {"type": "integer", "minimum": self.min, "maximum": self.max}

    @override
    def parse(self, value: JsonValue, scale: Scale) -> JsonValue:
        return parse_integer(value, self.min, self.max)


@dataclass(frozen=True)
class Choice(ArgumentType):
    """One of several words."""

    of: tuple[str, ...]
    """The words."""

    @override
    def schema(self, scale: Scale) -> JsonObject:
        return {"type": "string", "enum": list(self.of)}

    @override
    def parse(self, value: JsonValue, scale: Scale) -> JsonValue:
        if value not in self.of:
            raise UnreadableReply(f"must be one of {', '.join(self.of)}, but is {quote(value)}")
        return value


@dataclass(frozen=True)
class Boolean(ArgumentType):
    """True or false."""

    @override
    def schema(self, scale: Scale) -> JsonObject:
        return {"type": "boolean"}

    @override
    def parse(self, value: JsonValue, scale: Scale) -> JsonValue:
        if not isinstance(value, bool):
            raise UnreadableReply(f"must be true or false, but is {quote(value)}")
        return value


@dataclass(frozen=True)
class Coordinate(ArgumentType):
    """A coordinate of a point, in the convention of the scale; in an action it is CSS px."""

    axis: Literal["x", "y"]
    """Across or down."""

    @override
    def schema(self, scale: Scale) -> JsonObject:
        edge = self._edge(scale)
        if scale.convention is Convention.UNIT:
            return {"type": "number", "minimum": 0, "maximum": edge}
        return {"type": "integer", "minimum": 0, "maximum": int(edge)}

    @override
    def parse(self, value: JsonValue, scale: Scale) -> JsonValue:
        edge = self._edge(scale)
        if scale.convention is not Convention.UNIT:
            return parse_integer(value, 0, int(edge))
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise UnreadableReply(f"must be a number from 0 to 1, but is {quote(value)}")
        if not 0 <= value <= edge:
            raise UnreadableReply(f"must lie from 0 to 1, but is {quote(value)}")
        return round(float(value), 4)

    @override
    def to_action(self, value: JsonValue, scale: Scale) -> JsonValue:
        assert isinstance(value, int | float)  # noqa: S101 - parsed before
        across, down = scale.frame.to_css(scale.convention, value, value)
        return across if self.axis == "x" else down

    @override
    def from_action(self, held: JsonValue, scale: Scale) -> JsonValue:
        size = scale.frame.viewport_width if self.axis == "x" else scale.frame.viewport_height
        if not isinstance(held, int | float) or not 0 <= held <= size:
            raise InexpressibleAction(f"{self.axis}={held} lies outside the picture")
        across, down = scale.frame.from_css(scale.convention, held, held)
        number = across if self.axis == "x" else down
        return number if scale.convention is Convention.UNIT else int(number)

    def _edge(self, scale: Scale) -> float:
        across, down = scale.frame.span(scale.convention)
        return across if self.axis == "x" else down


def parse_integer(value: JsonValue, minimum: int, maximum: int) -> int:
    """Return an integer within bounds, which may be written as `5.0`.

    Raises:
        UnreadableReply: the value is anything else; the text names the expected one.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnreadableReply(f"must be a whole number, but is {quote(value)}")
    if isinstance(value, float) and not (math.isfinite(value) and value.is_integer()):
        raise UnreadableReply(f"must be a whole number without decimals, but is {quote(value)}")
    if not minimum <= value <= maximum:
        raise UnreadableReply(f"must lie from {minimum} to {maximum}, but is {value:.6g}")
    return int(value)
