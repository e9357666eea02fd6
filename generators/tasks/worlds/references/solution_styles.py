"""Styles of references: different ways to do the same task, with the same result.

A plan begins at the navigation, which every page has. Steps that only look can therefore precede it: another view,
another row, a search without results.
"""

from collections.abc import Iterator
from enum import StrEnum
from random import Random

from generators.tasks.worlds.ground.world_rows import Setting, is_plain
from generators.tasks.worlds.references.steps import (
    Steps,
    because,
    click,
    look,
    opened_view,
    search,
    to_view,
)
from generators.worlds.state.database import Row
from schemas.tasks.reference import Purpose
from schemas.worlds.patterns import Shape
from schemas.worlds.world import View


class Style(StrEnum):
    """The style of a reference."""

    DIRECT = "direct"
    """The shortest plan."""
    TURNING = "turning"
    """Turns a list's pages where the shortest plan searches."""
    EXPLORING = "exploring"
    """Looks at another view and a row there first."""
    WRONG_WORD = "wrong_word"
    """Searches for a word that no title has, notices, and starts again."""
    NEAR_MISS = "near_miss"
    """Opens another row, notices, and goes back."""


_SHARES = {
    Style.DIRECT: 0.3,
    Style.TURNING: 0.2,
    Style.EXPLORING: 0.2,
    Style.WRONG_WORD: 0.15,
    Style.NEAR_MISS: 0.15,
}


def draw_style(random: Random) -> Style:
    """Return a random style."""
    (style,) = random.choices(list(_SHARES), list(_SHARES.values()))
    return style


def apply_style(setting: Setting, random: Random, style: Style, plan: Steps) -> Steps:
    """Return a plan with a style's steps before it; the plan alone if the style does not apply to the world."""
    views = [one for one in setting.world.views if _lists(one)]
    opened = (opened_view(setting, step) for step in plan)
    first = next((one for one in opened if one is not None and _lists(one)), None)
    match style:
        case Style.EXPLORING:
            others = [one for one in views if one is not first] or views
            return (*_glimpse(setting, random, random.choice(others), plan), *plan)
        case Style.NEAR_MISS if first is not None:
            return (*_glimpse(setting, random, first, plan), *plan)
        case Style.WRONG_WORD if first is not None and first.searched:
            return _after_wrong_search(setting, first, plan)
        case _:
            return plan


def _lists(view: View) -> bool:
    """Return whether a view is a list whose rows have their own pages."""
    return view.shape is Shape.LIST


def _glimpse(setting: Setting, random: Random, view: View, plan: Steps) -> Steps:
    """Return the steps that open a row on a list's first page which the plan does not open."""
    entity = setting.world.entity(view.entity)
    opened = {step.on for step in plan}
    rows = list(_told_apart(setting, view))
    others = [row for row in rows if setting.title(entity, row) not in opened]
    if not others:
        return to_view(setting, view)
    title = setting.title(entity, random.choice(others))
    row = click(title, Purpose.ROW)
    return (*to_view(setting, view), row, *look(setting, entity, entity.fields[:1]))


def _told_apart(setting: Setting, view: View) -> Iterator[Row]:
    """Yield the rows of a list's first page with unambiguous titles."""
    entity = setting.world.entity(view.entity)
    named = {row["id"] for row in setting.namable(view, entity)}
    for row in setting.rows_of(entity)[: view.page_size]:
        if row["id"] in named and is_plain(setting.title(entity, row)):
            yield row


def _after_wrong_search(setting: Setting, view: View, plan: Steps) -> Steps:
    """Return a plan after a search for the list's name; the plan alone if a title contains the name."""
    wrong, entity = view.label, setting.world.entity(view.entity)
    if any(wrong.casefold() in title.casefold() for title in setting.titles(entity)):
        return plan
    why = f'Perhaps a search for "{wrong}" shows at once what I need.'
    at = next(at for at, step in enumerate(plan) if opened_view(setting, step) is view)
    anew = plan[at].model_copy(update={"purpose": Purpose.NEW_SEARCH})
    searched = because(why, search(setting, wrong))
    return (*to_view(setting, view), *searched, *plan[:at], anew, *plan[at + 1 :])
