"""The values of a new row as people list them: one behind the other, or each on a line of its own."""

import re
from collections.abc import Sequence

from generators.tasks.worlds.ground.field_words import END, SAID, FieldWords
from generators.tasks.worlds.ground.mentions import ValueSaid
from schemas.worlds.field import Kind

_UNITS = frozenset({"days", "kg", "KB", "GB", "min"})
"""What stands in brackets in a label and may stand behind a number."""

_UNIT = re.compile(r"\s*\((\w+)\)$")


def as_lines(words: FieldWords, held: Sequence[ValueSaid]) -> str:
    """Return values as people paste them, with a line for each field."""
    told = [f"{SAID}{one.field.label}{END}: {words.value(one)}" for one in held]
    return "\n".join(("", *told, ""))


def beside_label(words: FieldWords, value: ValueSaid) -> str:
    """Return a value behind the label of its field, in the small letters of a sentence."""
    found = _UNIT.search(value.field.label)
    unit = f" {found[1]}" if found is not None and found[1] in _UNITS else ""
    label = words.as_noun(_UNIT.sub("", value.field.label))
    mark = ":" if value.field.kind is Kind.FLAG else ""
    return f"{SAID}{label}{END}{mark} {words.value(value)}{unit}"
