"""The error vocabulary: what a boundary names, and what it leaves alone."""

import asyncio
import pickle

import pytest

from schemas.errors import (
    ENVIRONMENT_FAILURES,
    BadConfig,
    FailureKind,
    Refusal,
    RolloutFailure,
    boundary,
)


def _through(error: BaseException) -> RolloutFailure:
    with pytest.raises(RolloutFailure) as caught, boundary(FailureKind.PAGE, "loading"):
        raise error
    return caught.value


def test_a_boundary_names_whatever_escapes_it() -> None:
    failure = _through(ValueError("bad thing\nand a long story"))

    assert (failure.kind, failure.message) == (FailureKind.PAGE, "loading: ValueError: bad thing")
    assert isinstance(failure.__cause__, ValueError)


def test_an_error_without_words_is_still_told() -> None:
    assert _through(ValueError()).message == "loading: ValueError: no message"


def test_a_timeout_says_that_nothing_answered() -> None:
    assert _through(TimeoutError()).message == "loading: no answer in time"


def test_a_failure_keeps_the_name_of_its_deepest_boundary() -> None:
    inner = RolloutFailure(FailureKind.CLOCK, "stands still")

    assert _through(inner) is inner


@pytest.mark.parametrize("error", [BadConfig("no"), asyncio.CancelledError(), KeyboardInterrupt()])
def test_refusals_and_cancellation_pass_untouched(error: BaseException) -> None:
    with pytest.raises(type(error)) as caught, boundary(FailureKind.PAGE, "loading"):
        raise error

    assert caught.value is error


def test_a_failure_survives_a_process_boundary() -> None:
    failure = RolloutFailure(FailureKind.SITE, "gone")

    again = pickle.loads(pickle.dumps(failure))  # noqa: S301 - our own bytes

    assert (again.kind, again.message, str(again)) == (FailureKind.SITE, "gone", "gone")


def test_only_what_surrounds_the_policy_is_an_environment_failure() -> None:
    assert set(FailureKind) - ENVIRONMENT_FAILURES == {
        FailureKind.POLICY,
        FailureKind.CLIENT,
        FailureKind.ENGINE,
        FailureKind.INTERNAL,
    }


def test_every_refusal_says_what_it_refuses() -> None:
    kinds = Refusal.__subclasses__()

    assert len(kinds) >= 6
    assert all(kind.__doc__ for kind in kinds)


@pytest.mark.parametrize("kind", FailureKind)
def test_a_failure_is_tried_again_as_its_kind_says_unless_it_says_otherwise(
    kind: FailureKind,
) -> None:
    assert RolloutFailure(kind, "").again == (kind in {FailureKind.BROWSER, FailureKind.SITE})
    assert not RolloutFailure(kind, "", again=False).again
