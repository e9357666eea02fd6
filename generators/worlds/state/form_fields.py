"""The fields of a world's forms: which are asked, and how a submitted text of each is parsed.

A form is a text for each field, as browsers send it, parsed by the field's kind. An invalid or missing value gives an
error message beside the field, and nothing is changed.
"""

from collections.abc import Container, Mapping
from typing import NamedTuple

from generators.worlds.state.database import Row, Value
from generators.worlds.state.display import (
    EXAMPLE_DAY,
    read_amount,
    read_day,
    read_number,
    show_day,
    show_value,
    with_number,
    write_amount,
)
from generators.worlds.words.catalogue import catalogue
from schemas.worlds.field import HAVE_CHOICES, TAG_PARTING, DataField, Kind, tags_of
from schemas.worlds.look import Amounts
from schemas.worlds.patterns import Shape, Thread
from schemas.worlds.world import Entity, World

Choices = Mapping[str, Mapping[str, str]]
"""The options of each field, in order: labels by the value that forms send."""

_TEXTS = {Kind.TEXT, Kind.LONG_TEXT}
_MOST_DIGITS, _MOST_LETTERS = 15, 30


class Filled(NamedTuple):
    """A parsed form."""

    values: Row
    """The valid values by field."""
    messages: dict[str, str]
    """Error messages by field; empty: no errors."""


class _Wrong(ValueError):
    """An invalid value; the message is shown to users."""


def _wrong(world: World, key: str, **given: object) -> _Wrong:
    """Return what is wrong with a value, in the world's language."""
    return _Wrong(catalogue(world.language).say(f"form.{key}", **given))


def asked_fields(world: World, entity: Entity) -> list[DataField]:
    """Return the fields of forms: editable fields, without the workflow's state."""
    flow = world.workflow(entity.name)
    state = flow.field if flow is not None else None
    return [field for field in entity.fields if field.editable and field.name != state]


def form_parts(world: World, entity: Entity) -> list[tuple[str, list[DataField]]]:
    """Return the sections of a form with their fields; fields in no section come first, without a heading."""
    asked = {field.name: field for field in asked_fields(world, entity)}
    parts = [
        (section.label, [asked.pop(name) for name in section.fields if name in asked])
        for section in entity.sections
    ]
    return [(label, fields) for label, fields in (("", [*asked.values()]), *parts) if fields]


def listed_fields(world: World, entity: Entity, kinds: Container[Kind]) -> list[DataField]:
    """Return the fields of some kinds that forms can edit on any row of a list; empty if rows are not editable.

    Fields of `apart` are skipped, because not every value is possible for them.
    """
    settings = {view.entity for view in world.views if view.shape is Shape.SETTINGS}
    if not entity.can_edit or world.view_of(entity.name) is None or entity.name in settings:
        return []
    return [
        field
        for field in asked_fields(world, entity)
        if field.kind in kinds and field.name not in entity.apart
    ]


def new_message(world: World, thread: Thread, row: int, number: int, text: str) -> Row:
    """Return a new message to a row; `number` is its future id."""
    messages = world.entity(thread.messages)
    return {
        **new_row(world, messages),
        messages.title.name: with_number(world, messages.one, number),
        thread.link: row,
        thread.text: text,
        thread.author: world.user,
        thread.day: world.at.date().isoformat(),
    }


def new_row(world: World, entity: Entity) -> Row:
    """Return the defaults of a new row for all fields.

    A default is the first choice, the minimum number or amount, the world's date, no, no link, or an empty text.
    """
    return {field.name: _default(world, field) for field in entity.fields}


def _default(world: World, field: DataField) -> Value:
    match field.kind:
        case Kind.INTEGER | Kind.MONEY:
            return field.min
        case Kind.DATE:
            return world.at.date().isoformat()
        case Kind.CHOICE | Kind.TAGS:
            return field.choices[0]
        case Kind.FLAG:
            return 0
        case Kind.LINK:
            return None
        case _:
            return ""


def field_choices(world: World, entity: Entity, titles: Mapping[str, Mapping[int, str]]) -> Choices:
    """Return the options of each field that has choices; `titles` has the titles of rows by entity and id."""
    out = dict[str, dict[str, str]]()
    for field in entity.fields:
        if field.kind in HAVE_CHOICES:
            out[field.name] = {choice: choice for choice in field.choices}
        elif field.kind is Kind.FLAG:
            out[field.name] = {"1": world.words.yes, "0": world.words.no}
        elif field.target is not None:
            out[field.name] = {str(row): title for row, title in titles[field.target].items()}
    return out


def form_texts(world: World, entity: Entity, row: Row) -> dict[str, str]:
    """Return the initial texts of a form for a row, by field."""
    return {field.name: _to_text(world, field, row.get(field.name)) for field in entity.fields}


def _to_text(world: World, field: DataField, value: Value) -> str:
    if value is None:
        return ""
    if field.kind is Kind.MONEY and isinstance(value, int):
        return write_amount(world, value)
    return str(value)


def read_form(
    world: World, entity: Entity, given: Mapping[str, str], *, choices: Choices, before: Row | None
) -> Filled:
    """Parse a form and return the values and the error messages of its fields.

    `given` has texts by field; several ticked boxes are joined as tags, and unticked boxes are absent. `choices` are
    those of `field_choices`. `before` is the row being edited, whose unchanged fields keep their values; None: a new
    row.
    """
    values, messages = Row(), dict[str, str]()
    for field in asked_fields(world, entity):
        text = given.get(field.name, "").replace("\r\n", "\n")
        if before is not None and text == _to_text(world, field, before[field.name]):
            values[field.name] = before[field.name]
            continue
        try:
            values[field.name] = _read(world, field, text.strip(), choices)
        except _Wrong as wrong:
            messages[field.name] = str(wrong)
    return Filled(values, messages)


def _read(world: World, field: DataField, text: str, choices: Choices) -> Value:
    if field.kind is Kind.FLAG:
        return int(text == "1")
    if not text:
        if field.required:
            raise _wrong(world, "required", field=field.label)
        return "" if field.kind in _TEXTS else None
    if field.name in choices:
        text = _read_choice(world, field, text, choices[field.name])
    match field.kind:
        case Kind.INTEGER:
            value: Value = _read_integer(world, field, text)
        case Kind.MONEY:
            value = _read_money(world, field, text)
        case Kind.DATE:
            value = _read_date(world, text)
        case Kind.LINK:
            value = int(text)
        case Kind.TEXT:
            value = " ".join(text.split())
        case _:
            value = text
    return value


def _read_choice(world: World, field: DataField, text: str, choices: Mapping[str, str]) -> str:
    """Return the chosen option; tags are deduplicated and sorted in the order of the choices."""
    given = {*tags_of(text)} if field.kind is Kind.TAGS else {text}
    if not given <= choices.keys():
        raise _wrong(world, "choose")
    return TAG_PARTING.join(choice for choice in choices if choice in given)


def _read_integer(world: World, field: DataField, text: str) -> int:
    value = read_number(world, text) if len(text) <= _MOST_DIGITS else None
    if value is None:
        raise _wrong(world, "whole_number")
    if not field.min <= value <= field.max:
        raise _wrong(world, "number_between", least=field.min, most=field.max)
    return value


def _read_money(world: World, field: DataField, text: str) -> int:
    value = read_amount(world, text) if len(text) <= _MOST_LETTERS else None
    if value is None or (world.amounts is Amounts.WHOLE and value % 100):
        raise _wrong(world, "amount_like", example=_example(world, field))
    if not field.min <= value <= field.max:
        least, most = (show_value(world, field, bound) for bound in (field.min, field.max))
        raise _wrong(world, "amount_between", least=least, most=most)
    return value


def _example(world: World, field: DataField) -> str:
    """Return an example of an amount without currency, as forms accept it."""
    return show_value(world, field, 1250).replace(world.currency, "").strip()


def _read_date(world: World, text: str) -> str:
    day = read_day(world, text)
    if day is None:
        raise _wrong(world, "date_like", example=show_day(world, EXAMPLE_DAY))
    return day.isoformat()
