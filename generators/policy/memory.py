"""What an episode has been shown so far, by which alone a policy decides where to look next.

A page, and each part of it that scrolls by itself, is a *sheet*, of which the stretches are remembered that were in sight. A
scroll leads back to what stands in one of them, or else to what was not in sight yet; what stands outside of them decides
nothing. That nothing is left below or above is known where the sheet stands at its end, as its scroll bar says.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from generators.browser.protocol import Node
from generators.policy.window import ListEnd, Window
from schemas.episodes.action import Direction, Scroll
from schemas.episodes.observation import Box

REACH = 0.8
"""The longest scroll, as a share of the height that is in sight: a fifth of it stays."""

NOTCH = 100
"""Scrolls are so many px, or a multiple: a notch of a mouse's wheel."""

_BRING_TO = 0.4
"""What was seen elsewhere is brought to this share of the height that is in sight, from the top."""

_LEAST_AREA = 0.02
"""Parts that scroll by themselves are looked through if they have this share of the window."""

_SHARES = (0.5, 0.25, 0.75, 0.1, 0.9)
"""Where a free point is looked for, as shares of what is in sight."""

_SLACK = 2.0
"""What may lie between two stretches that were in sight, px."""


class Stretches:
    """Stretches of a height, which neither overlap nor touch, px from its top."""

    def __init__(self) -> None:
        self.all: list[tuple[float, float]] = []
        """From and to, rising."""

    def add(self, top: float, bottom: float) -> None:
        """Add a stretch."""
        apart = list[tuple[float, float]]()
        for first, last in self.all:
            if last + _SLACK < top or bottom + _SLACK < first:
                apart.append((first, last))
            else:
                top, bottom = min(top, first), max(bottom, last)
        self.all = sorted([*apart, (top, bottom)])

    def around(self, top: float, bottom: float) -> tuple[float, float] | None:
        """Return the one that contains a stretch; None: none does."""
        return next((one for one in self.all if one[0] <= top and bottom <= one[1]), None)


@dataclass(slots=True, eq=False)
class Sheet:
    """A page, or a part of it that scrolls by itself, and what of it was in sight."""

    shown: Stretches = field(default_factory=Stretches)
    """What was in sight since the page was last changed."""
    known: Stretches = field(default_factory=Stretches)
    """What was ever in sight."""
    is_ended: bool = False
    """Whether its lower end was in sight."""

    def show(self, top: float, bottom: float) -> None:
        """Note a stretch that is in sight."""
        self.shown.add(top, bottom)
        self.known.add(top, bottom)

    def next_way(self, top: float, bottom: float, end: float | None = None) -> Direction | None:
        """Return where there is something that was not in sight, seen from a stretch: first down, then up; None: nowhere.

        Below `end`, px from the sheet's top, nothing is looked for, once that was in sight; None: to the sheet's end.
        """
        first, last = self.shown.around(top, bottom) or (top, bottom)
        if end is not None and self.shown.around(end, end) is not None:
            goes_on = last < end
        else:
            goes_on = not self.is_ended or last < self.shown.all[-1][1]
        if goes_on:
            return Direction.DOWN
        return Direction.UP if first > _SLACK else None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a sheet stands now."""

    sheet: Sheet
    top: float
    """How far it is scrolled, px."""
    view: Box
    """The part of the window that shows it."""
    holder: Node | None
    """The part that scrolls by itself; None: the page."""
    over: tuple[float, float] | None = None
    """The point of the window over which the wheel scrolls it; None: the middle of the window."""
    stuck: frozenset[Direction] = frozenset()
    """Where it goes on outside of the window and cannot scroll, so that the page has to."""

    @property
    def bottom(self) -> float:
        """The lower end of what is in sight, px from the sheet's top."""
        return self.top + self.view[3]

    @property
    def reach(self) -> int:
        """The longest scroll, px."""
        most = int(self.view[3] * REACH)
        return max(1, most // NOTCH * NOTCH or most)

    def is_far_up(self, direction: Direction, distance: float) -> bool:
        """Return whether a way leads to the top of the page, further than two scrolls."""
        is_up = self.holder is None and direction is Direction.UP
        return is_up and distance > 2 * self.reach and self.top - distance < self.reach / 2

    def scroll(self, direction: Direction, distance: float | None = None) -> Scroll:
        """Return a scroll; `distance` px or the next notch, and never more than the reach, which None means."""
        notches = self.reach if distance is None else -(-max(1.0, distance) // NOTCH) * NOTCH
        x, y = (None, None) if self.over is None else self.over
        amount = max(1, min(self.reach, round(notches)))
        return Scroll(direction=direction, amount=amount, x=x, y=y)


class Memory:
    """The sheets that an episode has seen."""

    def __init__(self) -> None:
        self._url = ""
        self._sheets: dict[tuple[str, ...], Sheet] = {}
        self._asked: tuple[Sheet, float, Direction] | None = None
        self._page: Place | None = None

    def look(self, url: str, root: Node, front: Node, window: Window) -> list[Place]:
        """Note what is in sight, and return where each sheet stands: the one with the most room first.

        `front` is what lies over the page, or the page. Another address begins anew.
        """
        if url != self._url:
            self._url, self._sheets = url, {}
        places = sorted(self._places(root, front, window), key=lambda one: -_area(one.view))
        for place in places:
            place.sheet.show(place.top, place.bottom)
            if Direction.DOWN not in place.stuck:
                place.sheet.is_ended |= window.is_at_end(place.holder, down=True, alone=True)
            if self._asked is not None and self._asked[:2] == (place.sheet, place.top):
                _stop(place, self._asked[2])
        self._asked = None
        self._page = next((one for one in places if one.holder is None), None)
        return places

    def change(self, *, grows: bool) -> None:
        """Note that an action may have changed what the page shows; `grows`: it only has more below."""
        for sheet in self._sheets.values():
            sheet.is_ended = False
            if not grows:
                sheet.shown = Stretches()

    def recall(self, place: Place, thing: Node) -> tuple[Direction, float] | None:
        """Return the way back to an element of a sheet, and how far it is, px; None: it was never in sight."""
        at = thing.box[1] - place.view[1] + place.top
        if place.sheet.known.around(at, at) is None:
            return None
        direction = Direction.UP if at < place.top else Direction.DOWN
        return direction, abs(at - place.view[3] * _BRING_TO - place.top)

    def scroll(self, place: Place, direction: Direction, distance: float | None = None) -> Scroll:
        """Return a scroll of a sheet, whose movement is looked at afterwards."""
        page = self._page
        if direction in place.stuck and page is not None:
            place = page
        self._asked = place.sheet, place.top, direction
        return place.scroll(direction, distance)

    def _places(self, root: Node, front: Node, window: Window) -> Iterator[Place]:
        least = _LEAST_AREA * root.inner[0] * root.inner[1]
        parts = list[Box]()
        for node in front.walk():
            if window.scrolls(node) and node.scroll is not None and node.point is not None:
                view = window.view_of(node)
                if _area(view) >= least:
                    key = (node.tag, node.attrs.get("id", ""), str(round(view[0])))
                    parts.append(view)
                    above = view[1] - node.box[1]
                    yield Place(
                        self._sheet(key),
                        node.scroll[1] + above,
                        view,
                        node,
                        _middle(view),
                        frozenset(_stuck(node, view, window)),
                    )
        if front is root:
            top, view = 0.0 if root.scroll is None else root.scroll[1], window.view_of(None)
            yield Place(self._sheet(()), top, view, None, _free_point(root.inner, view, parts))

    def _sheet(self, key: tuple[str, ...]) -> Sheet:
        return self._sheets.setdefault(key, Sheet())


def unseen_part(
    places: Sequence[Place], end: ListEnd | None = None
) -> tuple[Place, Direction] | None:
    """Return the first sheet that has something that was not in sight, and where; None: all was.

    `end` is where a list ends: once that was in sight, nothing is looked for below it in its sheet. None: all sheets
    are looked through to their ends.
    """
    ways = ((one, one.sheet.next_way(one.top, one.bottom, _end_in(one, end))) for one in places)
    return next(((one, way) for one, way in ways if way is not None), None)


def _end_in(place: Place, end: ListEnd | None) -> float | None:
    """Return how far down in a sheet a list ends, px; None: not in this sheet."""
    if end is None or end.holder is not place.holder:
        return None
    return end.at - place.view[1] + place.top


def _stop(place: Place, direction: Direction) -> None:
    """Note that a sheet did not move although it was scrolled."""
    if direction is Direction.DOWN:
        place.sheet.is_ended = True
    else:
        place.sheet.show(0.0, place.top)


def _stuck(part: Node, view: Box, window: Window) -> Iterator[Direction]:
    """Yield where a part goes on outside of the window, and cannot scroll any more."""
    (_, top, _, height), (_, first, _, high) = part.box, view
    if top < first - _SLACK and window.is_at_end(part, down=False, alone=True):
        yield Direction.UP
    if first + high < top + height - _SLACK and window.is_at_end(part, down=True, alone=True):
        yield Direction.DOWN


def _middle(view: Box) -> tuple[float, float]:
    return view[0] + view[2] / 2, view[1] + view[3] / 2


def _free_point(
    inner: tuple[float, float], view: Box, parts: Sequence[Box]
) -> tuple[float, float] | None:
    """Return a point of the page that no part lies over which scrolls by itself; None: the window's middle is one."""
    middle = inner[0] / 2, inner[1] / 2
    shares = [(x, y) for y in _SHARES for x in _SHARES]
    tried = ((view[0] + view[2] * x, view[1] + view[3] * y) for x, y in shares)
    if not any(_holds(part, middle) for part in parts):
        return None
    return next((at for at in tried if not any(_holds(part, at) for part in parts)), None)


def _holds(view: Box, at: tuple[float, float]) -> bool:
    return 0 <= at[0] - view[0] <= view[2] and 0 <= at[1] - view[1] <= view[3]


def _area(view: Box) -> float:
    return view[2] * view[3]
