"""Skills that end with one click: on what the goal quotes, in the order it gives, or in a menu.

The target may be hidden at first: behind a tab, in a collapsed section or folder, or in a submenu
that opens on hover.
"""

import re
from collections.abc import Callable
from functools import partial

from generators.browser.protocol import Node
from generators.policy.teacher.goals import nth, ordinal, part, quote, quotes, to_int
from generators.policy.teacher.page import Page, SkillError, classes, label, say
from generators.policy.teacher.primitives import (
    button,
    click,
    click_at,
    hover,
    locator,
    submit,
)
from generators.policy.teacher.scrolling import (
    Locator,
    Plan,
    click_point,
)


def click_button(page: Page) -> Plan:
    """Click the button that the goal quotes."""
    text = quote(page.goal)
    why = say(
        page,
        f"I see the button '{text}' that the goal asks for, so I click it.",
        f"The goal names '{text}', and this button says just that: I press it.",
        f"Of the things here, '{text}' is the one that the goal wants clicked.",
    )
    return (yield from click(page, locator("button", text=text), why))


def click_only_button(page: Page) -> Plan:
    """Click the only button of the page."""
    text = label(page.one("button"))
    why = say(
        page,
        f"I see a single button, '{text}', and the goal asks for it, so I click it.",
        f"'{text}' is the only button in the picture, so it is the one to click.",
    )
    return (yield from click(page, locator("button"), why))


def click_named_buttons(page: Page) -> Plan:
    """Click those of the buttons ONE and TWO that the goal names, in its order."""
    for number, name in enumerate(re.findall(r"\b(?:ONE|TWO)\b", page.goal)):
        why = say(
            page,
            f"The goal names button '{name}'{' next' if number else ''}, and I see it here.",
            f"'{name}' is the button for the goal's {'next' if number else 'first'} click.",
        )
        page = yield from click(page, locator("button", text=name), why)
    return page


def click_numbered_tab(page: Page) -> Plan:
    """Open the tab whose number is in the goal."""
    name = part(r"(Tab #\d+)", page.goal)
    why = say(
        page,
        f"Another tab is in front and the goal asks for '{name}', so I open that.",
        f"I see '{name}' in the row of tabs; the goal asks for it, so I click it.",
        f"The goal names '{name}', which lies behind, so I bring it to the front.",
    )
    return (yield from click(page, locator("a", text=name), why))


def click_link(page: Page) -> Plan:
    """Click the link that the goal quotes."""
    text = quote(page.goal)
    why = say(
        page,
        f"This is the link '{text}' that the goal asks for, so I click it.",
        f"Among the words I see '{text}' marked as a link: it is what the goal wants.",
        f"Here stands the link '{text}', so I click on it as the goal says.",
    )
    return (yield from click(page, locator("span", cls="alink", text=text), why))


def _click_hidden_link(page: Page, headers: str, kind: str) -> Plan:
    """Open one section after another until the link that the goal quotes is visible, and click it.

    `headers` is the class of what opens a section, `kind` what a person calls it.
    """
    text = quote(page.goal)
    place = 0
    while page.first("span", cls="alink", text=text) is None:
        place += 1
        header = locator(cls=headers, place=place)(page)
        if _is_open(page, header):
            continue
        name = label(header)
        why = say(
            page,
            f"I see no link '{text}' here, so I open the {kind} '{name}' to look there.",
            f"The link '{text}' is not among these words, so I open the next {kind}, '{name}'.",
            f"The {kind} '{name}' may hold the link '{text}', which I do not see, so I look under it.",
        )
        page = yield from click(page, locator(cls=headers, place=place), why)
    return (yield from click_link(page))


def _is_open(page: Page, header: Node) -> bool:
    """Return whether a tab or a section is drawn as open."""
    marked = classes(header) | classes(page.parent(header) or header)
    return bool(marked & {"ui-tabs-active", "ui-accordion-header-active"})


click_link_behind_tabs = partial(_click_hidden_link, headers="ui-tabs-anchor", kind="tab")
click_link_in_sections = partial(_click_hidden_link, headers="ui-accordion-header", kind="section")


def expand_and_submit(page: Page) -> Plan:
    """Expand the only section and submit."""
    name = label(page.one(cls="ui-accordion-header"))
    why = say(
        page,
        f"'{name}' is folded: only its heading shows. I click that to unfold it.",
        f"I see the heading '{name}' and nothing below it, so I unfold the section.",
        f"The goal wants the section expanded, and '{name}' is closed, so I open it.",
    )
    page = yield from click(page, locator(cls="ui-accordion-header"), why)
    return (yield from submit(page))


def click_in_dialog(page: Page) -> Plan:
    """Click the dialog's button that the goal quotes; `x` is the one that closes it."""
    name = quote(page.goal)
    if name == "x":
        why = "The cross in the dialog's corner is the 'x' that the goal asks for, so I click it."
        return (yield from click(page, locator(cls="ui-dialog-titlebar-close"), why))
    why = say(
        page,
        f"The dialog shows the button '{name}' that the goal asks for, so I click it.",
        f"In the dialog I see '{name}', which is the button to press.",
    )
    return (yield from click(page, button(name), why))


_WIDGETS = {
    "radio": "a round button to choose with",
    "checkbox": "a square box to tick",
    "text": "a field for one line of text",
    "textarea": "a field for several lines of text",
    "button": "a button with words on it",
}
"""What each kind of control looks like, by its name in goals."""


def click_widget(page: Page) -> Plan:
    """Click a control of the kind that the goal quotes."""
    kind = quote(page.goal)
    find = locator("input", "textarea", "button", where=lambda node: _widget_kind(node) == kind)
    look = _WIDGETS.get(kind, "a control of this kind")
    why = say(
        page,
        f"The kind of control that the goal names is {look}, and here I see one.",
        f"I look for {look}, as the goal asks; this is one, so I click it.",
    )
    return (yield from click(page, find, why))


def _widget_kind(node: Node) -> str:
    if node.tag != "input":
        return node.tag
    kind = node.attrs.get("type", "text")
    return kind if kind in {"radio", "checkbox"} else "text"


def focus_text(page: Page) -> Plan:
    """Click into the text field, or into the one whose position is in the goal."""
    if "the textbox" in page.goal:
        why = "I see one text field; the goal wants the cursor in it, so I click into it."
        return (yield from click(page, locator("input"), why))
    place = ordinal(page.goal)
    why = say(
        page,
        f"Counted from the top, this is the {nth(place)} text field, so I click into it.",
        f"The goal wants the cursor in the {nth(place)} of the fields that I see: this one.",
    )
    return (yield from click(page, locator("input", place=place), why))


def click_ascending(page: Page) -> Plan:
    """Click numbers in ascending order; the first click hides them all."""
    numbers = sorted(page.all("text"), key=lambda node: to_int(node.text))
    before = ""
    for text, (x, y) in [(node.text, click_point(node)) for node in numbers]:
        why = say(
            page,
            f"After '{before}' comes '{text}'. The numbers are hidden now, but it stood here.",
            f"The next higher number after '{before}' is '{text}', which I saw at this place.",
        )
        if not before:
            why = f"'{text}' is the lowest number that I see, so I begin with it."
        page = yield from click_at(x, y, why)
        before = text
    return page


def open_tree(page: Page) -> Plan:
    """Expand folders until the file or folder that the goal quotes is visible, and click it."""
    name = quote(page.goal)
    place = 0
    while page.first("span", text=name) is None:
        place += 1
        folder = locator("span", cls="folder", place=place)
        closed = folder(page).text
        why = say(
            page,
            f"I do not see '{name}' yet, so I look into the folder '{closed}'.",
            f"'{name}' is not among what is open; it may be in '{closed}', so I unfold that.",
            f"No line says '{name}'. '{closed}' is a folder that I have not opened, so I do.",
        )
        page = yield from click(page, folder, why)
    why = say(
        page,
        f"This line says '{name}', which the goal asks for, so I click it.",
        f"Here is '{name}' in the tree: I click it.",
    )
    return (yield from click(page, locator("span", text=name), why))


def _menu_item(text: str) -> Locator:
    """Return the locator of the menu item whose own text, without its submenu, is `text`."""

    def find(page: Page) -> Node:
        item = page.first(cls="ui-menu-item-wrapper", text=text)
        return page.one("div", text=text) if item is None else item

    return find


def walk_menu(page: Page) -> Plan:
    """Open submenus along the path in the goal, and click the last item of the path."""
    *folders, leaf = part(r"Select (.*)", page.goal).split(">")
    for name in folders:
        why = say(
            page,
            f"The goal's way to '{leaf}' leads through '{name}', so I point at that to unfold it.",
            f"'{name}' has a menu of its own, and '{leaf}' must be in it: I point at it.",
        )
        page = yield from hover(page, _menu_item(name), why)
    why = say(
        page,
        f"The menu shows '{leaf}' now, the last name of the goal, so I click it.",
        f"'{leaf}' has come into sight: this is the item to select.",
    )
    return (yield from click(page, _menu_item(leaf), why))


def use_menu(page: Page) -> Plan:
    """Open a menu, and a submenu if necessary, and click the item by its label or its icon."""
    why = "I see only the button 'Menu', so what I look for must be behind it: I open it."
    page = yield from click(page, button("Menu"), why)
    wanted = _menu_target(page)
    folders = page.all("div", cls="ui-menu-item-wrapper", where=_leads_further)
    for name in [folder.text for folder in folders]:
        if wanted(page) is None:
            why = say(
                page,
                f"No item in sight is the one. '{name}' has an arrow beside it, so I point at it.",
                f"What I look for may be under '{name}', which leads further, so I point at that.",
            )
            page = yield from hover(page, _menu_item(name), why)
    item = wanted(page)
    if item is None:
        raise SkillError("no item of the menu is the one")
    why = f"'{item.text}' is the item that the goal asks for, so I click it."
    if len(quotes(page.goal)) == 1:
        why = f"'{item.text}' has the icon that the goal shows, so I click it."
    return (yield from click_at(*click_point(item), why))


def _leads_further(item: Node) -> bool:
    """Return whether an item of a menu has the arrow of those that unfold another menu."""
    return any("ui-menu-icon" in classes(sign) for sign in item.children)


def _menu_target(page: Page) -> Callable[[Page], Node | None]:
    """Return what finds the item in sight with the label that the goal quotes, or the icon it shows; None: none has."""
    if labels := quotes(page.goal)[1:]:
        return lambda now: now.first("div", text=labels[0], where=_is_in_sight)
    banner = next((n for n in page.root.walk() if n.attrs.get("id") == "query"), page.root)
    icons = (name for node in banner.walk() for name in classes(node))
    icon = next((name for name in icons if name.startswith("ui-icon-")), None)
    if icon is None:
        raise SkillError("the goal shows no icon")

    def find(now: Page) -> Node | None:
        image = now.first("span", cls=icon, where=_is_in_sight)
        return None if image is None else now.parent(image) or image

    return find


def _is_in_sight(node: Node) -> bool:
    return node.point is not None
