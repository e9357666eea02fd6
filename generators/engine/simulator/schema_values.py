"""Made-up values that are valid under a JSON schema: random, but the same for the same seed.

Points lie within the picture and a target that was asked for is named, as far as the schema lets
them. `oneOf` is read as `anyOf`, as the grammars of real servers do.
"""

import math
import re
from itertools import chain
from random import Random

from pydantic import JsonValue

from generators.engine.simulator.constraints import Wishes, axis, is_address, is_key, is_pair
from generators.engine.simulator.http_errors import HttpRefusal
from generators.engine.simulator.schema_numbers import bounds_of, count_of
from generators.engine.simulator.schema_rules import SchemaRules
from schemas.base import JsonObject

DEEP = 5
"""From here on the shallowest branch is taken."""

TOO_DEEP = 60
"""A schema that gets here demands a value without end."""

ADDRESS = "https://example.com/"
PLAIN = (ADDRESS, "a", "A", "1", "a1", "")
"""What most patterns admit one of."""

TRIES = 20
"""Texts that are tried against a pattern."""

FREE_ITEMS = 3
"""Items beyond the fewest, where a schema leaves that open."""

KEYS = ("Enter", "Tab", "Escape", "ArrowDown", "a")
WORDS = (
    *("click", "the", "blue", "button", "naïve", "Straße", "Ωμέγα", "дом", "東京", "한국", "🙂"),
    *('say "yes"', "50 %", "a\\b", "it's", "{x}", "–", "é", "#1", "<b>"),
)


class SchemaValues:
    """Makes up values for one schema."""

    def __init__(self, schema: JsonObject, rng: Random, wishes: Wishes) -> None:
        self._rules = SchemaRules(schema)
        self._rng = rng
        self._wishes = wishes

    def value(self) -> JsonValue:
        """Return the next value.

        Raises:
            HttpRefusal: the schema allows none, or says what is not understood.
        """
        return self._value(self._rules.root, depth=0)

    def _value(
        self, schema: JsonValue, *, depth: int, name: str = "", wish: float | None = None
    ) -> JsonValue:
        if depth > TOO_DEEP:
            raise HttpRefusal(400, "Grammar error: the schema demands a value without end")
        whole = self._rules.resolved(schema)
        fixed = [whole["const"]] if "const" in whole else whole.get("enum")
        if isinstance(fixed, list):
            return self._pick(fixed)
        if branches := self._rules.branches(whole):
            branch = self._branch(branches, depth, numeric=wish is not None)
            return self._value(branch, depth=depth + 1, name=name, wish=wish)
        kind = self._kind(whole, numeric=wish is not None)
        if kind == "object":
            return self._object(whole, depth)
        if kind == "array":
            return self._array(whole, depth, name)
        return self._plain(kind, whole, name, wish)

    def _plain(self, kind: str, whole: JsonObject, name: str, wish: float | None) -> JsonValue:
        match kind:
            case "integer":
                return self._integer(whole, wish)
            case "number":
                return self._number(whole, wish)
            case "boolean":
                return self._rng.choice((False, True))
            case "null":
                return None
            case _:
                return self._string(whole, name)

    def _pick(self, options: list[JsonValue]) -> JsonValue:
        clicks = [option for option in options if "click" in str(option)]
        if self._wishes.target is not None and clicks:
            return clicks[0]
        return self._rng.choice(options)

    def _branch(self, branches: list[JsonValue], depth: int, *, numeric: bool) -> JsonValue:
        if numeric:
            numbers = [b for b in branches if self._numeric(self._rules.resolved(b))]
            branches = numbers or branches
        if self._wishes.pointed:
            fit = [branch for branch in branches if self._rules.grants(branch, self._wishes)]
            clicks = [branch for branch in fit if "click" in str(self._rules.resolved(branch))]
            if fit:
                return (clicks or fit)[0]
        if depth >= DEEP:
            return min(branches, key=self._rules.depth)
        return self._rng.choice(branches)

    def _kind(self, whole: JsonObject, *, numeric: bool) -> str:
        kinds = self._rules.kinds(whole)
        if numeric:
            kinds = [kind for kind in kinds if kind in {"integer", "number"}] or kinds
        return self._rng.choice(kinds)

    def _numeric(self, whole: JsonObject) -> bool:
        return bool({"integer", "number"} & set(self._rules.kinds(whole)))

    def _object(self, whole: JsonObject, depth: int) -> JsonObject:
        named = whole.get("properties")
        properties = named if isinstance(named, dict) else {}
        required = whole.get("required")
        needed = {str(name) for name in required} if isinstance(required, list) else set()
        wishes = self._points([name for name in properties if axis(name)])
        made: JsonObject = {}
        for name, part in properties.items():
            if name in needed or self._included(name, part, depth):
                made[name] = self._value(part, depth=depth + 1, name=name, wish=wishes.get(name))
        for name in sorted(needed - set(properties)):
            made[name] = self._value(whole.get("additionalProperties"), depth=depth + 1, name=name)
        return self._filled(whole, made, depth)

    def _filled(self, whole: JsonObject, made: JsonObject, depth: int) -> JsonObject:
        fewest = count_of(whole, "minProperties") or 0
        while len(made) < fewest:
            made[f"key{len(made)}"] = self._value(
                whole.get("additionalProperties"), depth=depth + 1
            )
        return made

    def _included(self, name: str, part: JsonValue, depth: int) -> bool:
        if self._wishes.pointed and depth < TOO_DEEP / 2:
            grants = self._wishes.granted_by(name) or self._rules.grants(part, self._wishes)
            if grants:
                return True
        return depth < DEEP and self._rng.choice((False, True))

    def _points(self, names: list[str]) -> dict[str, float]:
        """Return what the coordinates among an object's properties should be."""
        wishes: dict[str, float] = {}
        for name in names:
            plain = name in {"x", "y"}
            draw = self._wishes.spot if plain else self._wishes.anywhere
            head, _, tail = name.rpartition("x")
            if draw is None or (spot := draw(self._rng)) is None or axis(name) != "x":
                continue
            wishes[name] = spot.x
            wishes[f"{head}y{tail}"] = spot.y
        return wishes

    def _array(self, whole: JsonObject, depth: int, name: str) -> list[JsonValue]:
        first = whole.get("prefixItems")
        parts = list(first) if isinstance(first, list) else []
        fewest = count_of(whole, "minItems") or 0
        most = count_of(whole, "maxItems")
        if whole.get("items") is not False and depth < DEEP:
            spare = FREE_ITEMS if most is None else min(FREE_ITEMS, most - fewest)
            fewest += self._rng.randint(0, max(0, spare))
        count = fewest if most is None else min(fewest, most)
        if most is not None and most < fewest:
            raise HttpRefusal(400, f"Grammar error: no array has {fewest} to {most} items")
        parts = parts[: most if most is not None else None]
        parts += [whole.get("items")] * (count - len(parts))
        spot = self._wishes.spot(self._rng) if is_pair(name) else None
        wishes = [spot.x, spot.y] if spot else []
        return [
            self._value(
                part,
                depth=depth + 1,
                name=name,
                wish=wishes[place] if place < len(wishes) else None,
            )
            for place, part in enumerate(parts)
        ]

    def _integer(self, whole: JsonObject, wish: float | None) -> int:
        low, high = bounds_of(whole, step=1)
        unit = whole.get("multipleOf")
        grid = unit if isinstance(unit, int) else 1
        first, last = math.ceil(low / grid), math.floor(high / grid)
        if first > last:
            raise HttpRefusal(400, f"Grammar error: no whole number in {low:g}..{high:g}")
        if wish is None:
            return self._rng.randint(first, last) * grid
        nearest = round(wish / grid)
        return grid * (min(max(nearest, first), last) if self._wishes.within_bounds else nearest)

    def _number(self, whole: JsonObject, wish: float | None) -> float:
        if "multipleOf" in whole:
            return self._integer(whole, wish)
        low, high = bounds_of(whole, step=0)
        if low > high:
            raise HttpRefusal(400, f"Grammar error: no number in {low:g}..{high:g}")
        if wish is not None:
            return min(max(wish, low), high) if self._wishes.within_bounds else wish
        drawn = low + (high - low) * self._rng.random()
        short = round(drawn, 3)
        return short if low < short < high else drawn

    def _string(self, whole: JsonObject, name: str) -> str:
        fewest, most = count_of(whole, "minLength") or 0, count_of(whole, "maxLength")
        pattern = whole.get("pattern")
        words = (self._words(fewest) for _ in range(TRIES))
        for text in chain(self._fitting(name), words, PLAIN):
            cut = text if most is None else text[:most]
            if len(cut) >= fewest and (not pattern or re.search(str(pattern), cut)):
                return cut
        raise HttpRefusal(400, f"Grammar error: Unimplemented pattern: {pattern}")

    def _fitting(self, name: str) -> list[str]:
        if is_address(name):
            return [self._wishes.address or ADDRESS]
        return [self._rng.choice(KEYS)] if is_key(name) else []

    def _words(self, fewest: int) -> str:
        text = " ".join(self._rng.choices(WORDS, k=self._rng.randint(1, 5)))
        while len(text) < fewest:
            text += " " + self._rng.choice(WORDS)
        return text
