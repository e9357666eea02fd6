"""Skills that end with one click: on what the goal quotes, in the order it gives, or in a menu.

The target may be hidden at first: behind a tab, in a collapsed section or folder, or in a submenu
that opens on hover.
"""

import re
from functools import partial

from generators.browser.protocol import Node
from generators.policy.teacher.goals import nth, ordinal, part, quote, quotes, to_int
from generators.policy.teacher.page import NodeTest, Page, SkillError, classes
from generators.policy.teacher.primitives import (
    Locator,
    Plan,
    button,
    click,
    click_at,
    click_point,
    hover,
    locator,
    submit,
)


def click_button(page: Page) -> Plan:
    """Click the button that the goal quotes."""
    text = quote(page.goal)
    why = f"The goal asks for the button '{text}', so I click it."
    return (yield from click(page, locator("button", text=text), why))


def click_only_button(page: Page) -> Plan:
    """Click the only button of the page."""
    return (
        yield from click(page, locator("button"), "The goal asks for the button, so I click it.")
    )


def click_named_buttons(page: Page) -> Plan:
    """Click those of the buttons ONE and TWO that the goal names, in its order."""
    for name in re.findall(r"\b(?:ONE|TWO)\b", page.goal):
        why = f"The goal asks for button {name}, so I click it."
        page = yield from click(page, locator("button", text=name), why)
    return page


def click_numbered_tab(page: Page) -> Plan:
    """Open the tab whose number is in the goal."""
    name = part(r"(Tab #\d+)", page.goal)
    return (
        yield from click(page, locator("a", text=name), f"The goal asks for {name}: I open it.")
    )


def click_link(page: Page) -> Plan:
    """Click the link that the goal quotes."""
    text = quote(page.goal)
    why = f"This is the link '{text}' that the goal asks for, so I click it."
    return (yield from click(page, locator("span", cls="alink", text=text), why))


def _click_hidden_link(page: Page, headers: str, kind: str) -> Plan:
    """Open one section after another until the link that the goal quotes is visible, and click it.

    `headers` is the class of what opens a section.
    """
    text = quote(page.goal)
    place = 0
    while page.first("span", cls="alink", text=text) is None:
        place += 1
        if _is_open(page, locator(cls=headers, place=place)(page)):
            continue
        why = f"The link '{text}' is not in sight, so I look under the {nth(place)} {kind}."
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
    why = "The section is folded, so I unfold it."
    page = yield from click(page, locator(cls="ui-accordion-header"), why)
    return (yield from submit(page))


def click_in_dialog(page: Page) -> Plan:
    """Click the dialog's button that the goal quotes; `x` is the one that closes it."""
    name = quote(page.goal)
    find = locator(cls="ui-dialog-titlebar-close") if name == "x" else button(name)
    return (yield from click(page, find, f"The goal asks for '{name}' in the dialog: I click it."))


def click_widget(page: Page) -> Plan:
    """Click a control of the kind that the goal quotes."""
    kind = quote(page.goal)
    find = locator("input", "textarea", "button", where=lambda node: _widget_kind(node) == kind)
    return (yield from click(page, find, f"The goal asks for a {kind} widget, and this is one."))


def _widget_kind(node: Node) -> str:
    if node.tag != "input":
        return node.tag
    kind = node.attrs.get("type", "text")
    return kind if kind in {"radio", "checkbox"} else "text"


def focus_text(page: Page) -> Plan:
    """Click into the text field, or into the one whose position is in the goal."""
    place = 1 if "the textbox" in page.goal else ordinal(page.goal)
    why = f"The goal asks for the {nth(place)} text field, so I click into it."
    return (yield from click(page, locator("input", place=place), why))


def click_ascending(page: Page) -> Plan:
    """Click numbers in ascending order; the first click hides them all."""
    numbers = sorted(page.all("text"), key=lambda node: to_int(node.text))
    for text, (x, y) in [(node.text, click_point(node)) for node in numbers]:
        page = yield from click_at(x, y, f"'{text}' is the next number; it stands or stood here.")
    return page


def open_tree(page: Page) -> Plan:
    """Expand folders until the file or folder that the goal quotes is visible, and click it."""
    name = quote(page.goal)
    place = 0
    while page.first("span", text=name) is None:
        place += 1
        folder = locator("span", cls="folder", place=place)
        why = f"'{name}' is not in sight, so I look into the folder '{folder(page).text}'."
        page = yield from click(page, folder, why)
    return (yield from click(page, locator("span", text=name), f"This is '{name}', so I click it."))


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
        why = f"'{leaf}' is under '{name}', so I point at that to open it."
        page = yield from hover(page, _menu_item(name), why)
    return (yield from click(page, _menu_item(leaf), f"This is '{leaf}', so I click it."))


def use_menu(page: Page) -> Plan:
    """Open a menu, and a submenu if necessary, and click the item by its label or its icon."""
    page = yield from click(page, button("Menu"), "The item is in the menu, so I open it.")
    wanted = _menu_target(page)
    folders = page.all("li", where=lambda node: any(child.tag == "ul" for child in node.children))
    for name in [folder.children[0].text for folder in folders]:
        if wanted(page).point is None:
            why = f"The item is not in sight; '{name}' has a submenu, so I point at it."
            page = yield from hover(page, _menu_item(name), why)
    text = wanted(page).text
    return (yield from click(page, wanted, f"'{text}' is what the goal asks for, so I click it."))


def _menu_target(page: Page) -> Locator:
    """Return the locator of the item with the label that the goal quotes, or the icon it shows."""
    if labels := quotes(page.goal)[1:]:
        is_target: NodeTest = lambda node: node.text == labels[0]  # noqa: E731 - used once
        return lambda now: now.one("div", where=is_target, shown=False)
    banner = next((n for n in page.root.walk() if n.attrs.get("id") == "query"), page.root)
    icons = (name for node in banner.walk() for name in classes(node))
    icon = next((name for name in icons if name.startswith("ui-icon-")), None)
    if icon is None:
        raise SkillError("the goal shows no icon")

    def find(now: Page) -> Node:
        image = now.one("span", cls=icon, shown=False)
        return now.parent(image) or image

    return find
