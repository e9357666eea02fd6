"""The estimator pass@k, held against what it means."""

from itertools import combinations

import pytest

from schemas.tables.published import pass_at_k


@pytest.mark.parametrize(
    ("attempts", "successes"), [(n, c) for n in range(9) for c in range(n + 1)]
)
def test_pass_at_k_is_the_share_of_the_sets_of_k_attempts_that_hold_a_success(
    attempts: int, successes: int
) -> None:
    outcomes = [place < successes for place in range(attempts)]
    expected = [
        sum(map(any, drawn)) / len(drawn)
        for k in range(1, attempts + 1)
        for drawn in [list(combinations(outcomes, k))]
    ]

    assert pass_at_k(attempts, successes) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    ("attempts", "successes", "expected"),
    [(0, 0, ()), (1, 0, (0.0,)), (1, 1, (1.0,)), (3, 1, (1 / 3, 2 / 3, 1.0)), (2, 0, (0.0, 0.0))],
)
def test_pass_at_k_in_cases_that_need_no_formula(
    attempts: int, successes: int, expected: tuple[float, ...]
) -> None:
    assert pass_at_k(attempts, successes) == pytest.approx(expected, abs=1e-15)


def test_pass_at_1_is_the_rate_and_of_enough_attempts_one_succeeds() -> None:
    for attempts, successes in ((7, 3), (1_000, 1), (1_000, 999), (12_345, 678)):
        found = pass_at_k(attempts, successes)

        assert found[0] == successes / attempts
        assert set(found[attempts - successes :]) == {1.0}
        assert list(found) == sorted(found)
        assert len(found) == attempts


@pytest.mark.parametrize(("attempts", "successes"), [(1, 2), (3, -1), (-1, 0)])
def test_more_successes_than_attempts_are_refused(attempts: int, successes: int) -> None:
    with pytest.raises(ValueError, match=f"got {successes}"):
        pass_at_k(attempts, successes)
