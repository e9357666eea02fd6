"""Points on a plane of whole pixels: midpoints, angles, and searches for the best pixel.

Nothing here knows a page. Coordinates are CSS px, y downwards. A pointer is always on a whole pixel,
and the exact point often is not, so these functions search for the nearest fit.
"""

import cmath
import math
from bisect import bisect
from collections import Counter
from collections.abc import Iterator, Sequence

from schemas.episodes.observation import Box

Point = tuple[float, float]
"""x and y, CSS px."""

_SAMPLE = 150
"""About how many points a search compares."""


def midpoint(one: Point, other: Point) -> Point:
    """Return the point half-way between two."""
    return (one[0] + other[0]) / 2, (one[1] + other[1]) / 2


def angle(one: Point, corner: Point, other: Point) -> float:
    """Return the angle at `corner` between two points, in degrees from 0 to 180."""
    turn = (complex(*one) - complex(*corner)) * (complex(*other) - complex(*corner)).conjugate()
    return abs(math.degrees(cmath.phase(turn)))


def inset(box: Box, by: float) -> Box:
    """Return a box without a rim of `by` pixels."""
    return box[0] + by, box[1] + by, box[2] - 2 * by, box[3] - 2 * by


def contains(point: Point, box: Box) -> bool:
    """Return whether a point is in a box."""
    return box[0] <= point[0] <= box[0] + box[2] and box[1] <= point[1] <= box[1] + box[3]


def pixels(box: Box) -> Iterator[Point]:
    """Yield every whole pixel in a box, row by row."""
    left, top, width, height = box
    for y in range(math.ceil(top), math.floor(top + height) + 1):
        for x in range(math.ceil(left), math.floor(left + width) + 1):
            yield float(x), float(y)


def ray(start: Point, direction: complex, frame: Box) -> Iterator[Point]:
    """Yield the whole pixels along a ray, from near its start to the edge of `frame`."""
    step = direction / abs(direction)
    for length in range(1, math.ceil(math.hypot(frame[2], frame[3])) + 1):
        end = complex(*start) + step * length
        pixel = (float(round(end.real)), float(round(end.imag)))
        if contains(pixel, frame) and pixel != start:
            yield pixel


def right_angle_end(end: Point, corner: Point, frame: Box) -> Point | None:
    """Return the pixel in `frame` that makes the best right angle with `end` at `corner`.

    A pixel far from the corner is preferred, since there half a pixel is a smaller angle. None if
    the right angle is outside the frame.
    """
    across = (complex(*end) - complex(*corner)) * 1j
    pixels = [*ray(corner, across, frame), *ray(corner, -across, frame)]
    return min(
        pixels,
        key=lambda pixel: abs(angle(end, corner, pixel) - 90) + _blur(corner, pixel),
        default=None,
    )


def bisector_end(one: Point, corner: Point, other: Point, frame: Box) -> Point | None:
    """Return the pixel in `frame` that best halves the angle at `corner` between two points.

    Far from the corner is better; None if the bisector is outside the frame.
    """
    ways = [complex(*end) - complex(*corner) for end in (one, other)]
    middle = ways[0] / abs(ways[0]) + ways[1] / abs(ways[1])
    return min(
        ray(corner, middle if abs(middle) > 0 else ways[0] * 1j, frame),
        key=lambda pixel: (
            max(angle(one, corner, pixel), angle(other, corner, pixel)) + _blur(corner, pixel)
        ),
        default=None,
    )


def _blur(corner: Point, pixel: Point) -> float:
    """Return the angle half a pixel makes at that distance, in degrees."""
    return math.degrees(math.atan2(0.5, math.dist(corner, pixel)))


def drag_path(boxes: Sequence[Box], start: int, goal: int, *, columns: int) -> tuple[Point, Point]:
    """Return start and end of the drag that moves an item to the position of another.

    A sortable list makes room once the pointer has passed the middle of an item in the direction
    of the drag: after the item if the pointer moves right or down, else before it. So the end is
    beyond the middle of the item there; for a drag up and right it is the item before that.
    """
    row, column = divmod(start, columns)
    goal_row, goal_column = divmod(goal, columns)
    if goal_row < row and goal_column > column:
        return _point_in(boxes[start], 0.25, 0.5), _point_in(boxes[goal - 1], 0.75, 0.5)
    if goal_column != column:
        return _point_in(boxes[start], 0.5, 0.5), _point_in(
            boxes[goal], 0.75 if goal_column > column else 0.25, 0.5
        )
    return _point_in(boxes[start], 0.5, 0.5), _point_in(
        boxes[goal], 0.5, 0.75 if goal_row > row else 0.25
    )


def _point_in(box: Box, across: float, down: float) -> Point:
    return box[0] + box[2] * across, box[1] + box[3] * down


def corner_count(radii: Sequence[float]) -> int:
    """Return how many corners, 3 to 7, an outline has, from its distances to a point inside.

    The distances are in directions evenly spread over the full turn. Each corner is a peak, so the
    number of corners is the strongest of the frequencies.
    """
    turn = -2j * cmath.pi / len(radii)

    def strength(count: int) -> float:
        return abs(sum(r * cmath.exp(turn * count * n) for n, r in enumerate(radii)))

    return max(range(3, 8), key=strength)


def best_probe(candidates: Sequence[Point], limits: Sequence[float]) -> Point:
    """Return the candidate whose distance to the unknown point rules out the most others.

    A probe tells only between which of the rising `limits` its distance is. The best one leaves the
    fewest candidates on average. Of many candidates an even sample is compared.

    Raises:
        ValueError: `candidates` is empty.
    """
    sample = candidates[:: len(candidates) // _SAMPLE + 1]

    def expected_rest(point: Point) -> int:
        rings = Counter(bisect(limits, math.dist(point, other)) for other in sample)
        return sum(count * count for count in rings.values())

    return min(sample, key=expected_rest)
