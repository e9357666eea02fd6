"""Bounds and counts that a JSON schema gives, with what stands for those it does not give."""

import math

from schemas.base import JsonObject


def count_of(schema: JsonObject, key: str) -> int | None:
    """Return the count that a keyword gives; None if it is not there."""
    said = schema.get(key)
    return said if isinstance(said, int) else None


def bounds_of(schema: JsonObject, *, step: float) -> tuple[float, float]:
    """Return the least and the greatest number; an open end is moved in by `step`."""
    low, high = _number(schema, "minimum"), _number(schema, "maximum")
    after, before = _number(schema, "exclusiveMinimum"), _number(schema, "exclusiveMaximum")
    if after is not None:
        inside = math.floor(after) + step if step else math.nextafter(after, math.inf)
        low = inside if low is None else max(low, inside)
    if before is not None:
        inside = math.ceil(before) - step if step else math.nextafter(before, -math.inf)
        high = inside if high is None else min(high, inside)
    if low is None:
        low = -1_000.0 if high is None else high - 1_000
    if high is None:
        high = max(1_000.0, low + 1_000)
    return low, high


def _number(schema: JsonObject, key: str) -> float | None:
    said = schema.get(key)
    return float(said) if isinstance(said, int | float) and not isinstance(said, bool) else None
