#!/usr/bin/env python3
"""Writes the generated parts of `docs/configuration.md`: what every key of a configuration means.

The records are the one source: a key's meaning is the docstring under the record's field, its
bounds are those of the record's JSON schema, in words. `make docs` runs this; a test compares the
result with the page.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

from columns import Parts, line, renew
from configuration_keys import CHOICES, MEMBERS, OPTIONS, Key, in_identity, modules, tables, unit
from pydantic_core import to_jsonable_python

from schemas.base import Record
from schemas.configuration.sections import PART_NAME, PolicySection
from storage.publish.card.columns import kind_in, member_docs

PAGE = Path(__file__).with_name("configuration.md")

_ANY_LENGTH = 2**31 - 1
"""The longest text of a record that sets no limit."""

_PATTERNS = {
    r"^[A-Za-z_][A-Za-z0-9_]{0,99}$": "letters, digits and `_`",
    r"^[a-z0-9][a-z0-9.+-]*$": "lower-case letters, digits, `.`, `+` and `-`",
    r"^[A-Za-z_][A-Za-z0-9_-]{0,39}$": "at most 40 letters, digits, `_` and `-`",
    r"^[0-9a-f]{40}$": "40 hexadecimal digits",
    PART_NAME: "at most 64 letters, digits, `_`, `.` and `-`",
}
"""What is written in words for a pattern; the first character is never `.`, `+` or `-`."""


def _value(schema: Mapping[str, Any], defs: Mapping[str, Any], *, plural: str = "") -> str:
    """Return what a JSON schema allows, in words."""
    if "anyOf" in schema:
        schema, *others = (part for part in schema["anyOf"] if part.get("type") != "null")
        words = [json.dumps(part["const"]) for part in others]
        return " or ".join([_value(schema, defs, plural=plural), *(f"`{word}`" for word in words)])
    schema = defs[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    match schema:
        case {"prefixItems": [item, *_] as items}:
            kind = f"list of {len(items)} {_value(item, defs, plural='s')}"
        case {"items": item}:
            kind = f"list of {_value(item, defs, plural='s')}"
        case {"additionalProperties": {"$ref": _}}:
            kind = "table of paths of files"
        case {"additionalProperties": {"type": _} as item}:
            kind = f"table of {_value(item, defs, plural='s')}"
        case _:
            kind = schema["type"].replace("object", "table") + plural
    return kind + "".join(_rules(schema))


def _rules(schema: Mapping[str, Any]) -> Iterator[str]:
    least, above, most = (schema.get(k) for k in ("minimum", "exclusiveMinimum", "maximum"))
    if least is not None:
        yield f", at least {least:,}" if most is None else f" from {least:,} to {most:,}"
    if above is not None:
        yield f" above {above:,}" + ("" if most is None else f" and at most {most:,}")
    if "prefixItems" not in schema and schema.get("minItems"):
        yield f", {schema['minItems']} or more"
    if schema.get("minLength"):
        yield ", not empty"
    if schema.get("maxLength", _ANY_LENGTH) < _ANY_LENGTH:
        yield f", at most {schema['maxLength']:,} characters"
    if "pattern" in schema:
        yield f" of {_PATTERNS[schema['pattern']]}"


def _default(key: Key) -> str:
    info = key.kind.model_fields[key.field]
    if info.is_required():
        return "none: must be given"
    value = to_jsonable_python(info.get_default(call_default_factory=True))
    return "None" if value is None else f"`{json.dumps(value)}`"


def _coded(names: Sequence[str], form: str = "`{}`") -> str:
    return ", ".join(form.format(name) for name in names)


def _link(text: str, heading: str) -> str:
    """Return a link to a heading of the page."""
    anchor = re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-")
    return f"[{text}](#{anchor})"


def _title(names: Sequence[str]) -> str:
    return "Table " + _coded(names, "`[{}]`")


def _about(names: tuple[str, ...], keys: Sequence[Key]) -> str:
    if names == (OPTIONS,):
        return member_docs(PolicySection)["dialect_options"]
    return " ".join((keys[0].kind.__doc__ or "").split())


def _overview() -> Iterator[str]:
    yield from ("| table | holds | keys |", "|---|---|---|")
    for names, keys in tables().items():
        title = _link(_coded(names, "`[{}]`"), _title(names))
        links = [_link(f"`{key.field}`", _coded(key.names)) for key in keys]
        yield line(title, _about(names, keys), ", ".join(links))


def _keys() -> Iterator[str]:
    for names, keys in tables().items():
        yield from (f"## {_title(names)}", "", _about(names, keys), "")
        for key in keys:
            yield from _entry(key)


def _entry(key: Key) -> Iterator[str]:
    name, info = key.names[0], key.kind.model_fields[key.field]
    docs: dict[str, str] = {}
    for kind in reversed(key.kind.__mro__[: -len(Record.__mro__)]):
        docs |= member_docs(kind)
    dialects = f" For {_coded(key.dialects)}." if key.dialects else ""
    yield from ("### " + _coded(key.names), "", docs[key.field] + dialects, "")
    schema = key.kind.model_json_schema()
    value = _value(schema["properties"][key.field], schema.get("$defs", {}))
    for names in tables():
        if key.names[0] in names:
            value = _link("table", _title(names))
    if choices := CHOICES.get(name):
        value += ": " + _coded(choices)
    if closed := MEMBERS.get(name) or kind_in(info.annotation, StrEnum):
        value = "one of those above" + (", or a plug-in's" if name in MEMBERS else "")
        members = member_docs(closed)
        yield from (f"* `{member.value}`: {members[member.name]}" for member in closed)
        yield ""
    yield line("value", "unit", "default", "identity", "takes effect in")
    yield "|---|---|---|---|---|"
    yield line(value, unit(name, value), _default(key), in_identity(name), modules(name))
    yield ""


PARTS: Parts = {"overview": _overview, "keys": _keys}

if __name__ == "__main__":
    renew(PAGE, PARTS)
