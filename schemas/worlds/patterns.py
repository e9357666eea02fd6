"""The patterns of worlds: shapes of views and relations between entities, by their names in the specification.

`schemas/worlds/world.py` checks that the names exist.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from schemas.base import Record

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=40)]
"""The name of a table, column or view. Pages never show it."""

Label = Annotated[str, Field(min_length=1, max_length=80)]
"""A text that pages show."""


class Shape(StrEnum):
    """The shape of a view."""

    LIST = "list"
    """A list of rows, a page at a time."""
    BOARD = "board"
    """All rows as cards, in a column for each workflow state; a step or a drag moves a card."""
    CALENDAR = "calendar"
    """The days of a month, each with its rows."""
    GRID = "grid"
    """A dense table whose cells are edited in place."""
    MAP = "map"
    """A map of places; titles end in the position, as `4C` for the third place of the fourth row."""
    CART = "cart"
    """The cart's content, with the check-out."""
    SETTINGS = "settings"
    """The form of an entity that has exactly one row."""


class Section(Record):
    """Form fields under a common heading."""

    label: Label
    """The heading."""
    fields: tuple[Name, ...] = Field(min_length=1)
    """The fields, in their order."""


class Thread(Record):
    """The messages on each row's page, by date, with a field to write one.

    Only this field adds messages. A new message has the number of its row as title.
    """

    entity: Name
    """The entity whose rows have messages."""
    messages: Name
    """The entity of the messages."""
    link: Name
    """The messages' link to the row."""
    text: Name
    """The messages' text, a long text, which the form asks for."""
    author: Name
    """The messages' text field with the author's name: the signed-in user."""
    day: Name
    """The messages' date: the world's date."""
    reply: Label
    """The button that sends a message."""
