"""The bank of whole messages: `en/` has a file for each family of worlds, and `common.toml` for all.

A message is for a kind of task and for what the task speaks of: an entity, a field, a value of a flag, or a step of a workflow.
Who words goals fills messages, and who reads them knows them as it knows the words of a language (decision 0026). Placeholders
are those of the kind's goals, and these:

* `{row}`, `{first}` and the like are titles alone;
* `{value}` is the one value that is to be set, or that the rows of the one condition have;
* `{news}` is what a row is said to have new, from the table `now`;
* `{top}` is an adjective for the first by a field, as `newest`, from the table `tops`: for most, then for least;
* `{deed}` is the whole message for an act that may need a permission.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

_FOLDER = Path(__file__).parent
_COMMON = "common"

_LEXICON = frozenset({"now", "tops"})
"""The tables of a file that are no kinds of tasks."""

EVERY = "*"
"""The key of messages that fit whatever a task speaks of."""

SLOT = re.compile(r"\{(news|top|deed)\}")


class Bank(NamedTuple):
    """The messages of one family, with those of all."""

    kinds: Mapping[str, Mapping[str, Sequence[str]]]
    """The messages by kind and key."""
    now: Mapping[str, Sequence[str]]
    """What is said of a row that has a value new, by key, with `{value}`."""
    tops: Mapping[str, Sequence[Sequence[str]]]
    """Adjectives for the most and for the least by a field; there may be none for one of them."""


@cache
def bank(language: str, family: str) -> Bank:
    """Return the messages of a family in a language; none if the language has no folder of them."""
    told = [
        tomllib.loads(path.read_text(encoding="utf-8"))
        for name in (family, _COMMON)
        if (path := _FOLDER / language / f"{name}.toml").is_file()
    ]
    kinds: dict[str, dict[str, list[str]]] = {}
    for table in told:
        for kind in sorted(table.keys() - _LEXICON):
            for key, texts in table[kind].items():
                kinds.setdefault(kind, {}).setdefault(key, []).extend(texts)
    now = {key: parts(text) for table in told for key, text in table.get("now", {}).items()}
    tops = {
        key: [*map(parts, some)] for table in told for key, some in table.get("tops", {}).items()
    }
    return Bank(kinds, now, tops)


def parts(text: str) -> tuple[str, ...]:
    """Return the ways to say something, which bars part in a file."""
    return tuple(part.strip() for part in text.split("|") if part.strip())
