"""Skills that end with one click: on what the goal quotes, in the order it gives, or in a menu.

The target may first have to be uncovered: behind a tab, under a folded section, inside a folded
folder, in a submenu that opens under the pointer.
"""

import re
from functools import partial

from generators.browser.protocol import Node
from generators.policy.teacher.goals import nth, ordinal, part, quote, quoted, whole
from generators.policy.teacher.page import Lost, Page, classes
from generators.policy.teacher.primitives import (
    Find,
    Plan,
    button,
    click_at,
    hover,
    press,
    spot,
    submit,
    the,
)


def click_button(page: Page) -> Plan:
    """Click the button the goal quotes."""
    text = quote(page.goal)
    why = f"The goal asks for the button '{text}', so I click it."
    return (yield from press(page, the("button", text=text), why))


def click_only_button(page: Page) -> Plan:
    """Click the one button there is."""
    return (yield from press(page, the("button"), "The goal asks for the button, so I click it."))


def click_named_buttons(page: Page) -> Plan:
    """Click the buttons ONE and TWO as far as the goal names them, in its order."""
    for name in re.findall(r"\b(?:ONE|TWO)\b", page.goal):
        why = f"The goal asks for button {name}, so I click it."
        page = yield from press(page, the("button", text=name), why)
    return page


def click_numbered_tab(page: Page) -> Plan:
    """Open the tab whose number the goal names."""
    name = part(r"(Tab #\d+)", page.goal)
    return (yield from press(page, the("a", text=name), f"The goal asks for {name}: I open it."))


def click_link(page: Page) -> Plan:
    """Click the link the goal quotes, wherever it shows."""
    text = quote(page.goal)
    why = f"This is the link '{text}' that the goal asks for, so I click it."
    return (yield from press(page, the("span", cls="alink", text=text), why))


def _link_under(page: Page, lids: str, kind: str) -> Plan:
    """Open one lid after another until the link the goal quotes is in sight, and click it."""
    text = quote(page.goal)
    place = 0
    while page.maybe("span", cls="alink", text=text) is None:
        place += 1
        why = f"The link '{text}' is not in sight, so I look under the {nth(place)} {kind}."
        page = yield from press(page, the(cls=lids, place=place), why)
    return (yield from click_link(page))


click_link_behind_tabs = partial(_link_under, lids="ui-tabs-anchor", kind="tab")
click_link_in_sections = partial(_link_under, lids="ui-accordion-header", kind="section")


def unfold_and_submit(page: Page) -> Plan:
    """Unfold the one section and submit."""
    why = "The section is folded, so I unfold it."
    page = yield from press(page, the(cls="ui-accordion-header"), why)
    return (yield from submit(page))


def click_in_dialog(page: Page) -> Plan:
    """Click the dialog's button the goal quotes: one of its own, or the cross."""
    name = quote(page.goal)
    find = the(cls="ui-dialog-titlebar-close") if name == "x" else button(name)
    return (yield from press(page, find, f"The goal asks for '{name}' in the dialog: I click it."))


def click_widget(page: Page) -> Plan:
    """Click a control of the kind the goal quotes."""
    kind = quote(page.goal)
    find = the("input", "textarea", "button", where=lambda node: _kind(node) == kind)
    return (yield from press(page, find, f"The goal asks for a {kind} widget, and this is one."))


def _kind(node: Node) -> str:
    if node.tag != "input":
        return node.tag
    kind = node.attrs.get("type", "text")
    return kind if kind in {"radio", "checkbox"} else "text"


def focus_text(page: Page) -> Plan:
    """Click into the text field, or the one whose place the goal names."""
    place = 1 if "the textbox" in page.goal else ordinal(page.goal)
    why = f"The goal asks for the {nth(place)} text field, so I click into it."
    return (yield from press(page, the("input", place=place), why))


def click_ascending(page: Page) -> Plan:
    """Click numbers in ascending order; the first click hides them all."""
    numbers = sorted(page.all("text"), key=lambda node: whole(node.text))
    for text, (x, y) in [(node.text, spot(node)) for node in numbers]:
        page = yield from click_at(x, y, f"{text} is the next number, so I click where it stood.")
    return page


def open_tree(page: Page) -> Plan:
    """Unfold folders until the file or folder the goal quotes is in sight, and click it."""
    name = quote(page.goal)
    place = 0
    while page.maybe("span", text=name) is None:
        place += 1
        folder = the("span", cls="folder", place=place)
        why = f"'{name}' is not in sight, so I look into the folder '{folder(page).text}'."
        page = yield from press(page, folder, why)
    return (yield from press(page, the("span", text=name), f"This is '{name}', so I click it."))


def _item(text: str) -> Find:
    """Return how to find the menu item that says `text` itself, without its submenu."""

    def find(page: Page) -> Node:
        item = page.maybe(cls="ui-menu-item-wrapper", text=text)
        return page.one("div", text=text) if item is None else item

    return find


def walk_menu(page: Page) -> Plan:
    """Open one submenu after another along the path the goal gives, and click its end."""
    *folders, leaf = part(r"Select (.*)", page.goal).split(">")
    for name in folders:
        why = f"'{leaf}' is under '{name}', so I point at that to open it."
        page = yield from hover(page, _item(name), why)
    return (yield from press(page, _item(leaf), f"This is '{leaf}', so I click it."))


def use_menu(page: Page) -> Plan:
    """Open a menu, and its submenu if need be, and click the item by its label or its icon."""
    page = yield from press(page, button("Menu"), "The item is in the menu, so I open it.")
    wanted = _by_label(quoted(page.goal)[1]) if len(quoted(page.goal)) > 1 else _by_icon(page)
    folder = page.maybe("li", where=lambda node: _holds(node, wanted(page)))
    if wanted(page).point is None and folder is not None:
        name = folder.children[0].text
        why = f"The item is not in sight; '{name}' has a submenu, so I point at it."
        page = yield from hover(page, _item(name), why)
    text = wanted(page).text
    return (yield from press(page, wanted, f"'{text}' is what the goal asks for, so I click it."))


def _holds(item: Node, node: Node) -> bool:
    """Say whether a menu item holds a submenu with `node` in it."""
    return any(
        child.tag == "ul" and any(n is node for n in child.walk()) for child in item.children
    )


def _by_label(text: str) -> Find:
    return lambda page: page.one("div", where=lambda node: node.text == text, shown=False)


def _by_icon(page: Page) -> Find:
    """Return how to find the item with the icon that the goal shows."""
    banner = next((n for n in page.root.walk() if n.attrs.get("id") == "query"), page.root)
    for shown in banner.walk():
        icon = next((name for name in classes(shown) if name.startswith("ui-icon-")), None)
        if icon is not None:
            return lambda now: _holder(now, icon)
    raise Lost("the goal shows no icon")


def _holder(page: Page, icon: str) -> Node:
    found = page.one("span", cls=icon, shown=False)
    return page.parent(found) or found
