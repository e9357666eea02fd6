"""The steps of references on a world's pages, by the labels in the specification.

A view is opened by the navigation, a row's page by its title in the list. Every text that a reference types or
answers stands in the instruction or on a page that it has opened. The world's behaviour decides the steps: menus and
closed parts of a page are opened before their content is used or read.
"""

from collections.abc import Iterable, Mapping
from zlib import crc32

from generators.tasks.worlds.ground.row_conditions import Part
from generators.tasks.worlds.ground.world_rows import Setting
from generators.tasks.worlds.references.dates import put_day
from generators.worlds.state.database import Row, Value
from generators.worlds.state.display import show_value
from generators.worlds.state.form_fields import form_parts
from generators.worlds.state.page_layout import fact_parts
from schemas.tasks.reference import Do, Purpose, ReferenceStep
from schemas.worlds.behaviour import Cookies, Facts, Paging
from schemas.worlds.field import DataField, Widget, tags_of
from schemas.worlds.patterns import Shape
from schemas.worlds.world import Entity, Transition, View

Steps = tuple[ReferenceStep, ...]
"""The steps of a reference, in order."""


_MOST_LISTED = 4
"""Maximum number of options that a text typed into a combobox should leave."""

_MOST_CLICKS = 3
"""Maximum number of clicks on a stepper; other numbers are typed."""


def click(on: str, purpose: Purpose | None = None, *, within: str | None = None) -> ReferenceStep:
    """Return a click on the element with these words."""
    return ReferenceStep(do=Do.CLICK, on=on, within=within, purpose=purpose)


def fill(on: str, text: str, purpose: Purpose = Purpose.TYPE) -> ReferenceStep:
    """Return the step that replaces a field's text."""
    return ReferenceStep(do=Do.TYPE, on=on, text=text, purpose=purpose)


def choose(on: str, option: str, purpose: Purpose = Purpose.CHOOSE) -> ReferenceStep:
    """Return the choice of an option of a list."""
    return ReferenceStep(do=Do.SELECT, on=on, text=option, purpose=purpose)


def drag(on: str, to: str, purpose: Purpose, *, within: str | None = None) -> ReferenceStep:
    """Return the drag of an element onto another, both named by their words."""
    return ReferenceStep(do=Do.DRAG, on=on, within=within, text=to, purpose=purpose)


def see(on: str) -> ReferenceStep:
    """Return the step that scrolls an element into view."""
    return ReferenceStep(do=Do.LOOK, on=" ".join(on.split()), purpose=Purpose.LOOK)


def answer(text: str = "", why: str | None = None) -> ReferenceStep:
    """Return the answer, empty if the task asks nothing; `why` is the thought before it, None: a drawn one."""
    return ReferenceStep(do=Do.ANSWER, text=text, why=why, purpose=Purpose.ANSWER)


def because(why: str, steps: Steps) -> Steps:
    """Return the steps with `why` as the thought of the first."""
    first, *others = steps
    return (first.model_copy(update={"why": why}), *others)


def press(key: str, purpose: Purpose = Purpose.KEY) -> ReferenceStep:
    """Return the press of a key or chord."""
    return ReferenceStep(do=Do.PRESS, text=key, purpose=purpose)


def opened_view(setting: Setting, step: ReferenceStep) -> View | None:
    """Return the view that a step opens by the navigation, or None."""
    if step.purpose not in {Purpose.VIEW, Purpose.TO_CART}:
        return None
    return next((view for view in setting.world.views if view.label == step.on), None)


def to_view(setting: Setting, view: View) -> Steps:
    """Return the steps from any page to a view, by the navigation."""
    menus = setting.world.behaviour.menus
    menu = next((one for one in menus if view.name in one.views), None)
    opened = click(view.label, Purpose.TO_CART if view.shape is Shape.CART else Purpose.VIEW)
    return (opened,) if menu is None else (click(menu.label, Purpose.MENU), opened)


def search(setting: Setting, text: str) -> Steps:
    """Return the steps that search a visible list."""
    words = setting.world.words
    return (fill(words.search, text, Purpose.SEARCH), click(words.apply, Purpose.APPLY))


def part_of(title: str) -> str:
    """Return what of a title is put into a search: all of it, its first words or its last ones, the same for equal titles.

    A part has at least half of the words, so that few other rows have it too.
    """
    parts = title.split()
    count = -(-len(parts) // 2)
    ways = (title, " ".join(parts[:count]), " ".join(parts[-count:]))
    return ways[crc32(title.encode()) % len(ways)]


def find_row(setting: Setting, view: View, entity: Entity, row: Row) -> Steps:
    """Return the steps from any page to a list that shows a row, with a search if possible."""
    searched = setting.is_searched(view, entity, row)
    return (
        *to_view(setting, view),
        *(search(setting, part_of(setting.title(entity, row))) if searched else ()),
        find_listed(setting, setting.title(entity, row)),
    )


def to_row(
    setting: Setting,
    view: View,
    entity: Entity,
    row: Row,
    *,
    reads: Iterable[DataField] | None = None,
) -> Steps:
    """Return the steps from any page to a row's page, through its view, with a search if possible.

    `reads` are the fields to scroll into view there, in order; None: open all parts of the page instead.
    """
    return (
        *find_row(setting, view, entity, row),
        click(setting.title(entity, row), Purpose.ROW),
        *(
            look(setting, entity, entity.fields, sees=False)
            if reads is None
            else look(setting, entity, reads)
        ),
    )


def look(
    setting: Setting, entity: Entity, fields: Iterable[DataField], *, sees: bool = True
) -> Steps:
    """Return the steps that scroll fields into view on a row's page that was just opened.

    Without `sees` only the parts of the page that contain them are opened.
    """
    parts = fact_parts(setting.world, entity)
    part_of = {field.name: label for label, held in parts for field in held}
    steps, open_parts = list[ReferenceStep](), {parts[0][0]}
    for field in fields:
        label = part_of[field.name]
        if label not in open_parts:
            steps.append(click(label, Purpose.PART))
            keeps = setting.world.behaviour.facts is Facts.ACCORDION
            open_parts = {*(open_parts if keeps else ()), label}
        if sees:
            steps.append(see(field.label))
    return tuple(steps)


def act(setting: Setting, label: str, purpose: Purpose) -> Steps:
    """Return the steps that use an action on a row's page, opening its menu if there is one."""
    menu = setting.world.behaviour.actions
    return (*(() if menu is None else (click(menu, Purpose.MENU),)), click(label, purpose))


def take_steps(setting: Setting, *way: Transition) -> Steps:
    """Return the steps that take steps of a workflow, in order, on a row's page, and open what shows its state."""
    taken = tuple(each for step in way for each in act(setting, step.label, Purpose.STEP))
    flow = next(one for one in setting.world.workflows if way[-1] in one.transitions)
    entity = setting.world.entity(flow.entity)
    return (*taken, *look(setting, entity, [entity.field(flow.field)], sees=False))


def to_edit(setting: Setting) -> Steps:
    """Return the steps from a row's page to its form."""
    return act(setting, setting.world.words.edit, Purpose.EDIT)


def save(setting: Setting) -> Steps:
    """Return the steps that save a form, with the second confirmation if there is one."""
    sure = setting.world.behaviour.sure
    saved = click(setting.world.words.save, Purpose.SAVE)
    return (saved,) if sure is None else (saved, click(sure, Purpose.SURE))


def remove(setting: Setting) -> Steps:
    """Return the steps that delete a row from its page."""
    words = setting.world.words
    return (*act(setting, words.delete, Purpose.DELETE), click(words.confirm, Purpose.CONFIRM))


def to_list(
    setting: Setting,
    view: View,
    filters: Mapping[str, str],
    *,
    sort: DataField | None = None,
    descending: bool = False,
) -> Steps:
    """Return the steps from any page to a view's list.

    `filters` are the options of filters by field; `sort` is the field that sorts the rows, None: by id.
    """
    entity, words = setting.world.entity(view.entity), setting.world.words
    chosen = [
        choose(entity.field(name).label, choice, Purpose.FILTER) for name, choice in filters.items()
    ]
    if sort is not None:
        way = words.descending if descending else words.ascending
        chosen.append(click(way.format(field=sort.label), Purpose.SORT))
    applied = (click(words.apply, Purpose.APPLY),) if chosen else ()
    return (*to_view(setting, view), *chosen, *applied)


def _next_rows(setting: Setting) -> str | None:
    """Return the words on the button that loads a list's next rows; None: they load by scrolling on."""
    behaviour = setting.world.behaviour
    match behaviour.paging:
        case Paging.PAGES:
            return setting.world.words.next
        case Paging.MORE:
            return behaviour.more
        case _:
            return None


def find_listed(setting: Setting, title: str) -> ReferenceStep:
    """Return the step that looks through a list until a row's title is in sight."""
    return ReferenceStep(
        do=Do.FIND, on=" ".join(title.split()), text=_next_rows(setting), purpose=Purpose.LOOK
    )


def read(setting: Setting) -> ReferenceStep:
    """Return the step that reads a list to its end."""
    return ReferenceStep(do=Do.READ, text=_next_rows(setting), purpose=Purpose.LOOK)


def to_form(setting: Setting, view: View, entity: Entity) -> Steps:
    """Return the steps from any page to the form for a new row."""
    label = setting.world.words.add.format(one=entity.one)
    return (*to_view(setting, view), click(label, Purpose.ADD))


def around_noise(setting: Setting, steps: Steps) -> Steps:
    """Return a reference with steps that close distractions on the first page and on newly opened views."""
    noise = setting.world.noise
    seen, out = set[str](), list[ReferenceStep]()
    if noise.cookies is Cookies.COVERING:
        out.append(click(noise.decline, Purpose.IN_THE_WAY))
    for step in steps:
        out.append(step)
        opened = opened_view(setting, step)
        if opened is None or opened.name in seen:
            continue
        seen.add(opened.name)
        if opened.name == noise.pop_up:
            out.append(click(noise.refuse, Purpose.IN_THE_WAY))
        if opened.name == noise.asks_again:
            out.append(fill(noise.name, setting.world.user, Purpose.NAME))
            out.append(click(noise.resume, Purpose.IN_THE_WAY))
    return tuple(out)


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
            steps = (choose(field.label, words),)
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
    """Return the steps that find an option by its first words and click it."""
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
    """Return the steps that move a slider to a number from its nearer end.

    An arrow key moves the handle in the arrow's direction; on right-to-left pages numbers grow to the left.
    """
    from_end = field.max - value < value - field.min
    less, more = ("ArrowLeft", "ArrowRight")[:: -1 if setting.world.look.right_to_left else 1]
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
    return (click(button, Purpose.COUNT),) * abs(value - before)


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


def to_part(setting: Setting, part: Part) -> Steps:
    """Return the steps from any page until all rows of a part were seen in its list."""
    return (
        *to_list(setting, part.view, part.filters),
        read(setting),
    )
