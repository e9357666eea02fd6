"""The markers that say how a record's field becomes a column.

A field's Python type decides its Arrow type (see `schemas.tables.tables`). A marker in `Annotated` adds
facts that the Python type cannot express: a narrower width, a record whose fields are columns of their
own, or rows that belong to another table.
"""

from dataclasses import dataclass
from typing import Literal

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema


@dataclass(frozen=True, slots=True)
class Width:
    """A number stored narrower than Python's own; a value that does not fit is refused."""

    arrow: Literal["int32", "float"]
    """The Arrow type's name."""
    limit: float
    """The largest value that fits; its negative is the smallest."""

    def __get_pydantic_core_schema__(
        self, source: type[object], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Have pydantic check the range of the annotated field."""
        return core_schema.no_info_after_validator_function(self._check_range, handler(source))

    def _check_range(self, value: float | None) -> float | None:
        if value is not None and abs(value) > self.limit:
            raise ValueError(f"expected a number that fits into a column of {self.arrow}")
        return value


Int32 = Width("int32", 2**31 - 1)
"""A 32-bit integer column."""

Float32 = Width("float", 3.4028234663852886e38)
"""A 32-bit float column, for values that are 32-bit floats at their source."""


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
    """Not a column: its rows are in the named table."""

    table: str
