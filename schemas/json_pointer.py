"""JSON pointers (RFC 6901): the addresses of places in a JSON value, and patterns of them.

`/orders/3/lines` names a place; an empty pointer names the whole value. In a pattern a part that is `*`
stands for any one key or index. A pointer only names a place; `find` returns the value there, or
`ABSENT` if the place does not exist, because null is a value like any other.
"""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Annotated, Literal

from pydantic import AfterValidator, JsonValue

_INDEX_DIGITS = 9
WILDCARD = "*"
"""The part of a pattern that stands for any one key or index."""


class Absent(Enum):
    """The type of `ABSENT`."""

    ABSENT = "absent"
    """The place does not exist."""


ABSENT: Literal[Absent.ABSENT] = Absent.ABSENT
"""The result of `find` for a place that does not exist."""

Found = JsonValue | Literal[Absent.ABSENT]
"""A JSON value, or `ABSENT`."""


def join_pointer(pointer: str, part: str | int) -> str:
    """Return the pointer of `part` below `pointer`."""
    return f"{pointer}/{str(part).replace('~', '~0').replace('/', '~1')}"


def split_pointer(pointer: str) -> tuple[str, ...]:
    """Return a pointer's parts, unescaped.

    Raises:
        ValueError: it neither is empty nor begins with `/`, or has a `~` that escapes nothing.
    """
    if not pointer:
        return ()
    if not pointer.startswith("/"):
        raise ValueError(f"expected a JSON pointer such as /orders/3, got {pointer!r}")
    parts = pointer[1:].split("/")
    if any("~" in part.replace("~0", "").replace("~1", "") for part in parts):
        raise ValueError(f"in the JSON pointer {pointer!r} write ~ as ~0 and / as ~1")
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in parts)


def _check(pointer: str) -> str:
    split_pointer(pointer)
    return pointer


Pointer = Annotated[str, AfterValidator(_check)]
"""A well-formed JSON pointer, or a pattern of pointers."""


def find(value: Found, pointer: str) -> Found:
    """Return the value at `pointer` in `value`; `ABSENT` if the place does not exist."""
    for part in split_pointer(pointer):
        value = child(value, part)
    return value


def child(value: Found, part: str) -> Found:
    """Return the member or element `part` of `value`; `ABSENT` if it does not exist."""
    if isinstance(value, Mapping):
        return value.get(part, ABSENT)
    if isinstance(value, list) and part.isascii() and part.isdigit():
        usual = part == "0" or not part.startswith("0")
        if usual and len(part) <= _INDEX_DIGITS and int(part) < len(value):
            return value[int(part)]
    return ABSENT


def covers(pattern: Sequence[str], parts: Sequence[str]) -> bool:
    """Return whether the split `pattern` names the place `parts` or one that contains it."""
    return len(pattern) <= len(parts) and all(
        wanted in (WILDCARD, part) for wanted, part in zip(pattern, parts, strict=False)
    )
