import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from generators.policy.teacher.geometry import (
    Point,
    angle,
    best_probe,
    bisector_end,
    contains,
    corner_count,
    drag_path,
    inset,
    midpoint,
    pixels,
    ray,
    right_angle_end,
)
from schemas.episodes.observation import Box

FRAME: Box = (0, 0, 150, 120)
LIST: list[Box] = [(0, 20.0 * place, 100, 20) for place in range(5)]
GRID: list[Box] = [(40.0 * column, 40.0 * row, 40, 40) for row in range(3) for column in range(3)]

points = st.tuples(st.integers(5, 145), st.integers(5, 115)).map(
    lambda pair: (float(pair[0]), float(pair[1]))
)


def test_a_midpoint_lies_half_way() -> None:
    assert midpoint((0, 10), (4, 20)) == (2, 15)


@pytest.mark.parametrize(
    ("other", "degrees"), [((10, 0), 0), ((0, 10), 90), ((0, -10), 90), ((-10, 0), 180)]
)
def test_an_angle_is_measured_at_the_corner(other: Point, degrees: float) -> None:
    assert angle((5, 0), (0, 0), other) == pytest.approx(degrees)


def test_a_box_has_its_pixels_and_an_inset_fewer() -> None:
    assert list(pixels((0.5, 0, 1.5, 1))) == [(1, 0), (2, 0), (1, 1), (2, 1)]
    assert inset((0, 0, 10, 20), 3) == (3, 3, 4, 14)


def test_a_ray_goes_from_beside_its_start_to_the_edge() -> None:
    along = list(ray((10, 10), 1 + 0j, FRAME))

    assert along[0] == (11, 10)
    assert along[-1] == (150, 10)
    assert list(ray((150, 10), 1 + 0j, FRAME)) == []


@given(points, points)
def test_a_right_angle_is_right_to_half_a_pixel(end: Point, corner: Point) -> None:
    assume(math.dist(end, corner) > 20)

    found = right_angle_end(end, corner, FRAME)

    assert found is not None
    assert contains(found, FRAME)
    blur = math.degrees(math.atan2(0.75, math.dist(corner, found)))
    assert abs(angle(end, corner, found) - 90) <= blur


@given(points, points, points)
def test_a_bisector_leaves_the_same_angle_on_both_sides(
    one: Point, corner: Point, other: Point
) -> None:
    assume(min(math.dist(one, corner), math.dist(other, corner)) > 20)
    assume(5 < angle(one, corner, other) < 175)

    found = bisector_end(one, corner, other, FRAME)

    assert found is not None
    blur = math.degrees(math.atan2(1.5, math.dist(corner, found)))
    assert abs(angle(one, corner, found) - angle(other, corner, found)) <= blur


def test_half_of_a_straight_angle_is_a_right_one() -> None:
    found = bisector_end((30, 60), (60, 60), (90, 60), FRAME)

    assert found is not None
    assert angle((30, 60), (60, 60), found) == pytest.approx(90)


def test_what_lies_outside_the_drawing_cannot_be_marked() -> None:
    assert right_angle_end((75, 300), (75, 400), FRAME) is None


@pytest.mark.parametrize(("start", "goal"), [(0, 3), (0, 1), (2, 4)])
def test_an_item_dragged_down_a_list_ends_past_the_middle_of_another(start: int, goal: int) -> None:
    begin, end = drag_path(LIST, start, goal, columns=1)

    assert contains(begin, LIST[start])
    assert contains(end, LIST[goal])
    assert end[1] > LIST[goal][1] + LIST[goal][3] / 2


@pytest.mark.parametrize(("start", "goal"), [(3, 0), (1, 0)])
def test_an_item_dragged_up_a_list_ends_before_the_middle_of_another(start: int, goal: int) -> None:
    _, end = drag_path(LIST, start, goal, columns=1)

    assert contains(end, LIST[goal])
    assert end[1] < LIST[goal][1] + LIST[goal][3] / 2


def test_an_item_dragged_up_and_right_ends_behind_the_one_before_its_place() -> None:
    begin, end = drag_path(GRID, 7, 2, columns=3)

    assert contains(end, GRID[1])
    assert end[0] > GRID[1][0] + GRID[1][2] / 2
    assert begin[0] < end[0]


@pytest.mark.parametrize(("start", "goal"), [(0, 8), (2, 3), (8, 0), (5, 3), (1, 7)])
def test_an_item_dragged_any_other_way_across_a_grid_ends_on_its_place(
    start: int, goal: int
) -> None:
    _, end = drag_path(GRID, start, goal, columns=3)

    assert contains(end, GRID[goal])


@given(st.integers(3, 7), st.floats(0, 360))
@settings(max_examples=30)
def test_the_corners_of_an_outline_are_counted_however_it_is_turned(
    count: int, turned: float
) -> None:
    half = math.pi / count

    def radius(degree: int) -> float:
        beside = (math.radians(degree + turned) % (2 * half)) - half
        return 35 * math.cos(half) / math.cos(beside)

    assert corner_count([round(radius(degree)) for degree in range(360)]) == count


@given(points)
@settings(max_examples=10)
def test_a_few_telling_points_find_any_place(sought: Point) -> None:
    limits = (5, 10, 40)
    left = list(pixels(FRAME))
    for _ in range(15):
        point = best_probe(left, limits)
        distance = math.dist(point, sought)
        if distance < limits[0]:
            return
        ring = sum(distance >= limit for limit in limits)
        left = [
            other
            for other in left
            if sum(math.dist(other, point) >= limit for limit in limits) == ring
        ]

    pytest.fail(f"{sought} was not found")
