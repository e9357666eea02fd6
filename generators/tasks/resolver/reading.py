"""What a goal says: a reading with its effect, or a refusal with the reason and the candidates."""

from enum import StrEnum

from pydantic import Field

from generators.worlds.state.database import Value
from schemas.base import Record


class Reason(StrEnum):
    """Why a goal has not exactly one reading."""

    TWO_ROWS = "two_rows"
    """Several rows fit what is said of one."""
    TWO_ENTITIES = "two_entities"
    """Rows of several entities have the name."""
    TWO_FIELDS = "two_fields"
    """A name or a value fits several fields."""
    TWO_VALUES = "two_values"
    """A field is given several values, or a value's name is that of several."""
    TWO_READINGS = "two_readings"
    """What is said can be done in several ways, with different results."""
    PRONOUN = "pronoun"
    """A pronoun fits several rows."""
    UNCLEAR_DAY = "unclear_day"
    """A day depends on when the goal is read, or its numbers may be two days."""
    NO_ROW = "no_row"
    """No row fits what is said."""
    NO_VALUE = "no_value"
    """A field that is needed is empty, or cannot have the value."""
    NOT_ALLOWED = "not_allowed"
    """The user's role may not do it, and pages offer no request."""
    NOTHING_TO_DO = "nothing_to_do"
    """What is asked is so already, or nothing is asked."""
    NOT_READ = "not_read"
    """The words do not say what is to be done, or say something of which nothing is known."""


UNKNOWN = frozenset({Reason.NO_ROW, Reason.NO_VALUE, Reason.NOT_ALLOWED})
"""The reasons of goals that are understood and cannot be done."""


class Change(Record):
    """A row of an entity with new values."""

    entity: str
    """The entity."""
    row: int
    """The row's id; of a message or request to add, the id that it will have; 0 for another row to add."""
    values: tuple[tuple[str, Value], ...] = ()
    """The new values by field, sorted; empty for a row to remove."""


class Reading(Record):
    """The only way to read a goal."""

    entity: str
    """The entity that it is about; empty: none."""
    rows: tuple[int, ...] = ()
    """The ids of the rows that it is about, sorted."""
    answer: str | None = None
    """The answer, as pages display it; None: none is asked for."""
    changed: tuple[Change, ...] = ()
    """The rows to change, sorted."""
    added: tuple[Change, ...] = ()
    """The rows to add, in their order, with the values that the goal gives."""
    removed: tuple[Change, ...] = ()
    """The rows to remove, sorted."""
    ordered: tuple[tuple[int, int], ...] = ()
    """The ids and quantities of what is to be ordered by the cart, sorted."""

    @property
    def effect(self) -> "Reading":
        """The same without what it is about: equal for readings that come to the same."""
        return self.model_copy(update={"entity": "", "rows": ()})


class Refusal(Record):
    """Why a goal is not read."""

    reason: Reason
    """The reason."""
    about: str = Field(min_length=1)
    """What is ambiguous or unknown, in a sentence."""
    candidates: tuple[str, ...] = ()
    """Between what the goal leaves the choice: rows, fields or values; empty: there is none."""
