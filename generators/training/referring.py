"""Expressions that refer to one thing in a picture, and to no other.

An expression has a class, as buttons or buttons that say "Odd", and a place that only one thing of the
class has: it is the only one, the second from the top, left of a text, in a corner. A place must hold
for the thing in the strict sense, and for no other thing even in the loosest sense: if it is doubtful
whether a reader would count a thing, because it is not aligned or may be invisible, there is no
expression. A text that stands in several places counts in each of them, and a text of the goal never
serves as the reference. Words come from visible text alone. A text with quotation marks or of many words
is not quoted.
"""

import hashlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from generators.training.scene import (
    TEXT,
    Scene,
    Thing,
    centre,
    is_part,
    is_quotable,
    same_words,
)
from schemas.episodes.observation import Box

_ORDINALS = (
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"),
    *("tenth", "eleventh", "twelfth"),
)
_ANCHORS = 4
"""The number of texts near a thing that expressions may start from."""

_SLACK = 2.0
"""How far two things that stand apart may overlap: boxes are larger than what shows, CSS px."""

_CORNER, _NOT_CORNER = 1 / 3, 0.45
"""The parts of the picture's sides that surely are a corner, and beyond which surely nothing is."""


class Expression(NamedTuple):
    """Words that refer to one thing."""

    text: str
    """As `the second checkbox from the top`."""
    by: str
    """The property that distinguishes the thing: name, kind, place or neighbour."""


class _Side(NamedTuple):
    """A direction from a text, on boxes whose numbers are turned so that it leads to the right."""

    words: str
    """As `below` a text."""
    edge: str
    """The word for the first thing in this direction, as `topmost`."""
    origin: str
    """The start of counting in this direction, as `from the top`; empty if readers do not count that
    way."""
    turn: Callable[[Box], tuple[float, float, float, float]]
    """Returns start and end along the direction, then start and end across it."""
    is_row: bool
    """Whether the direction includes only things level with the text, as in a row."""


_SIDES = (
    _Side(
        "to the right of",
        "leftmost",
        "from the left",
        lambda b: (b[0], b[0] + b[2], b[1], b[1] + b[3]),
        is_row=True,
    ),
    _Side(
        "to the left of",
        "rightmost",
        "",
        lambda b: (-b[0] - b[2], -b[0], b[1], b[1] + b[3]),
        is_row=True,
    ),
    _Side(
        "below",
        "topmost",
        "from the top",
        lambda b: (b[1], b[1] + b[3], b[0], b[0] + b[2]),
        is_row=False,
    ),
    _Side(
        "above", "bottommost", "", lambda b: (-b[1] - b[3], -b[1], b[0], b[0] + b[2]), is_row=False
    ),
)


def drawn_by(key: str, found: Sequence[Expression], number: int) -> list[Expression]:
    """Return some of the expressions in an order that `key` alone decides, each kind of basis in turn."""
    ranked = sorted(found, key=lambda one: hashlib.sha256(f"{key}\0{one.text}".encode()).digest())
    bases = list(dict.fromkeys(one.by for one in ranked))
    turns = {by: [one for one in ranked if one.by == by] for by in bases}
    mixed = [
        turns[by][turn] for turn in range(len(ranked)) for by in bases if turn < len(turns[by])
    ]
    return mixed[:number]


def expressions(scene: Scene, thing: Thing, *, viewport: tuple[int, int]) -> list[Expression]:
    """Return all expressions that fit a thing and nothing else; may be empty."""
    found: list[Expression] = []
    if not thing.content and not scene.blind:
        return found
    for label in (thing.label, "") if is_quotable(thing.label) else ("",):
        if not label and (thing.kind == TEXT or scene.blind or scene.crowded):
            continue
        alike = [one for one in scene.things if thing.kind in one.nouns and _says(one, label)]
        others = [one for one in alike if not is_part(one, thing) and not _says_of(one, thing)]
        found += _heads(thing, label, alone=not others)
        if (label and not others) or scene.blind or not all(one.content for one in alike):
            continue
        phrase = f'"{label}" {thing.kind}' if label else thing.kind
        if others:
            found += _by_place(phrase, thing, others, viewport)
        found += _by_neighbour(phrase, scene, thing, others)
    return list(dict.fromkeys(found))


def _says(thing: Thing, label: str) -> bool:
    return not label or same_words(thing.label, label)


def _says_of(whole: Thing, thing: Thing) -> bool:
    """Return whether an element contains a thing and no other words, so that the two are one thing."""
    return bool(thing.label) and is_part(thing, whole) and same_words(whole.label, thing.label)


def _heads(thing: Thing, label: str, *, alone: bool) -> Iterator[Expression]:
    if alone and label:
        yield Expression(f'the {thing.kind} "{label}"', "name")
        yield Expression(f'the "{label}" {thing.kind}', "name")
        says = "that says" if TEXT in thing.nouns else "labelled"
        yield Expression(f'the {thing.kind} {says} "{label}"', "name")
    elif alone:
        yield Expression(f"the only {thing.kind}", "kind")


def _by_place(
    phrase: str, thing: Thing, others: Sequence[Thing], viewport: tuple[int, int]
) -> Iterator[Expression]:
    boxes = [one.box for one in others]
    for side in _SIDES:
        start, end, _, _ = side.turn(thing.box)
        spans = sorted(side.turn(box)[:2] for box in boxes)
        if all(end <= span[0] + _SLACK for span in spans):
            yield Expression(f"the {side.edge} {phrase}", "place")
        if side.origin and _are_in_row(sorted([(start, end), *spans])):
            number = sum(span[0] < start for span in spans)
            if number < len(_ORDINALS):
                yield Expression(f"the {_ORDINALS[number]} {phrase} {side.origin}", "place")
    yield from _in_grid(phrase, thing, boxes)
    yield from _in_corner(phrase, thing, boxes, viewport)


def _are_in_row(spans: Sequence[tuple[float, ...]]) -> bool:
    """Return whether spans in their order stand apart."""
    return all(one[1] <= other[0] + _SLACK for one, other in itertools.pairwise(spans))


def _in_grid(phrase: str, thing: Thing, others: Sequence[Box]) -> Iterator[Expression]:
    """Yield the place in one of several rows, if all rows are clear."""
    rows: list[list[Box]] = []
    for box in sorted((thing.box, *others), key=lambda one: one[1]):
        if rows and box[1] < max(one[1] + one[3] for one in rows[-1]):
            rows[-1].append(box)
        else:
            rows.append([box])
    for row in rows:
        row.sort()
        middles = [centre(box)[1] for box in row]
        if max(middles) - min(middles) > _SLACK or not _are_in_row(
            [(box[0], box[0] + box[2]) for box in row]
        ):
            return
    down = next(number for number, row in enumerate(rows) if thing.box in row)
    across = rows[down].index(thing.box)
    if len(rows) > 1 and len(rows[down]) > 1 and max(down, across) < len(_ORDINALS):
        rows_of = f"row of {phrase}{'es' if phrase.endswith('x') else 's'}"
        place = f"from the left in the {_ORDINALS[down]} {rows_of} from the top"
        yield Expression(f"the {_ORDINALS[across]} {phrase} {place}", "place")


def _in_corner(
    phrase: str, thing: Thing, others: Sequence[Box], viewport: tuple[int, int]
) -> Iterator[Expression]:
    for down, across in itertools.product(("top", "bottom"), ("left", "right")):
        depths = []
        for box in (thing.box, *others):
            x, y = centre(box)[0] / viewport[0], centre(box)[1] / viewport[1]
            depths.append(max(x if across == "left" else 1 - x, y if down == "top" else 1 - y))
        if depths[0] <= _CORNER and all(depth > _NOT_CORNER for depth in depths[1:]):
            yield Expression(f"the {phrase} in the {down} {across} of the picture", "place")


def _by_neighbour(
    phrase: str, scene: Scene, thing: Thing, others: Sequence[Thing]
) -> Iterator[Expression]:
    x, y = centre(thing.box)
    texts = [
        (abs(across - x) + abs(down - y), text)
        for number, across, down, text in scene.anchors
        if number not in thing.content
    ]
    for _, text in sorted(set(texts))[:_ANCHORS]:
        anchors = [one.bbox for one in scene.sights if same_words(one.text, text)]
        for side in _SIDES:
            place = f'{side.words} "{text}"'
            hits = [_Hits(side, anchor, thing, others) for anchor in anchors]
            own = zip(hits, anchors, strict=True)
            numbers = {one.number for one, anchor in own if not scene.is_goal(anchor)}
            number = numbers.pop() if len(numbers) == 1 else None
            if number is None or number >= len(_ORDINALS):
                continue
            if all(one.alone for one in hits):
                yield Expression(f"the {phrase} {place}", "neighbour")
            elif all(one.number == number or one.count <= number for one in hits):
                yield Expression(f"the {_ORDINALS[number]} {phrase} {place}", "neighbour")


class _Hits:
    """The things of a class that stand on a side of a text."""

    def __init__(self, side: _Side, anchor: Box, thing: Thing, others: Sequence[Thing]) -> None:
        _, edge, low, high = side.turn(anchor)
        found: list[tuple[float, float, bool, bool]] = []
        for one in (thing, *others):
            start, end, top, bottom = side.turn(one.box)
            touches = top < high and low < bottom
            level = low <= (top + bottom) / 2 <= high or top <= (low + high) / 2 <= bottom
            if start >= edge - _SLACK and (touches or not side.is_row):
                found.append((start, end, level, one is thing))
        found.sort()
        self.count = len(found)
        """Their number, in the loosest sense."""
        self.alone = all(one[3] for one in found)
        """Whether the thing is the only one."""
        at = next((number for number, one in enumerate(found) if one[3]), None)
        clear = at is not None and all(one[2] for one in found[: at + 1])
        clear = clear and _are_in_row([one[:2] for one in found])
        self.number = at if clear else None
        """The thing's place among them from 0; None if it has no clear one."""
