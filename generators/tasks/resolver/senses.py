"""What phrases of a world mean: the name of a row, a field or a step, or a value."""

from enum import StrEnum
from typing import NamedTuple

from generators.worlds.state.database import Value

Key = tuple[str, ...]
"""The words of a text, as they are compared."""


class Sort(StrEnum):
    """What a phrase of the world is."""

    TITLE = "title"
    """A row's title; the value is the row's id."""
    LABEL = "label"
    """A field."""
    ONE = "one"
    """An entity's singular."""
    MANY = "many"
    """An entity's plural."""
    VIEW = "view"
    """A view, of the entity whose rows it shows."""
    CHOICE = "choice"
    """A value of a choice, a tag or a flag."""
    FLAG = "flag"
    """Yes or no, of any flag."""
    PART = "part"
    """A part of a row's title by which people call it; the value is the row's id."""
    DEED = "deed"
    """The words for a step of a workflow, up to the row; the value are the words behind it."""
    TEXT = "text"
    """A text in a row of a field of one line."""
    STEP = "step"
    """A step of a workflow: its button."""
    REPLY = "reply"
    """The button that sends a message about a row of the entity."""
    RANK = "rank"
    """A verb by which rows compare by a field; the value is 1 where the most comes first, else 0."""
    PLACE = "place"
    """A name that concerns no row: the website, the signed-in user, a role, a button of the cart."""


class Sense(NamedTuple):
    """One meaning of a phrase."""

    sort: Sort
    """What it is."""
    entity: str = ""
    """The entity; empty: none."""
    name: str = ""
    """The field, view or step; empty: none."""
    value: Value = None
    """The value of a choice or a text, the id of a titled row; None: there is none."""
