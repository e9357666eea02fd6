"""The viewport of an episode is fixed, or drawn from its seed around the task's own area."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.configuration.browser_section import BrowserSection
from schemas.configuration.config import RunConfig
from schemas.configuration.picture_sizes import MODEL_VIEWPORT, VIEWPORT
from schemas.configuration.sections import (
    EngineKind,
    EngineSection,
    PolicyName,
    PolicySection,
)
from schemas.episodes.action import Answer, Click, Drag, Scroll, TypeText
from schemas.episodes.viewport import (
    UsualArea,
    Viewport,
    draw_viewport,
    large_viewports,
    largest_viewport,
    on_pixels,
    picture_pixels,
    picture_shapes,
)

AREA = (160, 210)


def configured(**browser: object) -> RunConfig:
    return RunConfig(browser=BrowserSection.model_validate(browser))


@given(seed=st.text(max_size=20), area=st.sampled_from([AREA, (160, 264), (375, 667)]))
def test_a_drawn_viewport_holds_the_area_and_little_more(seed: str, area: tuple[int, int]) -> None:
    config = configured(picture_side=(700, 1_024), margin=0.1)
    drawn = draw_viewport(config, area, seed=seed)

    assert drawn == draw_viewport(config, area, seed=seed)
    assert drawn.width == area[0]
    assert area[1] <= drawn.height <= 1.1 * area[1]
    assert max(drawn.picture) <= 1_024
    assert max(drawn.picture) >= 700 - max(area) / 16 - 1 or drawn.scale == 1


def test_sizes_scales_and_shapes_differ_from_seed_to_seed() -> None:
    drawn = [draw_viewport(RunConfig(), AREA, seed=str(seed)) for seed in range(200)]

    assert len({viewport.scale for viewport in drawn}) >= 5
    assert len({(viewport.width, viewport.height) for viewport in drawn}) >= 15
    shares = [AREA[0] * AREA[1] / (view.width * view.height) for view in drawn]
    assert sum(shares) / len(shares) >= 0.92


def test_what_is_configured_is_not_drawn() -> None:
    both = configured(viewport=(640, 480), device_scale_factor=2.0)
    scaled = configured(device_scale_factor=3.0, margin=0.0)

    assert draw_viewport(both, AREA, seed="1") == Viewport(width=640, height=480, scale=2.0)
    assert draw_viewport(configured(viewport=(640, 480)), AREA, seed="1").scale == 1
    assert draw_viewport(scaled, AREA, seed="1") == Viewport(width=160, height=210, scale=3.0)


def test_a_page_without_an_area_gets_the_usual_viewport() -> None:
    asking = RunConfig(
        policy=PolicySection(name=PolicyName.MODEL), engine=EngineSection(kind=EngineKind.SIMULATOR)
    )

    assert draw_viewport(RunConfig(), None, seed="1").picture == VIEWPORT
    assert draw_viewport(asking, None, seed="1").picture == MODEL_VIEWPORT


def test_no_drawn_picture_is_larger_than_the_largest() -> None:
    config = configured(picture_side=(300, 500))
    largest = largest_viewport(config).picture

    assert largest == (500, 500)
    assert largest_viewport(configured(viewport=(300, 200))).picture == (300, 200)
    for seed in range(50):
        width, height = draw_viewport(config, AREA, seed=str(seed)).picture
        assert (width, height) <= largest
        assert height <= largest[1]


@given(
    x=st.floats(0, 166.9), y=st.floats(0, 218.9), steps=st.integers(16, 80), count=st.integers(1, 2)
)
def test_points_are_on_whole_px_and_name_the_same_css_px(
    x: float, y: float, steps: int, count: int
) -> None:
    viewport = Viewport(width=167, height=219, scale=steps / 16)
    moved = on_pixels(Click(x=x, y=y, count=count), viewport)

    assert isinstance(moved, Click)
    assert moved.count == count
    for value, before, side in ((moved.x, x, 167), (moved.y, y, 219)):
        pixel = value * viewport.scale
        assert pixel == pytest.approx(round(pixel), abs=1e-6)
        assert 0 <= round(pixel) < picture_pixels(side, viewport.scale)
        assert abs(value - before) <= 1 / viewport.scale + 1e-6
    assert on_pixels(moved, viewport) == moved
    whole = on_pixels(Click(x=float(int(x)), y=float(int(y))), viewport)
    assert isinstance(whole, Click)
    assert (int(whole.x + 1e-9), int(whole.y + 1e-9)) == (int(x), int(y))


def test_every_point_of_an_action_is_moved_and_nothing_else() -> None:
    viewport = Viewport(width=100, height=100, scale=2.0)

    assert on_pixels(Drag(x=1.2, y=2, to_x=3.3, to_y=4.6), viewport) == Drag(
        x=1.5, y=2, to_x=3.5, to_y=5
    )
    assert on_pixels(Answer(text="1.2"), viewport) == Answer(text="1.2")
    assert on_pixels(TypeText(text="a"), viewport) == TypeText(text="a")
    beyond = Scroll.model_validate({"direction": "down", "amount": 3, "x": 140.2, "y": 1})
    assert on_pixels(beyond, viewport).model_dump()["x"] == 140.5


def test_every_shape_of_a_drawn_picture_is_known_and_a_fixed_one_has_one() -> None:
    shapes = set(picture_shapes(configured(picture_side=(300, 500))))

    assert {(500, 500), (500, 375), (375, 500), VIEWPORT} <= shapes
    assert max(map(max, shapes)) == 500
    assert set(picture_shapes(configured(viewport=(300, 200)))) == {(300, 200)}


WINDOWS = ((390, 844), (1_440, 900), (2_560, 1_440))


def test_a_page_that_fits_any_window_draws_one_of_those_that_are_listed() -> None:
    listed = configured(viewports=WINDOWS)
    for area in (None, UsualArea(1_024, 768)):
        drawn = [draw_viewport(listed, area, seed=str(seed)) for seed in range(60)]

        assert {view.picture for view in drawn} == set(WINDOWS)
        assert drawn == [draw_viewport(listed, area, seed=str(seed)) for seed in range(60)]


def test_a_window_that_is_listed_twice_is_drawn_twice_as_often() -> None:
    often = configured(viewports=(WINDOWS[0], WINDOWS[1], WINDOWS[1]))
    drawn = [draw_viewport(often, None, seed=str(seed)).picture for seed in range(600)]

    assert 1.6 < drawn.count(WINDOWS[1]) / drawn.count(WINDOWS[0]) < 2.5


def test_a_page_of_a_fixed_size_keeps_it_beside_a_list_of_windows() -> None:
    listed, plain = configured(viewports=WINDOWS), configured()

    assert draw_viewport(listed, AREA, seed="1") == draw_viewport(plain, AREA, seed="1")


def test_one_viewport_holds_for_all_pages_whatever_is_listed_beside_it() -> None:
    both = configured(viewport=(640, 480), viewports=WINDOWS)

    for area in (None, AREA, UsualArea(1_024, 768)):
        assert draw_viewport(both, area, seed="1").picture == (640, 480)
    assert largest_viewport(both).picture == (640, 480)
    assert set(picture_shapes(both)) == {(640, 480)}


def test_the_largest_pictures_are_those_of_the_listed_windows_too() -> None:
    listed = configured(viewports=WINDOWS, picture_side=(300, 500), device_scale_factor=2.0)

    assert largest_viewport(listed).picture == (5_120, 2_880)
    assert [view.picture for view in large_viewports(listed)][:1] == [(780, 1_688)]
    assert {(780, 1_688), (5_120, 2_880), (500, 500), (500, 375)} <= set(picture_shapes(listed))


def test_a_usual_area_alone_is_drawn_as_any_area() -> None:
    usual, area = UsualArea(1_024, 768), (1_024, 768)

    assert draw_viewport(RunConfig(), usual, seed="1") == draw_viewport(RunConfig(), area, seed="1")
