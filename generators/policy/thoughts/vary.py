"""Alternatives in sentences: `⟪I open|Let me open⟫ "{on}".` is said in one of two ways.

Groups may hold groups. What is put into a sentence stands outside of them, as a name may have the mark between
alternatives in it.
"""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from random import Random

from pydantic import TypeAdapter

_GROUP = re.compile("⟪([^⟪⟫]*)⟫")


def vary(text: str, random: Random) -> str:
    """Return a text with each group of alternatives resolved, the innermost first."""
    while "⟪" in text:
        text, count = _GROUP.subn(lambda found: random.choice(found[1].split("|")), text)
        if not count:
            break
    return " ".join(text.split()) if "\n" not in text else text


@cache
def sentences(name: str) -> Mapping[str, list[str]]:
    """Return the sentences of a file beside this module, by key."""
    told = tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))
    return TypeAdapter(dict[str, list[str]]).validate_python(told)
