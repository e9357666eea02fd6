"""The scripted writer: rewrites a goal or a thought as a model is asked to, well and badly in turns.

It knows nothing of what a goal means. It says it in another order with other words around it, and now and then it
does what models do: it says nothing, says the same again, leaves a part out, or adds what is not there.
"""

import re
from random import Random

_SYSTEM = re.compile(r"You rewrite (goals|thoughts)\b")
_MARK = re.compile(r"^(?:Goal|Thought): (.+)$", re.MULTILINE | re.DOTALL)
_SENTENCES = re.compile(r"(?<=[.?!])\s+")

_OPENINGS = ("Here is something for you: ", "When you have a minute: ", "One thing, please. ", "")
_CLOSINGS = ("", " I would be glad.", " Cheers.", " That would help me.")
_BAD = 0.2
"""The share of replies that are not what was asked for."""


def text_to_rewrite(system: str, user: str) -> str | None:
    """Return the goal or thought that a prompt asks to rewrite; None: it asks for something else."""
    if not _SYSTEM.search(system):
        return None
    found = _MARK.search(user)
    return None if found is None else found[1].strip()


def rewrite(text: str, rng: Random) -> str:
    """Return a text in other words, or a bad reply."""
    if rng.random() < _BAD:
        bad = ("", text, text.partition(" and ")[0], f'{text} The answer is "42".', "OK.")
        return rng.choice(bad)
    parts = _SENTENCES.split(text)
    if parts[1:] and rng.random() < 1 / 2:
        parts = [*parts[1:], parts[0]]
    return f"{rng.choice(_OPENINGS)}{' '.join(parts)}{rng.choice(_CLOSINGS)}"
