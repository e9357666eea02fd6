"""What an expression of the `grounding` export refers to, found anew from a step's rows.

It knows the words that the export writes and none of its code: it parses an expression, looks through
elements and sights for all that could be meant, in the strict sense of its words and in a loose one, and
returns the places. A row is right if there is one place in both senses, and the row points at it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from schemas.episodes.episode import Step
from schemas.episodes.observation import Box

ORDINALS = {
    word: number
    for number, word in enumerate(
        [
            "first",
            "second",
            "third",
            "fourth",
            "fifth",
            "sixth",
            "seventh",
            "eighth",
            "ninth",
            "tenth",
            "eleventh",
            "twelfth",
        ]
    )
}
NOUNS = {
    "button": (("button",), ()),
    "link": (("link",), ("a",)),
    "checkbox": (("checkbox",), ()),
    "radio button": (("radio",), ()),
    "text field": (("textbox", "searchbox", "spinbutton"), ("textarea", "input")),
    "list": (("combobox", "listbox"), ()),
    "option": (("option",), ()),
    "tab": (("tab",), ()),
    "slider": (("slider",), ()),
    "image": (("img",), ("img",)),
    "heading": (("heading",), ()),
    "cell": (("cell", "columnheader", "gridcell"), ()),
    "menu item": (("menuitem",), ()),
    "circle": ((), ("circle",)),
    "rectangle": ((), ("rect",)),
    "shape": ((), ("circle", "rect", "ellipse", "polygon", "polyline", "path", "line")),
}
SHAPES = ("circle", "rectangle", "shape")
EDGES = ("topmost", "bottommost", "leftmost", "rightmost")
SIDES = ("to the right of", "to the left of", "below", "above")
_PHRASE = re.compile(
    rf"the (?:(?P<only>only) |(?P<nth>{'|'.join(ORDINALS)}) |(?P<edge>{'|'.join(EDGES)}) )?"
    rf'(?:"(?P<before>[^"]*)" )?(?P<noun>{"|".join(NOUNS)}|text|icon|box)'
    r'(?: (?:that says |labelled )?"(?P<after>[^"]*)")?'
    rf'(?: (?P<side>{"|".join(SIDES)}) "(?P<anchor>[^"]*)")?'
    r"(?: from the (?P<origin>left|top))?"
    rf"(?: in the (?P<row>{'|'.join(ORDINALS)}) row of .* from the top)?"
    r"(?: in the (?P<down>top|bottom) (?P<across>left|right) of the picture)?"
)


@dataclass(frozen=True)
class Place:
    """Something that may be meant."""

    box: Box
    """CSS px."""
    shows: frozenset[int]
    """The sights in it."""
    words: str
    """Its text, or the text of its name where that stands right beside it."""


def middle(box: Box) -> tuple[float, float]:
    """Return the middle of a box."""
    return box[0] + box[2] / 2, box[1] + box[3] / 2


def inside(box: Box, point: tuple[float, float]) -> bool:
    """Return whether a point is in a box."""
    return box[0] <= point[0] <= box[0] + box[2] and box[1] <= point[1] <= box[1] + box[3]


def flat(text: str) -> str:
    """Return a text as two are compared."""
    return " ".join(text.casefold().split())


def referents(step: Step, text: str, viewport: tuple[int, int], *, loose: bool) -> list[Place]:
    """Return all places in a step's picture that an expression may mean."""
    said = _PHRASE.fullmatch(text)
    assert said is not None, text
    label = said["before"] or said["after"]
    found = [
        one
        for one in _candidates(step, said["noun"])
        if label is None or flat(one.words) == flat(label)
    ]
    found = _apart(found)
    number = ORDINALS.get(said["nth"] or "")
    if said["only"]:
        return found
    if said["side"]:
        anchors = [one.bbox for one in step.sights or () if flat(one.text) == flat(said["anchor"])]
        assert anchors, f"{said['anchor']!r} is not in sight"
        hits: list[Place] = []
        for anchor in anchors:
            there = sorted(
                (one for one in found if _stands(one.box, said["side"], anchor, loose=loose)),
                key=lambda one: _along(one.box, said["side"]),
            )
            hits += there if number is None else there[number : number + 1]
        return list(dict.fromkeys(hits))
    if said["row"]:
        tops = sorted({middle(one.box)[1] for one in found})
        rows = [y for n, y in enumerate(tops) if n == 0 or y - tops[n - 1] > 3]
        level = rows[ORDINALS[said["row"]]]
        found = [one for one in found if 0 <= middle(one.box)[1] - level <= 3]
    if said["edge"]:
        side = dict(
            zip(EDGES, ("below", "above", "to the right of", "to the left of"), strict=True)
        )
        ranked = sorted(found, key=lambda one: _along(one.box, side[said["edge"]]))
        first = _along(ranked[0].box, side[said["edge"]])
        return [one for one in ranked if _along(one.box, side[said["edge"]]) <= first + 2 * loose]
    if said["origin"]:
        axis = 0 if said["origin"] == "left" else 1
        assert number is not None
        return sorted(found, key=lambda one: one.box[axis])[number : number + 1]
    if said["down"]:
        part = 0.4 if loose else 0.34
        found = [one for one in found if _corner(one.box, said, viewport) <= part]
    return found


def _candidates(step: Step, noun: str) -> Iterator[Place]:
    sights = step.sights or ()
    if noun in ("icon", "box", "text"):
        for number, one in enumerate(sights):
            small = max(one.bbox[2:]) <= 24
            wanted = one.text if noun == "text" else not one.text and small == (noun == "icon")
            if wanted:
                yield Place(one.bbox, frozenset({number}), one.text)
    roles, tags = NOUNS.get("text field" if noun == "box" else noun, ((), ()))
    roles += NOUNS["list"][0] if noun == "box" else ()
    for item in step.elements:
        shows = frozenset(n for n, one in enumerate(sights) if inside(item.bbox, middle(one.bbox)))
        if item.visible <= 0 or not shows or item.tag == "label":
            continue
        words = " ".join(sights[n].text for n in sorted(shows) if sights[n].text)
        pairs = [zip(sights[n].bbox, item.bbox, strict=True) for n in shows]
        own = any(all(abs(one - other) <= 4 for one, other in pair) for pair in pairs)
        if item.covered and not own and flat(words) != flat(item.name):
            continue
        if item.role in roles or (item.tag in tags and (noun in SHAPES or not item.role)):
            yield Place(item.bbox, shows, words or _beside(step, item.name, item.bbox))
        elif noun == "text" and (item.interactive or flat(words) == flat(item.text)) and words:
            yield Place(item.bbox, shows, words)


def _beside(step: Step, name: str, box: Box) -> str:
    for one in step.sights or ():
        gap = max(one.bbox[0] - box[0] - box[2], box[0] - one.bbox[0] - one.bbox[2])
        drop = box[1] - one.bbox[1] - one.bbox[3]
        is_near = gap <= 40 and drop <= 16 and one.bbox[1] <= box[1] + box[3]
        if one.text and flat(one.text) == flat(name) and is_near:
            return one.text
    return ""


def _apart(found: list[Place]) -> list[Place]:
    """Return places without those that are another one: what shows the same, or the same words, within."""
    out: list[Place] = []
    for one in sorted(found, key=lambda place: place.box[2] * place.box[3]):
        twin = any(
            other.shows == one.shows
            or (other.shows < one.shows and flat(other.words) == flat(one.words))
            for other in out
        )
        if not twin:
            out.append(one)
    return out


def _along(box: Box, side: str) -> float:
    """Return how far in a direction something begins."""
    left, top, width, height = box
    return {"below": top, "above": -top - height, "to the right of": left}.get(side, -left - width)


def _stands(box: Box, side: str, anchor: Box, *, loose: bool) -> bool:
    """Return whether something is on a side of a text; loosely also where it is a little askew."""
    is_row = side in ("to the right of", "to the left of")
    past = (
        _along(box, side)
        >= -_along(
            anchor,
            {"below": "above", "above": "below"}.get(
                side, "to the left of" if side == "to the right of" else "to the right of"
            ),
        )
        - 2
    )
    axis = 1 if is_row else 0
    low, high = anchor[axis], anchor[axis] + anchor[axis + 2]
    start, end = box[axis], box[axis] + box[axis + 2]
    level = low <= (start + end) / 2 <= high or start <= (low + high) / 2 <= end
    return past and (level or (loose and (not is_row or (start < high and low < end))))


def _corner(box: Box, said: re.Match[str], viewport: tuple[int, int]) -> float:
    x, y = middle(box)[0] / viewport[0], middle(box)[1] / viewport[1]
    return max(x if said["across"] == "left" else 1 - x, y if said["down"] == "top" else 1 - y)
