"""A task's reference: the ordinary actions that do it, each on something that the page shows by name.

A reference proves that a task can be done, and makes trajectories of it: the policy `reference` carries it
out by pixels and keys, as any policy acts. It names things as a person would, by the words on them or
beside them, so it needs neither positions nor selectors, and holds for every size of the page.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, TypeAdapter, model_validator
from pydantic.json_schema import SkipJsonSchema

from schemas.base import Record


class Do(StrEnum):
    """What a step of a reference does."""

    CLICK = "click"
    """Click what `on` names."""
    TYPE = "type"
    """Put `text` into the field that `on` names, in place of what is in it."""
    SELECT = "select"
    """Choose the option `text` of the list that `on` names."""
    PRESS = "press"
    """Press the key or chord `text`, as `Enter`."""
    DRAG = "drag"
    """Drag what `on` names to the middle of what the words `text` name, and let it go there."""
    LOOK = "look"
    """Scroll until all of what `on` names is in sight; nothing, if it is."""
    OPEN = "open"
    """Go to the address `text`, which may be a path of the task's site."""
    ANSWER = "answer"
    """End the task with the answer `text`."""


class Purpose(StrEnum):
    """What a step of a reference is for: what somebody who takes it would say that they are doing."""

    VIEW = "view"
    """Open a view by the navigation."""
    NEW_SEARCH = "new_search"
    """Open a view anew, because a search there has found nothing."""
    SEARCH = "search"
    FILTER = "filter"
    SORT = "sort"
    APPLY = "apply"
    """Send what a list is searched for, narrowed or sorted by."""
    TURN = "turn"
    """Ask for the next rows of a list by a link or a button."""
    SCROLL = "scroll"
    """Ask for the next rows of a list by going to its end."""
    MONTH = "month"
    """Turn a calendar that shows rows."""
    LOOK = "look"
    """Bring something into sight."""
    ROW = "row"
    """Open a row's page by its title."""
    PART = "part"
    """Open a part of a row's page."""
    MENU = "menu"
    ADD = "add"
    """Open the form for a new row."""
    NEXT_PART = "next_part"
    """Go on to the next part of a form."""
    EDIT = "edit"
    """Open a row's form."""
    SAVE = "save"
    SURE = "sure"
    """Say once more that a form is to be saved."""
    DELETE = "delete"
    CONFIRM = "confirm"
    """Say once more that a row is to be deleted."""
    STEP = "step"
    """Take a step of a row's workflow on its page."""
    CARD_STEP = "card_step"
    """Take a step of a row's workflow on its card."""
    MOVE_CARD = "move_card"
    """Drag a card to the column of another state."""
    ASK = "ask"
    """Ask for what only another role may do."""
    REPLY = "reply"
    """Send a message."""
    TYPE = "type"
    """Put text into a form's field."""
    PART_OF_CHOICE = "part_of_choice"
    """Put the beginning of a choice into a field that offers many."""
    CHOOSE = "choose"
    """Choose an option of a list in a form."""
    OPTION = "option"
    """Click one of the choices of a field."""
    BOX = "box"
    """Click one of a field's boxes."""
    TOGGLE = "toggle"
    """Click the one box of a field, or its switch."""
    UNTAG = "untag"
    """Take a tag away."""
    ATTACH = "attach"
    """Drag a choice into the box of its field."""
    COUNT = "count"
    """Change a number by one, by a button."""
    SLIDER = "slider"
    END_OF_SLIDER = "end_of_slider"
    KEY = "key"
    DATE = "date"
    """Give a date to a field by its parts or by its calendar."""
    CELL = "cell"
    """Go to a cell of a grid."""
    OPEN_CELL = "open_cell"
    FILL_CELL = "fill_cell"
    CHOOSE_CELL = "choose_cell"
    TOGGLE_CELL = "toggle_cell"
    KEEP_CELL = "keep_cell"
    """Save a cell by a key."""
    SAVE_CELL = "save_cell"
    """Save a cell by its button."""
    PLACE = "place"
    """Open the page of a place on a map."""
    PUT_IN = "put_in"
    """Put something into the cart on its own page."""
    PUT_IN_LISTED = "put_in_listed"
    """Put something into the cart from a list."""
    TO_CART = "to_cart"
    CHECK_OUT = "check_out"
    IN_THE_WAY = "in_the_way"
    """Clear away what stands in the way."""
    NAME = "name"
    """Say who one is, where a page asks again."""
    ANSWER = "answer"


_NAMES_A_THING = {Do.CLICK, Do.TYPE, Do.SELECT, Do.DRAG, Do.LOOK}
_HAS_NO_TEXT = {Do.CLICK, Do.LOOK}


class ReferenceStep(Record):
    """One step of a reference."""

    do: Do
    """What it does."""
    on: str | None = Field(default=None, min_length=1)
    """The words on a thing or beside it: its text, label, placeholder, title, alternative text or name; or `#` and
    its id or `.` and its class, where words do not tell things apart. None where the step is on nothing."""
    within: str | None = Field(default=None, min_length=1)
    """Words that the same row, item, form or section has, where several things have the same name; None: the first
    such thing of the page."""
    text: str | None = None
    """What is typed, chosen, pressed, opened or answered, or where it is dragged; None for a click and a look."""
    why: str | None = Field(default=None, min_length=1, max_length=1_000)
    """What somebody thinks before it: what is in sight, and why this is next; None: the attempt states no thought."""

    purpose: SkipJsonSchema[Purpose | None] = Field(default=None, exclude=True)
    """What it is for, which whoever draws a task knows; it is stored nowhere. None: nobody has said it."""

    @model_validator(mode="after")
    def _check(self) -> "ReferenceStep":
        if (self.on is None) is (self.do in _NAMES_A_THING):
            needs = "needs 'on', the name of a thing" if self.on is None else "is on nothing"
            raise ValueError(f"'{self.do.value}' {needs}")
        if (self.text is None) is not (self.do in _HAS_NO_TEXT):
            raise ValueError(
                f"'{self.do.value}' " + ("needs 'text'" if self.text is None else "has no 'text'")
            )
        if self.within is not None and self.on is None:
            raise ValueError(f"'{self.do.value}' is within nothing")
        return self


MAX_STEPS = 200
"""The steps of a reference at most."""

Reference = Annotated[tuple[ReferenceStep, ...], Field(min_length=1, max_length=MAX_STEPS)]
"""The steps of a reference, in their order."""

REFERENCE: TypeAdapter[tuple[ReferenceStep, ...]] = TypeAdapter(Reference)
"""Reads a reference."""
