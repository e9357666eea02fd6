"""From points that a model said to the convention that it has."""

from random import Random

import pytest

from generators.endpoint_check.coordinates import (
    READINGS,
    SIZE,
    Point,
    Reading,
    fit_readings,
    matching_conventions,
    parse_point,
)
from generators.endpoint_check.endpoint import default_frame
from generators.endpoint_check.probe_images import TARGETS, ProbeTarget, target_board
from generators.policy.dialects.coordinates import Convention
from generators.policy.dialects.registry import make_dialect


def _said(reading: Reading, *, blur: float = 0.0) -> list[tuple[ProbeTarget, Point]]:
    """Return what a model of that reading says; `blur` is how far off, as parts of the picture."""
    rng, (wide, high) = Random(7), reading.span(*SIZE)
    return [
        (
            target,
            (
                (target.across + rng.uniform(-blur, blur)) * wide,
                (target.down + rng.uniform(-blur, blur)) * high,
            ),
        )
        for target in TARGETS
    ]


@pytest.mark.parametrize("reading", READINGS, ids=lambda reading: str(reading.name))
def test_each_reading_is_told_from_all_others_by_what_it_says(reading: Reading) -> None:
    best, second, *_ = fit_readings(_said(reading))

    assert best.reading == reading.name
    assert best.error < 1e-9
    assert best.is_good
    assert second.error > 0.003


@pytest.mark.parametrize("reading", READINGS, ids=lambda reading: str(reading.name))
def test_a_reading_is_found_in_points_that_are_a_little_off(reading: Reading) -> None:
    best = fit_readings(_said(reading, blur=0.004))[0]

    assert best.reading == reading.name
    assert best.is_good


def test_points_at_random_fit_no_reading() -> None:
    rng = Random(3)
    said = [(target, (rng.uniform(0, 1_000), rng.uniform(0, 1_000))) for target in TARGETS]

    assert not any(fit.is_good for fit in fit_readings(said))


def test_what_is_pixels_and_what_is_resized_comes_to_the_same_where_pictures_are_sent_resized() -> (
    None
):
    frame = default_frame(make_dialect("holo1_5"))

    assert Convention.RESIZED in matching_conventions("pixels", frame)
    assert Convention.RESIZED in matching_conventions("pixels resized to patches of 28", frame)
    assert matching_conventions("0-1000", frame) == (Convention.THOUSAND,)
    assert matching_conventions("0-1", frame) == (Convention.UNIT,)


def test_a_server_that_resizes_what_we_send_as_it_is_agrees_with_no_convention() -> None:
    frame = default_frame(make_dialect("holotron"))

    assert matching_conventions("pixels resized to patches of 28", frame) == ()


def test_there_are_enough_targets_and_each_lies_whole_on_the_picture() -> None:
    picture = target_board(SIZE)

    assert (picture.width, picture.height) == SIZE
    assert len(TARGETS) >= 8
    assert len({target.colour for target in TARGETS}) == len(TARGETS)
    assert all(0.05 < part < 0.95 for t in TARGETS for part in (t.across, t.down))


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ('{"x": 12, "y": 34.5}', (12.0, 34.5)),
        ('{"y": 2, "note": "7 of 9", "x": 1}', (1.0, 2.0)),
        ("Click(500, 300)", (500.0, 300.0)),
        ("the #102030 circle is at 5, 6", (5.0, 6.0)),
        ("<point>0.25 0.75</point>", (0.25, 0.75)),
        ('{"x": 12', None),
        ("I cannot say.", None),
        ("x is 1" + "0" * 400 + " and y 2", None),
    ],
)
def test_a_point_is_read_from_json_or_else_from_the_first_two_numbers(
    text: str, point: Point | None
) -> None:
    assert parse_point(text) == point
