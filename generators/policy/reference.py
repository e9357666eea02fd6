"""A policy that carries out a task's reference, as `schemas/reference.py` describes it.

It finds each thing by its name in the rendered document, brings it into sight if need be, and acts on it
by pixels and keys. It adapts nothing: a thing that the page does not show ends the episode as a failure
of the policy, which says what it looked for.
"""

from collections.abc import Iterator, Sequence
from urllib.parse import urljoin

from generators.browser.protocol import Node
from generators.policy.protocol import Decision, PolicyCard, PolicyInput
from schemas.action import (
    Action,
    Answer,
    Click,
    Direction,
    Drag,
    Goto,
    Key,
    Scroll,
    Select,
    TypeText,
)
from schemas.episode import PolicyKind, ThoughtSource
from schemas.errors import FailureKind, RolloutFailure
from schemas.observation import Box
from schemas.reference import Do, ReferenceStep

NAMING = ("aria-label", "placeholder", "title", "alt", "name")
"""Attributes that name a thing, the more visible ones first."""

ACTIVE = {"a", "button", "input", "select", "textarea", "summary", "option", "label"}
"""Tags that people act on."""

ACTING_ROLES = {"button", "checkbox", "link", "menuitem", "option", "radio", "switch", "tab"}
"""Roles of things that people act on, whatever their tag."""

FIELDS = {"input", "select", "textarea"}
"""Tags that hold a value; a label stands for one of them."""

_EDITABLE = {"", "true", "plaintext-only"}
"""Values of `contenteditable` with which people write into an element."""

_BUTTONS = {"submit", "button", "reset"}

_CLOSED_SIZES = {"", "0", "1"}
"""Values of a list's `size` with which it shows one option."""

_SCROLLING = {"auto", "scroll"}
"""Values of `overflow-y` of what the wheel scrolls."""

_MARKS = {"#": "id", ".": "class"}

_FIRST_PART = 18
"""So many pixels from its edge a native field of a date shows its first part, which is typed before the others."""

MAX_ARROWS = 15
"""Options of a list that are gone through by arrows, at most."""

MAX_SCROLLS = 20
"""How often one thing is brought closer to sight."""


class ReferencePolicy:
    """A `Policy` that takes the steps of a reference, one after another."""

    def __init__(self, steps: Sequence[ReferenceStep]) -> None:
        self._steps = tuple(steps)
        self._taken = 0
        self._scrolls = 0
        self._came_to: tuple[str | None, Box] | None = None
        self._keys: list[Decision] = []

    @property
    def card(self) -> PolicyCard:
        """Its name and kind; it is privileged, because it reads where things are."""
        return PolicyCard(name="scripted", kind=PolicyKind.SCRIPTED, privileged=True)

    async def act(self, turn: PolicyInput) -> Decision:
        """Return the next step's action, or a scroll towards its thing; after the last an empty answer.

        Raises:
            RolloutFailure: the page shows no thing of that name, or none that can be reached.
        """
        if self._keys:
            return self._keys.pop(0)
        root: Node | None = None
        while self._taken < len(self._steps):
            step = self._steps[self._taken]
            if step.on is None:
                self._take()
                return _decide(_act_on_nothing(step, turn.observation.page.url), step.why)
            if turn.reader is None:
                raise AssertionError("a privileged policy is given a reader")
            root = await turn.reader.read() if root is None else root
            ends = [self._find(root, step)]
            if step.do is Do.DRAG:
                ends.append(self._find(root, ReferenceStep(do=Do.CLICK, on=step.text)))
            for name, end in zip((step.on, step.text), ends, strict=False):
                scroll = self._scroll(step, name, end, root)
                if scroll is not None:
                    return scroll
            self._take()
            if step.do is not Do.LOOK:
                return self._act(step, ends)
        return Decision(action=Answer())

    def _take(self) -> None:
        self._taken, self._scrolls, self._came_to = self._taken + 1, 0, None

    def _act(self, step: ReferenceStep, ends: Sequence[Node]) -> Decision:
        points = [end.point for end in ends if end.point is not None]
        if step.do is Do.SELECT and _opens(ends[0]):
            # Its options are on no picture: it is opened, led to the option by keys, and closed.
            keys = (*_keys_to(ends[0], step.text or ""), Key(key="Enter"))
            led = step.why and f"The list of '{step.on}' is open; the keys lead to '{step.text}'."
            self._keys = [_decide(key, led) for key in keys]
            return _decide(Click(x=points[0][0], y=points[0][1]), step.why)
        if step.do is Do.TYPE and ends[0].attrs.get("type") == "date":
            points[0] = (min(points[0][0], ends[0].box[0] + _FIRST_PART), points[0][1])
        return _decide(_act_on(step, points[0], points[1] if points[1:] else None), step.why)

    def _find(self, root: Node, step: ReferenceStep) -> Node:
        thing = find(root, step)
        if thing is None:
            where = f" within '{step.within}'" if step.within else ""
            raise RolloutFailure(
                FailureKind.POLICY,
                f"step {self._taken + 1} of the reference: the page shows no '{step.on}'{where}",
            )
        return thing

    def _scroll(
        self, step: ReferenceStep, name: str | None, thing: Node, root: Node
    ) -> Decision | None:
        """Return a scroll that brings more of a thing into sight; None: all of it is, or no more comes.

        Raises:
            RolloutFailure: none of it comes into sight.
        """
        holder = _holder(root, thing)
        view = _view(root, holder)
        if thing.point is not None and _is_within(thing, view):
            return None
        came_no_nearer = self._came_to == (name, thing.box)
        self._came_to = (name, thing.box)
        self._scrolls += 1
        if came_no_nearer and (thing.point is not None or step.do is Do.LOOK):
            return None
        if self._scrolls > MAX_SCROLLS:
            raise RolloutFailure(
                FailureKind.POLICY,
                f"step {self._taken + 1} of the reference: '{name}' cannot be brought into sight",
            )
        _, top, _, height = thing.box
        offset = top + height / 2 - view[1] - view[3] / 2
        direction = Direction.DOWN if offset > 0 else Direction.UP
        where = "further down" if offset > 0 else "further up"
        why = step.why and f"What I need next is not in sight; it should be {where} on this page."
        scroll = Scroll(
            direction=direction,
            amount=max(1, round(abs(offset))),
            x=None if holder is None else view[0] + view[2] / 2,
            y=None if holder is None else view[1] + view[3] / 2,
        )
        return _decide(scroll, step.why if step.do is Do.LOOK else why)


def _holder(root: Node, thing: Node) -> Node | None:
    """Return the innermost element around a thing that scrolls by itself; None: the page does.

    What is around a popover does not scroll it.
    """
    around = list(reversed(_path_to(root, thing)[1:-1]))
    free = next((at for at, one in enumerate(around) if "popover" in one.attrs), len(around))
    return next(
        (
            one
            for one in around[:free]
            if one.scroll is not None
            and one.tag != "body"
            and one.style.get("overflow-y") in _SCROLLING
            and one.scroll[3] > one.inner[1] + 1
        ),
        None,
    )


def _view(root: Node, holder: Node | None) -> Box:
    """Return the part of the window in which a thing can be in sight."""
    width, height = root.inner
    if holder is None:
        return (0.0, 0.0, width, height)
    left, top, wide, high = holder.box
    start, end = max(0.0, top), min(height, top + high)
    return (max(0.0, left), start, min(width, left + wide) - max(0.0, left), end - start)


def _is_within(thing: Node, view: Box) -> bool:
    """Return whether all of a thing's height is in a part of the window, or as much as there is room for."""
    top, height = max(thing.box[1], view[1]), min(thing.box[3], view[3])
    bottom = min(thing.box[1] + thing.box[3], view[1] + view[3])
    return bottom - top >= height - 1


def _path_to(root: Node, thing: Node) -> list[Node]:
    """Return the elements from a root down to a thing; empty if it is not below."""
    if root is thing:
        return [root]
    for child in root.children:
        if path := _path_to(child, thing):
            return [root, *path]
    return []


def _decide(action: Action, why: str | None) -> Decision:
    """Return an action with the thought before it; None: none is stated."""
    source = None if why is None else ThoughtSource.TEMPLATE
    return Decision(action=action, thought=why, thought_source=source)


def _opens(thing: Node) -> bool:
    """Return whether a list shows its options only once it is opened."""
    return "multiple" not in thing.attrs and thing.attrs.get("size", "") in _CLOSED_SIZES


def _keys_to(thing: Node, text: str) -> list[Action]:
    """Return what leads an open list to an option: arrows in a short list, and the option's name in a long one.

    A list that is told a name forgets its beginning where the machine is slow.
    """
    options = [_words(node.text).casefold() for node in thing.walk() if node.tag == "option"]
    wanted = _words(text).casefold()
    places = [place for place, words in enumerate(options) if words.startswith(wanted)]
    if not places or len(options) > MAX_ARROWS:
        return [TypeText(text=text)]
    place = next((one for one in places if options[one] == wanted), places[0])
    return [Key(key="Home"), *[Key(key="ArrowDown")] * place]


def _act_on_nothing(step: ReferenceStep, url: str) -> Action:
    text = step.text or ""
    match step.do:
        case Do.PRESS:
            return Key(key=text)
        case Do.OPEN:
            return Goto(url=urljoin(url, text))
        case _:
            return Answer(text=text)


def _act_on(
    step: ReferenceStep, point: tuple[float, float], end: tuple[float, float] | None
) -> Action:
    """Return what a step does at a point; `end` is where a drag ends, None for other steps."""
    x, y = point
    if end is not None:
        return Drag(x=x, y=y, to_x=end[0], to_y=end[1])
    match step.do:
        case Do.TYPE:
            return TypeText(x=x, y=y, text=step.text or "", overwrite=True)
        case Do.SELECT:
            return Select(x=x, y=y, option=step.text or "")
        case _:
            return Click(x=x, y=y)


def find(root: Node, step: ReferenceStep) -> Node | None:
    """Return the thing that a step names; None if the page shows none.

    Exact words go before the same words in other letters, and those before words that are a part; what people
    act on goes before what only has the words. While a window over the page takes all clicks, only what is in it
    counts.
    """
    root = _front(root)
    wanted = _words(step.on or "")
    wants_field = step.do in {Do.TYPE, Do.SELECT}
    scopes = _scopes(root, step.within)
    for scope in scopes:
        things = [node for node in scope.walk() if node.shown]
        if wants_field:
            things = [node for node in things if _is_field(node)]
        labels = _labels(root)
        if wanted[:1] in _MARKS:
            attribute, name = _MARKS[wanted[:1]], (step.on or "")[1:]
            marked = [node for node in things if name in node.attrs.get(attribute, "").split()]
            return marked[0] if marked else None
        ranked = [
            (rank, not _is_active(node), len(node.text), place, node)
            for place, node in enumerate(things)
            if (rank := _rank(wanted, node, labels)) is not None
        ]
        if ranked:
            return min(ranked)[-1]
    return None


def _front(root: Node) -> Node:
    """Return the last window that takes all clicks; the page, if it shows none."""
    modal = [node for node in root.walk() if node.shown and node.attrs.get("aria-modal") == "true"]
    return modal[-1] if modal else root


def _scopes(root: Node, within: str | None) -> list[Node]:
    """Return the smallest element that contains certain words, and what is around it, inside out.

    One that has these words alone goes before one that has others too.
    """
    if within is None:
        return [root]
    wanted = _words(within).casefold()
    paths = list(_smallest(root, wanted, []))
    return min(paths, key=lambda path: _words(path[0].text).casefold() != wanted, default=[])


def _smallest(node: Node, wanted: str, around: list[Node]) -> Iterator[list[Node]]:
    """Yield each element that contains words none of whose children contains, with what is around it."""
    if wanted not in _words(node.text).casefold():
        return
    path = [node, *around]
    inner = [found for child in node.children for found in _smallest(child, wanted, path)]
    yield from inner or [path]


def _labels(root: Node) -> dict[str, str]:
    """Return the words of labels by the id of the field that they are for."""
    return {
        node.attrs["for"]: _words(node.text)
        for node in root.walk()
        if node.tag == "label" and "for" in node.attrs
    }


def _is_active(node: Node) -> bool:
    return node.tag in ACTIVE or node.attrs.get("role") in ACTING_ROLES


def _is_field(node: Node) -> bool:
    return node.tag in FIELDS or node.attrs.get("contenteditable") in _EDITABLE


def _names(node: Node, labels: dict[str, str]) -> Iterator[str]:
    if not _is_field(node):
        yield _words(node.text)
    if label := labels.get(node.attrs.get("id", "")):
        yield label
    if node.attrs.get("type") in _BUTTONS and "value" in node.attrs:
        yield _words(node.attrs["value"])
    for name in NAMING:
        if name in node.attrs:
            yield _words(node.attrs[name])


def _words(text: str) -> str:
    return " ".join(text.split())


def _rank(wanted: str, node: Node, labels: dict[str, str]) -> int | None:
    """Return how well a thing has the wanted name, 0 the best; None: it has not."""
    names = list(_names(node, labels))
    if wanted in names:
        return 0
    small = wanted.casefold()
    if small in map(str.casefold, names):
        return 1
    is_part = _is_active(node) and any(small in name.casefold() for name in names)
    return 2 if is_part else None
