"""How a record's field becomes a column: the markers that annotations carry.

A field's Python type says its Arrow type (see `schemas.tables`); a marker in `Annotated` says
what the Python type cannot: a narrower width, a record whose fields are columns of their own, or
rows that belong to another table.
"""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Width:
    """A number stored narrower than Python's own."""

    arrow: Literal["int32", "float"]
    """The Arrow type's name."""


Int32 = Width("int32")
"""A 32-bit integer column."""

Float32 = Width("float")
"""A 32-bit float column, for values that come as such."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A nested record whose fields are columns, with `prefix` before their names.

    All of them are null where the record is None.
    """

    prefix: str


@dataclass(frozen=True, slots=True)
class AsJson:
    """A nested value stored as one canonical JSON string."""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """No column of this table: its rows are in the table named."""

    table: str
