"""The simulator's server works as the one that was measured, and its picture shows what the bench found."""

import json

import pytest

from bench.closed_loop.picture import Curve, draw
from bench.measuring.result import RESULTS
from bench.serving import MAX_OFF, PICTURE, Point, _off, draw_lines, play, read_points
from generators.engine.simulator.batching.presets import read_presets

FORETOLD = [point for point in read_points() if not point.fitted and not point.later]


@pytest.mark.parametrize("point", FORETOLD, ids=lambda point: point.name)
def test_a_point_that_no_time_was_fitted_to_is_foretold(point: Point) -> None:
    off = _off(point, play(point, read_presets()[point.server], (1, 2, 3)))

    assert max(abs(off["calls_s"]), abs(off["cached"])) <= MAX_OFF


def test_equal_seeds_have_equal_figures() -> None:
    point = FORETOLD[0]
    preset = read_presets()[point.server]

    assert play(point, preset, (5,)) == play(point, preset, (5,))
    assert play(point, preset, (5,)) != play(point, preset, (6,))


def test_the_picture_of_the_page_shows_the_result() -> None:
    result = json.loads((RESULTS / "serving.json").read_text("utf-8"))

    assert PICTURE.read_text("utf-8") == draw_lines(result["lines"]), "python -m bench.serving"


def test_a_picture_has_a_line_and_its_points_and_says_which_number_is_best() -> None:
    curve = Curve("a <server>", (5, 5), "#123456", [(8, 1.0), (32, 3.96), (64, 2.0)], [(32, 4.0)])
    drawn = draw("a title", "below it", [curve])

    assert (drawn.count("<polyline"), drawn.count("<circle")) == (1, 2)
    assert "a &lt;server&gt;" in drawn
    assert "best at 32: 4.0 calls/s" in drawn
    assert drawn == draw("a title", "below it", [curve])
