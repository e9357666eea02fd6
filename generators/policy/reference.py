"""A policy that carries out a task's reference, as `schemas/tasks/reference.py` describes it.

It finds each element by its name in the rendered document, scrolls it into view if needed, and acts on it
by pixels and keys. It does not adapt: if the page does not show an element, the episode ends as a failure
of the policy that names the element.
"""

import functools
from collections.abc import Iterator, Sequence
from urllib.parse import urljoin

from generators.browser.protocol import Node
from generators.policy.element_names import (
    FieldNames,
    Names,
    is_active,
    is_button_or_link,
    is_field,
    is_tiny,
    words,
)
from generators.policy.protocol import Decision, PolicyCard, PolicyInput
from generators.policy.window import Window, is_within
from schemas.episodes.action import (
    Action,
    Answer,
    AnswerDialog,
    Click,
    Direction,
    Drag,
    DropFile,
    Goto,
    Hover,
    Key,
    Scroll,
    Select,
    TypeText,
)
from schemas.episodes.episode import PolicyKind, ThoughtSource
from schemas.episodes.observation import Box, PageState
from schemas.errors import FailureKind, RolloutFailure
from schemas.tasks.reference import Do, ReferenceStep

_CLOSED_SIZES = {"", "0", "1"}
"""Values of a list's `size` with which it shows one option."""

_MARKS = {"#": "id", ".": "class"}

_FIRST_PART = 18
"""Distance from the edge of a native date field to its first part, px. That part is typed first."""

_READ_FROM = 0.1
"""An element to read is brought to this share of the window's height, from the top, if it is below."""

MAX_ARROWS = 15
"""Largest number of arrow keys in a list."""

MAX_SCROLLS = 20
"""Largest number of scrolls for one element."""


class ReferencePolicy:
    """A `Policy` that takes the steps of a reference in order."""

    def __init__(self, steps: Sequence[ReferenceStep]) -> None:
        self._steps = tuple(steps)
        self._taken = 0
        self._scrolls = 0
        self._came_to: tuple[str, Box] | None = None
        self._moved_away = False
        self._keys: list[Decision] = []

    @property
    def card(self) -> PolicyCard:
        """Its name and kind; it is privileged, because it reads the positions of elements."""
        return PolicyCard(name="scripted", kind=PolicyKind.SCRIPTED, privileged=True)

    async def act(self, turn: PolicyInput) -> Decision:
        """Return the next step's action, or a scroll towards its element; an empty answer after the last.

        Raises:
            RolloutFailure: the page does not show the element, or it cannot be reached.
        """
        if self._keys:
            return self._keys.pop(0)
        page: _Page | None = None
        while self._taken < len(self._steps):
            step = self._steps[self._taken]
            self._check_dialog(step, turn.observation.page)
            if step.on is None:
                self._take()
                return _decide(_act_on_nothing(step, turn.observation.page.url), step.why)
            if turn.reader is None:
                raise AssertionError("a privileged policy is given a reader")
            page = _Page(await turn.reader.read()) if page is None else page
            ends = [self._find(page, step)]
            if step.do is Do.DRAG:
                ends.append(self._find(page, ReferenceStep(do=Do.CLICK, on=step.text)))
            if step.do is Do.LOOK:
                ends = [*page.window.around(ends[0]), *ends]
            for end in ends:
                scroll = self._scroll(step, end, page.window)
                if scroll is not None:
                    return scroll
            self._take()
            if step.do is not Do.LOOK:
                return self._act(step, ends)
        return Decision(action=Answer())

    def _check_dialog(self, step: ReferenceStep, page: PageState) -> None:
        """Check that a step answers what the page asks, if and only if it asks.

        Raises:
            RolloutFailure: it does not.
        """
        answers = step.do in (Do.ACCEPT, Do.DISMISS)
        if answers is (page.dialog is not None):
            return
        asked = "nothing" if page.dialog is None else f'"{page.dialog.message}"'
        raise RolloutFailure(
            FailureKind.POLICY,
            f"step {self._taken + 1} of the reference: '{step.do.value}' while the page asks {asked}",
        )

    def _take(self) -> None:
        self._taken, self._scrolls, self._came_to = self._taken + 1, 0, None
        self._moved_away = False

    def _act(self, step: ReferenceStep, ends: Sequence[Node]) -> Decision:
        points = [end.point for end in ends if end.point is not None]
        if step.do is Do.SELECT and ends[0].tag != "select":
            # A list that the page draws itself: once it is open, its option is there to be clicked.
            seen = step.why and f"The list of '{step.on}' is open: I click '{step.text}'."
            option = ReferenceStep(do=Do.CLICK, on=step.text, why=seen or None)
            self._steps = (*self._steps[: self._taken], option, *self._steps[self._taken :])
        elif step.do is Do.SELECT and _opens(ends[0]):
            # No picture shows its options: open it, select the option by keys, and close it.
            led = step.why and f"The list of '{step.on}' is open; the keys lead to '{step.text}'."
            marked = (
                step.why and f"In the list of '{step.on}' '{step.text}' is marked: Enter takes it."
            )
            keys = _keys_to(ends[0], step.text or "")
            self._keys = [*(_decide(key, led) for key in keys), _decide(Key(key="Enter"), marked)]
            return _decide(Click(x=points[0][0], y=points[0][1]), step.why)
        if step.do is Do.TYPE and ends[0].attrs.get("type") == "date":
            points[0] = (min(points[0][0], ends[0].box[0] + _FIRST_PART), points[0][1])
        end = points[1] if points[1:] else None
        return _decide(_act_on(step, points[0], end, is_native=ends[0].tag == "select"), step.why)

    def _find(self, page: "_Page", step: ReferenceStep) -> Node:
        thing = page.find(step)
        if thing is None:
            where = f" within '{step.within}'" if step.within else ""
            raise RolloutFailure(
                FailureKind.POLICY,
                f"step {self._taken + 1} of the reference: the page shows no '{step.on}'{where}",
            )
        return thing

    def _scroll(self, step: ReferenceStep, thing: Node, window: Window) -> Decision | None:
        """Return a decision that brings more of an element into view; None: no more is needed or possible.

        It is a scroll, or, if scrolling does not help, a hover at the heading to close a menu that lies
        over the element.

        Raises:
            RolloutFailure: no part of it comes into view.
        """
        view, holder = window.view(thing), window.holder(thing)
        if thing.point is not None and is_within(thing, view):
            return None
        _, top, _, height = thing.box
        offset = top + height / 2 - view[1] - view[3] / 2
        came_no_nearer = self._came_to == (thing.text, thing.box) or window.is_at_end(
            holder, down=offset > 0
        )
        self._came_to = (thing.text, thing.box)
        self._scrolls += 1
        if came_no_nearer and (thing.point is not None or step.do is Do.LOOK):
            return None
        if came_no_nearer and not self._moved_away and window.heading is not None:
            self._moved_away = True
            words, (x, y) = window.heading
            why = f'Something lies over what I need next: I move the pointer to "{words}".'
            return _decide(Hover(x=x, y=y), step.why and why)
        if self._scrolls > MAX_SCROLLS:
            raise RolloutFailure(
                FailureKind.POLICY,
                f"step {self._taken + 1} of the reference: '{step.on}' cannot be brought into sight",
            )
        if step.do is Do.LOOK and offset > 0:
            offset = max(offset, top - view[1] - view[3] * _READ_FROM)
        direction = Direction.DOWN if offset > 0 else Direction.UP
        where = "further down" if offset > 0 else "further up"
        how_much = "not in sight" if thing.point is None else "only partly in sight"
        seen = step.why and f"What I need next is {how_much}; it should be {where} on this page."
        middle = (view[0] + view[2] / 2, view[1] + view[3] / 2)
        scroll = Scroll(
            direction=direction,
            amount=max(1, round(abs(offset))),
            x=None if holder is None else middle[0],
            y=None if holder is None else middle[1],
        )
        return _decide(scroll, step.why if step.do is Do.LOOK else seen)


class _Page:
    """A page as it was read once, with an index of its names for repeated searches."""

    def __init__(self, root: Node) -> None:
        self._root = root
        self.window = Window(root)

    def find(self, step: ReferenceStep) -> Node | None:
        """Return the element that a step names; None if the page does not show it."""
        if step.do is Do.LOOK and step.within is None:
            return self._nodes_by_name.get(words(step.on or "")) or find(self._root, step)
        return find(self._root, step)

    @functools.cached_property
    def _nodes_by_name(self) -> dict[str, Node]:
        """The result of `find` for each exact name on the page."""
        root = _front(self._root)
        names, out = Names(root), dict[str, tuple[tuple[bool, int], Node]]()
        for node in root.walk():
            key = (not is_active(node), len(node.text))
            for name in names.of(node) if node.shown else ():
                if name not in out or key < out[name][0]:
                    out[name] = (key, node)
        return {name: node for name, (_, node) in out.items()}


def _decide(action: Action, why: str | None) -> Decision:
    """Return an action with its thought; None: it has no thought."""
    source = None if why is None else ThoughtSource.TEMPLATE
    return Decision(action=action, thought=why, thought_source=source)


def _opens(thing: Node) -> bool:
    """Return whether a list shows its options only when opened."""
    return "multiple" not in thing.attrs and thing.attrs.get("size", "") in _CLOSED_SIZES


def _keys_to(thing: Node, text: str) -> list[Action]:
    """Return the keys that select an option: arrows in a short open list, its name in a long one.

    Arrows start at the selected option, or at the first if its name is not unique. Typing a name is the
    second choice, because a list forgets the beginning of a name when the machine is slow.
    """
    options = [words(node.text).casefold() for node in thing.walk() if node.tag == "option"]
    wanted = words(text).casefold()
    places = [place for place, words in enumerate(options) if words.startswith(wanted)]
    if not places or len(options) > MAX_ARROWS:
        return [TypeText(text=text)]
    place = next((one for one in places if options[one] == wanted), places[0])
    chosen = words(thing.selected or "").casefold()
    if options.count(chosen) != 1:
        return [Key(key="Home"), *[Key(key="ArrowDown")] * place]
    way = place - options.index(chosen)
    return [Key(key="ArrowDown" if way > 0 else "ArrowUp")] * abs(way)


def _act_on_nothing(step: ReferenceStep, url: str) -> Action:
    text = step.text or ""
    match step.do:
        case Do.PRESS:
            return Key(key=text)
        case Do.TYPE:
            return TypeText(text=text)
        case Do.OPEN:
            return Goto(url=urljoin(url, text))
        case Do.ACCEPT | Do.DISMISS:
            return AnswerDialog(accept=step.do is Do.ACCEPT, text=step.text)
        case _:
            return Answer(text=text)


def _act_on(
    step: ReferenceStep,
    point: tuple[float, float],
    end: tuple[float, float] | None,
    *,
    is_native: bool,
) -> Action:
    """Return a step's action at a point; `end` is the end of a drag, None for other steps.

    `is_native` is whether it is on a list of the browser's own.
    """
    x, y = point
    if end is not None:
        return Drag(x=x, y=y, to_x=end[0], to_y=end[1])
    match step.do:
        case Do.TYPE:
            return TypeText(x=x, y=y, text=step.text or "", overwrite=True)
        case Do.SELECT if is_native:
            return Select(x=x, y=y, option=step.text or "")
        case Do.DROP:
            return DropFile(x=x, y=y, name=step.text or "")
        case _:
            return Click(x=x, y=y)


def find(root: Node, step: ReferenceStep) -> Node | None:
    """Return the element that a step names; None if the page does not show it.

    Exact names are preferred to those that differ in case, and those to names that contain the words; active
    elements are preferred to plain text, and for a click a button or link to a field of which only the
    placeholder has the name. If a modal window is open, only its content is searched.
    """
    root = _front(root)
    fields = FieldNames(root) if step.do in {Do.TYPE, Do.SELECT} else None
    thing = _search(root, step, names=fields or Names(root), fields_alone=fields is not None)
    if thing is None and fields is not None and step.do is Do.SELECT:
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
    if wanted not in words(node.text).casefold():
        return
    path = [node, *around]
    inner = [found for child in node.children for found in _smallest(child, wanted, path)]
    yield from inner or [path]
