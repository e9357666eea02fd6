"""What a draw of one task asks for: which tasks fit, and which of them it is."""

from typing import Literal

from pydantic import Field

from schemas.base import JsonObject, Record
from schemas.tasks.task import MAX_SEED


class Difficulty(Record):
    """How difficult a world's task is to be; a curriculum turns these."""

    rows: int | None = Field(default=None, ge=5, le=500)
    """Rows of the website's largest table, the others in proportion; None: as the seed draws them."""
    distractors: int | None = Field(default=None, ge=0, le=500)
    """Rows that resemble the one in question: the nearest number that the website has; None: as the seed draws it."""
    steps: int | None = Field(default=None, ge=1, le=200)
    """Actions of the shortest plan: the nearest number that the website has; None: as the seed draws it."""
    faults: float | None = Field(default=None, ge=0, le=1)
    """The chance that the site has a fault; None: the configuration's `tasks.faults`."""


class Selector(Record):
    """What a draw asks for; what is None is not asked for."""

    name: str | None = Field(default=None, min_length=1)
    """A template, as `shop/find`; a template and a seed, as `shop/find/7`; or the id of a file's task."""
    split: Literal["train", "validation", "test"] | None = None
    """The split. None: `train` or `validation`; a task of `test` is drawn only where this says so."""
    seed: int | None = Field(default=None, ge=0, le=MAX_SEED)
    """The task's seed."""
    kind: str | None = Field(default=None, min_length=1)
    """A tag: the kind of a world's task, as `find`, a need of MiniWoB++'s templates, as `typing`, or a file's own."""
    label: str | None = Field(default=None, min_length=1)
    """The difficulty as a task file labels it."""
    difficulty: Difficulty | None = None
    """The difficulty of a world's task; tasks of other sites do not fit then."""
    index: int | None = Field(default=None, ge=0)
    """The place among the tasks that fit, from 0, in the order of site, template and seed. None: the first; where only
    `seed` is given, one of its templates, drawn by it."""


def asked_of(parameters: JsonObject) -> Difficulty | None:
    """Return the difficulty that a world's task was drawn for, by its parameters; None: none was asked for.

    Raises:
        ValidationError: the parameters name no such difficulty.
    """
    stated = parameters.get("asked")
    return None if stated is None else Difficulty.model_validate(stated)


def rows_asked(parameters: JsonObject) -> int | None:
    """Return the number of rows that the largest table of a task's website was asked to have; None: none was."""
    asked = asked_of(parameters)
    return None if asked is None else asked.rows
