"""The steps of references on a world's pages, by the labels in the specification.

A view is opened by the navigation, a row's page by its title in the list. Every text that a reference types or
answers stands in the instruction or on a page that it has opened. The world's behaviour decides the steps: menus and
closed parts of a page are opened before their content is used or read.
"""

from collections.abc import Iterable, Mapping
from zlib import crc32

from generators.policy.sentences.vary import sentence
from generators.tasks.worlds.ground.row_conditions import Part
from generators.tasks.worlds.ground.world_rows import Setting
from generators.tasks.worlds.references.facts import facts_of, facts_of_rows, keep
from generators.worlds.state.database import Row
from generators.worlds.state.page_layout import fact_parts
from schemas.tasks.reference import Do, Fact, Purpose, ReferenceStep
from schemas.worlds.behaviour import Acts, Cookies, Facts, Menus, Paging
from schemas.worlds.field import DataField
from schemas.worlds.patterns import Shape
from schemas.worlds.world import Entity, Transition, View

Steps = tuple[ReferenceStep, ...]
"""The steps of a reference, in order."""


OPENS_ROW = {Purpose.ROW, Purpose.TWICE}
"""Purposes of steps that open a row's page."""

LEAVE = ReferenceStep(do=Do.BACK, purpose=Purpose.BACK)
"""The step that leaves a sheet of facts for the row's page."""


def click(on: str, purpose: Purpose | None = None, *, within: str | None = None) -> ReferenceStep:
    """Return a click on the element with these words."""
    return ReferenceStep(do=Do.CLICK, on=on, within=within, purpose=purpose)


def fill(on: str, text: str, purpose: Purpose = Purpose.TYPE) -> ReferenceStep:
    """Return the step that replaces a field's text."""
    return ReferenceStep(do=Do.TYPE, on=on, text=text, purpose=purpose)


def enter(on: str, text: str, purpose: Purpose) -> ReferenceStep:
    """Return the step that replaces a field's text, and presses Enter."""
    return ReferenceStep(do=Do.ENTER, on=on, text=text, purpose=purpose)


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


def is_drawn(setting: Setting, *told: str, of: int = 2, to: int = 1) -> bool:
    """Return whether a way is taken, as `to` times `of` so many, the same for the same world and words."""
    world = setting.world
    return crc32(" ".join((world.family, str(world.seed), *told)).encode()) % of < to


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
    return (opened,) if menu is None else (_open_menu(setting, menu.label), opened)


def _open_menu(setting: Setting, label: str) -> ReferenceStep:
    """Return the step that opens a menu of the navigation."""
    if setting.world.behaviour.menus_open is Menus.HOVER:
        return ReferenceStep(do=Do.HOVER, on=label, purpose=Purpose.HOVER_MENU)
    return click(label, Purpose.MENU)


def search(setting: Setting, view: View, text: str) -> Steps:
    """Return the steps that search a visible list or board."""
    words = setting.world.words
    waited = _wait(setting) if view.shape is not Shape.BOARD else ()
    if setting.world.sends_by_enter(view):
        return (enter(words.search, text, Purpose.SEARCH_AT_ONCE), *waited)
    return (fill(words.search, text, Purpose.SEARCH), click(words.apply, Purpose.APPLY), *waited)


def _wait(setting: Setting) -> Steps:
    """Return the step that waits for what a search or filter finds; none if it is there at once."""
    behaviour = setting.world.behaviour
    waits = ReferenceStep(do=Do.WAIT, on=behaviour.searching, purpose=Purpose.WAIT)
    return (waits,) if behaviour.slow_ms else ()


def open_row(setting: Setting, view: View, title: str) -> ReferenceStep:
    """Return the step that opens a row's page from a list that shows its title."""
    if setting.world.behaviour.twice and view.shape is Shape.LIST:
        return ReferenceStep(do=Do.DOUBLE_CLICK, on=title, purpose=Purpose.TWICE)
    return click(title, Purpose.ROW)


def part_of(title: str) -> str:
    """Return what of a title is put into a search: all of it, its first words or its last ones, the same for equal titles.

    A part has at least half of the words, so that few other rows have it too.
    """
    parts = title.split()
    count = -(-len(parts) // 2)
    ways = (title, " ".join(parts[:count]), " ".join(parts[-count:]))
    return ways[crc32(title.encode()) % len(ways)]


def find_row(setting: Setting, view: View, entity: Entity, row: Row) -> Steps:
    """Return the steps from any page to a list that shows a row, with a search if possible (else see `manners.py`)."""
    title = setting.title(entity, row)
    searched = search(setting, view, part_of(title)) if view.searched else ()
    return (*to_view(setting, view), *searched, find_listed(setting, title))


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
        open_row(setting, view, setting.title(entity, row)),
        *(
            look(setting, entity, entity.fields, sees=False)
            if reads is None
            else look(setting, entity, reads)
        ),
    )


def read_row(
    setting: Setting, view: View, entity: Entity, row: Row, fields: Iterable[DataField]
) -> Steps:
    """Return the steps from any page until fields of a row are in sight and kept: in its list, or else on its page."""
    fields = tuple(fields)
    if not is_listed(view, fields):
        return read_page(setting, view, entity, row, *fields)
    return keep(find_row(setting, view, entity, row), facts_of(setting, entity, row, fields))


def read_page(setting: Setting, view: View, entity: Entity, row: Row, *fields: DataField) -> Steps:
    """Return the steps from any page until fields of a row are in sight on its own page, and kept."""
    steps = to_row(setting, view, entity, row, reads=fields)
    return keep(steps, facts_of(setting, entity, row, fields))


def is_listed(view: View, fields: Iterable[DataField]) -> bool:
    """Return whether a list shows fields of its rows beside their titles."""
    return view.shape is Shape.LIST and all(field.name in view.columns for field in fields)


def look(
    setting: Setting, entity: Entity, fields: Iterable[DataField], *, sees: bool = True
) -> Steps:
    """Return the steps that scroll fields into view on a row's page that was just opened.

    Without `sees` only the parts of the page that contain them are opened.
    """
    parts, facts = fact_parts(setting.world, entity), setting.world.behaviour.facts
    part_of = {field.name: label for label, held in parts for field in held}
    steps, open_parts = list[ReferenceStep](), {parts[0][0]}
    for field in fields:
        label = part_of[field.name]
        if label not in open_parts:
            if facts is not Facts.SHEET:
                steps.append(click(label, Purpose.PART))
            else:
                steps.append(LEAVE if label == parts[0][0] else click(label, Purpose.SHEET))
            open_parts = {*(open_parts if facts is Facts.ACCORDION else ()), label}
        if sees:
            steps.append(see(field.label))
    return tuple(steps)


def act(setting: Setting, label: str, purpose: Purpose) -> Steps:
    """Return the steps that use an action on a row's page, opening its menu if there is one."""
    behaviour = setting.world.behaviour
    match behaviour.acts:
        case Acts.CONTEXT:
            opened: Steps = (
                ReferenceStep(do=Do.RIGHT_CLICK, on=".row-name", purpose=Purpose.CONTEXT),
            )
        case Acts.HOVER if behaviour.actions is not None:
            hovered = ReferenceStep(do=Do.HOVER, on=behaviour.actions, purpose=Purpose.HOVER_MENU)
            opened = (hovered,)
        case _:
            menu = behaviour.actions
            opened = () if menu is None else (click(menu, Purpose.MENU),)
    return (*opened, click(label, purpose))


def in_words_of(step: ReferenceStep) -> str:
    """Return what the first step of an action on a row's page does, as a thought says it."""
    match step.do:
        case Do.RIGHT_CLICK:
            return "click the name with the right button"
        case Do.HOVER:
            return f'move to "{step.on}"'
        case _:
            return f'click "{step.on}"'


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
    narrowed = narrow(setting, view, filters, sort=sort, descending=descending)
    return (*to_view(setting, view), *narrowed)


def narrow(
    setting: Setting,
    view: View,
    filters: Mapping[str, str],
    *,
    sort: DataField | None = None,
    descending: bool = False,
) -> Steps:
    """Return the steps that filter and sort a list in sight; the arguments are those of `to_list`."""
    entity, words = setting.world.entity(view.entity), setting.world.words
    chosen = [
        choose(entity.field(name).label, choice, Purpose.FILTER) for name, choice in filters.items()
    ]
    if sort is not None:
        way = words.descending if descending else words.ascending
        chosen.append(click(way.format(field=sort.label), Purpose.SORT))
    applies = Purpose.APPLY if filters else Purpose.ORDER
    return (*chosen, click(words.apply, applies), *_wait(setting)) if chosen else ()


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


def read(setting: Setting, keep: Iterable[Fact] = ()) -> ReferenceStep:
    """Return the step that reads a list to its end, and keeps what it says."""
    return ReferenceStep(
        do=Do.READ, text=_next_rows(setting), purpose=Purpose.LOOK, keep=tuple(keep)
    )


def to_form(setting: Setting, view: View, entity: Entity) -> Steps:
    """Return the steps from any page to the form for a new row."""
    label = setting.world.words.add_one(entity.one, setting.world.language)
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
            out += _sign_in_again(setting)
    return tuple(out)


def open_untold_lists(steps: Steps, goal: str) -> Steps:
    """Return a reference that opens the lists of which the goal does not name the option."""
    purposes = {
        Purpose.CHOOSE_AT_ONCE: Purpose.CHOOSE,
        Purpose.CHOOSE_CELL_AT_ONCE: Purpose.CHOOSE_CELL,
    }
    return tuple(
        step.model_copy(
            update={"do": Do.SELECT, "purpose": purposes.get(step.purpose or Purpose.CHOOSE)}
        )
        if step.do is Do.CHOOSE and f'"{step.text}"' not in goal
        else step
        for step in steps
    )


def _sign_in_again(setting: Setting) -> Steps:
    noise, user = setting.world.noise, setting.world.user
    if setting.world.behaviour.enter:
        return (enter(noise.name, user, Purpose.NAME),)
    goes_on = because(
        sentence("policy.session_go", on=noise.resume), (click(noise.resume, Purpose.IN_THE_WAY),)
    )
    return (fill(noise.name, user, Purpose.NAME), *goes_on)


def to_part(setting: Setting, part: Part, field: DataField | None = None) -> Steps:
    """Return the steps from any page until all rows of a part were seen in its list, and kept.

    `field` is what of each row is kept; None: its name alone.
    """
    kept = facts_of_rows(setting, part.entity, part.rows, field)
    return (*to_list(setting, part.view, part.filters), read(setting, kept))
