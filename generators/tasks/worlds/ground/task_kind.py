"""Kinds of tasks: each is one registered object with its words, what it needs of a world, and what draws a task of it.

A module of `generators/tasks/worlds/kinds` registers its kinds by `task_kind`; there is nothing else to do for a new one.
"""

from collections.abc import Callable, Iterable, Mapping
from random import Random
from typing import Literal, NamedTuple

from generators.tasks.worlds.ground.task import Draft
from generators.tasks.worlds.ground.world_rows import Setting
from schemas.worlds.patterns import Shape, Thread

LANGUAGES = ("terse", "en", "de", "fr", "es")
"""What sentences of a kind are in: those that stand alone, which are English, and four languages."""

Draw = Callable[[Setting, Random], Draft | None]
"""Draws a task: what it says, what it expects and how it is done; None where the draw makes no task."""


class TaskKind(NamedTuple):
    """A kind of task."""

    name: str
    """As templates name it: `find`."""
    draw: Draw
    """Draws a task in a world."""
    requests: Mapping[str, tuple[str, ...]]
    """Its sentences by language; empty: its tasks are asked for in the words of other kinds."""
    aside: Literal["one", "several"] | None
    """What an aside about its rows speaks of; None: its goals have no aside."""
    needs: Shape | type[Thread] | None
    """What a family must have: views of a shape, or messages; None: any family can have it."""


_REGISTERED: dict[str, TaskKind] = {}


def registered_kinds() -> Mapping[str, TaskKind]:
    """Return the kinds that were registered, by name, in the order of their names."""
    return dict(sorted(_REGISTERED.items()))


def task_kind(
    name: str,
    *,
    words: str = "",
    aside: Literal["one", "several"] | None = None,
    needs: Shape | type[Thread] | None = None,
) -> Callable[[Draw], Draw]:
    """Register what draws the tasks of a kind.

    Args:
        name: the kind's name.
        words: its sentences, one a line after its language, as `en: [Find|Look up] {title}.`: one of the parts between
            bars is drawn, and what stands in braces is put in (`ground/wordings.toml` says what there is for all kinds;
            the others are the words of the kind's `Draft`).
        aside: as of `TaskKind`.
        needs: as of `TaskKind`.

    Raises:
        ValueError: there is such a kind already, or a line has no language, or a language no line.
    """
    requests = _read(name, words.strip().splitlines()) if words else {}

    def register(draw: Draw) -> Draw:
        if name in _REGISTERED:
            raise ValueError(f"two kinds of tasks are called '{name}'")
        _REGISTERED[name] = TaskKind(name, draw, requests, aside, needs)
        return draw

    return register


def _read(name: str, lines: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    requests: dict[str, list[str]] = {language: [] for language in LANGUAGES}
    for line in lines:
        language, _, sentence = line.strip().partition(": ")
        if language not in requests or not sentence:
            raise ValueError(
                f"the kind '{name}': expected a sentence after one of {', '.join(LANGUAGES)}, got '{line.strip()}'"
            )
        requests[language].append(sentence)
    for language, sentences in requests.items():
        if not sentences:
            raise ValueError(f"the kind '{name}' has no sentence in '{language}'")
    return {language: tuple(sentences) for language, sentences in requests.items()}
