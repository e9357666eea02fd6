"""Sentences and the alternatives in them: `⟪I open|Let me open⟫ "{on}".` is said in one of two ways.

What is to be said is passed on as a key with its slots (`sentence`), and gets its words where it is said (`vary`), by the
random numbers of who says it. Groups may hold groups. A slot stands outside of them, as it is filled after they are
resolved: a name may have the mark between alternatives in it.
"""

import json
import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from random import Random

from pydantic import TypeAdapter

_GROUP = re.compile("⟪([^⟪⟫]*)⟫")
_UNSAID = re.compile(r"⟪(\w+)\.(\w+)⟫(\{.*\})", re.DOTALL)


def sentence(key: str, **slots: str | None) -> str:
    """Return what is to be said, without its words yet.

    Args:
        key: a file beside this module and a key in it, as `policy.ends`.
        slots: what stands in the places of the sentences; None: no sentence of this key has that place.
    """
    filled = {name: text for name, text in slots.items() if text is not None}
    return f"⟪{key}⟫{json.dumps(filled, ensure_ascii=False)}"


def vary(text: str, random: Random) -> str:
    """Return what `sentence` returned as one of its sentences, or a text with each group of alternatives resolved."""
    found = _UNSAID.fullmatch(text)
    if found is None:
        return _resolve(text, random)
    told = random.choice(sentences(found[1])[found[2]])
    slots: Mapping[str, str] = json.loads(found[3])
    return _resolve(told, random).format(**slots)


def _resolve(text: str, random: Random) -> str:
    """Return a text with one alternative of each group, the innermost first."""
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
