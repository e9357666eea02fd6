"""Any record at all, for hypothesis: strategies derived from the records' annotations.

A new field is covered by every round trip as soon as it is declared, with the values that are
most likely to go wrong: empty and exotic text, the ends of each range, None.
"""

import types
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

import annotated_types as at
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from pydantic import JsonValue, ValidationError
from pydantic.fields import FieldInfo

from schemas.action import Action
from schemas.base import Record
from schemas.columns import Width

R = TypeVar("R", bound=Record)

ODD_TEXT = (
    "",
    " ",
    "\0",
    "\ufeff",
    "\u2028",
    "\u202e",
    "e\u0301",
    "\U0001f9d1\u200d\U0001f680",
    '"\\',
)
"""Text that has broken a program before: nothing, NUL, marks, joined and right-to-left."""

ZONES = [UTC, timezone(timedelta(hours=5, minutes=30)), timezone(timedelta(hours=-11))]

texts = st.text(max_size=12) | st.sampled_from(ODD_TEXT)
json_values: SearchStrategy[JsonValue] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
times = st.datetimes(
    datetime(1970, 1, 2),  # noqa: DTZ001 - hypothesis takes naive bounds and adds the zone
    datetime(2262, 1, 1),  # noqa: DTZ001
    timezones=st.sampled_from(ZONES),
)

SIMPLE: Mapping[object, SearchStrategy[Any]] = {
    types.NoneType: st.none(),
    bool: st.booleans(),
    bytes: st.binary(max_size=24),
    datetime: times,
}


def of(annotation: object, markers: tuple[object, ...] = ()) -> SearchStrategy[Any]:
    """Return a strategy for everything that a field annotated so may hold."""
    if annotation is JsonValue:
        return json_values
    arguments = get_args(annotation)
    match get_origin(annotation):
        case None:
            made = _plain(annotation, _bounds(markers))
        case kind if kind is Annotated:
            made = of(arguments[0], (*markers, *_flat(arguments[1:])))
        case kind if kind in (Union, types.UnionType):
            made = st.one_of([of(argument, markers) for argument in arguments])
        case kind if kind is tuple and arguments[-1] is Ellipsis:
            made = st.lists(of(arguments[0]), max_size=3).map(tuple)
        case kind if kind is tuple:
            made = st.tuples(*(of(argument) for argument in arguments))
        case kind if kind is dict:
            made = st.dictionaries(texts, of(arguments[1]), max_size=3)
        case _:
            made = st.sampled_from(arguments)
    return made


def _flat(markers: tuple[object, ...]) -> tuple[object, ...]:
    out: list[object] = []
    for marker in markers:
        out += marker.metadata if isinstance(marker, FieldInfo) else [marker]
    return tuple(out)


def _bounds(markers: tuple[object, ...]) -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    for marker in markers:
        match marker:
            case at.Ge(ge=least):
                found["least"] = least
            case at.Le(le=most):
                found["most"] = most
            case at.MinLen(min_length=shortest):
                found["shortest"] = shortest
            case at.MaxLen():
                pass  # never reached by text this short
            case Width(arrow=arrow):
                found["width"] = arrow
            case _:
                pass
    return found


def _plain(kind: object, bounds: Mapping[str, Any]) -> SearchStrategy[Any]:
    if kind is int:
        return _integers(**bounds)
    if kind is float:
        return _floats(**bounds)
    if kind is str:
        return texts.filter(lambda text: len(text) >= bounds.get("shortest", 0))
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return st.sampled_from(kind)
    if isinstance(kind, type) and issubclass(kind, Record):
        return records(kind)
    return SIMPLE[kind]


def _integers(
    *, least: int | None = None, most: int | None = None, width: str | None = None
) -> SearchStrategy[int]:
    end = 2**31 - 1 if width else 2**63 - 1
    return st.integers(-end if least is None else least, end if most is None else most)


def _floats(
    *, least: float | None = None, most: float | None = None, width: str | None = None
) -> SearchStrategy[float]:
    return st.floats(least, most, allow_nan=False, allow_infinity=False, width=32 if width else 64)


@cache
def records(kind: type[R]) -> SearchStrategy[R]:
    """Return a strategy for records of `kind`, of every shape its annotations allow."""
    fields = {
        name: of(info.annotation, _flat(tuple(info.metadata)))
        for name, info in kind.model_fields.items()
    }
    return st.fixed_dictionaries(fields).map(lambda v: _made(kind, v)).filter(bool).map(_present)


def _made(kind: type[R], values: Mapping[str, object]) -> R | None:
    """Return the record, or None where a rule that spans fields refuses the combination."""
    try:
        return kind(**values)
    except ValidationError as error:
        if any(problem["loc"] for problem in error.errors()):
            raise
        return None


def _present(made: R | None) -> R:
    assert made is not None
    return made


actions: SearchStrategy[Action] = of(Action)
