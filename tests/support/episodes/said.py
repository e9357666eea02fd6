"""Whether a thought has one of the sentences of a key in it, in whichever of its words."""

import re

from generators.policy.sentences.vary import sentences

_SLOT = re.compile(r"\{(\w+)\}")
_MARKS = {"⟪": "(?:", "⟫": ")", "|": "|"}


def says(thought: str | None, key: str, **slots: str) -> bool:
    """Return whether a thought says what a key stands for, as `policy.ends`; other slots than these may hold anything."""
    name, _, place = key.partition(".")
    told = (_pattern(one, slots) for one in sentences(name)[place])
    return any(re.search(one, thought or "", re.DOTALL) for one in told)


def _pattern(sentence: str, slots: dict[str, str]) -> str:
    """Return a pattern of a sentence with all its alternatives."""
    parts = [_MARKS.get(one, re.escape(one)) for one in re.split(r"([⟪⟫|]|\{\w+\})", sentence)]
    whole = "".join(parts).replace(r"\{", "{").replace(r"\}", "}").replace(r"\ ", r"\s*")
    return _SLOT.sub(
        lambda found: re.escape(slots[found[1]]) if found[1] in slots else ".+?", whole
    )
