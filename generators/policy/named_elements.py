"""Finds the elements that a reference names on a page, by the words on them or beside them."""

import functools
import re
from collections.abc import Iterator

from generators.browser.protocol import Node
from generators.policy.element_names import (
    FieldNames,
    Names,
    has_words,
    is_active,
    is_button_or_link,
    is_field,
    is_tiny,
    words,
)
from generators.policy.window import ListEnd, Window
from schemas.tasks.reference import Do, ReferenceStep

_LIST = "stepmill-list"
"""The tag of what `generators/browser/lists.js` draws over a page."""

_FILLS = {Do.TYPE, Do.ENTER, Do.SELECT, Do.CHOOSE, Do.SLIDE}
"""What is done to fields alone."""

_MARKS = {"#": "id", ".": "class"}

_PAGER = re.compile(r"(?<![\w-])(?:\w+-)?(?:pagination|paging|pager|pages)(?![\w-])")
"""A class by which the parts are drawn that lead through the pages of a list."""

_EDGE = 2.0
"""The lower edge of a thing counts as in sight so far above it, px."""


class Page:
    """A page as it was read once, with an index of its names for repeated searches."""

    def __init__(self, root: Node) -> None:
        self.root = root
        """The page."""
        self.front = _front(root)
        """What lies over the page as its last modal window, or the page."""
        self.modal = _modal(root)
        """What lies over the page as its last modal window, or the page, whatever list is open."""
        self.window = Window(root)
        """The window over it."""
        self._found: dict[tuple[ReferenceStep, bool], Node | None] = {}

    @property
    def has_open_list(self) -> bool:
        """Whether the list of a native field is open, and drawn over the page."""
        return self.front.tag == _LIST

    @property
    def is_right_to_left(self) -> bool:
        """Whether its writing goes from right to left."""
        return any(
            node.tag == "html" and node.attrs.get("dir") == "rtl" for node in self.root.walk()
        )

    @property
    def is_written_in(self) -> bool:
        """Whether keys go to a field."""
        return any(node.focused and is_field(node) for node in self.root.walk())

    def find(self, step: ReferenceStep, *, exactly: bool = False) -> Node | None:
        """Return the element that a step names, searched for once; None if the page does not show it.

        `exactly` is whether a name that has the words among others does not count.
        """
        if (step, exactly) not in self._found:
            by_name = self._nodes_by_name if step.do is Do.LOOK and step.within is None else {}
            named = by_name.get(words(step.on or "")) or find(self.root, step, exactly=exactly)
            self._found[step, exactly] = named
        return self._found[step, exactly]

    def is_cut_before(self, step: ReferenceStep, thing: Node) -> bool:
        """Return whether a part around the words of `within` goes on below the window, and an element is outside of it."""
        for scope in _scopes(self.front, step.within) if step.within else []:
            if any(node is thing for node in scope.walk()):
                return False
            (_, top, _, height), view = scope.box, self.window.view(scope)
            if top + height > view[1] + view[3] + 1:
                return True
        return False

    def find_exactly(self, name: str) -> Node | None:
        """Return the element with exactly this name, in whatever case; None if the page does not show it."""
        wanted = words(name)
        small = wanted.casefold()
        return self._nodes_by_name.get(wanted) or next(
            (node for one, node in self._nodes_by_name.items() if one.casefold() == small), None
        )

    def pager(self) -> Node | None:
        """Return what leads from one page of a list to the others, as it ends the list; None: the page shows none."""
        nodes = (node for node in self.front.walk() if node.shown)
        return next((one for one in nodes if _PAGER.search(one.attrs.get("class", ""))), None)

    def end_of_list(self, button: Node | None) -> ListEnd | None:
        """Return where a list ends: above the button to its next rows, or below all that leads to its other pages; None: unknown.

        While the button is not in sight, it may be in the part of the pager that is not either.
        """
        pager = None if button is not None else self.pager()
        if button is not None:
            return ListEnd(button.box[1], self.window.holder(button))
        if pager is None:
            return None
        return ListEnd(pager.box[1] + pager.box[3] - _EDGE, self.window.holder(pager))

    def is_in_navigation(self, thing: Node | None) -> bool:
        """Return whether an element is in the page's navigation; None is not."""
        path = [] if thing is None else self.window.path_to(thing)
        return any(one.tag == "nav" for one in path)

    def fold(self) -> Node | None:
        """Return the button that shows a part of the page that is folded away, as a narrow window's navigation; None: there is none."""
        return next((node for node in self.front.walk() if _folds(node, opened=False)), None)

    def fold_names(self) -> Iterator[str]:
        """Yield the names in the parts that such buttons have shown."""
        opened = [node for node in self.front.walk() if _folds(node, opened=True)]
        parts = {node.attrs.get("id"): node for node in self.front.walk() if opened}
        names = Names(self.root)
        for button in opened:
            part = parts.get(button.attrs["aria-controls"])
            for node in () if part is None else part.walk():
                yield from names.of(node)

    @functools.cached_property
    def _nodes_by_name(self) -> dict[str, Node]:
        """The result of `find` for each exact name on the page."""
        root = self.front
        names, out = Names(root), dict[str, tuple[tuple[bool, int], Node]]()
        for node in root.walk():
            key = (not is_active(node), len(node.text))
            for name in names.of(node) if node.shown else ():
                if name not in out or key < out[name][0]:
                    out[name] = (key, node)
        return {name: node for name, (_, node) in out.items()}


def _folds(node: Node, *, opened: bool) -> bool:
    """Return whether an element is a button that shows a part of the page that is folded away, or has shown it."""
    state = "true" if opened else "false"
    is_one = node.attrs.get("aria-expanded") == state and "aria-controls" in node.attrs
    return is_one and node.shown and node.tag == "button"


def find(root: Node, step: ReferenceStep, *, exactly: bool = False) -> Node | None:
    """Return the element that a step names; None if the page does not show it.

    Exact names are preferred to those that differ in case, and those to names that contain the words; active
    elements are preferred to plain text, and for a click a button or link to a field of which only the
    placeholder has the name. If a modal window is open, only its content is searched. `exactly` is whether names that
    contain the words do not count.
    """
    root = _front(root)
    fields = FieldNames(root) if step.do in _FILLS else None
    names: Names = fields or Names(root)
    names.are_exact = exactly
    thing = _search(root, step, names=names, fields_alone=fields is not None)
    if thing is None and fields is not None and step.do in {Do.SELECT, Do.CHOOSE}:
        # Of a list that the page draws itself the field may be hidden, or there is none.
        thing = _search(root, step, names=fields, fields_alone=False)
    return thing


def _search(root: Node, step: ReferenceStep, *, names: Names, fields_alone: bool) -> Node | None:
    """Return the best of the elements that have the name that a step says; None: there is none."""
    wanted = words(step.on or "")
    for scope in _scopes(root, step.within):
        things = [node for node in scope.walk() if node.shown]
        if fields_alone:
            things = [node for node in things if is_field(node)]
        if wanted[:1] in _MARKS:
            attribute, name = _MARKS[wanted[:1]], (step.on or "")[1:]
            marked = [node for node in things if name in node.attrs.get(attribute, "").split()]
            return marked[0] if marked else None
        ranked = [
            (rank, is_tiny(node), not is_active(node), len(node.text), place, node)
            for place, node in enumerate(things)
            if (rank := names.rank(wanted, node)) is not None
        ]
        if ranked:
            best = min(ranked)
            if step.do is Do.CLICK and names.is_of_placeholder(wanted, best[-1]):
                same = [one for one in ranked if one[:3] == best[:3]]
                best = min((one for one in same if is_button_or_link(one[-1])), default=best)
            node = _innermost(best[-1])
            return node if node.point is not None else _active_around(scope, node) or node
    return None


def _active_around(scope: Node, node: Node) -> Node | None:
    """Return the innermost active element around another, as a button around its words; None: a click does not reach it."""
    path, below = list[Node](), scope
    while below is not node:
        inner = next(
            (one for one in below.children if any(each is node for each in one.walk())), None
        )
        if inner is None:
            return None
        path.append(below)
        below = inner
    active = next((one for one in reversed(path) if is_active(one)), None)
    return active if active is not None and active.point is not None else None


def _innermost(node: Node) -> Node:
    """Return the innermost element with the words of a plain one, as far as a click reaches it."""
    while node.text and not is_active(node):
        same = [one for one in node.children if one.shown and one.text == node.text]
        if len(same) != 1 or (same[0].point is None and node.point is not None):
            break
        node = same[0]
    return node


def _front(root: Node) -> Node:
    """Return the open list of a native field, or else the last modal window; if there is none, the page."""
    opened = [node for node in root.walk() if node.tag == _LIST and node.shown]
    return opened[-1] if opened else _modal(root)


def _modal(root: Node) -> Node:
    """Return the last modal window; if there is none, the page."""
    modal = [node for node in root.walk() if node.shown and node.attrs.get("aria-modal") == "true"]
    return modal[-1] if modal else root


def _scopes(root: Node, within: str | None) -> list[Node]:
    """Return the smallest element that contains certain words, then its ancestors, innermost first.

    An element with exactly these words is preferred to one with others too.
    """
    if within is None:
        return [root]
    wanted = words(within).casefold()
    paths = list(_smallest(root, wanted, []))
    return min(paths, key=lambda path: words(path[0].text).casefold() != wanted, default=[])


def _smallest(node: Node, wanted: str, around: list[Node]) -> Iterator[list[Node]]:
    """Yield each element that contains the words in none of its children, with its ancestors."""
    if not has_words(words(node.text), wanted):
        return
    path = [node, *around]
    inner = [found for child in node.children for found in _smallest(child, wanted, path)]
    yield from inner or [path]
