"""A task's reference: the ordinary actions that do it, each on a visible element named by its words.

A reference proves that a task can be done, and yields trajectories: the policy `reference` carries it out by mouse
and keyboard, as any policy acts. It names elements by the words on them or beside them, so it needs no positions or
selectors, and holds for every size of the page.
"""

import re
from enum import StrEnum
from typing import Annotated

from pydantic import Field, TypeAdapter, model_validator
from pydantic.json_schema import SkipJsonSchema

from schemas.base import Record


class Do(StrEnum):
    """The action of a reference's step."""

    CLICK = "click"
    """Click the element `on`."""
    TYPE = "type"
    """Replace the content of the field `on` with `text`; without `on`, type it into what has the focus."""
    SELECT = "select"
    """Choose the option `text` of the list `on`."""
    ENTER = "enter"
    """As `type`, and press Enter afterwards."""
    CHOOSE = "choose"
    """Choose the option `text` of the browser's own list `on` in one action, without opening it."""
    HOVER = "hover"
    """Move the pointer over the element `on`."""
    DOUBLE_CLICK = "double_click"
    """Click the element `on` twice in quick succession."""
    RIGHT_CLICK = "right_click"
    """Click the element `on` with the mouse's right button."""
    SLIDE = "slide"
    """Drag the handle of the slider `on` to the number `text`."""
    BACK = "back"
    """Go one page back in the tab's history, or, with `on`, as many as are needed until that can be clicked in sight."""
    TAB = "tab"
    """Close the tab in sight, where `text` is `close`, or show the tab of the number `text`, from 0. With `on`, close as
    many, or go as many pages back in the last one, as are needed until that can be clicked in sight."""
    WAIT = "wait"
    """Let the page's time pass for as long as `on` is in sight; does nothing if it is not."""
    PRESS = "press"
    """Press the key or chord `text`, as `Enter`."""
    DRAG = "drag"
    """Drag the element `on` to the middle of the element named `text`, and drop it there."""
    DROP = "drop"
    """Drop the task's file `text` on the element `on`."""
    ACCEPT = "accept"
    """Answer what the page asks with OK; `text` is what its field is to hold, as a file's name."""
    DISMISS = "dismiss"
    """Answer what the page asks with Cancel."""
    LOOK = "look"
    """Scroll until the element `on` is fully visible; does nothing if it already is."""
    FIND = "find"
    """Look through a list until the element `on` is fully visible, and load its next rows by the button with the
    words `text`, or, without `text`, by scrolling on."""
    READ = "read"
    """Read a list to its end, and load its next rows by the button with the words `text`, or, without `text`, by
    scrolling on."""
    OPEN = "open"
    """Go to the address `text`, which may be a path of the task's site."""
    ANSWER = "answer"
    """End the task with the answer `text`."""


class Purpose(StrEnum):
    """The purpose of a reference's step, from which a thought is chosen."""

    VIEW = "view"
    """Open a view by the navigation."""
    SEARCH = "search"
    SEARCH_AT_ONCE = "search_at_once"
    """Search a list by Enter."""
    FILTER = "filter"
    SORT = "sort"
    APPLY = "apply"
    """Apply a list's search or filters, and its order with them."""
    ORDER = "order"
    """Apply a list's order alone."""
    MONTH = "month"
    """Show another month of a calendar of rows."""
    LOOK = "look"
    """Scroll something into view."""
    ROW = "row"
    """Open a row's page by its title."""
    PART = "part"
    """Open a tab or section of a row's page."""
    MENU = "menu"
    HOVER_MENU = "hover_menu"
    """Open a menu by the pointer alone."""
    CONTEXT = "context"
    """Open the menu of a row's actions by the right button."""
    TWICE = "twice"
    """Open a row's page by a double click on its title."""
    SHEET = "sheet"
    """Open a page that has the rest of a row's facts, and nothing else."""
    BACK = "back"
    """Leave such a page."""
    CLOSE_TAB = "close_tab"
    """Close the tab of such a page."""
    SWITCH_TAB = "switch_tab"
    """Show the tab from which such a page was opened."""
    WAIT = "wait"
    ADD = "add"
    """Open the form for a new row."""
    NEXT_PART = "next_part"
    """Go to the next section of a form."""
    EDIT = "edit"
    """Open a row's form."""
    SAVE = "save"
    SURE = "sure"
    """Confirm once more that a form is to be saved."""
    DELETE = "delete"
    CONFIRM = "confirm"
    """Confirm that a row is to be deleted."""
    STEP = "step"
    """Take a step of a row's workflow on its page."""
    CARD_STEP = "card_step"
    """Take a step of a row's workflow on its card."""
    MOVE_CARD = "move_card"
    """Drag a card to the column of another state."""
    ASK = "ask"
    """Request an act that is reserved to another role."""
    REPLY = "reply"
    """Send a message."""
    TYPE = "type"
    """Put text into a form's field."""
    PART_OF_CHOICE = "part_of_choice"
    """Type the beginning of a choice into a combobox."""
    CHOOSE = "choose"
    """Choose an option of a list in a form."""
    CHOOSE_AT_ONCE = "choose_at_once"
    """The same, in one action."""
    ENTER_CHOICE = "enter_choice"
    """Type a choice into a combobox, and take it by Enter."""
    OPTION = "option"
    """Click one of a field's choices."""
    BOX = "box"
    """Click one of a field's checkboxes."""
    TOGGLE = "toggle"
    """Click a field's only checkbox, or its switch."""
    UNTAG = "untag"
    """Remove a tag."""
    ATTACH = "attach"
    """Drag a choice into its field's box."""
    COUNT = "count"
    """Change a number by one with a button."""
    SLIDER = "slider"
    END_OF_SLIDER = "end_of_slider"
    HANDLE = "handle"
    """Drag a slider's handle."""
    KEY = "key"
    DATE = "date"
    """Set a date field by its parts or by its calendar."""
    CELL = "cell"
    """Go to a cell of a grid."""
    OPEN_CELL = "open_cell"
    CELL_TWICE = "cell_twice"
    """Open a cell of a grid by a double click."""
    FILL_CELL = "fill_cell"
    ENTER_CELL = "enter_cell"
    """Fill a cell, and save it by Enter."""
    CHOOSE_CELL = "choose_cell"
    CHOOSE_CELL_AT_ONCE = "choose_cell_at_once"
    TOGGLE_CELL = "toggle_cell"
    KEEP_CELL = "keep_cell"
    """Save a cell with a key."""
    SAVE_CELL = "save_cell"
    """Save a cell with its button."""
    PLACE = "place"
    """Open the page of a place on a map."""
    PUT_IN = "put_in"
    """Put something into the cart on its own page."""
    PUT_IN_LISTED = "put_in_listed"
    """Put something into the cart from a list."""
    TO_CART = "to_cart"
    CHECK_OUT = "check_out"
    IN_THE_WAY = "in_the_way"
    """Close a distraction."""
    NAME = "name"
    """Enter the user's name where a page asks again."""
    ANSWER = "answer"
    REFUSE = "refuse"


MAX_KEPT = 500
"""The most facts that a step keeps."""

CLOSE = "close"
"""The text of a step that closes a tab."""

_TAB = re.compile(r"[0-9]{1,2}")

POINTS = frozenset({Do.CLICK, Do.HOVER, Do.DOUBLE_CLICK, Do.RIGHT_CLICK})
"""What the pointer does to one element."""

_NAMES_A_THING = {
    *POINTS,
    *(Do.TYPE, Do.ENTER, Do.SELECT, Do.CHOOSE, Do.DRAG, Do.DROP, Do.SLIDE),
    *(Do.LOOK, Do.FIND, Do.WAIT, Do.BACK, Do.TAB),
}
_MAY_NAME_NOTHING = {Do.TYPE, Do.ENTER, Do.BACK, Do.TAB}
_HAS_NO_TEXT = {*POINTS, Do.LOOK, Do.DISMISS, Do.BACK, Do.WAIT}
_MAY_HAVE_TEXT = {Do.ACCEPT, Do.FIND, Do.READ}


class Fact(Record):
    """Something that a page says of a row, and that a later step needs."""

    of: str = Field(min_length=1)
    """The row's name, as pages show it."""
    label: str | None = Field(default=None, min_length=1)
    """The label of what is said; None: the fact is that the row is one of those that the task is about."""
    value: str | None = Field(default=None, min_length=1)
    """What is said, as the page shows it; None where there is no label."""

    @model_validator(mode="after")
    def _check(self) -> "Fact":
        if (self.label is None) is not (self.value is None):
            raise ValueError("a fact has a label and a value, or neither")
        return self


class ReferenceStep(Record):
    """One step of a reference."""

    do: Do
    """The action."""
    on: str | None = Field(default=None, min_length=1)
    """The words on an element or beside it: its text, label, placeholder, title, alternative text or name; or `#` and
    its id or `.` and its class, where words are ambiguous. None where the action has no element, and to type where the focus is, as into
    an editor whose field cannot be seen."""
    within: str | None = Field(default=None, min_length=1)
    """Words in the same row, item, form or section, where several elements have the same name; None: the first such
    element of the page."""
    text: str | None = None
    """The text to type, choose, press, open or answer, the target of a drag, the number of a slider, the tab, or the
    file to drop; None for what the pointer does to one element, a look, a wait, a way back and a dismissal."""
    why: str | None = Field(default=None, min_length=1, max_length=1_000)
    """The thought before the action: the visible evidence and the reason for the action; None: no thought is stated."""
    keep: tuple[Fact, ...] = Field(
        default=(), max_length=MAX_KEPT, exclude_if=lambda keep: not keep
    )
    """What the step brings into sight and a later one needs: it is written down when it is in sight. Empty: nothing."""

    by: SkipJsonSchema[tuple[Fact, ...]] = Field(
        default=(), max_length=MAX_KEPT, exclude_if=lambda by: not by, repr=False
    )
    """What tells in a list that the row to be opened, or each that is kept, is one that is meant, as the task's generator
    says it; empty: its name does."""
    purpose: SkipJsonSchema[Purpose | None] = Field(
        default=None, exclude_if=lambda purpose: purpose is None, repr=False
    )
    """What the step is for, as the task's generator says it, by which a policy plans in words; None: unknown."""

    @model_validator(mode="after")
    def _check(self) -> "ReferenceStep":
        may_lack = self.on is None and self.do in _MAY_NAME_NOTHING
        if (self.on is None) is (self.do in _NAMES_A_THING) and not may_lack:
            needs = "needs 'on', the name of a thing" if self.on is None else "is on nothing"
            raise ValueError(f"'{self.do.value}' {needs}")
        if self.do not in _MAY_HAVE_TEXT and (self.text is None) is not (self.do in _HAS_NO_TEXT):
            raise ValueError(
                f"'{self.do.value}' " + ("needs 'text'" if self.text is None else "has no 'text'")
            )
        if self.do is Do.TAB and self.on is not None and self.text != CLOSE:
            raise ValueError("'tab' is on nothing, other than one that closes")
        if self.within is not None and self.on is None:
            raise ValueError(f"'{self.do.value}' is within nothing")
        if self.do is Do.TAB and self.text != CLOSE and not _TAB.fullmatch(self.text or ""):
            raise ValueError(f"'tab' needs '{CLOSE}' or a tab's number, got '{self.text}'")
        return self


MAX_STEPS = 200
"""Maximum number of steps of a reference."""

Reference = Annotated[tuple[ReferenceStep, ...], Field(min_length=1, max_length=MAX_STEPS)]
"""The steps of a reference, in order."""

REFERENCE: TypeAdapter[tuple[ReferenceStep, ...]] = TypeAdapter(Reference)
"""Parses a reference."""
