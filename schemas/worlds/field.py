"""A field of an entity of a world: what it holds, and what forms ask for it with."""

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum

from pydantic import ConfigDict, Field, model_validator

from schemas.base import Record
from schemas.worlds.patterns import Label, Name


class Kind(StrEnum):
    """What a field holds, and how SQLite keeps it."""

    TEXT = "text"
    """One line of text."""
    LONG_TEXT = "long_text"
    """Text of several lines."""
    INTEGER = "integer"
    """A whole number."""
    MONEY = "money"
    """An amount in hundredths of the world's currency, a whole number."""
    DATE = "date"
    """A day, as `2026-03-09`."""
    CHOICE = "choice"
    """One of the field's `choices`, in its own words."""
    TAGS = "tags"
    """Some of the field's `choices`, in their order and parted by `TAG_PARTING`; null: none of them."""
    FLAG = "flag"
    """Yes or no, 1 or 0."""
    LINK = "link"
    """The id of a row of the field's `target`; null: of none."""


HAVE_CHOICES = frozenset({Kind.CHOICE, Kind.TAGS})
"""The kinds whose fields have choices of their own."""

TAG_PARTING = ", "
"""What stands between two tags; no choice of tags holds it."""


def tags_of(value: str | int | None) -> tuple[str, ...]:
    """Return the tags that a field of tags holds."""
    return tuple(str(value).split(TAG_PARTING)) if value else ()


class Widget(StrEnum):
    """What a form asks for a field with."""

    INPUT = "input"
    """A line to type into; of a date in the form `2026-03-09`."""
    TEXTAREA = "textarea"
    """Several lines to type into."""
    RICHTEXT = "richtext"
    """A sheet to write on, under a row of buttons that put lines into a list, or take back what was done."""
    SELECT = "select"
    """A native list that opens."""
    RADIOS = "radios"
    """A radio button for each choice."""
    CARDS = "cards"
    """A radio button for each choice, each in a box of its own."""
    SEGMENTS = "segments"
    """The choices in one row of buttons, of which one is pressed."""
    COMBOBOX = "combobox"
    """A line to type into, under which the choices that hold what was typed are listed."""
    DROP = "drop"
    """The choices in a tray, of which one is dragged into a box."""
    CHECKBOXES = "checkboxes"
    """A box to tick for each choice."""
    TAGS = "tags"
    """Each of what was chosen in a box of its own with a sign that removes it, and a line to type others into."""
    CHECKBOX = "checkbox"
    """A box to tick."""
    SWITCH = "switch"
    """A switch, on or off."""
    STEPPER = "stepper"
    """A line to type a number into, between a button for one less and one for one more."""
    SLIDER = "slider"
    """A handle on a line, with the number beside it."""
    DATE = "date"
    """The browser's own field of a month, a day and a year."""
    FLATPICKR = "flatpickr"
    """A line to type a day into, under which a calendar of the package of this name opens."""
    AIR_DATEPICKER = "air-datepicker"
    """The same, by another package."""
    VANILLAJS_DATEPICKER = "vanillajs-datepicker"
    """The same, by another package."""


PICKERS = (Widget.FLATPICKR, Widget.AIR_DATEPICKER, Widget.VANILLAJS_DATEPICKER)
"""The widgets that are packages, each called as its package is."""


WIDGETS: dict[Kind, tuple[Widget, ...]] = {
    Kind.TEXT: (Widget.INPUT,),
    Kind.LONG_TEXT: (Widget.TEXTAREA, Widget.RICHTEXT),
    Kind.INTEGER: (Widget.INPUT, Widget.STEPPER, Widget.SLIDER),
    Kind.MONEY: (Widget.INPUT,),
    Kind.DATE: (Widget.INPUT, Widget.DATE, *PICKERS),
    Kind.CHOICE: (
        Widget.SELECT,
        Widget.RADIOS,
        Widget.CARDS,
        Widget.SEGMENTS,
        Widget.COMBOBOX,
        Widget.DROP,
    ),
    Kind.TAGS: (Widget.CHECKBOXES, Widget.TAGS),
    Kind.FLAG: (Widget.CHECKBOX, Widget.SWITCH, Widget.RADIOS, Widget.SEGMENTS),
    Kind.LINK: (Widget.SELECT, Widget.RADIOS, Widget.COMBOBOX),
}
"""The widgets that go with each kind, the usual one first."""


class DataField(Record):
    """A field of an entity: a column of its table.

    Its JSON calls `min` and `max` by other names, from which a world's identity is hashed.
    """

    model_config = ConfigDict(validate_by_name=True, serialize_by_alias=True)

    name: Name
    """Its column."""
    label: Label
    """What pages call it."""
    kind: Kind
    """What it holds."""
    content: str = ""
    """The recipe that its values are drawn by (`generators/worlds/drawing/rows.py`); empty: the kind's own."""
    choices: tuple[Label, ...] = ()
    """The values of a choice or the tags, in the order in which pages list them; empty for other kinds."""
    target: Name | None = None
    """The entity that a link leads to; None for other kinds."""
    min: int = Field(default=0, alias="least")
    """The smallest integer, amount, or day before (negative) or after the world's date."""
    max: int = Field(default=100, alias="most")
    """The largest, likewise."""
    required: bool = True
    """Whether a form refuses a row without it."""
    editable: bool = True
    """Whether forms ask for it."""
    widget: Widget | None = None
    """What forms ask for it with; None: the usual one of its kind."""

    @property
    def asked_with(self) -> Widget:
        """What forms ask for it with."""
        return self.widget or WIDGETS[self.kind][0]

    @model_validator(mode="after")
    def _check(self) -> "DataField":
        if (self.kind in HAVE_CHOICES) is not bool(self.choices):
            raise ValueError(
                f"field '{self.name}': a choice and tags have choices, and no other kind has"
            )
        parted = next((one for one in self.choices if TAG_PARTING in one), None)
        if self.kind is Kind.TAGS and parted is not None:
            raise ValueError(
                f"field '{self.name}': '{TAG_PARTING}' parts tags, so none may hold it, got '{parted}'"
            )
        if (self.kind is Kind.LINK) is not (self.target is not None):
            raise ValueError(f"field '{self.name}': a link has a target, and no other kind has")
        if self.min > self.max:
            raise ValueError(f"field '{self.name}': min is {self.min}, max is {self.max}")
        if self.asked_with not in WIDGETS[self.kind]:
            raise ValueError(
                f"field '{self.name}': '{self.asked_with.value}' does not go with the kind '{self.kind.value}'; "
                f"there are {', '.join(WIDGETS[self.kind])}"
            )
        if self.asked_with is Widget.SLIDER and not self.required:
            raise ValueError(f"field '{self.name}': a slider always has a value, so it is required")
        return self


def broken_columns(
    place: str,
    table: str,
    fields: Mapping[str, DataField],
    needed: Iterable[tuple[str, Kind]],
    leads_to: str,
) -> Iterator[str]:
    """Yield what a pattern needs of a table and does not find, each in a sentence.

    Args:
        place: what needs it, which sentences begin with.
        table: the table's entity.
        fields: those of the table, by name.
        needed: the name and kind of each field that is needed; one that is named twice has to be of both kinds.
        leads_to: the entity that links among them have to lead to.
    """
    for name, kind in needed:
        if name not in fields or fields[name].kind is not kind:
            yield f"{place}: '{table}' has no {kind.value} '{name}'"
        elif kind is Kind.LINK and fields[name].target != leads_to:
            yield f"{place}: '{table}.{name}' does not lead to '{leads_to}'"
