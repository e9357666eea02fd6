"""States: the data of a site's server as JSON, checked and masked.

A state comes as bytes from an application that a user wrote or downloaded, so it is refused if it is not
strict JSON or is too large. Masks remove parts that may differ between two visits without any action. The
rest has one digest.
"""

import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Never

from pydantic import JsonValue

from schemas.base import canonical_json, sha256_hex
from schemas.errors import BadState
from schemas.json_pointer import ABSENT, WILDCARD, child, split_pointer

MAX_STATE_BYTES = 64_000_000
"""Largest size of a state, bytes."""

MAX_STATE_DEPTH = 64
"""Largest nesting depth of objects and arrays in a state."""

_SHOWN = 10


class _Unusable(ValueError):
    """Python accepts the text as JSON, but other parsers do not."""


def parse_state(raw: bytes, where: str) -> JsonValue:
    """Return the state in `raw`; `where` names its origin in an error, as "the state of shop".

    Raises:
        BadState: it is too large or too deep, or not strict JSON: NaN, a number beyond a float's range, a
            duplicate name in an object, half a surrogate pair, bytes that are not UTF-8.
    """
    if len(raw) > MAX_STATE_BYTES:
        raise BadState(
            f"{where} has {len(raw):,} bytes; expected at most {MAX_STATE_BYTES:,}: leave out what no task is about"
        )
    try:
        value: JsonValue = json.loads(
            raw.decode("utf-8-sig"),
            object_pairs_hook=_to_object,
            parse_constant=_refuse_constant,
            parse_float=_to_float,
        )
        check_depth(value, where)
        if b"\\u" in raw:
            canonical_json(value).encode()
    except RecursionError:
        raise BadState(_too_deep(where)) from None
    except UnicodeEncodeError:
        raise BadState(f"{where} holds half a surrogate pair; expected valid Unicode") from None
    except UnicodeDecodeError as error:
        raise BadState(f"{where} is not UTF-8 (byte {error.start:,})") from None
    except _Unusable as error:
        raise BadState(f"{where} {error}") from None
    except ValueError as error:
        raise BadState(f"{where} is no JSON: {error}; it begins with {raw[:40]!r}") from None
    return value


def _to_object(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    out = dict(pairs)
    if len(out) < len(pairs):
        twice, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise _Unusable(f"has {twice!r} twice in one object")
    return out


def _refuse_constant(name: str) -> Never:
    raise _Unusable(f"holds {name}, which JSON does not have")


def _to_float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise _Unusable(f"holds {text[:40]}, which is larger than any float")
    return value


def _too_deep(where: str) -> str:
    return f"{where} is nested more than {MAX_STATE_DEPTH} levels deep"


def check_depth(value: JsonValue, where: str) -> None:
    """Check that `value` is nested at most `MAX_STATE_DEPTH` levels deep.

    Raises:
        BadState: it is deeper.
    """
    level = [value]
    for _ in range(MAX_STATE_DEPTH):
        level = [inner for each in level for inner in _members(each)]
        if not level:
            return
    raise BadState(_too_deep(where))


def _members(value: JsonValue) -> Iterator[JsonValue]:
    if isinstance(value, dict):
        yield from (item for item in value.values() if isinstance(item, dict | list))
    elif isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict | list))


def state_digest(state: JsonValue) -> str:
    """Return the SHA-256 of the state's canonical JSON, in hex."""
    return sha256_hex(canonical_json(state).encode())


def mask_state(state: JsonValue, pointers: Sequence[str], *, unknown_ok: bool = False) -> JsonValue:
    """Return `state` without the places that the patterns `pointers` match, such as `/users/*/csrf_token`.

    Args:
        state: is not modified.
        pointers: JSON pointers in which `*` stands for any one key or index.
        unknown_ok: whether a pattern may match nothing. A server may lack a row or a field later on; at the
            beginning of a visit a pattern without a match is a mistake.

    Raises:
        BadState: a pattern is malformed or matches the whole state; or it matches nothing, although an
            empty table does not explain that.
    """
    for pointer in pointers:
        try:
            parts = split_pointer(pointer)
        except ValueError as error:
            raise BadState(f"mask {pointer!r}: {error}") from None
        if not parts:
            raise BadState("mask '': it would take out the whole state")
        if not (unknown_ok or _may_exist(state, parts)):
            raise BadState(f"mask {pointer!r} names nothing in the state; {_hint(state, parts)}")
        state = _without(state, parts)
    return state


def _may_exist(value: JsonValue, parts: Sequence[str]) -> bool:
    """Return whether `parts` matches something, or would match below an empty container."""
    if not parts:
        return True
    chosen = list(_choose(value, parts[0]).values())
    empty = parts[0] == WILDCARD and isinstance(value, dict | list) and not value
    return empty or any(_may_exist(each, parts[1:]) for each in chosen)


def _choose(value: JsonValue, part: str) -> dict[str, JsonValue]:
    """Return the members or elements of `value` that one part of a pattern matches."""
    if part != WILDCARD:
        found = child(value, part)
        return {} if found is ABSENT else {part: found}
    if isinstance(value, dict):
        return dict(value)
    return {str(n): item for n, item in enumerate(value)} if isinstance(value, list) else {}


def _without(value: JsonValue, parts: Sequence[str]) -> JsonValue:
    chosen = _choose(value, parts[0])
    kept = {name: _without(item, parts[1:]) for name, item in chosen.items() if parts[1:]}
    if isinstance(value, dict):
        return {k: kept.get(k, v) for k, v in value.items() if k in kept or k not in chosen}
    if isinstance(value, list):
        named = ((str(n), item) for n, item in enumerate(value))
        return [kept.get(n, item) for n, item in named if n in kept or n not in chosen]
    return value


def _hint(state: JsonValue, parts: Sequence[str]) -> str:
    """Return the deepest place that a pattern reaches in the state, and the names there."""
    here, level = 0, [state]
    while inner := [v for each in level for v in _choose(each, parts[here]).values()]:
        here, level = here + 1, inner
    names = sorted({name for each in level if isinstance(each, dict) for name in each})
    shown = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
    place = "/" + "/".join(parts[:here])
    return f"{place} has {shown}" if names else f"{place} has no names"
