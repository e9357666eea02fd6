"""What strangers say fits its bound, says how much of it is missing, and is Unicode."""

import zlib

import pytest

from schemas.errors import FailureKind, RolloutFailure, boundary
from schemas.truncation import (
    DIALOG_BYTES,
    GOAL_BYTES,
    LABEL_BYTES,
    MESSAGE_BYTES,
    TITLE_BYTES,
    URL_BYTES,
    to_well_formed,
    truncate,
)


def test_the_bounds_are_those_the_pages_of_the_docs_name() -> None:
    assert (URL_BYTES, TITLE_BYTES, GOAL_BYTES, DIALOG_BYTES) == (8_000, 1_000, 20_000, 2_000)
    assert (LABEL_BYTES, MESSAGE_BYTES) == (1_000, 2_000)


@pytest.mark.parametrize(
    "text", ["", "Click the button.", "\0\a\x1b[31m\u202e\ufeff", "\U0001f600"]
)
def test_a_text_within_its_bound_is_kept_as_it_is(text: str) -> None:
    assert truncate(text, 100) == text


@pytest.mark.parametrize(("letter", "most"), [("x", 100), ("é", 100), ("\U0001f600", 100)])
def test_only_what_is_beyond_the_bound_is_cut(letter: str, most: int) -> None:
    fits = letter * (most // len(letter.encode()))

    assert truncate(fits, most) == fits
    assert truncate(fits + letter, most).endswith("]")


def test_the_mark_says_how_many_bytes_are_missing_and_what_the_whole_was() -> None:
    text = "T" * 10_000_000

    assert truncate(text, TITLE_BYTES) == (
        "T" * 936 + f"…[cut: 9,999,064 more bytes, crc32 {zlib.crc32(text.encode()):08x}]"
    )


def test_long_texts_that_part_beyond_the_bound_are_not_equal() -> None:
    one, other = ("http://miniwob.localhost/?" + "u" * 100_000 + end for end in "ab")

    assert truncate(one, URL_BYTES) != truncate(other, URL_BYTES)


@pytest.mark.parametrize("shift", range(4))
def test_no_character_is_taken_apart(shift: int) -> None:
    kept, _, _ = truncate("x" * shift + "\U0001f600" * 1_000, 100).partition("…")

    assert kept.strip("x") == "\U0001f600" * len(kept.strip("x"))


def test_halves_of_characters_are_replaced_and_pairs_kept() -> None:
    assert truncate("half \ud83d", 100) == "half \ufffd"
    assert truncate("\ude00\ud83d", 100) == "\ufffd\ufffd"
    assert to_well_formed("\ud83d\ude00") == "\U0001f600"


def test_a_failures_message_is_cut_and_well_formed() -> None:
    failure = RolloutFailure(FailureKind.PAGE, "the page threw: \ud83d" + "x" * 5_000_000)

    assert failure.message.startswith("the page threw: \ufffdxxx")
    assert len(failure.message.encode()) <= MESSAGE_BYTES
    assert str(failure) == failure.message


def test_an_error_that_a_boundary_names_is_cut_and_well_formed() -> None:
    with pytest.raises(RolloutFailure) as failure, boundary(FailureKind.PAGE, "asking"):
        raise ValueError("half \ud83d" + "x" * 5_000_000)

    assert failure.value.message.startswith("asking: ValueError: half \ufffdxxx")
    assert len(failure.value.message.encode()) <= MESSAGE_BYTES
