"""Which way to a page a policy takes, by what it sees: a plan says a way that always leads there, and often one is shorter.

What leads to the page in sight is left out, and so is a menu whose entry is in sight elsewhere. A menu that was never open
may hold anything: of several the first is opened first.
"""

from collections.abc import Iterator, Sequence
from urllib.parse import parse_qsl, urlsplit

from generators.browser.protocol import Node
from generators.policy.approach import is_in_window
from generators.policy.course import Course, is_known
from generators.policy.element_names import is_active, words
from generators.policy.list_controls import is_set, narrows_list
from generators.policy.named_elements import Page
from generators.policy.protocol import Decision
from generators.policy.reference_actions import FILLS, click, decide, sends_form
from generators.policy.sentences.vary import sentence
from generators.policy.sight import Sight
from schemas.episodes.action import Hover, target_point
from schemas.tasks.reference import Do, Purpose, ReferenceStep

_NARROWS = {*FILLS, Do.CLICK, Do.WAIT}
"""What is done to a list's search, filters and order."""

_SEARCHES = {Do.TYPE, Do.ENTER}

_TWO = 2

_MOST = 9
"""The most steps from a list to the row that is looked for in it."""

_MENUS = {Purpose.MENU, Purpose.HOVER_MENU}
_IS_IN_MENU = "⟪policy.again_by⟫"
"""How a thought begins that says in which menu a list's link is."""

_TO_VIEWS = {Purpose.VIEW, Purpose.TO_CART}


class Ways:
    """Finds what of a course is needless on the way to a page, and what has to be tried."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._opened = set[str]()
        self._tried: str | None = None

    def shorten(self, sight: Sight, goal: str) -> bool:
        """Leave out the next steps of the course where they lead to what is in sight; return whether there were any."""
        course = self._course
        count = _is_set(course, sight) or _is_chosen(course.next, sight)
        count = count or _narrows(course, sight, goal)
        count = count or _leads_here(course, sight, goal)
        if count:
            course.leave_out(count)
            return True
        if self._leave_out_menu(sight):
            return True
        _reword(course, sight)
        return False

    def _leave_out_menu(self, sight: Sight) -> bool:
        """Leave out the step that opens a menu of which the entry is in sight."""
        steps = self._course.to_come[:2]
        if len(steps) < _TWO or not _may_open_menu(steps[0], sight.page):
            return False
        link = sight.page.find(steps[1], exactly=True)
        if link is None or not is_active(link) or not _is_in_sight(link, sight.page):
            return False
        self._course.leave_out(1)
        held = (one for part in _parts(sight.page, "details") for one in part.walk())
        if steps[1].why and not any(one is link for one in held):
            self._course.reword(sentence("policy.no_menu", on=steps[1].on))
        return True

    def try_menu(self, sight: Sight) -> Decision | None:
        """Return what opens a menu that stands before the right one, where neither was open yet; None: there is none."""
        steps = self._course.to_come[:2]
        if not _opens_menu(steps, sight.page) or words(steps[0].on or "") in self._opened:
            return None
        if (steps[0].why or "").startswith(_IS_IN_MENU):
            return None  # it was said which one it is
        menus = (one for one in _menus(sight.page) if words(one.text) not in self._opened)
        first = next((one for one in menus if _is_in_sight(one, sight.page)), None)
        if first is None or first.point is None:
            return None
        if words(first.text) == words(steps[0].on or ""):
            self._opened.add(words(first.text))
            if self._tried is not None and steps[0].why:
                self._course.reword(sentence("policy.tries_on", on=words(first.text)))
            self._tried = None
            return None
        self._tried = words(first.text)
        (x, y) = first.point
        why = steps[0].why and sentence("policy.tries", on=words(first.text))
        return decide(Hover(x=x, y=y), why) if steps[0].do is Do.HOVER else click(first, why)

    def close_tried(self, sight: Sight) -> Decision | None:
        """Return what closes a menu that was tried in vain and lies over the next one; None: the next one is in sight."""
        step, page = self._course.next, sight.page
        aim = None if step is None else page.find(step, exactly=True)
        if self._tried is None or step is None or (aim is not None and aim.point is not None):
            return None
        tried = next((one for one in _menus(page) if words(one.text) == self._tried), None)
        if tried is None or not _is_in_sight(tried, page):
            return None
        why = step.why and sentence("policy.closes", on=self._tried)
        if step.do is not Do.HOVER:
            self._tried = ""
            return click(tried, why)
        if page.window.heading is None:
            return None
        heading, (x, y) = page.window.heading
        off = sentence("policy.moves_off", on=self._tried, heading=words(heading))
        self._tried = ""
        return decide(Hover(x=x, y=y), step.why and off)

    def note(self, decision: Decision, sight: Sight) -> None:
        """Note which menu a decision opens."""
        at = target_point(decision.action)
        self._opened |= {words(one.text) for one in _menus(sight.page) if one.point == at}


def _narrows(course: Course, sight: Sight, goal: str) -> int:
    """Return how many of the next steps search, filter or order a list for a row that is in sight; 0: none does.

    An order may be what is asked for: it is needless only if the row is known by its name.
    """
    steps, page = course.to_come[:_MOST], sight.page
    row = next((at for at, one in enumerate(steps) if one.do not in _NARROWS), 0)
    if not row or steps[row].do is not Do.FIND:
        return _searches_in_vain(steps, page)
    name, clicks = steps[row].on or "", sum(one.do is Do.CLICK for one in steps[:row])
    field, thing = page.find(steps[0]), page.find_exactly(name)
    is_needed = clicks > 1 and not is_known(name, course, goal)
    if is_needed or field is None or not narrows_list(field, page.front):
        return 0
    return row if thing is not None and _is_in_sight(thing, page) else 0


def _searches_in_vain(steps: Sequence[ReferenceStep], page: Page) -> int:
    """Return how many of the next steps search a board for a card that is in sight; 0: none does."""
    field = page.find(steps[0]) if steps and steps[0].do in _SEARCHES else None
    sent = next((at for at, one in enumerate(steps) if _sends(one, page)), None)
    if field is None or field.attrs.get("type") != "search" or sent is None:
        return 0
    then = next((at for at in range(sent + 1, len(steps)) if steps[at].do is not Do.WAIT), None)
    name = None if then is None else steps[then].within or steps[then].on
    thing = None if name is None else page.find_exactly(name)
    return (then or 0) if thing is not None and _is_in_sight(thing, page) else 0


def _leads_here(course: Course, sight: Sight, goal: str) -> int:
    """Return how many of the next steps lead to the page that is shown, or on it to a row that is in sight; 0: none does."""
    steps = course.to_come[: _MOST + 2]
    link = _link_here(steps, sight)
    if link is None or not steps[link + 1 :]:
        return int(_is_current(steps[:2], sight.page))
    rest = steps[link + 1 :]
    row = next((at for at, one in enumerate(rest) if one.do not in _NARROWS), 0)
    if rest[row].do is Do.FIND and is_known(rest[row].on or "", course, goal):
        thing = sight.page.find_exactly(rest[row].on or "")
        if thing is not None and _is_in_sight(thing, sight.page):
            return link + 1 + row
    return link + 1 if _is_ready(rest[0], sight) else 0


def _link_here(steps: Sequence[ReferenceStep], sight: Sight) -> int | None:
    """Return the place of the step that opens the page that is shown, of the next two; None: neither does."""
    return next((at for at in range(min(2, len(steps))) if _is_here(steps, at, sight)), None)


def _reword(course: Course, sight: Sight) -> None:
    """Say why a list is opened from itself, and by what a page is opened where its navigation is folded."""
    steps, page = course.to_come[:2], sight.page
    if not steps or not steps[0].why:
        return
    here = _link_here(steps, sight)
    if here == 0:
        last = course.taken[-1] if course.taken else None
        was_said = last is not None and (last.step.why or "").startswith(_IS_IN_MENU)
        key = "again_here" if was_said else "again"
        course.reword(sentence(f"policy.{key}", on=steps[0].on))
    elif here is not None:
        course.reword(sentence("policy.again_by", on=steps[0].on))
    elif steps[0].do is Do.CLICK and steps[0].purpose in _TO_VIEWS:
        link = page.find(steps[0], exactly=True)
        if link is not None and _is_in_sight(link, page) and not page.is_in_navigation(link):
            course.reword(sentence("policy.no_menu", on=steps[0].on))


def _is_here(steps: Sequence[ReferenceStep], at: int, sight: Sight) -> bool:
    """Return whether a step, perhaps by a menu before it, opens the page that is shown by the navigation."""
    step, page = steps[at], sight.page
    if step.do is not Do.CLICK or (at and not _may_open_menu(steps[0], page)):
        return False
    thing = page.find(step, exactly=True)
    is_elsewhere = thing is not None and is_active(thing) and not page.is_in_navigation(thing)
    is_titled = page.modal is page.root and words(sight.screen.heading) == words(step.on or "")
    return is_titled and not is_elsewhere


def _is_current(steps: Sequence[ReferenceStep], page: Page) -> bool:
    """Return whether a click leads to where its page is, and what is clicked next is in sight."""
    if len(steps) < _TWO or any(one.do is not Do.CLICK for one in steps):
        return False
    link, then = (page.find(one, exactly=True) for one in steps)
    is_current = link is not None and link.attrs.get("aria-current") == "page"
    return is_current and then is not None and _is_in_sight(then, page)


def _is_ready(step: ReferenceStep, sight: Sight) -> bool:
    """Return whether a step can be taken on the list that is shown: nothing narrows it, or only the search that follows."""
    asked = {name for name, value in parse_qsl(urlsplit(sight.screen.url).query) if value}
    if not asked:
        return True
    thing = sight.page.find(step, exactly=True) if step.do is Do.CLICK else None
    if thing is not None and is_active(thing) and _is_in_sight(thing, sight.page):
        return not narrows_list(thing, sight.page.front)
    field = sight.page.find(step) if step.do in _SEARCHES else None
    if field is None or field.attrs.get("type") != "search":
        return False
    return _is_in_sight(field, sight.page) and asked <= {field.attrs.get("name", "")}


def _is_set(course: Course, sight: Sight) -> int:
    """Return how many of the next steps narrow or order a list that is so already; 0: none does.

    Where something was chosen or typed that is not sent yet, all of it is sent.
    """
    last = course.taken[-1] if course.taken else None
    if last is not None and (not last.is_planned or last.step.do in FILLS):
        return 0
    steps, page = course.to_come[:_MOST], sight.page
    sent = next((at for at, one in enumerate(steps) if _sends(one, page)), None)
    first = page.find(steps[0]) if sent is not None else None
    if sent is None or first is None or not narrows_list(first, page.front):
        return 0
    waits = bool(steps[sent + 1 :]) and steps[sent + 1].do is Do.WAIT
    return sent + 1 + waits if is_set(steps[: sent + 1], page, sight.screen.url) else 0


def _is_chosen(step: ReferenceStep | None, sight: Sight) -> int:
    """Return 1 where a step chooses an order of a list that is chosen already; 0: it does not."""
    thing = None if step is None or step.do is not Do.CLICK else sight.page.find(step, exactly=True)
    if thing is None or thing.attrs.get("type") != "radio" or not thing.checked:
        return 0
    return int(narrows_list(thing, sight.page.front))


def _sends(step: ReferenceStep, page: Page) -> bool:
    """Return whether a step sends a form that is in sight."""
    if step.do is Do.ENTER:
        return True
    thing = page.find(step) if step.do is Do.CLICK else None
    return thing is not None and sends_form(thing)


def _opens_menu(steps: Sequence[ReferenceStep], page: Page) -> bool:
    """Return whether the first of two steps opens a menu of the navigation, and the second clicks its entry."""
    opens = len(steps) == _TWO and steps[0].do in (Do.CLICK, Do.HOVER)
    if not opens or steps[1].do is not Do.CLICK:
        return False
    aim = page.find(steps[0], exactly=True)
    return any(one is aim for one in _menus(page))


def _may_open_menu(step: ReferenceStep, page: Page) -> bool:
    """Return whether a step opens a menu of the navigation, or says so of one that is not in sight."""
    if step.do not in (Do.CLICK, Do.HOVER):
        return False
    aim = page.find(step, exactly=True)
    if aim is not None:
        return any(one is aim for one in _menus(page))
    return step.do is Do.HOVER or step.purpose in _MENUS


def _menus(page: Page) -> Iterator[Node]:
    """Yield the menus of the navigation, in order."""
    for bar in _parts(page, "nav"):
        yield from (one for one in bar.walk() if one.tag == "summary")


def _parts(page: Page, tag: str) -> Iterator[Node]:
    return (one for one in page.root.walk() if one.tag == tag)


def _is_in_sight(thing: Node, page: Page) -> bool:
    return thing.point is not None and is_in_window(thing, page)
