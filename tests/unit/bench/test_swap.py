"""The swap test: what is out of sight decides no step, and each sort of leak that is planted is found by it."""

from collections.abc import Callable

import pytest
from support.browsers.reference_pages import SEEN, Reader, node, scrolled, step

from bench.swap.document import Swap
from bench.swap.policy import Compared, SwapTested
from generators.browser.protocol import Node
from generators.policy.protocol import Decision, Policy, PolicyCard, PolicyInput
from generators.policy.reference import ReferencePolicy
from generators.policy.seen_document import SeenDocument
from schemas.episodes.action import Answer, Click, Scroll
from schemas.episodes.episode import PolicyKind
from schemas.episodes.observation import Element, Observation, Sight

_ROW = 100.0
_ROWS = ("Chair", "Table", "Bed", "Lamp", "Desk", "Shelf", "Stool", "Bench")
_TOP = 50.0


def _document(top: float = 0.0) -> Node:
    """Return a list that is scrolled so far: the window shows four of its eight rows."""
    rows = [_row(place, name, _TOP + place * _ROW - top) for place, name in enumerate(_ROWS)]
    menu = node("div", "", node("a", "Archive", at=None, shown=False, id="archive"), shown=False)
    menu.point = None
    body = node("body", "", *rows, menu, key=100)
    body.box = (0.0, -top, 500.0, _TOP + len(_ROWS) * _ROW)
    return scrolled(body, top, height=_TOP + len(_ROWS) * _ROW)


def _row(place: int, name: str, at: float) -> Node:
    is_seen = at >= 0 and at + 20 <= 400
    link = node(
        "a",
        name,
        at=(20.0, at + 10) if is_seen else None,
        top=at,
        key=200 + place,
        id=f"row-{place}",
        href=f"/page/{place // 4}",
    )
    link.words = ((name, (0.0, at, 60.0, 20.0)),)
    row = node("li", "", link, at=(20.0, at + 10) if is_seen else None, top=at, key=300 + place)
    row.box = (0.0, at, 500.0, 20.0)
    return row


def _seen(root: Node) -> Observation:
    """Return an observation that shows what of a page can be clicked."""
    sights = [
        Sight(text=word, bbox=box) for one in root.walk() if one.point for word, box in one.words
    ]
    return SEEN.model_copy(update={"sights": tuple(sights)})


class _Leaking:
    """A policy that answers with something of the document."""

    card = PolicyCard(name="leaking", kind=PolicyKind.SCRIPTED, privileged=True)

    def __init__(self, leak: Callable[[Node], object], *, sees: bool) -> None:
        self._leak = leak
        self._seen = SeenDocument() if sees else None

    async def act(self, turn: PolicyInput) -> Decision:
        assert turn.reader is not None
        root = await turn.reader.read()
        if self._seen is not None:
            root = self._seen.look(root, turn.observation)
        return Decision(action=Answer(text=str(self._leak(root))))


def _links(root: Node) -> list[Node]:
    return [one for one in root.walk() if one.tag == "a"]


LEAKS: dict[str, Callable[[Node], object]] = {
    "text": lambda root: [one.text for one in _links(root)],
    "all text": lambda root: root.text,
    "words": lambda root: [one.words for one in _links(root)],
    "order": lambda root: (
        [one.text for one in _links(root)].index("Desk") if "Desk" in root.text else None
    ),
    "number of rows": lambda root: len(_links(root)),
    "page of a row": lambda root: [one.attrs.get("href") for one in _links(root)],
    "id": lambda root: [one.attrs.get("id") for one in _links(root)],
    "place": lambda root: [one.box for one in root.walk()],
    "length": lambda root: root.scroll,
    "length of the page": lambda root: root.box[3] if root.scroll is None else root.scroll[3],
    "hidden": lambda root: any("archive" in one.attrs.get("id", "") for one in root.walk()),
}


async def _changed(make: Callable[[], Policy], roots: list[Node]) -> Compared:
    record = Compared()
    policy = SwapTested(make, record, name="one")
    for root in roots:
        await policy.act(PolicyInput("Do it.", (), _seen(root), Reader(root)))
    return record


@pytest.mark.parametrize("sort", LEAKS)
async def test_a_planted_leak_is_found(sort: str) -> None:
    record = await _changed(lambda: _Leaking(LEAKS[sort], sees=False), [_document()])

    assert len(record.changed) == 1, sort


@pytest.mark.parametrize("sort", LEAKS)
async def test_what_was_seen_leaks_nothing(sort: str) -> None:
    roots = [_document(0.0), _document(300.0), _document(450.0), _document(0.0)]
    record = await _changed(lambda: _Leaking(LEAKS[sort], sees=True), roots)

    assert record == Compared(steps=4)


async def test_a_leak_of_the_thought_alone_is_found_and_ends_the_comparison() -> None:
    class Thinking(_Leaking):
        async def act(self, turn: PolicyInput) -> Decision:
            said = await super().act(turn)
            thought = str(said.action)
            return Decision(action=Answer(), thought=thought)

    record = await _changed(lambda: Thinking(LEAKS["text"], sees=False), [_document(), _document()])

    assert (record.steps, len(record.changed)) == (1, 1)


async def test_an_element_of_the_observation_that_is_out_of_sight_is_a_leak_too() -> None:
    class Listing(_Leaking):
        async def act(self, turn: PolicyInput) -> Decision:
            said = [one.text for one in turn.observation.elements]
            return Decision(action=Answer(text=str(said)))

    away = Element(
        role="link",
        name="Stool",
        tag="a",
        text="Stool",
        bbox=(0, 900, 9, 9),
        interactive=True,
        visible=0,
        covered=False,
    )
    record, root = Compared(), _document()
    observation = _seen(root).model_copy(update={"elements": (away,)})
    policy = SwapTested(lambda: Listing(LEAKS["text"], sees=True), record, name="one")
    await policy.act(PolicyInput("Do it.", (), observation, Reader(root)))

    assert len(record.changed) == 1


async def test_a_reference_finds_a_row_by_what_comes_into_sight_alone() -> None:
    steps = [
        step(do="find", on="Shelf"),
        step(do="click", on="Shelf"),
        step(do="click", on="Chair"),
    ]
    record, taken = Compared(), []
    policy = SwapTested(lambda: ReferencePolicy(steps), record, name="one")
    for top in (0.0, 300.0, 300.0, 0.0):
        root = _document(top)
        turn = PolicyInput("Do it.", (), _seen(root), Reader(root))
        taken.append((await policy.act(turn)).action)

    assert [type(one) for one in taken] == [Scroll, Click, Scroll, Click]
    assert record == Compared(steps=4)


def test_what_is_in_sight_stays_in_a_swapped_document() -> None:
    root = _document(100.0)
    swapped = Swap("one").of(root, _seen(root).sights)

    shown = [(one.text, one.box, one.attrs) for one in _links(root) if one.point]
    assert [(one.text, one.box, one.attrs) for one in _links(swapped) if one.point] == shown
    assert [one.text for one in _links(swapped)] != [one.text for one in _links(root)]


@pytest.mark.parametrize("seed", ["one", "two", "three", "four", "five"])
def test_the_number_of_what_is_out_of_sight_changes_whatever_is_drawn(seed: str) -> None:
    root = _document(100.0)

    assert len(_links(Swap(seed).of(root, _seen(root).sights))) != len(_links(root))
