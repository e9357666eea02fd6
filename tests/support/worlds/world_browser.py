"""A browser without scripts or pictures for worlds, over ASGI: it carries out references as their policy would.

What a step names is found by the policy's own `find`, in a tree made of the page's HTML; links are followed
and forms are filled and sent as a browser would.
"""

from collections.abc import Sequence
from html.parser import HTMLParser
from urllib.parse import urlencode, urljoin, urlsplit

import httpx
from support.worlds.world_calendar import click_calendar, write_day
from support.worlds.world_widgets import (
    click_widget,
    draw_removals,
    drop,
    press,
    select_option,
    write,
)

from generators.browser.protocol import Node
from generators.policy.element_names import is_active
from generators.policy.named_elements import Page, find
from schemas.tasks.reference import CLOSE, Do, ReferenceStep

_VOID = {"input", "br", "img", "link", "meta", "hr"}
_HIDDEN = {"head", "option"}
"""Tags that the policy does not see: a closed list shows none of its options."""


class _Reader(HTMLParser):
    """Reads a page as a tree of elements."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.root = _node("html", {}, shown=True)
        self.texts: list[str] = []
        self._open = [self.root]
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        above = self._open[-1]
        node = _node(
            tag,
            {name: value or "" for name, value in attrs},
            shown=above.shown and tag not in _HIDDEN and ("type", "hidden") not in attrs,
        )
        above.children.append(node)
        if tag not in _VOID:
            self._open.append(node)

    def handle_endtag(self, tag: str) -> None:
        for number in range(len(self._open) - 1, 0, -1):
            if self._open[number].tag == tag:
                del self._open[number:]
                return

    def handle_data(self, data: str) -> None:
        if data.startswith(",") and self.texts:
            self.texts[-1] += ","
        self.texts += data.removeprefix(",").split()
        self._open[-1].own_text += data
        for node in self._open:
            node.text += data


def _node(tag: str, attrs: dict[str, str], *, shown: bool) -> Node:
    return Node(
        tag=tag,
        attrs=attrs,
        text="",
        own_text="",
        box=(0.0, 0.0, 1.0, 1.0),
        point=(0.0, 0.0),
        shown=shown,
        style={},
    )


class WorldBrowser:
    """One visit; its owner enters it, and leaves it."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client
        self.url = "/"
        self.root = _Reader("").root
        self.read: list[str] = []
        """The texts of the pages that were opened, in their order."""
        self.answer: str | None = None
        self._past: list[str] = []
        """The addresses of the tab in sight, the last of them its own."""
        self._tabs: list[list[str]] = []
        """Those of the tabs from which it was opened."""
        self._focused: Node | None = None
        self._written: Node | None = None

    async def open(self, address: str) -> None:
        """Open a page by its address."""
        self._take(await self._client.get(urljoin(self.url, address)))

    async def do(self, step: ReferenceStep) -> None:
        """Take one step of a reference."""
        text = step.text or ""
        match step.do:
            case Do.OPEN:
                await self.open(text)
            case Do.ANSWER:
                self.answer = text
            case Do.BACK:
                await self._leave(step)
            case Do.TAB:
                await self._show_tab(step)
            case Do.LOOK | Do.FIND | Do.READ:
                await self._look(step)
            case Do.PRESS:
                await self._press(text)
            case Do.WAIT:
                pass  # what comes late is read as if it were there
            case _:
                await self._act(step, text)

    async def _act(self, step: ReferenceStep, text: str) -> None:
        """Take a step on an element; what the pointer or the right button opens is read as if it were open."""
        node = self._find(step)
        match step.do:
            case Do.CLICK | Do.DOUBLE_CLICK:
                await self._click(node)
            case Do.TYPE | Do.ENTER:
                self._type(node, text)
                if step.do is Do.ENTER:
                    await self._enter_into(node, text)
            case Do.SELECT | Do.CHOOSE:
                _select(node, text)
            case Do.SLIDE:
                node.attrs["value"] = text
            case Do.DRAG:
                await self._drag(node, text)
            case _:
                pass

    def _type(self, field: Node, text: str) -> None:
        self._focused = field
        if not write_day(field, text):
            write(field, text)
            self._written = None if "data-picker" in field.attrs else field

    async def _enter_into(self, field: Node, text: str) -> None:
        """Press Enter in a field that was just written into: a suggestion is taken, a form is sent."""
        if "data-widget" in field.attrs:
            option = ReferenceStep(do=Do.CLICK, on=text)
            path = _path_to(self.root, field)
            found = next(one for scope in path[::-1] if (one := find(scope, option)) is not None)
            await self._click(found)
        elif "data-picker" not in field.attrs:
            await self._enter()

    async def _leave(self, step: ReferenceStep) -> None:
        """Go one page back, or until what a step names is there."""
        while step.on is None or not self._offers(step.on):
            self._past.pop()
            address = self._past.pop()
            await self.open(address)
            if step.on is None:
                return

    def _offers(self, name: str) -> bool:
        """Return whether the page has something to click with exactly this name."""
        found = Page(self.root).find_exactly(name)
        return found is not None and is_active(found)

    async def _show_tab(self, step: ReferenceStep) -> None:
        """Close tabs until what a step names is there, or show the first one: opened again, it holds what it held."""
        past = self._tabs.pop() if step.text == CLOSE else self._tabs[0]
        if step.text != CLOSE:
            self._tabs = []
        self._past = past[:-1]
        await self.open(past[-1])
        if step.on is not None and self._tabs and not self._offers(step.on):
            await self._show_tab(step)

    async def _press(self, key: str) -> None:
        if self._focused is not None and self._focused.attrs.get("type") == "range":
            is_rtl = any(one.attrs.get("dir") == "rtl" for one in self.root.walk())
            press(self._focused, key, right_to_left=is_rtl)
        elif key == "Enter":
            await self._enter()
        elif self._focused is not None and key in {"ArrowRight", "Delete"}:
            pass  # it goes on in a date
        else:
            raise AssertionError(f"no reference of a world presses {key} here")

    async def _enter(self) -> None:
        """Send the form of the field that was filled last; a calendar closes, and what a click has opened stays open."""
        path = [] if self._written is None else _path_to(self.root, self._written)
        form = next((one for one in reversed(path) if one.tag == "form"), None)
        if form is not None:
            await self._send(form)

    async def _drag(self, node: Node, state: str) -> None:
        path = _path_to(self.root, node)
        if drop(path, state):
            return
        card = next(one for one in path if "data-card" in one.attrs)
        await self._send(next(one for one in card.walk() if one.attrs.get("data-to") == state))

    async def _look(self, step: ReferenceStep) -> None:
        """Show what a step names, of a list's rows too; without a name, all rows that the list has."""
        if step.do is Do.LOOK:
            self._find(step)
            return
        while step.do is Do.READ or find(self.root, step, exactly=True) is None:
            if not await self._turn(step):
                assert step.do is Do.READ, f"{self.url}: the list ends without '{step.on}'"
                return

    async def _turn(self, step: ReferenceStep) -> bool:
        """Show a list's next rows, by a button or at its end; return whether there are any."""
        if step.text is not None:
            button = find(self.root, ReferenceStep(do=Do.CLICK, on=step.text))
            if button is None or "disabled" in button.attrs:
                return False
            await self._click(button)
            return True
        more = next((one for one in self.root.walk() if "data-more" in one.attrs), None)
        if more is not None:
            await self.open(more.attrs["href"])
        return more is not None

    def _find(self, step: ReferenceStep) -> Node:
        found = find(self.root, step)
        assert found is not None, (
            f"{self.url} shows no '{step.on}': {' '.join(self.root.text.split())}"
        )
        return found

    async def _click(self, node: Node) -> None:
        path = _path_to(self.root, node)
        if node.tag == "label":
            wanted = node.attrs["for"]
            node = next(one for one in self.root.walk() if one.attrs.get("id") == wanted)
        kind = node.attrs.get("type", "submit")
        self._focused = node if kind == "range" else None
        if kind == "range" or click_calendar(self.root, node) or click_widget(node, path):
            return
        if node.tag == "a":
            if node.attrs.get("target") == "_blank":
                self._tabs.append(self._past)
                self._past = []
            await self.open(node.attrs["href"])
        elif node.tag == "summary" or node.attrs.get("role") == "tab":
            pass  # what it opens is read as if it were open
        elif node.tag == "input" and kind == "checkbox":
            _set(node, "checked", not_set="checked" not in node.attrs)
            self._written = node
        elif node.tag == "input" and kind == "radio":
            for other in self.root.walk():
                if other.tag == "input" and other.attrs.get("name") == node.attrs["name"]:
                    _set(other, "checked", not_set=other is node)
        else:
            assert kind == "submit", f"{node.tag} cannot be clicked"
            assert node.tag in {"button", "input"}, f"{node.tag} cannot be clicked"
            await self._send(next(one for one in reversed(path) if one.tag == "form"), node)

    async def _send(self, form: Node, button: Node | None = None) -> None:
        outside = (
            one for one in self.root.walk() if form.attrs.get("id", "-") == one.attrs.get("form")
        )
        fields = (*outside, *form.walk())
        pairs = [pair for node in fields if (pair := _sent(node)) is not None]
        if button is not None and "name" in button.attrs:
            pairs.append((button.attrs["name"], button.attrs["value"]))
        target = urljoin(self.url, form.attrs.get("action", self.url))
        if form.attrs.get("method") == "post":
            kind = {"Content-Type": "application/x-www-form-urlencoded"}
            self._take(await self._client.post(target, content=urlencode(pairs), headers=kind))
        else:
            await self.open(f"{urlsplit(target).path}?{urlencode(pairs)}")

    def _take(self, reply: httpx.Response) -> None:
        expected = {httpx.codes.OK, httpx.codes.FORBIDDEN}  # what may not be done is said on a page
        assert reply.status_code in expected, f"{reply.url}: {reply.status_code} {reply.text}"
        self.url = str(reply.url)
        self._past.append(self.url)
        page = _Reader(reply.text)
        self.root, self._written = page.root, None
        draw_removals(self.root)
        self.read.append(" ".join(page.texts))


def _set(node: Node, name: str, *, not_set: bool) -> None:
    node.attrs.pop(name, None)
    if not_set:
        node.attrs[name] = ""


def _select(field: Node, text: str) -> None:
    """Choose the first option that begins with a text, as a list does that is told one by keys."""
    assert "data-widget" not in field.attrs, f"the page shows no list for {field}"
    options = [node for node in field.walk() if node.tag == "option"]
    begun = [one for one in options if one.text.strip().casefold().startswith(text.casefold())]
    assert begun, f"'{text}' cannot be chosen among {[one.text for one in options]}"
    select_option(options, begun[0])


def _path_to(root: Node, node: Node) -> list[Node]:
    """Return the elements from a root down to an element; empty if it is not below."""
    if root is node:
        return [root]
    for child in root.children:
        if path := _path_to(child, node):
            return [root, *path]
    return []


def _sent(node: Node) -> tuple[str, str] | None:
    """Return what a form sends for an element; None if it sends nothing."""
    name, kind = node.attrs.get("name"), node.attrs.get("type")
    if name is None or node.tag not in {"input", "textarea", "select"} or kind == "submit":
        return None
    if kind in {"checkbox", "radio"}:
        return (name, node.attrs.get("value", "on")) if "checked" in node.attrs else None
    if node.tag == "textarea":
        return name, node.text.removeprefix("\n").replace("\n", "\r\n")
    if node.tag == "select":
        options = [one for one in node.walk() if one.tag == "option"]
        if "multiple" in node.attrs:
            several = [one.text for one in options if "selected" in one.attrs]
            return (name, ", ".join(several)) if several else None
        chosen = next((one for one in options if "selected" in one.attrs), options[0])
        return name, chosen.attrs.get("value", chosen.text.strip())
    return name, node.attrs.get("value", "")
