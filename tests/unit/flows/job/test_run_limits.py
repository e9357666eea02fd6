"""When a run has reached one of its limits, and what a limit on dollars needs."""

import pytest

from flows.job.run_limits import ReachedLimit, RunLimit, RunLimits, Totals, check_run_limits
from schemas.configuration.config import resolve
from schemas.configuration.sections import LimitsSection
from schemas.errors import BadConfig

TOTALS = Totals(dollars=5.0, seconds=7_200.0, accepted=10)


def reached(**limits: float) -> ReachedLimit | None:
    """Return the limit that a run with these totals has reached."""
    return RunLimits(LimitsSection.model_validate(limits), lambda: TOTALS).find_reached()


@pytest.mark.parametrize(
    ("limits", "limit", "sentence"),
    [
        (
            {"dollars": 5.0},
            RunLimit.DOLLARS,
            "limits.dollars = 5 is reached: the run has cost 5 dollars",
        ),
        (
            {"hours": 1.5},
            RunLimit.HOURS,
            "limits.hours = 1.5 is reached: the run was worked on for 2 hours",
        ),
        (
            {"accepted": 10},
            RunLimit.ACCEPTED,
            "limits.accepted = 10 is reached: 10 episodes are accepted",
        ),
        ({"accepted": 1, "hours": 2.0, "dollars": 6.0}, RunLimit.HOURS, "limits.hours = 2 "),
    ],
)
def test_a_total_at_its_limit_has_reached_it(
    limits: dict[str, float], limit: RunLimit, sentence: str
) -> None:
    found = reached(**limits)

    assert found is not None
    assert found.limit is limit
    assert found.sentence.startswith(sentence)
    assert found.sentence.endswith("; the same command with a higher value goes on")


def test_below_its_limits_a_run_goes_on() -> None:
    assert reached(dollars=5.01, hours=2.01, accepted=11) is None


def test_without_limits_nothing_is_counted() -> None:
    def fail() -> Totals:
        raise AssertionError

    assert RunLimits(LimitsSection(), fail).find_reached() is None
    assert not RunLimits().are_set


ASKS = {"policy": {"name": "model"}, "limits": {"dollars": 5.0}}


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"limits": {"dollars": 5.0}}, "no policy of this run asks an engine"),
        (ASKS | {"engine": {"kind": "simulator"}}, "no price is known; set engine.usd_per_hour"),
    ],
)
def test_dollars_without_a_price_are_refused(table: dict[str, object], words: str) -> None:
    with pytest.raises(BadConfig, match=rf"limits\.dollars = 5: {words}"):
        check_run_limits(resolve([("file", table)]))


@pytest.mark.parametrize(
    "prices", [{"usd_per_hour": 2.0}, {"usd_per_million": {"prompt": 1.0, "completion": 1.0}}]
)
def test_dollars_with_a_price_are_taken(prices: dict[str, object]) -> None:
    check_run_limits(resolve([("file", ASKS | {"engine": {"kind": "simulator", **prices}})]))
