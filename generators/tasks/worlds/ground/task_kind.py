"""Kinds of tasks: each is a registered object with its words, its needs, and a function that draws a task.

A module of `generators/tasks/worlds/kinds` registers its kinds with `task_kind`; nothing else is needed for a new
kind.
"""

from collections.abc import Callable, Iterable, Mapping
from random import Random
from typing import Literal, NamedTuple

from generators.tasks.worlds.ground.task import Draft
from generators.tasks.worlds.ground.world_rows import Setting
from schemas.worlds.patterns import Shape, Thread

LANGUAGES = ("terse", "en", "de", "fr", "es")
"""The languages of sentences; `terse` is English without surrounding sentences."""

Draw = Callable[[Setting, Random], Draft | None]
"""Draws a task: its words, expectation and reference; None: the draw failed."""


class TaskKind(NamedTuple):
    """A kind of task."""

    name: str
    """The name in templates: `find`."""
    draw: Draw
    """Draws a task in a world."""
    requests: Mapping[str, tuple[str, ...]]
    """Its sentences by language; empty: its tasks use the words of other kinds."""
    aside: Literal["one", "several"] | None
    """Whether an aside refers to one row or several; None: its goals have no aside."""
    needs: Shape | type[Thread] | None
    """The required shape of views, or threads, in a family; None: any family can have the kind."""


_REGISTERED: dict[str, TaskKind] = {}


def registered_kinds() -> Mapping[str, TaskKind]:
    """Return the registered kinds by name, sorted."""
    return dict(sorted(_REGISTERED.items()))


def task_kind(
    name: str,
    *,
    words: str = "",
    aside: Literal["one", "several"] | None = None,
    needs: Shape | type[Thread] | None = None,
) -> Callable[[Draw], Draw]:
    """Register the function that draws the tasks of a kind.

    Args:
        name: the kind's name.
        words: its sentences, one per line after its language, as `en: [Find|Look up] {title}.`: one of the alternatives
            between bars is chosen, and placeholders in braces are filled (`ground/wordings.toml` has those of all kinds;
            the others are the words of the kind's `Draft`).
        aside: as in `TaskKind`.
        needs: as in `TaskKind`.

    Raises:
        ValueError: the kind exists already, a line has no language, or a language has no line.
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
