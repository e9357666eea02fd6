"""The expectation of a task: the required difference of the server's state, and the answer.

It is the `expect` of a task, a JSON object. `added`, `changed` and `removed` are rules over the rows of tables;
`values` are values at places of the later state; `answer` is the policy's answer. Everything that no rule covers must
stay the same (`nothing_else`). Each value is compared by a matcher: a literal means equality, an object names another
comparison. Reading an expectation checks its form; the tables that it names are looked up only when a state is
judged.

Where rules do not suffice, `probe` names a function of a plug-in that judges instead, and stands alone.
"""

from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    JsonValue,
    SerializerFunctionWrapHandler,
    Tag,
    ValidationError,
    model_serializer,
    model_validator,
)
from pydantic_core import ErrorDetails, SchemaError, SchemaValidator, core_schema

from schemas.base import JsonObject, Record, canonical_json
from schemas.errors import BadTasks
from schemas.json_pointer import WILDCARD, Pointer, split_pointer

MAX_RULES = 100
"""Maximum number of rules of one kind."""

MAX_FACTS = 500
"""Maximum number of facts behind an answer."""

MAX_PATTERN_CHARS = 500
"""Maximum length of a pattern in characters."""

MAX_MATCHED_CHARS = 10_000
"""Maximum length of a text in characters; longer texts match no pattern."""


@lru_cache(maxsize=1_024)
def compile_pattern(pattern: str) -> SchemaValidator:
    """Return a validator for texts that fully match a regular expression, in time linear in the text.

    The engine is Rust's `regex`, which pydantic includes: no pattern can make it hang, and patterns that need too
    much memory are rejected.

    Raises:
        ValueError: the pattern is invalid, or has a look-around or back-reference.
    """
    try:
        _validator(pattern)  # alone first: `a)|(b` is invalid but becomes valid within brackets
        return _validator(f"^(?:{pattern})$")
    except SchemaError as error:
        reason = str(error).strip().splitlines()[-1].removeprefix("error: ").strip()
        raise ValueError(f"not a usable regular expression: {reason}") from None


def _validator(pattern: str) -> SchemaValidator:
    return SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))


def _compile(pattern: str) -> str:
    compile_pattern(pattern)
    return pattern


Scalar = None | bool | int | float | str
"""A JSON value that is neither an object nor a list."""


class Equals(Record):
    """Equal, as JSON; also the way to compare with an object."""

    equals: JsonValue
    """The value."""


class OneOf(Record):
    """Equal to one of several values."""

    one_of: tuple[JsonValue, ...] = Field(min_length=1)
    """The values."""


class Number(Record):
    """A number, or a text that states one, near a number."""

    number: float
    """The number."""
    within: float = Field(default=0.0, ge=0)
    """The largest accepted difference, in the number's own unit."""


class Matches(Record):
    """A text that a regular expression matches completely."""

    matches: Annotated[str, Field(max_length=MAX_PATTERN_CHARS), AfterValidator(_compile)]
    """The expression, without look-around and back-references."""


def _several(value: object) -> object:
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


class Contains(Record):
    """A text that contains all given parts, or a list that contains all given elements."""

    contains: Annotated[
        tuple[Scalar, ...],
        Field(min_length=1),
        BeforeValidator(_several, json_schema_input_type=str | tuple[Scalar, ...]),
    ]
    """The parts; a single text is one part."""


def _true(value: bool) -> bool:  # noqa: FBT001 - pydantic calls it
    if not value:
        raise ValueError("expected true")
    return value


class Anything(Record):
    """Any value, as long as it exists."""

    any: Annotated[bool, AfterValidator(_true)]
    """True."""


class _Kind(StrEnum):
    """The names of matchers, as they are written."""

    EQUALS = "equals"
    ONE_OF = "one_of"
    NUMBER = "number"
    MATCHES = "matches"
    CONTAINS = "contains"
    ANY = "any"
    LITERAL = "literal"


def _kind(value: object) -> str | None:
    """Return the tag of a matcher; None for an object that names no matcher, or several."""
    if isinstance(value, Record):
        named = set(type(value).model_fields) & set(_Kind)
    elif isinstance(value, dict):
        named = set(value) & set(_Kind)
    else:
        return _Kind.LITERAL
    return named.pop() if len(named) == 1 else None


Matcher = Annotated[
    Annotated[Equals, Tag(_Kind.EQUALS)]
    | Annotated[OneOf, Tag(_Kind.ONE_OF)]
    | Annotated[Number, Tag(_Kind.NUMBER)]
    | Annotated[Matches, Tag(_Kind.MATCHES)]
    | Annotated[Contains, Tag(_Kind.CONTAINS)]
    | Annotated[Anything, Tag(_Kind.ANY)]
    | Annotated[Scalar | list[JsonValue], Tag(_Kind.LITERAL)],
    Discriminator(
        _kind,
        custom_error_type="matcher",
        custom_error_message="expected a value, or an object with exactly one of equals, one_of, number,"
        " matches, contains and any",
    ),
]
"""How one value is compared; a literal means equality."""


def _concrete(pointer: str) -> str:
    if WILDCARD in split_pointer(pointer):
        raise ValueError("expected one place, not a pattern of places")
    return pointer


def _field(name: str) -> str:
    return _concrete(name) if name.startswith("/") else name


FieldName = Annotated[str, Field(min_length=1), AfterValidator(_field)]
"""The name of a row's member, or a JSON pointer into the row."""


class RowRule(Record):
    """A number of rows of one table that were added, changed or removed.

    Rules count independently: a row that fits two rules counts for both.
    """

    table: Annotated[str, AfterValidator(_field)]
    """A JSON pointer, or a name without `/`: the only table whose pointer ends in it."""
    key: Matcher | None = None
    """The row's key; None: any key."""
    where: dict[FieldName, Matcher] = Field(default_factory=dict)
    """Required members of the row: of an added row afterwards, of a changed or removed row before."""
    set: dict[FieldName, Matcher] = Field(default_factory=dict)
    """Required members of a changed row afterwards; no other members may have changed."""
    count: int = Field(default=1, ge=1)
    """The number of rows."""


class ReadRow(Record):
    """A row of a list that something follows from."""

    name: str = Field(min_length=1)
    """Its name, as the list shows it."""
    values: dict[str, str] = Field(default_factory=dict)
    """Its values by the parameters of the list's address that narrow the list: with another value of one of them in
    the address, the list does not show the row."""


class ReadList(Record):
    """A list that has to be read before something is said of it."""

    rows: tuple[ReadRow, ...] = Field(min_length=1, max_length=MAX_FACTS)
    """Its rows."""
    search: str | None = None
    """The parameter of the list's address that searches names; None: there is none."""
    path: str | None = Field(default=None, pattern="^/", exclude_if=lambda path: path is None)
    """The path of the list's address, as `/orders`: parameters of other pages narrow nothing; None: any page's do."""


class Expectation(Record):
    """What a done task requires: at least one rule, value or answer, or a probe."""

    added: tuple[RowRule, ...] = Field(default=(), max_length=MAX_RULES)
    """Rows that only the later state has."""
    changed: tuple[RowRule, ...] = Field(default=(), max_length=MAX_RULES)
    """Rows that are in both states and differ."""
    removed: tuple[RowRule, ...] = Field(default=(), max_length=MAX_RULES)
    """Rows that only the earlier state has."""
    values: dict[Annotated[Pointer, AfterValidator(_concrete)], Matcher] = Field(
        default_factory=dict, max_length=MAX_RULES
    )
    """Values of the later state, by place."""
    nothing_else: bool = True
    """Whether everything outside the rules must stay the same."""
    unchecked: tuple[Pointer, ...] = Field(default=(), max_length=MAX_RULES)
    """Patterns of places, such as `/orders/*/seen_at`, that may differ regardless."""
    answer: Matcher | None = None
    """The expected answer, compared in its usual spellings; None: no answer is required."""
    facts: tuple[Annotated[str, Field(min_length=1)], ...] = Field(default=(), max_length=MAX_FACTS)
    """The values on pages from which the answer follows, as displayed; an answer given without having seen all of
    them is a guess. None: a page shows the answer itself."""
    looked: tuple[Annotated[str, Field(min_length=1)], ...] = Field(
        default=(), max_length=MAX_FACTS
    )
    """For an answer that something does not exist: the texts that pages show in its place, as the rows of a list. The
    policy must have had one of them in a picture. None: the answer is of another kind."""
    read: ReadList | None = Field(default=None, exclude_if=lambda read: read is None)
    """For what follows from a whole list (that something is not there, a count, a sum, "all that"): the list. At the
    end the policy must have had each of its rows in a picture, or have left it out by a search or filter whose words
    and whole result were in pictures. None: it follows from no list."""
    shown: tuple[Annotated[str, Field(min_length=1)], ...] = Field(
        default=(), max_length=MAX_FACTS, exclude_if=lambda shown: not shown
    )
    """For a change: the texts by which pages show that it was made, as displayed: new values, the name of a new row or of
    one that is gone. A policy that ends by itself must have had each in a picture after the change that followed its
    entry. Empty: nothing has to be."""
    probe: str | None = Field(default=None, min_length=1)
    """The name of the probe that judges, with only `options` beside it; None: the rules judge."""
    options: JsonObject = Field(default_factory=dict)
    """The probe's options; the probe interprets them."""

    @model_serializer(mode="wrap")
    def _as_stated(self, dump: SerializerFunctionWrapHandler) -> dict[str, object]:
        """Leave out the rules beside a probe, a probe's fields without one, and empty `facts` and `looked`."""
        own = {"probe", "options"}
        dumped: dict[str, object] = dump(self)
        empty = {key for key in ("facts", "looked") if not getattr(self, key)}
        told = (key for key in dumped if key not in empty)
        return {key: dumped[key] for key in told if (key in own) == (self.probe is not None)}

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.probe is not None:
            beside = sorted(self.model_fields_set - {"probe", "options"})
            if beside:
                raise ValueError(f"a probe judges alone: leave out {', '.join(beside)}")
            return self
        if self.options:
            raise ValueError("options are a probe's: name it in `probe`, or leave them out")
        if not (
            self.added or self.changed or self.removed or self.values or self.answer is not None
        ):
            raise ValueError("expects nothing; doing nothing would do")
        for name in ("added", "changed", "removed"):
            rules: tuple[RowRule, ...] = getattr(self, name)
            for index, rule in enumerate(rules):
                if bool(rule.set) != (name == "changed"):
                    need = "needs `set`" if name == "changed" else "has no `set`, only `where`"
                    raise ValueError(f"{name}.{index}: a rule of `{name}` {need}")
                if rule in rules[:index]:
                    raise ValueError(f"{name}.{index} repeats an earlier rule; say `count`")
        _check_basis(self)
        _check_answer(self.answer)
        return self


def _check_basis(told: Expectation) -> None:
    for texts, what in ((told.facts, "facts are what"), (told.looked, "looked is where")):
        if texts and told.answer is None:
            raise ValueError(f"{what} an answer follows from: state the answer, or leave them out")
    if told.shown and not (told.added or told.changed or told.removed or told.values):
        raise ValueError("shown is what a change looks like: state the change, or leave it out")


def _check_answer(matcher: Matcher | None) -> None:
    values: tuple[object, ...] = ()
    match matcher:
        case Equals():
            values = (matcher.equals,)
        case OneOf():
            values = matcher.one_of
        case Contains():
            values = matcher.contains
        case None | Record():
            pass
        case _:
            values = (matcher,)
    for value in values:
        is_said = isinstance(value, str | int | float) and not isinstance(value, bool)
        if not is_said or not str(value).strip():
            raise ValueError(f"answer: expected texts and numbers, got {canonical_json(value)}")


def parse_expectation(value: JsonValue, where: str) -> Expectation:
    """Return the expectation that a task states; `where` names the task in an error.

    Raises:
        BadTasks: the form is invalid; each line of the text names one mistake and its place.
    """
    try:
        return Expectation.model_validate_json(canonical_json(value), strict=True)
    except ValidationError as error:
        mistakes: dict[str, str] = {}
        for each in error.errors(include_url=False):
            mistakes.setdefault(_place(each), _reason(each))  # a union reports each of its kinds
        lines = (f"{where}: {place}: {reason}" for place, reason in mistakes.items())
        raise BadTasks(*lines) from None
    except ValueError as error:
        raise BadTasks(f"{where}: expect: {error}") from None


def _reason(error: ErrorDetails) -> str:
    if error["type"] == "extra_forbidden":
        return "unknown field"
    return error["msg"].removeprefix("Value error, ")


_MATCHER_DEPTHS = {"answer": 1, "values": 2, "key": 3, "where": 4, "set": 4}


def _place(error: ErrorDetails) -> str:
    """Return the place of a mistake, without the tags of matchers and unions that pydantic adds."""
    place = error["loc"]
    heads = [part for part in place[:3] if part in _MATCHER_DEPTHS]
    depth = _MATCHER_DEPTHS[str(heads[0])] if heads else len(place)
    tag, inside = place[depth : depth + 1], place[depth + 1 :]
    names = [part for part in place[:depth] if part != "[key]"]
    if tag != (_Kind.LITERAL,):
        names += [*inside[:1], *(part for part in inside[1:] if isinstance(part, int))]
    return ".".join(["expect", *map(str, names)])
