"""Skills for menus whose submenus open under the pointer."""

from generators.browser.protocol import Node
from generators.policy.teacher.goals import part, quoted
from generators.policy.teacher.page import Lost, Page, classes
from generators.policy.teacher.primitives import Find, Plan, button, hover, press


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
