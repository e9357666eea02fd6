"""The patterns of worlds: shapes of views, and what entities have to do with each other, by names of a specification.

Nothing here knows whether what it names is there; `schemas/worlds/world.py` checks that.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from schemas.base import Record

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=40)]
"""The name of a table, a column or a view: it is never shown."""

Label = Annotated[str, Field(min_length=1, max_length=80)]
"""Words that a page shows."""


class Shape(StrEnum):
    """What a view is."""

    LIST = "list"
    """A list of rows, a page at a time."""
    BOARD = "board"
    """All rows as cards, in a column for each state of their workflow; a step moves a card, and so does dragging it."""
    CALENDAR = "calendar"
    """The days of a month, each with its rows."""
    GRID = "grid"
    """A list as a dense table, in which a cell becomes a field where it stands."""
    MAP = "map"
    """The rows as places, where they are; titles end in them, as `4C` for the third place of the fourth row."""
    CART = "cart"
    """What was chosen of an entity's rows, on the way to an order."""
    SETTINGS = "settings"
    """The form of the only row that its entity has."""


class Section(Record):
    """Fields that stand together under a heading of their own, in forms."""

    label: Label
    """The heading."""
    fields: tuple[Name, ...] = Field(min_length=1)
    """The fields, in their order."""


class Thread(Record):
    """The messages on the page of each row of an entity, in the order of their days, with a field to write one.

    A message is a row that nothing else makes. What is written gets the number of its row as title.
    """

    entity: Name
    """Whose rows have messages."""
    messages: Name
    """The entity of the messages."""
    link: Name
    """Its link to the row that a message belongs to."""
    text: Name
    """Its text of several lines, which is asked for."""
    author: Name
    """Its text that names who wrote it: who is signed in."""
    day: Name
    """Its date, which is the world's day."""
    reply: Label
    """The button that sends a message."""
