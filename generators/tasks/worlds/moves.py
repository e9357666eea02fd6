"""The steps of references over a world's pages, by the words that the specification gives them.

A page of a view is opened by the navigation, a row's page by its title in the list, and what a reference
types or answers stands in the instruction or on a page that it has opened.
"""

from collections.abc import Mapping

from generators.tasks.worlds.setting import Setting
from generators.worlds.database import Row, Value
from schemas.reference import Do, ReferenceStep
from schemas.world import DataField, Entity, Kind, View, Widget

Steps = tuple[ReferenceStep, ...]
"""Steps of a reference, in their order."""


def click(on: str, *, within: str | None = None) -> ReferenceStep:
    """Return a click on what has these words."""
    return ReferenceStep(do=Do.CLICK, on=on, within=within)


def fill(on: str, text: str) -> ReferenceStep:
    """Return that a field's text is replaced."""
    return ReferenceStep(do=Do.TYPE, on=on, text=text)


def choose(on: str, option: str) -> ReferenceStep:
    """Return the choice of an option of a list."""
    return ReferenceStep(do=Do.SELECT, on=on, text=option)


def answer(text: str = "") -> ReferenceStep:
    """Return the answer; empty where nothing was asked."""
    return ReferenceStep(do=Do.ANSWER, text=text)


def to_row(setting: Setting, view: View, entity: Entity, row: Row) -> Steps:
    """Return the way from any page to a row's own: through its view, by a search where there is one."""
    words, title = setting.world.words, setting.title(entity, row)
    search = (fill(words.search, title), click(words.apply)) if view.searched else ()
    turns = setting.turns(view, entity, row)
    return (click(view.label), *search, *turn(setting, turns), click(title))


def to_list(
    setting: Setting,
    view: View,
    filters: Mapping[str, str],
    *,
    sort: DataField | None = None,
    descending: bool = False,
) -> Steps:
    """Return the way from any page to a view's list.

    Args:
        setting: the world.
        view: the view.
        filters: the choices that narrow it, by field.
        sort: the field that rows go by; None: by id.
        descending: whether the largest is the first.
    """
    entity, words = setting.world.entity(view.entity), setting.world.words
    chosen = [choose(entity.field(name).label, choice) for name, choice in filters.items()]
    if sort is not None:
        way = words.descending if descending else words.ascending
        chosen.append(click(way.format(field=sort.label)))
    return (click(view.label), *chosen, *((click(words.apply),) if chosen else ()))


def turn(setting: Setting, times: int) -> Steps:
    """Return that a list's next page is asked for so many times."""
    return (click(setting.world.words.next),) * times


def to_form(setting: Setting, view: View, entity: Entity) -> Steps:
    """Return the way from any page to the form for a new row."""
    return (click(view.label), click(setting.world.words.add.format(one=entity.one)))


def put(setting: Setting, field: DataField, value: Value, *, before: Value) -> Steps:
    """Return how a form's field is given a value; `before` is what it holds."""
    words = dict(setting.options(field)).get(value, "")
    match field.kind, field.widget:
        case (Kind.FLAG, Widget.CHECKBOX | Widget.INPUT):
            return (click(field.label),) if bool(value) is not bool(before) else ()
        case (Kind.CHOICE | Kind.FLAG | Kind.LINK, Widget.RADIOS):
            return (click(words, within=field.label),)
        case (Kind.CHOICE | Kind.FLAG | Kind.LINK, _):
            return (choose(field.label, words),)
        case (Kind.MONEY, _) if isinstance(value, int):
            return (fill(field.label, amount(value)),)
        case _:
            return (fill(field.label, "" if value is None else str(value)),)


def amount(value: int) -> str:
    """Return an amount without its currency, as it is typed and answered: `1234.50`."""
    whole, cents = divmod(abs(value), 100)
    return f"{'-' if value < 0 else ''}{whole}.{cents:02}"
