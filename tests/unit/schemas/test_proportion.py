"""Shares, pass@k and differences, against their definitions, hand-worked and published values."""

from collections.abc import Callable
from itertools import combinations, product
from math import isclose, sqrt

import pytest

from schemas.proportion import Z95, Estimate, difference, mean_of_tasks, pass_at, wilson


@pytest.mark.parametrize("trials", [1, 2, 5, 40, 1_000, 4_000])
def test_each_end_is_a_share_from_which_the_count_is_just_no_surprise(trials: int) -> None:
    for successes in range(0, trials + 1, max(1, trials // 7)):
        share = successes / trials
        for end in wilson(successes, trials):
            if end not in {0.0, 1.0}:
                distance = abs(share - end) / sqrt(end * (1 - end) / trials)
                assert isclose(distance, Z95, rel_tol=1e-9)


def test_the_interval_is_the_published_one() -> None:
    # R. G. Newcombe, Statistics in Medicine 17 (1998) 857-872, table I, method 3
    published = {
        (81, 263): (0.2553, 0.3662),
        (15, 148): (0.0624, 0.1605),
        (0, 20): (0.0, 0.1611),
        (1, 29): (0.0061, 0.1718),
    }
    assert {one: tuple(round(end, 4) for end in wilson(*one)) for one in published} == published


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        (5, 10, 0.236593, 0.763407),
        (0, 10, 0.0, 0.277533),
        (10, 10, 0.722467, 1.0),
        (1, 1, 0.206549, 1.0),
        (80, 100, 0.711171, 0.866633),
    ],
)
def test_the_interval_in_cases_of_few_trials(
    successes: int, trials: int, low: float, high: float
) -> None:
    assert wilson(successes, trials) == pytest.approx((low, high), abs=1e-6)


def test_of_no_trial_nothing_is_known() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(("successes", "trials"), [(2, 1), (-1, 5), (0, -1)])
def test_impossible_counts_are_refused(successes: int, trials: int) -> None:
    with pytest.raises(ValueError, match="successes of"):
        wilson(successes, trials)


@pytest.mark.parametrize(
    ("k", "attempts", "passed", "estimate"),
    [
        (1, 4, 1, 0.25),
        (2, 4, 1, 0.5),  # 1 - 3/6: three of six pairs have no success among them
        (4, 4, 1, 1.0),
        (2, 5, 2, 0.7),  # 1 - 3/10
        (3, 5, 2, 0.9),  # 1 - 1/10
        (4, 5, 2, 1.0),
        (3, 3, 0, 0.0),
        (200, 1_000, 3, 1 - (800 * 799 * 798) / (1_000 * 999 * 998)),
    ],
)
def test_pass_at_k_is_the_share_of_choices_with_a_success(
    k: int, attempts: int, passed: int, estimate: float
) -> None:
    assert pass_at(k, attempts=attempts, passed=passed) == pytest.approx(estimate, abs=1e-12)


@pytest.mark.parametrize("attempts", range(1, 7))
def test_pass_at_k_agrees_with_counting_every_choice(attempts: int) -> None:
    for k, passed in product(range(1, attempts + 1), range(attempts + 1)):
        choices = list(combinations([True] * passed + [False] * (attempts - passed), k))
        share = sum(map(any, choices)) / len(choices)
        assert pass_at(k, attempts=attempts, passed=passed) == pytest.approx(share)


@pytest.mark.parametrize(("k", "attempts", "passed"), [(0, 1, 1), (2, 1, 1), (1, 1, 2), (1, 1, -1)])
def test_an_impossible_pass_at_k_is_refused(k: int, attempts: int, passed: int) -> None:
    with pytest.raises(ValueError, match=f"no pass@{k}"):
        pass_at(k, attempts=attempts, passed=passed)


def test_the_mean_of_tasks_that_each_had_one_attempt_has_wilsons_interval() -> None:
    found = mean_of_tasks([1.0] * 5 + [0.0] * 5)
    assert (found.value, found.low, found.high) == (0.5, *wilson(5, 10))


def test_attempts_at_one_task_make_no_interval_narrower() -> None:
    # centre 0.625 + z²/4, half z √(0.625·0.375/2 + z²/16), both by 1 + z²/2
    found = mean_of_tasks([0.25, 1.0])
    assert (found.value, found.low, found.high) == pytest.approx(
        (0.625, 0.141690, 0.943905), abs=1e-5
    )


@pytest.mark.parametrize(
    "compare", [mean_of_tasks, lambda none: difference(none, none, paired=True)]
)
def test_of_no_task_there_is_no_figure(compare: Callable[[list[float]], object]) -> None:
    with pytest.raises(ValueError, match="at least one task"):
        compare([])


def shares(both: int, one: int, other: int, neither: int) -> tuple[list[float], list[float]]:
    """Return the shares of pairs in which both succeeded, one alone, the other alone, and neither."""
    first = [1.0] * (both + one) + [0.0] * (other + neither)
    return first, [1.0] * both + [0.0] * one + [1.0] * other + [0.0] * neither


def rounded(found: Estimate) -> tuple[float, float, float]:
    return round(found.value, 4), round(found.low, 4), round(found.high, 4)


def test_the_difference_of_two_samples_has_the_published_interval() -> None:
    # R. G. Newcombe, Statistics in Medicine 17 (1998) 873-890, method 10: 56/70 and 48/80
    more, fewer = [1.0] * 56 + [0.0] * 14, [1.0] * 48 + [0.0] * 32
    assert rounded(difference(fewer, more, paired=False)) == (0.2, 0.0524, 0.3339)
    assert rounded(difference(more, fewer, paired=False)) == (-0.2, -0.3339, -0.0524)


def test_the_difference_of_pairs_has_the_published_interval() -> None:
    # R. G. Newcombe, Statistics in Medicine 17 (1998) 2635-2650, method 10: 36, 12, 2, 0
    more, fewer = shares(36, 12, 2, 0)
    assert rounded(difference(fewer, more, paired=True)) == (0.2, 0.0569, 0.3404)


def test_pairs_that_go_together_are_compared_more_sharply() -> None:
    more, fewer = shares(40, 10, 0, 50)
    paired, apart = (difference(fewer, more, paired=paired) for paired in (True, False))
    assert paired.value == apart.value == pytest.approx(0.1)
    assert apart.low < paired.low
    assert paired.high < apart.high


def test_runs_of_one_outcome_differ_by_nothing_known_only_so_well() -> None:
    found = difference([1.0] * 10, [1.0] * 10, paired=True)
    assert found.value == 0
    assert found.low == pytest.approx(-found.high) == pytest.approx(wilson(10, 10)[0] - 1)


def test_pairs_are_of_equal_number() -> None:
    with pytest.raises(ValueError, match="zip"):
        difference([1.0], [1.0, 0.0], paired=True)
