"""Whatever a governor hears: at least one episode may live, at most the ceiling, and equal news have equal limits."""

from hypothesis import given
from hypothesis import strategies as st

from generators.engine.governor.governor import Governor, Limits
from generators.engine.governor.signals import CallFigures, Gauges, Memory

COUNTS = st.one_of(st.none(), st.integers(-10, 50_000))
FIGURES = st.one_of(st.none(), st.floats(allow_nan=True, allow_infinity=True), st.integers(0, 300))
CALLS = st.builds(
    CallFigures,
    st.sampled_from("abcdefgh"),
    st.floats(0, 100),
    COUNTS,
    COUNTS,
    st.integers(-10, 50_000),
)
PAGES = st.builds(Gauges, FIGURES, FIGURES, FIGURES, FIGURES)
MEMORIES = st.one_of(
    st.none(),
    st.builds(Memory, st.integers(-1, 3_000), st.integers(-1, 2_000), st.integers(-1, 8)),
)
EVENTS = st.lists(
    st.tuples(
        st.one_of(CALLS, PAGES, st.sampled_from("abcdefgh")),
        st.integers(1, 60),
        st.floats(0, 5),
        st.integers(0, 200),
    ),
    max_size=40,
)
"""What is heard, how often one after another, after how long each time, and how many live."""


def _play(
    ceiling: int,
    memory: Memory | None,
    events: list[tuple[CallFigures | Gauges | str, int, float, int]],
) -> list[Limits]:
    governor, now, limits = Governor(ceiling, memory), 0.0, []
    for heard, times, seconds, live in events:
        for _ in range(times):
            now += seconds
            if isinstance(heard, Gauges):
                governor.read(heard)
            elif isinstance(heard, CallFigures):
                governor.hear(heard, now, live=live)
            else:
                governor.forget(heard)
            limits.append(governor.limits)
    return limits


@given(st.integers(1, 150), MEMORIES, EVENTS)
def test_limits_stay_between_one_and_the_ceiling_and_are_the_same_again(
    ceiling: int,
    memory: Memory | None,
    events: list[tuple[CallFigures | Gauges | str, int, float, int]],
) -> None:
    limits = _play(ceiling, memory, events)

    assert all(1 <= one.live <= ceiling and 1 <= one.requests <= ceiling for one in limits)
    assert limits == _play(ceiling, memory, events)
