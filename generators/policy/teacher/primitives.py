"""The actions that skills are built from: click, fill, scroll, drag, wait.

A skill is a generator: it starts with the page, yields a decision, and is sent the page as it is
after that decision was carried out. So its code reads in the order of its actions and it keeps no
state of its own; `yield from` builds one action from others. Every action returns the page that it
left behind. None reads a page itself or knows a browser, so tests play skills on pages that they
build.
"""

from typing import Protocol

from generators.browser.protocol import Node
from generators.policy.teacher.goals import nth
from generators.policy.teacher.page import (
    NodeTest,
    Page,
    SkillError,
    not_found,
    say,
)
from generators.policy.teacher.scrolling import (
    Locator,
    Plan,
    click_point,
    do,
    scroll_into_view,
)
from schemas.episodes.action import (
    Click,
    Drag,
    Hover,
    Key,
    KeyDown,
    KeyUp,
    TypeText,
    Wait,
)

_OPENINGS = 3
"""Largest number of times that a closed list is opened: a list that has not opened yet misses the first keys."""

_TEXTUAL = frozenset({"text", "password", "search", "number", "email", "tel", "url"})
"""Types of input fields that take text."""


class Skill(Protocol):
    """Solves one kind of task."""

    def __call__(self, page: Page) -> Plan:
        """Return the plan that solves the task on this page."""
        ...


def wait(ms: int, why: str) -> Plan:
    """Wait; `ms` is in the page's time."""
    return (yield from do(Wait(ms=ms), why))


def press_key(chord: str, why: str) -> Plan:
    """Press a chord."""
    return (yield from do(Key(key=chord), why))


def click_at(x: float, y: float, why: str, *, count: int = 1) -> Plan:
    """Click at a point."""
    return (yield from do(Click(x=x, y=y, count=count), why))


def drag(start: tuple[float, float], end: tuple[float, float], why: str) -> Plan:
    """Drag from one point to another."""
    action = Drag(x=start[0], y=start[1], to_x=end[0], to_y=end[1])
    return (yield from do(action, why))


def click(page: Page, find: Locator, why: str, *, count: int = 1) -> Plan:
    """Scroll the node into view and click it."""
    page = yield from scroll_into_view(page, find)
    x, y = click_point(find(page))
    return (yield from click_at(x, y, why, count=count))


def focus(page: Page, find: Locator, why: str | None = None) -> Plan:
    """Click into a field, unless the keyboard goes there already; by default `why` names the field."""
    page = yield from scroll_into_view(page, find)
    if find(page).focused:
        return page
    return (yield from click(page, find, why or _why_into(page, find(page))))


def _why_into(page: Page, field: Node) -> str:
    """Return why to click into a field: it is named by its caption, or by its place."""
    if caption := page.caption(field):
        return say(
            page,
            f"The field for {caption} is to be filled in, so I click into it.",
            f"Here I see the field for {caption}; to type there I first click into it.",
        )
    fields = page.all("input", where=lambda node: node.attrs.get("type", "text") in _TEXTUAL)
    place = next((nth(n) for n, node in enumerate(fields, 1) if node is field), None)
    if place and len(fields) > 1:
        return say(
            page,
            f"The {place} field is to be filled in next, so I click into it.",
            f"I go on with the {place} of the fields and click into it.",
        )
    return say(
        page,
        "What is asked for belongs into this field, so I click into it.",
        "The text goes into this field; so that it takes what I type, I click into it.",
    )


def type_over(page: Page, find: Locator, text: str, why: str) -> Plan:
    """Replace the content of the field with the keyboard focus by a text.

    Raises:
        SkillError: the field does not have the focus.
    """
    if not find(page).focused:
        raise SkillError("the field does not take the focus")
    if find(page).value:
        marking = say(
            page,
            "The field is not empty, so I mark what it holds.",
            "Something stands in the field already; I mark all of it, to type over it.",
        )
        page = yield from press_key("Control+a", marking)
    return (yield from do(TypeText(text=text), why))


def fill(page: Page, find: Locator, text: str, why: str, *, into: str | None = None) -> Plan:
    """Click into a field, look, and type; a field that has that text already is left alone.

    `into` is the thought of the click, `why` that of the typing.

    Raises:
        SkillError: two clicks do not give it the focus.
    """
    page = yield from scroll_into_view(page, find)
    if find(page).value == text:
        return page
    page = yield from focus(page, find, into)
    page = yield from focus(page, find, "The field has not taken my click, so I click once more.")
    return (yield from type_over(page, find, text, why))


def select_option(page: Page, find: Locator, option: str, why: str, *, more: bool = False) -> Plan:
    """Select an option of a list; with `more`, in addition to the selected ones.

    An open list takes clicks. A closed list is opened and gets the option's name by keys, because pictures
    do not show its options.
    """
    page = yield from scroll_into_view(page, find)
    if "multiple" in find(page).attrs:
        return (yield from _click_option(page, find, option, why, more=more))
    for _ in range(_OPENINGS):
        shows = find(page).selected
        if shows == option:
            return page
        other = f"The list shows '{shows}'" if shows else "The list shows nothing yet"
        page = yield from click(page, find, f"{why} {other}, so I open it.")
        page = yield from do(TypeText(text=option), f"I type '{option}' to find it in the list.")
        page = yield from press_key("Enter", f"The list is at '{option}' now, so I take it.")
    return page


def _click_option(page: Page, find: Locator, option: str, why: str, *, more: bool) -> Plan:
    listed: Locator = lambda now: now.one("option", within=find(now), text=option, shown=False)  # noqa: E731 - used once
    why = f"{why} I see it in the list, so I click it."
    page = yield from scroll_into_view(page, listed)
    if not more:
        return (yield from click(page, listed, why))
    hold = f"'{option}' is to be chosen beside what is, so I hold Control down."
    page = yield from do(KeyDown(key="Control"), hold)
    page = yield from click(page, listed, why)
    return (yield from do(KeyUp(key="Control"), f"'{option}' is chosen too, so I let Control go."))


def locator(
    *tags: str,
    cls: str | None = None,
    text: str | None = None,
    where: NodeTest | None = None,
    place: int = 1,
) -> Locator:
    """Return the locator of the `place`-th of the nodes that `Page.all` returns, from 1.

    A negative place counts from the end.
    """

    def find(page: Page) -> Node:
        nodes = page.all(*tags, cls=cls, text=text, where=where)
        if len(nodes) < abs(place):
            raise not_found(tags, text=text, place=place)
        return nodes[place - 1 if place > 0 else place]

    return find


def button(text: str) -> Locator:
    """Return the locator of a button by its text: a real one, or the innermost element with it."""

    def find(page: Page) -> Node:
        real = page.first("button", "input", text=text)
        if real is not None:
            return real
        node = page.one(text=text)
        while same := [n for n in node.children if n.shown and n.text == node.text]:
            node = same[0]
        return node

    return find


def by_id(name: str) -> Locator:
    """Return the locator of a node by its id."""
    return lambda page: page.by_id(name)


def submit(page: Page, text: str = "Submit") -> Plan:
    """Press the button that submits."""
    why = say(
        page,
        f"Everything is set, so I press '{text}'.",
        f"Nothing that the goal asks for is left on this page, so '{text}' is next.",
        f"The page is as the goal wants it: I press '{text}'.",
    )
    return (yield from click(page, button(text), why))


def hover(page: Page, find: Locator, why: str) -> Plan:
    """Scroll the node into view and move the pointer onto it."""
    page = yield from scroll_into_view(page, find)
    x, y = click_point(find(page))
    return (yield from do(Hover(x=x, y=y), why))
