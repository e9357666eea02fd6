"""An engine's time is divided among the replies awaited at once, and none of it twice."""

from contextlib import ExitStack

import pytest

from generators.engine.client.time_share import ReplyShare, TimeShare


class Hands:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        return self.at


def test_a_reply_that_is_alone_has_all_the_time() -> None:
    clock = Hands()
    time = TimeShare(clock)
    clock.at += 50
    with time.measure_reply() as share:
        clock.at += 3

    assert share.seconds == 3.0


def test_shares_add_up_to_the_seconds_in_which_anybody_waited() -> None:
    clock = Hands()
    time = TimeShare(clock)
    shares: list[ReplyShare] = []
    with ExitStack() as first:
        shares.append(first.enter_context(time.measure_reply()))
        clock.at += 2
        with time.measure_reply() as second:
            shares.append(second)
            clock.at += 4
        clock.at += 1
    clock.at += 9

    assert [share.seconds for share in shares] == [5.0, 2.0]
    assert sum(share.seconds for share in shares) == pytest.approx(7.0)


def test_a_reply_that_fails_has_its_share_too() -> None:
    clock = Hands()
    time = TimeShare(clock)
    shares: list[ReplyShare] = []

    def fail() -> None:
        with time.measure_reply() as share:
            shares.append(share)
            clock.at += 2
            raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        fail()
    assert shares[0].seconds == 2.0
