"""The steps of references on forms: fields of all widgets are set, and forms are filled and saved.

Where a widget can be operated in several ways, the world and the words of the step decide between them, the same in every
process: a choice of a combobox is clicked or taken by Enter, a slider is dragged or moved by keys.
"""

from generators.policy.sentences.vary import sentence
from generators.tasks.worlds.ground.world_rows import Setting
from generators.tasks.worlds.references.dates import put_day
from generators.tasks.worlds.references.steps import (
    Steps,
    click,
    drag,
    enter,
    fill,
    is_drawn,
    look,
    press,
    save,
    to_edit,
)
from generators.worlds.state.database import Row, Value
from generators.worlds.state.display import show_value
from generators.worlds.state.form_fields import form_parts
from schemas.tasks.reference import Do, Purpose, ReferenceStep
from schemas.worlds.field import DataField, Widget, tags_of
from schemas.worlds.world import Entity

_MOST_LISTED = 4
"""Maximum number of options that a text typed into a combobox should leave."""

_MOST_CLICKS = 3
"""Maximum number of clicks on a stepper; other numbers are typed."""


def put(setting: Setting, field: DataField, value: Value, *, before: Value) -> Steps:
    """Return the steps that set a form's field; `before` is its current value, None: empty."""
    words = dict(setting.options(field)).get(
        value, "" if value is not None else setting.world.words.none
    )
    match field.asked_with:
        case Widget.CHECKBOX | Widget.SWITCH:
            is_other = bool(value) is not bool(before)
            steps: Steps = (click(field.label, Purpose.TOGGLE),) if is_other else ()
        case Widget.RADIOS | Widget.CARDS | Widget.SEGMENTS:
            steps = (click(words, Purpose.OPTION, within=field.label),)
        case Widget.SELECT:
            purpose = Purpose.CHOOSE_AT_ONCE
            steps = (ReferenceStep(do=Do.CHOOSE, on=field.label, text=words, purpose=purpose),)
        case Widget.COMBOBOX:
            steps = _find_choice(setting, field, words)
        case Widget.DROP:
            steps = (drag(words, box_of(setting, field), Purpose.ATTACH, within=field.label),)
        case Widget.CHECKBOXES | Widget.TAGS:
            steps = _tag(setting, field, value, before)
        case Widget.SLIDER if isinstance(value, int):
            steps = _slide(setting, field, value)
        case Widget.STEPPER if isinstance(value, int) and isinstance(before, int):
            steps = _step(setting, field, value, before)
        case Widget.DATE | Widget.FLATPICKR | Widget.AIR_DATEPICKER | Widget.VANILLAJS_DATEPICKER:
            steps = put_day(setting.world, field, value, before=before)
        case _:
            text = "" if value is None else show_value(setting.world, field, value)
            steps = (fill(field.label, text),)
    return steps


def _find_choice(setting: Setting, field: DataField, words: str) -> Steps:
    """Return the steps that type an option and take it by Enter, or find it by its first words and click it."""
    others = [other.casefold() for _, other in setting.options(field)]
    is_alone = sum(words.casefold() in other for other in others) == 1
    if is_alone and is_drawn(setting, "enter", field.label, words):
        return (enter(field.label, words, Purpose.ENTER_CHOICE),)
    typed = fill(field.label, _part(setting, field, words), Purpose.PART_OF_CHOICE)
    return (typed, click(words, Purpose.OPTION, within=field.label))


def _part(setting: Setting, field: DataField, words: str) -> str:
    """Return the first words of an option, enough to leave few matches."""
    parts = words.split()
    others = [other.casefold() for _, other in setting.options(field)]
    beginnings = (" ".join(parts[:count]) for count in range(1, len(parts) + 1))
    return next(
        (
            one
            for one in beginnings
            if sum(one.casefold() in other for other in others) <= _MOST_LISTED
        ),
        words,
    )


def box_of(setting: Setting, field: DataField) -> str:
    """Return the text in the box that a field's option is dragged into."""
    return setting.world.words.drop.format(field=field.label)


def _tag(setting: Setting, field: DataField, value: Value, before: Value) -> Steps:
    """Return the steps that change tags: first remove, then add."""
    wanted, there = tags_of(value), tags_of(before)
    gone = [tag for tag in there if tag not in wanted]
    new = [tag for tag in wanted if tag not in there]
    if field.asked_with is Widget.CHECKBOXES:
        return tuple(
            click(tag, Purpose.BOX, within=field.label)
            for tag in field.choices
            if tag in {*gone, *new}
        )
    untag = setting.world.words.untag
    removed = (click(untag.format(tag=tag), Purpose.UNTAG, within=field.label) for tag in gone)
    return (*removed, *(step for tag in new for step in _find_choice(setting, field, tag)))


def _slide(setting: Setting, field: DataField, value: int) -> Steps:
    """Return the steps that move a slider to a number, by its handle or by keys from its nearer end.

    An arrow key moves the handle in the arrow's direction; on right-to-left pages numbers grow to the left.
    """
    if is_drawn(setting, "slide", field.label, str(value), of=4, to=3):
        purpose = Purpose.HANDLE
        return (ReferenceStep(do=Do.SLIDE, on=field.label, text=str(value), purpose=purpose),)
    from_end = field.max - value < value - field.min
    less, more = ("ArrowLeft", "ArrowRight")[
        :: -1 if setting.world.language.runs_right_to_left else 1
    ]
    end, key = ("End", less) if from_end else ("Home", more)
    times = field.max - value if from_end else value - field.min
    slider = click(field.label, Purpose.SLIDER)
    return (slider, press(end, Purpose.END_OF_SLIDER), *((press(key),) * times))


def _step(setting: Setting, field: DataField, value: int, before: int) -> Steps:
    """Return the steps that set a stepper: by its buttons, or by typing if the difference is large."""
    if not 0 < abs(value - before) <= _MOST_CLICKS:
        return (fill(field.label, show_value(setting.world, field, value)),)
    words = setting.world.words
    button = (words.increase if value > before else words.decrease).format(field=field.label)
    return count_to(button, show_value(setting.world, field, value), abs(value - before))


def count_to(button: str, value: str, times: int) -> Steps:
    """Return the clicks on a button, so many times, that bring a number by one each to a value."""
    why = sentence("steps.count_to", text=value)
    return (click(button, Purpose.COUNT).model_copy(update={"why": why}),) * times


def fill_form(setting: Setting, entity: Entity, values: Row) -> Steps:
    """Return the steps that fill and save the form for a new row, page by page in a wizard."""
    parts = form_parts(setting.world, entity) if entity.wizard else [("", entity.fields)]
    steps = list[ReferenceStep]()
    for _, fields in parts:
        for field in fields:
            if field.name in values:
                steps += put(setting, field, values[field.name], before=None)
        if entity.wizard:
            steps.append(click(setting.world.words.next, Purpose.NEXT_PART))
    if entity.wizard:
        return (*steps, click(setting.world.words.save, Purpose.SAVE))
    return (*steps, *save(setting))


def save_change(setting: Setting, entity: Entity, row: Row, values: Row) -> Steps:
    """Return the steps that change values of a row, from its own page, and open what shows them."""
    steps = [
        step
        for name, value in values.items()
        for step in put(setting, entity.field(name), value, before=row[name])
    ]
    changed = [entity.field(name) for name in values]
    return (*to_edit(setting), *steps, *save(setting), *look(setting, entity, changed, sees=False))
