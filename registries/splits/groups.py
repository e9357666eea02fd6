"""Groups of templates that share content, and so a split.

Templates are connected by keys, such as the page where their tasks start or the wording of their goals, also if a
third template connects them.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from schemas.episodes.observation import UNPARTED

Key = tuple[str, ...]
"""Something that templates or tasks may share: its kind, then its value."""

# Beside a letter of these scripts a quotation or a number may begin or end.
_BEFORE, _AFTER = rf"(?<![^\W{UNPARTED}])", rf"(?![^\W{UNPARTED}])"
_PAIRS = ["“”", "„“", "„”", "«»", "\u2039\u203a", "「」", "『』", "《》"]
_QUOTED = re.compile(
    rf"{_BEFORE}(?:'.*?'|\u2018.*?\u2019){_AFTER}|\".*?\"|"
    + "|".join(f"{pair[0]}.*?{pair[1]}" for pair in _PAIRS)
)
_NUMBER = re.compile(rf"{_BEFORE}\d+(?:[.,:/\u066b\u066c]\d+)*{_AFTER}")


def wording(goal: str) -> str:
    """Return a goal without the parts that vary by seed: quoted text and numbers."""
    plain = _NUMBER.sub("0", _QUOTED.sub('""', goal))
    return " ".join(plain.casefold().split())


def connect(keys: Mapping[str, AbstractSet[Key]]) -> tuple[frozenset[str], ...]:
    """Return the names that are connected by keys, group by group, in the order of their first names."""
    parents = {name: name for name in keys}

    def root(name: str) -> str:
        while parents[name] != name:
            parents[name] = name = parents[parents[name]]
        return name

    owners: dict[Key, str] = {}
    for name in sorted(keys):
        for key in keys[name]:
            first = owners.setdefault(key, name)
            low, high = sorted((root(first), root(name)))
            parents[high] = low
    members: defaultdict[str, set[str]] = defaultdict(set)
    for name in keys:
        members[root(name)].add(name)
    return tuple(frozenset(members[name]) for name in sorted(members))
