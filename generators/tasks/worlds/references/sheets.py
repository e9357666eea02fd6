"""The ways out of pages without navigation: sheets with the rest of a row's facts, and rows' pages on some worlds.

A step that such a page does not offer is preceded by the way out: back in the tab's history, or, where the page has a tab
of its own, closing it or showing the tab from which it was opened.
"""

import itertools
from collections.abc import Iterator, Sequence
from zlib import crc32

from generators.policy.sentences.vary import sentence
from generators.tasks.worlds.ground.world_rows import Setting
from generators.tasks.worlds.references.steps import LEAVE, OPENS_ROW, Steps, because
from schemas.tasks.reference import CLOSE, Do, Purpose, ReferenceStep
from schemas.worlds.behaviour import Facts

_MOST_LEFT_OPEN = 5
"""Maximum number of sheets whose tabs stay open behind the first."""

_STAYS = {Do.LOOK, Do.ANSWER, Do.BACK}
"""What is done on a sheet, and what leaves it."""

_BY_FORM = {Purpose.ADD, Purpose.EDIT}
"""Purposes of steps that open a form, which leads to a row's page."""

_LINKS_TO_VIEWS = {
    *("cards", "links", "table", "sections", "columns", "topics", "tiles", "teasers", "directory")
}
"""The blocks of a start page that link to all views."""

_SAVES = {Purpose.SAVE, Purpose.SURE}

_CLOSES = ReferenceStep(do=Do.TAB, text=CLOSE, purpose=Purpose.CLOSE_TAB)


def with_ways_out(setting: Setting, steps: Steps) -> Steps:
    """Return a reference that leaves each page without navigation before it goes on elsewhere."""
    return tuple(_out_of_rows(setting, tuple(_out_of_sheets(setting, steps))))


def from_home(setting: Setting, steps: Steps) -> Steps:
    """Return a reference that opens its first view by the start page's own link, where the pointer would open a menu."""
    blocks = {block.value for block in setting.world.look.home}
    if steps[0].purpose is not Purpose.HOVER_MENU or blocks.isdisjoint(_LINKS_TO_VIEWS):
        return steps
    opened = steps[1]
    return because(sentence("policy.no_menu", on=opened.on), (opened, *steps[2:]))


def _out_of_sheets(setting: Setting, steps: Steps) -> Iterator[ReferenceStep]:
    behaviour = setting.world.behaviour
    if behaviour.facts is not Facts.SHEET:
        yield from steps
        return
    left = list(_with_leaves(steps))
    leaves = _leave_tab(left, rows_alone=behaviour.rows_alone) if behaviour.in_tab else LEAVE
    yield from (leaves if step is LEAVE else step for step in left)


def _with_leaves(steps: Sequence[ReferenceStep]) -> Iterator[ReferenceStep]:
    is_on_sheet = False
    for step in steps:
        if is_on_sheet and step.do not in _STAYS and step.purpose is not Purpose.ROW:
            yield LEAVE
            is_on_sheet = False
        if step.purpose is Purpose.SHEET:
            is_on_sheet = True
        elif step is LEAVE or step.purpose is Purpose.ROW:
            is_on_sheet = False
        yield step


def _leave_tab(steps: Sequence[ReferenceStep], *, rows_alone: bool) -> ReferenceStep:
    """Return the step that leaves a sheet's tab: the same for all of a reference.

    The first tab is shown again where all else of the reference is in it: a link on a sheet goes on in the sheet's tab.
    """
    sheets = sum(step.purpose is Purpose.SHEET for step in steps)
    stays = crc32(" ".join(step.on or "" for step in steps).encode()) % 2 == 0
    follows = any(
        one.do is Do.LOOK and other.purpose is Purpose.ROW
        for one, other in itertools.pairwise(steps)
    )
    if stays and not (follows or rows_alone) and sheets <= _MOST_LEFT_OPEN:
        return ReferenceStep(do=Do.TAB, text="0", purpose=Purpose.SWITCH_TAB)
    return _CLOSES


def _out_of_rows(setting: Setting, steps: Steps) -> list[ReferenceStep]:
    """Return the steps of a reference, with those that leave rows' pages for the navigation."""
    out = list[ReferenceStep]()
    behaviour = setting.world.behaviour
    views = {view.label for view in setting.world.views}
    navigation = views | {menu.label for menu in behaviour.menus}
    is_alone = has_tab = has_form = False
    for step in steps:
        purpose = step.purpose
        if behaviour.rows_alone and is_alone and _navigates(step, navigation):
            leaves = (_CLOSES if has_tab else LEAVE).model_copy(update={"on": step.on})
            if out[-1] is LEAVE or (has_tab and out[-1] is _CLOSES):
                out.pop()  # as many steps out as are needed are those from a sheet too
            out.append(leaves)
            is_alone = has_tab = False
        if purpose in OPENS_ROW:
            has_tab = has_tab if is_alone else behaviour.in_tab
            is_alone = True
        elif purpose is Purpose.CHECK_OUT or (purpose in _SAVES and has_form):
            is_alone = True
        elif purpose is Purpose.CONFIRM:
            is_alone = has_tab = False
        if _navigates(step, navigation) or purpose in _BY_FORM:
            has_form = purpose in _BY_FORM
        out.append(step)
    return out


def _navigates(step: ReferenceStep, navigation: set[str]) -> bool:
    """Return whether a step uses the navigation."""
    used = {Purpose.VIEW, Purpose.TO_CART, Purpose.MENU, Purpose.HOVER_MENU}
    return step.purpose in used and step.on in navigation
