"""The catalogue of MiniWoB++'s templates: their goals, needs and notes, known without a browser.

The page alone decides a task; the catalogue describes it, so that tasks can be listed, filtered and planned
without opening pages. It ships as `miniwob.toml` beside this module. Its goals are those of the real pages
at seed 0, and a test compares them with the pages; people wrote the needs and notes.
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
    """To click at the right places."""
    TYPING = "typing"
    """To type text into a field, or to press keys."""
    SELECTING = "selecting"
    """To choose an option of a native list."""
    DRAGGING = "dragging"
    """To move the pointer with the button held; sliders too."""
    HOVERING = "hovering"
    """To move the pointer over something without a click."""
    SCROLLING = "scrolling"
    """To find things that may be outside the first view."""
    HIGHLIGHTING = "highlighting"
    """To select text with the pointer."""
    KEYS = "keys"
    """To hold keys or press them together."""
    SEARCHING = "searching"
    """To find things that appear only after something was opened."""
    READING = "reading"
    """To read text on the page that the task depends on, beyond the goal."""
    WORDING = "wording"
    """To understand a goal or labels that are worded freely."""
    RECKONING = "reckoning"
    """To calculate, count, compare or construct."""
    SEEING = "seeing"
    """To see shapes, colours or positions that no text states."""
    KNOWLEDGE = "knowledge"
    """To know something that the page does not say."""
    TRYING = "trying"
    """To try repeatedly: the page responds to each try, or plays against the policy."""
    TIME = "time"
    """To act in time: the page changes while time passes."""


class TemplateEntry(Record):
    """The entry of one template."""

    goal: str = Field(min_length=1)
    """The page's goal at seed 0."""
    needs: tuple[Need, ...] = Field(min_length=1)
    """Its requirements, the most important first."""
    feasible: bool | None = None
    """False if no policy can solve it on purpose; None if unknown."""
    area: tuple[int, int] | None = None
    """Width and height of the page with all that it opens, CSS px; None: 160×210."""
    note: str | None = None
    """Its peculiarity and the reason; None if there is none."""


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
