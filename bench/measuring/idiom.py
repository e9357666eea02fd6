r"""How much private idiom the prose of the code has: words for each 1,000 lines, which `make measure` prints.

A reader who learnt English elsewhere stumbles over the same few turns again and again. Each is one of
`TURNS`. They are looked for in docstrings, comments and strings of Python files, where any run of blanks
and line breaks is one blank, and comments on consecutive lines are one text. The lines are all lines of a
file.

The definition is fixed: a figure that is too high is lowered by rewriting sentences. Whoever changes a turn
measures commit 74da7f6 with the old and with the new one (`house.py FOLDER` measures a worktree), and
writes the new figures here. `tests/unit/bench/test_idiom.py` counts the turns of fixed sentences.

| at 74da7f6 | these turns | counted then, by a list that was not kept |
|---|---|---|
| all five packages | 12.7 | 12.5 |
| `generators/tasks` (its `worlds` alone) | 21.8 (24.0) | 24 |
| `generators/worlds` | 23.2 | 23 |
| `schemas` | 20.4 | 19 |
| `generators/verify` | 18.1 | 19 |
| `generators/engine` | 5.2 | 5 |
| worlds and tasks with their schemas | 23.8 | – |

At e326ee1, which had further turns, these are 20.2 (34.3). In foreign code they are rare:
verifiers v1 0.5 (1.6), reasoning-gym 0.3 (0.2).
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path

from bench.measuring.source import line_count

TURNS = {
    "so many": r"\b[Ss]o (?:many|much|often)\b(?! as)",  # "is drawn again so often"
    "is none": r"\b(?:is|are|was|were) none\b",  # "None if there is none"
    "told": r"\btold\b",  # "a list is told a choice"
    "nobody": r"\b(?:[Nn]obody|anybody|[Ss]omebody|[Ww]hoever)\b",  # "what nobody touched"
    "who … is": r"\b[Ww]ho\b[^.,;:]{0,40}?\b(?:is|are)\b",  # "the role of who is signed in"
    "what it": r"\bwhat (?:it|they|is|are|was|were|has|have|may|can|must)\b",  # "in what it answers"
    "what … that": r"\bwhat\b[^.,;:]{1,40}?\bthat\b",  # "what of a page that is left"
    "Return what": r"\bReturn what\b",  # a docstring that names no result
    "What": r"(?<=\. )(?:What|Who)\b",  # a sentence whose subject is a pronoun
}
"""The turns, with an example of each."""

IDIOM = re.compile("|".join(TURNS.values()))
"""All turns. One place in a text counts once, whichever turns it has."""


def idiom_words(source: str) -> list[str]:
    """Return the turns in the prose of a module, in no order that matters."""
    return [found[0] for text in prose(source) for found in IDIOM.finditer(text)]


def idiom_rate(paths: Iterable[Path]) -> float:
    """Return how many turns the prose of files has for each 1,000 of their lines; 0 without a line."""
    words = lines = 0
    for path in paths:
        words += len(idiom_words(path.read_text(encoding="utf-8")))
        lines += line_count(path)
    return 1_000 * words / lines if lines else 0.0


def prose(source: str) -> Iterator[str]:
    """Yield each string of a module, docstrings too, and each comment, on one line."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield " ".join(node.value.split())
    yield from _comments(source)


def _comments(source: str) -> Iterator[str]:
    held: list[str] = []
    last = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        if token.start[0] != last + 1 and held:
            yield " ".join(held)
            held = []
        held.append(token.string.lstrip("# "))
        last = token.start[0]
    if held:
        yield " ".join(held)
