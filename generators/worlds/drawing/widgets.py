"""Draws the form widget of each field among those allowed for its kind."""

import re
from collections.abc import Iterable, Mapping, Sequence
from random import Random

from generators.worlds.packages.lock import read_lock
from generators.worlds.state.display import has_padded_numbers
from schemas.worlds.field import PICKERS, DataField, Kind, Widget
from schemas.worlds.language import Language
from schemas.worlds.look import Days
from schemas.worlds.world import Entity

_FEW, _MANY = 5, 12
"""Maximum number of choices with a button each, and of choices in a list without a search, which is operated by
keys."""

_BOXES = 8
"""Maximum number of tags with a checkbox each."""

_DRAGGED = 0.55
"""The share of choices, of few, that are dragged into a box."""

_SHOWN = {Widget.COMBOBOX, Widget.RADIOS, Widget.CARDS, Widget.SEGMENTS}
_NATIVE = 0.5
"""The share of choices with these widgets, of few enough options, that are native lists instead."""

_ROW_CHARS = 42
"""Maximum number of characters on one row of buttons."""

_MOST_POSITIONS = 40
"""Maximum number of steps of a slider, which moves by one step per key press."""

_FILE = re.compile(r"\.[a-z]{3,4}$")
"""The ending of file names."""

_FILES = {
    Widget.FLATPICKR: ("dist/flatpickr.min.css", "dist/flatpickr.min.js"),
    Widget.AIR_DATEPICKER: ("air-datepicker.css", "air-datepicker.js"),
    Widget.VANILLAJS_DATEPICKER: ("dist/css/datepicker.min.css", "dist/js/datepicker.min.js"),
}
"""The stylesheet and the script of each picker's package."""

_Weights = Mapping[Widget, int]


def draw_dates(rng: Random, days: Days, language: Language) -> Widget:
    """Return the date widget of all forms of a world; `days` is its format of days.

    The browser's native field takes numbers of two digits, so it is used only with formats that pad numbers. Its parts
    are named in the browser's own language and stand in the order of that, so only pages in English have it.
    """
    among = [Widget.INPUT, *PICKERS]
    if has_padded_numbers(days) and language is Language.ENGLISH:
        among.append(Widget.DATE)
    return rng.choice(among)


def picker_packages(entities: Iterable[Entity]) -> tuple[str, ...]:
    """Return the packages of the date pickers of entities, as `flatpickr@4.6.13`."""
    return tuple(read_lock()[picker.value].pinned for picker in _pickers(entities))


def picker_files(entities: Iterable[Entity]) -> tuple[Sequence[str], Sequence[str]]:
    """Return the URLs of the stylesheets and of the scripts of the date pickers of entities."""
    files = [
        tuple(read_lock()[picker.value].address(path) for path in _FILES[picker])
        for picker in _pickers(entities)
    ]
    return [style for style, _ in files], [script for _, script in files]


def _pickers(entities: Iterable[Entity]) -> list[Widget]:
    asked = {field.asked_with for entity in entities for field in entity.fields if field.editable}
    return [picker for picker in PICKERS if picker in asked]


def with_widgets(
    entity: Entity,
    counts: Mapping[str, int],
    rng: Random,
    *,
    dates: Widget,
    others: Random | None = None,
    drags: bool = True,
) -> Entity:
    """Return an entity with a widget for each field, `dates` for dates; `counts` has the rows of each entity.

    `others` draws choices that are dragged into a box, where `drags` says so, and native lists in place of others;
    None: neither.
    """
    fields = tuple(
        field.model_copy(update={"widget": _draw(_weights(field, counts, dates), rng)})
        for field in entity.fields
    )
    if others is not None:
        fields = tuple(_with_other_widget(field, counts, others, drags=drags) for field in fields)
    return entity.model_copy(update={"fields": fields})


def _with_other_widget(
    field: DataField, counts: Mapping[str, int], rng: Random, *, drags: bool
) -> DataField:
    is_dragged, is_native = rng.random() < _DRAGGED, rng.random() < _NATIVE
    count = len(field.choices) or counts.get(field.target or "", 0)
    if drags and is_dragged and _can_drag(field):
        return field.model_copy(update={"widget": Widget.DROP})
    has_list = field.kind in {Kind.CHOICE, Kind.LINK} and 0 < count <= _MANY
    if is_native and has_list and field.asked_with in _SHOWN:
        return field.model_copy(update={"widget": Widget.SELECT})
    return field


def _can_drag(field: DataField) -> bool:
    """Return whether a field's choices fit in a tray, each once."""
    others = " ".join((field.label, *field.choices)).casefold()
    is_few = field.kind is Kind.CHOICE and len(field.choices) <= _FEW
    return is_few and all(others.count(one.casefold()) == 1 for one in field.choices)


def _draw(weights: _Weights, rng: Random) -> Widget:
    return rng.choices(list(weights), list(weights.values()))[0]


def _weights(field: DataField, counts: Mapping[str, int], dates: Widget) -> _Weights:
    """Return the allowed widgets of a field with their weights."""
    match field.kind:
        case Kind.CHOICE:
            weights = _of_choices(field)
        case Kind.TAGS:
            weights = {Widget.CHECKBOXES: 2 if len(field.choices) <= _BOXES else 0, Widget.TAGS: 3}
        case Kind.LINK if counts.get(field.target or "", 0) <= _MANY:
            weights = {Widget.SELECT: 2, Widget.COMBOBOX: 1}
        case Kind.LINK:
            weights = {Widget.COMBOBOX: 1}
        case Kind.FLAG:
            weights = {Widget.CHECKBOX: 4, Widget.SWITCH: 3, Widget.RADIOS: 2, Widget.SEGMENTS: 2}
        case Kind.INTEGER if field.required and field.max - field.min <= _MOST_POSITIONS:
            weights = {Widget.INPUT: 2, Widget.STEPPER: 3, Widget.SLIDER: 3}
        case Kind.INTEGER:
            weights = {Widget.INPUT: 3, Widget.STEPPER: 2}
        case Kind.LONG_TEXT:
            weights = {Widget.TEXTAREA: 3, Widget.RICHTEXT: 2}
        case Kind.DATE:
            weights = {dates: 1}
        case _:
            weights = {Widget.INPUT: 1}
    return weights


def _of_choices(field: DataField) -> _Weights:
    if all(map(_FILE.search, field.choices)):
        return {Widget.SELECT: 1, Widget.DROP: 4}
    if len(field.choices) > _MANY:
        return {Widget.COMBOBOX: 1}
    if len(field.choices) > _FEW or not field.required:  # a pressed button cannot be released
        return {Widget.SELECT: 2, Widget.COMBOBOX: 1}
    in_a_row = sum(map(len, field.choices)) <= _ROW_CHARS
    return {
        Widget.SELECT: 3,
        Widget.RADIOS: 3,
        Widget.CARDS: 2,
        Widget.COMBOBOX: 1,
        Widget.SEGMENTS: 2 if in_a_row else 0,
    }
