"""What is known of MiniWoB++'s templates before any page is opened: goals, needs, remarks.

The page alone decides what a task is; this catalogue only describes it, so that tasks can be
listed, filtered and planned without a browser. It ships as `miniwob.toml` beside this module. The
goals in it are taken from the real pages at seed 0, and a test holds them against the pages; the
needs and notes are written by people.
"""

import tomllib
from enum import StrEnum
from functools import cache
from pathlib import Path

from pydantic import Field, ValidationError

from schemas.base import Record
from schemas.errors import Damaged

CATALOGUE_PATH = Path(__file__).with_name("miniwob.toml")
"""The catalogue's file."""


class Need(StrEnum):
    """What a template requires of the policy; also a tag of its tasks."""

    CLICKING = "clicking"
    """Clicks at the right places."""
    TYPING = "typing"
    """Text into a field, or keys."""
    SELECTING = "selecting"
    """An option of a native list."""
    DRAGGING = "dragging"
    """The button held while the pointer moves; sliders too."""
    HOVERING = "hovering"
    """The pointer over something, without a click."""
    SCROLLING = "scrolling"
    """What matters may lie outside the first view."""
    HIGHLIGHTING = "highlighting"
    """Text marked with the pointer."""
    KEYS = "keys"
    """Keys held or pressed together."""
    SEARCHING = "searching"
    """What matters shows only after something was opened."""
    READING = "reading"
    """Text on the page, beyond the goal, decides what to do."""
    WORDING = "wording"
    """The goal, or the labels, are worded freely."""
    RECKONING = "reckoning"
    """Arithmetic, counting, comparing or constructing."""
    SEEING = "seeing"
    """Shapes, colours or places that no text states."""
    KNOWLEDGE = "knowledge"
    """Something that the page does not say."""
    TRYING = "trying"
    """The page answers each attempt, or plays against."""
    TIME = "time"
    """The page changes while time passes."""


class TemplateEntry(Record):
    """One template."""

    goal: str = Field(min_length=1)
    """The page's goal at seed 0."""
    needs: tuple[Need, ...] = Field(min_length=1)
    """What it asks for, the foremost first."""
    feasible: bool | None = None
    """False where no policy can solve it on purpose; None where unknown."""
    note: str | None = None
    """What is odd about it, and why; None if nothing is."""


@cache
def catalogue() -> dict[str, TemplateEntry]:
    """Return every template of MiniWoB++ with its entry, sorted by name.

    Raises:
        Damaged: the file cannot be parsed, or an entry is invalid.
    """
    try:
        tables = tomllib.loads(CATALOGUE_PATH.read_text(encoding="utf-8"))
        return {name: TemplateEntry.model_validate(table) for name, table in sorted(tables.items())}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, ValidationError) as error:
        raise Damaged(f"{CATALOGUE_PATH}: {error}") from error
