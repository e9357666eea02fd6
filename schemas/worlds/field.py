"""A field of an entity of a world: its type and its form widget."""

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum

from pydantic import ConfigDict, Field, model_validator

from schemas.worlds.patterns import Label, Name
from schemas.worlds.spoken import Spoken


class Kind(StrEnum):
    """The type of a field, and how SQLite stores it."""

    TEXT = "text"
    """One line of text."""
    LONG_TEXT = "long_text"
    """Text of several lines."""
    INTEGER = "integer"
    """A whole number."""
    MONEY = "money"
    """An amount in hundredths of the world's currency, an integer."""
    DATE = "date"
    """A day, as `2026-03-09`."""
    CHOICE = "choice"
    """One of the field's `choices`, verbatim."""
    TAGS = "tags"
    """Some of the field's `choices`, in their order and joined by `TAG_PARTING`; null: no tag."""
    FLAG = "flag"
    """Yes or no, 1 or 0."""
    LINK = "link"
    """The id of a row of the field's `target`; null: no row."""


HAVE_CHOICES = frozenset({Kind.CHOICE, Kind.TAGS})
"""The kinds whose fields have choices."""

TAG_PARTING = ", "
"""The separator between two tags; no tag contains it."""


def tags_of(value: str | int | None) -> tuple[str, ...]:
    """Return the tags in a field's value."""
    return tuple(str(value).split(TAG_PARTING)) if value else ()


class Widget(StrEnum):
    """The form widget of a field."""

    INPUT = "input"
    """A single-line input; dates are typed as `2026-03-09`."""
    TEXTAREA = "textarea"
    """A multi-line input."""
    RICHTEXT = "richtext"
    """An editor with a toolbar that makes lists and undoes changes."""
    SELECT = "select"
    """A native drop-down list."""
    RADIOS = "radios"
    """A radio button for each choice."""
    CARDS = "cards"
    """A radio button for each choice, each in its own box."""
    SEGMENTS = "segments"
    """The choices as a row of buttons, one of them pressed."""
    COMBOBOX = "combobox"
    """An input with a list of the choices that contain the typed text."""
    DROP = "drop"
    """The choices in a tray; one of them is dragged into a box."""
    CHECKBOXES = "checkboxes"
    """A checkbox for each choice."""
    TAGS = "tags"
    """Each selected tag in a box with a remove button, and an input to add tags."""
    CHECKBOX = "checkbox"
    """A checkbox."""
    SWITCH = "switch"
    """A switch, on or off."""
    STEPPER = "stepper"
    """A number input between a minus and a plus button."""
    SLIDER = "slider"
    """A slider with the number beside it."""
    DATE = "date"
    """The browser's native date field, with parts for month, day and year."""
    FLATPICKR = "flatpickr"
    """A date input with the calendar of the package of this name."""
    AIR_DATEPICKER = "air-datepicker"
    """The same, with another package."""
    VANILLAJS_DATEPICKER = "vanillajs-datepicker"
    """The same, with another package."""


PICKERS = (Widget.FLATPICKR, Widget.AIR_DATEPICKER, Widget.VANILLAJS_DATEPICKER)
"""The widgets that are packages; each has the name of its package."""


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
"""The widgets allowed for each kind, the default first."""


class DataField(Spoken):
    """A field of an entity: a column of its table, with its words in goals.

    Its JSON has other names for `min` and `max`, because a world's identity is the hash of this JSON.
    """

    model_config = ConfigDict(validate_by_name=True, serialize_by_alias=True)

    name: Name
    """The column's name."""
    label: Label
    """Its label on pages."""
    kind: Kind
    """Its type."""
    content: str = ""
    """The recipe that generates its values (`generators/worlds/drawing/text_recipes.py`); empty: the kind's default."""
    choices: tuple[Label, ...] = ()
    """The allowed values of a choice or of tags, in display order; empty for other kinds."""
    target: Name | None = None
    """The entity that a link points to; None for other kinds."""
    min: int = Field(default=0, alias="least")
    """The smallest integer, amount, or day relative to the world's date (negative: before it)."""
    max: int = Field(default=100, alias="most")
    """The largest, likewise."""
    required: bool = True
    """Whether a form rejects a row without it."""
    editable: bool = True
    """Whether forms contain it."""
    widget: Widget | None = None
    """Its form widget; None: the kind's default."""

    @property
    def asked_with(self) -> Widget:
        """The form widget, with the default resolved."""
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
    """Yield a sentence for each field that a pattern needs and a table lacks.

    Args:
        place: the pattern; sentences begin with it.
        table: the table's entity.
        fields: the table's fields by name.
        needed: the name and kind of each needed field; a name given twice must have both kinds.
        leads_to: the entity that needed links must point to.
    """
    for name, kind in needed:
        if name not in fields or fields[name].kind is not kind:
            yield f"{place}: '{table}' has no {kind.value} '{name}'"
        elif kind is Kind.LINK and fields[name].target != leads_to:
            yield f"{place}: '{table}.{name}' does not lead to '{leads_to}'"
