"""A policy that carries out a task's reference, as `schemas/reference.py` describes it.

It finds each thing by its name in the rendered document, brings it into sight if need be, and acts on it
by pixels and keys. It adapts nothing: a thing that the page does not show ends the episode as a failure
of the policy, which says what it looked for.
"""

from collections.abc import Iterator, Sequence
from urllib.parse import urljoin

from generators.browser.protocol import Node
from generators.policy.protocol import Decision, PolicyCard, PolicyInput
from schemas.action import Action, Answer, Click, Direction, Goto, Key, Scroll, Select, TypeText
from schemas.episode import PolicyKind
from schemas.errors import FailureKind, RolloutFailure
from schemas.reference import Do, ReferenceStep

NAMING = ("aria-label", "placeholder", "title", "alt", "name")
"""Attributes that name a thing, the more visible ones first."""

ACTIVE = {"a", "button", "input", "select", "textarea", "summary", "option", "label"}
"""Tags that people act on."""

FIELDS = {"input", "select", "textarea"}
"""Tags that hold a value; a label stands for one of them."""

_BUTTONS = {"submit", "button", "reset"}

_CLOSED_SIZES = {"", "0", "1"}
"""Values of a list's `size` with which it shows one option."""

_MARKS = {"#": "id", ".": "class"}

MAX_SCROLLS = 20
"""How often one thing is brought closer to sight."""


class ReferencePolicy:
    """A `Policy` that takes the steps of a reference, one after another."""

    def __init__(self, steps: Sequence[ReferenceStep]) -> None:
        self._steps = tuple(steps)
        self._taken = 0
        self._scrolls = 0
        self._keys: list[Action] = []

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
            return Decision(action=self._keys.pop(0))
        if self._taken >= len(self._steps):
            return Decision(action=Answer())
        step = self._steps[self._taken]
        if step.on is None:
            self._taken += 1
            return Decision(action=_act_on_nothing(step, turn.observation.page.url))
        if turn.reader is None:
            raise AssertionError("a privileged policy is given a reader")
        root = await turn.reader.read()
        thing = find(root, step)
        if thing is None:
            where = f" within '{step.within}'" if step.within else ""
            raise RolloutFailure(
                FailureKind.POLICY,
                f"step {self._taken + 1} of the reference: the page shows no '{step.on}'{where}",
            )
        if thing.point is None:
            return Decision(action=self._scroll(step, thing, root))
        self._taken, self._scrolls = self._taken + 1, 0
        if step.do is Do.SELECT and _opens(thing):
            # Its options are on no picture: it is opened, told the name by keys, and closed.
            self._keys = [TypeText(text=step.text or ""), Key(key="Enter")]
            return Decision(action=Click(x=thing.point[0], y=thing.point[1]))
        return Decision(action=_act_on(step, *thing.point))

    def _scroll(self, step: ReferenceStep, thing: Node, root: Node) -> Action:
        self._scrolls += 1
        if self._scrolls > MAX_SCROLLS:
            raise RolloutFailure(
                FailureKind.POLICY,
                f"step {self._taken + 1} of the reference: '{step.on}' cannot be brought into sight",
            )
        _, top, _, height = thing.box
        offset = top + height / 2 - root.inner[1] / 2
        down = offset > 0
        amount = max(1, round(abs(offset)))
        return Scroll(direction=Direction.DOWN if down else Direction.UP, amount=amount)


def _opens(thing: Node) -> bool:
    """Return whether a list shows its options only once it is opened."""
    return "multiple" not in thing.attrs and thing.attrs.get("size", "") in _CLOSED_SIZES


def _act_on_nothing(step: ReferenceStep, url: str) -> Action:
    text = step.text or ""
    match step.do:
        case Do.PRESS:
            return Key(key=text)
        case Do.OPEN:
            return Goto(url=urljoin(url, text))
        case _:
            return Answer(text=text)


def _act_on(step: ReferenceStep, x: float, y: float) -> Action:
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
    act on goes before what only has the words.
    """
    wanted = _words(step.on or "")
    wants_field = step.do in {Do.TYPE, Do.SELECT}
    scopes = _scopes(root, step.within)
    for scope in scopes:
        things = [node for node in scope.walk() if node.shown]
        if wants_field:
            things = [node for node in things if node.tag in FIELDS]
        labels = _labels(root)
        if wanted[:1] in _MARKS:
            attribute, name = _MARKS[wanted[:1]], (step.on or "")[1:]
            marked = [node for node in things if name in node.attrs.get(attribute, "").split()]
            return marked[0] if marked else None
        ranked = [
            (rank, node.tag not in ACTIVE, len(node.text), place, node)
            for place, node in enumerate(things)
            if (rank := _rank(wanted, node, labels)) is not None
        ]
        if ranked:
            return min(ranked)[-1]
    return None


def _scopes(root: Node, within: str | None) -> list[Node]:
    """Return the smallest elements that contain certain words, and what is around each, inside out."""
    if within is None:
        return [root]
    wanted = _words(within)
    path: list[Node] = []

    def descend(node: Node) -> bool:
        if wanted.casefold() not in _words(node.text).casefold():
            return False
        path.append(node)
        return any(descend(child) for child in node.children) or True

    descend(root)
    return path[::-1]


def _labels(root: Node) -> dict[str, str]:
    """Return the words of labels by the id of the field that they are for."""
    return {
        node.attrs["for"]: _words(node.text)
        for node in root.walk()
        if node.tag == "label" and "for" in node.attrs
    }


def _names(node: Node, labels: dict[str, str]) -> Iterator[str]:
    if node.tag not in FIELDS:
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
    is_part = node.tag in ACTIVE and any(small in name.casefold() for name in names)
    return 2 if is_part else None
