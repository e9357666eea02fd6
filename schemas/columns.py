"""How a record's field becomes a column: the markers that annotations carry.

A field's Python type says its Arrow type (see `schemas.tables`); a marker in `Annotated` says
what the Python type cannot: a narrower width, a record whose fields are columns of their own, or
rows that belong to another table.
"""

from dataclasses import dataclass
from typing import Literal

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema


@dataclass(frozen=True, slots=True)
class Width:
    """A number stored narrower than Python's own; one that does not fit is refused."""

    arrow: Literal["int32", "float"]
    """The Arrow type's name."""
    limit: float
    """The largest value that fits, and its negative the smallest to be relied on."""

    def __get_pydantic_core_schema__(
        self, source: type[object], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Have pydantic check the range wherever the marker stands."""
        return core_schema.no_info_after_validator_function(self._check_range, handler(source))

    def _check_range(self, value: float | None) -> float | None:
        if value is not None and abs(value) > self.limit:
            raise ValueError(f"does not fit into a column of {self.arrow}")
        return value


Int32 = Width("int32", 2**31 - 1)
"""A 32-bit integer column."""

Float32 = Width("float", 3.4028234663852886e38)
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
class OtherTable:
    """No column of this table: its rows are in the table named."""

    table: str
