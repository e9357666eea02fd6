"""Numbers of four bytes each: the ids of tokens, and their log-probabilities.

A prompt has thousands of tokens, and a run keeps the prompts of many episodes in memory. As Python's own
numbers they take 36 bytes each, here four. A value is read like a tuple, is equal to one of the same
numbers, and never changes. In JSON it is a list, in a table a list of 32-bit numbers.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar, Literal, Self, TypeVar, overload

from pydantic import GetCoreSchemaHandler, SerializationInfo
from pydantic_core import CoreSchema, core_schema

from schemas.columns import Float32, Int32, Width

_Number = TypeVar("_Number", int, float)


class _Packed(Sequence[_Number]):
    """Numbers of one kind; immutable."""

    __slots__ = ("_numbers",)

    width: ClassVar[Width]
    """The range and the column of each number."""
    _CODE: ClassVar[Literal["i", "f"]]

    def __init__(self, numbers: Iterable[_Number] = ()) -> None:
        """Pack `numbers`.

        Raises:
            TypeError: one is no number, or a fraction where only whole ones may be.
            OverflowError: one does not fit into 32 bits.
        """
        self._numbers: array[Any] = array(self._CODE, numbers)

    @property
    def data(self) -> memoryview:
        """The numbers as the bytes that a column of `width` has, read-only; in the machine's order."""
        return memoryview(self._numbers).toreadonly().cast("B")

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, place: int) -> _Number: ...

    @overload
    def __getitem__(self, place: slice) -> Self: ...

    def __getitem__(self, place: int | slice) -> _Number | Self:
        if isinstance(place, slice):
            return type(self)(self._numbers[place])
        number: _Number = self._numbers[place]
        return number

    def __iter__(self) -> Iterator[_Number]:
        return iter(self._numbers)

    def __eq__(self, other: object) -> bool:
        """Return whether the other has the same numbers, packed or in a tuple or a list."""
        if isinstance(other, _Packed):
            return self._numbers == other._numbers
        if isinstance(other, tuple | list):
            return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))
        return NotImplemented

    def __hash__(self) -> int:
        """Return the hash of the tuple of the same numbers."""
        return hash(tuple(self._numbers))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self._numbers)})"

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[object], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Have pydantic take any list of numbers in range, and write a list of numbers."""
        limit = cls.width.limit
        number = (
            core_schema.int_schema(ge=-int(limit), le=int(limit))
            if cls._CODE == "i"
            else core_schema.float_schema(ge=-limit, le=limit, allow_inf_nan=False)
        )

        def pack(value: object, check: Callable[[object], tuple[_Number, ...]]) -> _Packed[_Number]:
            return value if isinstance(value, cls) else cls(check(value))

        return core_schema.no_info_wrap_validator_function(
            pack,
            core_schema.tuple_variable_schema(number),
            serialization=core_schema.plain_serializer_function_ser_schema(_unpack, info_arg=True),
        )


def _unpack(value: Sequence[int] | Sequence[float], info: SerializationInfo) -> object:
    """Return a list for JSON, and packed numbers as they are for Python."""
    return list(value) if info.mode == "json" else value


class TokenIds(_Packed[int]):
    """The ids of tokens, in order."""

    __slots__ = ()
    width = Int32
    _CODE = "i"


class Logprobs(_Packed[float]):
    """The log-probabilities of tokens, in order, as the 32-bit floats that they are in a table."""

    __slots__ = ()
    width = Float32
    _CODE = "f"


PACKED = (TokenIds, Logprobs)
"""Every kind of packed numbers."""
