"""Any record at all, for hypothesis: strategies derived from the records' annotations.

A new field is covered by every round trip as soon as it is declared, with the values that are
most likely to go wrong: empty and exotic text, the ends of each range, None.
"""

import types
from base64 import b64encode
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum
from functools import cache, reduce
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

import annotated_types as at
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from pydantic import AfterValidator, JsonValue, ValidationError
from pydantic.fields import FieldInfo

from schemas.base import Record
from schemas.columns import Width
from schemas.episodes.action import Action
from schemas.json_pointer import WILDCARD, join_pointer
from schemas.packed import Logprobs, TokenIds
from schemas.page_facts import PageFacts
from schemas.tasks.expectation import (
    Anything,
    Contains,
    Equals,
    Expectation,
    Matches,
    Number,
    OneOf,
    RowRule,
)
from schemas.tasks.reference import CLOSE, POINTS, Do, ReferenceStep
from schemas.tasks.task_file import TaskFile

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
pointers = st.lists(texts.filter(lambda part: part != WILDCARD), max_size=3).map(
    lambda parts: reduce(join_pointer, parts, "")
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
    TokenIds: st.lists(st.integers(1 - 2**31, 2**31 - 1), max_size=3).map(TokenIds),
    Logprobs: st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), max_size=3).map(
        Logprobs
    ),
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
            shortest = _bounds(markers).get("shortest", 0)
            made = st.lists(of(arguments[0]), min_size=shortest, max_size=3).map(tuple)
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
            case AfterValidator(func=accepted):
                found["accepted"] = accepted
            case Width(arrow=arrow):
                found["width"] = arrow
            case _ if getattr(
                marker, "pattern", None
            ):  # of pydantic's own kind, which has no name to import
                found["pattern"] = getattr(marker, "pattern", "")
            case _:
                pass
    return found


def _plain(kind: object, bounds: Mapping[str, Any]) -> SearchStrategy[Any]:
    made: SearchStrategy[Any]
    if kind is int:
        made = _integers(**bounds)
    elif kind is float:
        made = _floats(**bounds)
    elif kind is str and "pattern" in bounds:
        made = st.from_regex(bounds["pattern"], fullmatch=True)
    elif kind is str:
        made = pointers if "accepted" in bounds else texts
        made = made.filter(lambda text: len(text) >= bounds.get("shortest", 0))
    elif isinstance(kind, type) and issubclass(kind, StrEnum):
        made = st.sampled_from(kind)
    elif kind in OF_ANY_SHAPE:
        made = OF_ANY_SHAPE[kind]()
    elif isinstance(kind, type) and issubclass(kind, Record):
        made = records(kind)
    else:
        made = SIMPLE[kind]
    return made


@st.composite
def expectations(draw: st.DrawFn) -> Expectation:
    """Draw an expectation of any shape: most combinations that the annotations allow expect nothing."""
    if draw(st.booleans()):
        options = draw(st.dictionaries(texts, json_values, max_size=2))
        return Expectation(probe=draw(texts.filter(bool)), options=options)
    said = (
        texts.filter(str.strip) | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    )
    several = st.lists(json_values, min_size=1, max_size=3).map(tuple)
    parts = st.lists(said | st.booleans(), min_size=1, max_size=3).map(tuple)
    matchers: SearchStrategy[Any] = (
        texts
        | st.lists(json_values, max_size=2)
        | st.builds(Equals, equals=json_values)
        | st.builds(OneOf, one_of=several)
        | st.builds(Number, number=st.floats(-1e9, 1e9), within=st.floats(0, 1e9))
        | st.just(Matches(matches="^a+$"))
        | st.builds(Contains, contains=parts)
        | st.just(Anything(any=True))
    )
    names = pointers.filter(bool) | st.sampled_from(["orders", "e\u0301", "*"])
    members = st.dictionaries(names, matchers, max_size=2)
    rule = {
        "table": names,
        "key": st.none() | matchers,
        "where": members,
        "count": st.integers(1, 2**31),
    }
    rules = st.lists(st.builds(RowRule, **rule), max_size=2, unique_by=repr).map(tuple)
    changing = st.builds(
        RowRule, **rule, set=st.dictionaries(names, matchers, min_size=1, max_size=2)
    )
    return Expectation(
        added=draw(rules),
        changed=draw(st.lists(changing, max_size=2, unique_by=repr).map(tuple)),
        removed=draw(rules),
        values=draw(st.dictionaries(pointers, matchers, max_size=2)),
        nothing_else=draw(st.booleans()),
        unchecked=draw(st.lists(pointers, max_size=2).map(tuple)),
        answer=draw(
            said | st.builds(OneOf, one_of=st.lists(said, min_size=1, max_size=2).map(tuple))
        ),
    )


@st.composite
def reference_steps(draw: st.DrawFn) -> ReferenceStep:
    """Draw a step of a reference: what it has depends on what it does."""
    do = draw(st.sampled_from(Do))
    names = texts.filter(bool)
    on_nothing = {Do.PRESS, Do.ACCEPT, Do.DISMISS, Do.READ, Do.OPEN, Do.ANSWER, Do.TAB}
    is_on = do not in on_nothing
    tabs = st.just(CLOSE) | st.integers(0, 99).map(str)
    has_no_text = {*POINTS, Do.LOOK, Do.DISMISS, Do.BACK, Do.WAIT}
    return ReferenceStep(
        do=do,
        on=draw(names) if is_on else None,
        within=draw(st.none() | names) if is_on else None,
        text=None if do in has_no_text else draw(tabs if do is Do.TAB else texts),
        why=draw(st.none() | names),
    )


@st.composite
def task_files(draw: st.DrawFn) -> TaskFile:
    """Draw a file of a task, its contents in either form."""
    name = draw(st.from_regex(r"[a-zA-Z0-9é_-]{1,20}(\.[a-z]{1,4})?", fullmatch=True))
    if draw(st.booleans()):
        return TaskFile(name=name, text=draw(texts))
    return TaskFile(name=name, base64=b64encode(draw(st.binary(max_size=20))).decode())


@st.composite
def page_facts(draw: st.DrawFn) -> PageFacts:
    """Draw facts, any of them unset."""
    place = draw(st.none() | st.tuples(st.floats(-90, 90), st.floats(-180, 180)))
    return PageFacts(
        locale=draw(st.sampled_from((None, "de-DE", "zh-Hans-CN", "fil"))),
        time_zone=draw(st.sampled_from((None, "UTC", "Europe/Berlin"))),
        colour_scheme=draw(st.sampled_from((None, "light", "dark"))),
        reduced_motion=draw(st.none() | st.booleans()),
        touch=draw(st.none() | st.booleans()),
        latitude=None if place is None else place[0],
        longitude=None if place is None else place[1],
    )


OF_ANY_SHAPE: Mapping[object, Callable[[], SearchStrategy[Any]]] = {
    Expectation: expectations,
    ReferenceStep: reference_steps,
    TaskFile: task_files,
    PageFacts: page_facts,
}
"""Records whose fields depend on one another so much that few combinations are any."""


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
    """Return the record, or None where a rule of its own, as one that spans fields, refuses the values."""
    try:
        return kind(**values)
    except ValidationError as error:
        if any(problem["loc"] and problem["type"] != "value_error" for problem in error.errors()):
            raise
        return None


def _present(made: R | None) -> R:
    assert made is not None
    return made


actions: SearchStrategy[Action] = of(Action)
