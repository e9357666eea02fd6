"""Which calls are lost: those whose conversation's beginning was dropped, and no others."""

import pytest

from generators.engine.governor.signals import CallFigures
from generators.engine.governor.window import MIN_JUDGED, Usual, Window

USUAL = Usual(last=9_000, shared=1_000, best=1.0)


def _lost(
    cached: int | None, cacheable: int, usual: Usual = USUAL, *, times: int = MIN_JUDGED
) -> float:
    window = Window(0.0)
    for _ in range(times):
        window.add(CallFigures("a", 1.0, 10_000, cached, cacheable), usual, is_full=True)
    return window.lost


@pytest.mark.parametrize(
    ("cached", "lost"),
    [(8_000, 0.0), (5_000, 0.0), (4_000, 1.0), (1_000, 1.0), (0, 1.0), (-5, 1.0)],
)
def test_a_call_is_lost_that_is_served_less_than_half_of_its_own_part(
    cached: int, lost: float
) -> None:
    assert _lost(cached, 8_000) == lost


def test_what_all_prompts_share_is_no_part_of_it() -> None:
    assert _lost(5_000, 8_000, Usual(9_000, 4_000, 1.0)) == 1.0
    assert _lost(5_000, 8_000, Usual(9_000, 0, 1.0)) == 0.0


def test_a_call_is_compared_with_what_the_server_does_at_its_best() -> None:
    assert _lost(2_500, 8_000, Usual(9_000, 0, 1.0)) == 1.0
    assert _lost(2_500, 8_000, Usual(9_000, 0, 0.4)) == 0.0


@pytest.mark.parametrize(
    ("cached", "cacheable", "usual"),
    [
        (0, 8_000, Usual(0, 1_000, 1.0)),
        (0, 4_000, USUAL),
        (0, -8_000, USUAL),
        (1_000, 1_000, Usual(1_500, 1_000, 1.0)),
        (1_000, 8_000, Usual(9_000, 1_000, 0.0)),
        (None, 8_000, USUAL),
    ],
    ids=[
        "a first call",
        "one that goes far back",
        "one that could be served less than nothing",
        "one that is served all it could be",
        "one of a server that never served more",
        "one of which nothing is said",
    ],
)
def test_a_call_that_says_nothing_of_the_edge_is_not_lost(
    cached: int | None, cacheable: int, usual: Usual
) -> None:
    assert _lost(cached, cacheable, usual) == 0.0


def test_one_lost_call_among_few_is_not_many() -> None:
    assert _lost(0, 8_000, times=1) == 1 / MIN_JUDGED
    assert Window(0.0).lost == 0.0
