"""How old weights are is counted in their own numbers, or in the order in which they came."""

from flows.serving.versions import VersionLine


def line(*seen: str | None) -> VersionLine:
    made = VersionLine()
    made.note(seen)
    return made


def test_numbers_are_subtracted_in_whatever_order_they_came() -> None:
    seen = line("12", "9", "10")

    assert seen.newest == "12"
    assert seen.staleness(["10", "9"]) == 3
    assert seen.staleness(["9"], newest="10") == 1


def test_names_are_counted_in_the_order_in_which_they_came() -> None:
    seen = line("base", None, "step-a", "base", "step-b")

    assert seen.newest == "step-b"
    assert seen.staleness(["base"]) == 2
    assert seen.staleness(["step-b"]) == 0


def test_what_nobody_told_has_no_age() -> None:
    assert line().newest is None
    assert line().staleness(["1"]) is None
    assert line("1").staleness([]) is None


def test_a_name_among_numbers_makes_them_names() -> None:
    seen = line("12", "9")
    assert seen.newest == "12"
    seen.note(["hotfix", "11"])
    assert seen.newest == "11"
    assert seen.staleness(["12"]) == 3


def test_what_was_seen_before_is_not_gone_through_for_each_new_version() -> None:
    """Two thousand versions held the only thread of a server up for half a second at each episode."""
    seen = line(*map(str, range(100_000)))
    for number in range(100_000, 101_000):
        seen.note([str(number)])
        assert seen.newest == str(number)
        assert seen.staleness([str(number - 7)]) == 7
