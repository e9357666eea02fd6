"""A clock that stands still for a program, by libfaketime, which the program loads before all else."""

from pathlib import Path

FAKETIME = "usr/lib/*/faketime/libfaketime.so.1"
"""Where Debian's package has the library, below the root of a tree."""

PLACES = (FAKETIME, "usr/lib*/faketime/libfaketime.so.1")
"""Where the packages of distributions have it."""


def find_faketime() -> Path | None:
    """Return the system's library; None if it is not installed."""
    return next((path for place in PLACES for path in Path("/").glob(place)), None)


def stand_still(library: Path, *, at: str) -> dict[str, str]:
    """Return the variables by which a program's clock stands still.

    `at` is the moment in UTC, as `2026-01-15 10:00:00`. Timeouts go on, and the times of files are the real ones.
    """
    return {
        "LD_PRELOAD": str(library),
        "FAKETIME": at,
        "TZ": "UTC",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "DONT_FAKE_MONOTONIC": "1",
        "NO_FAKE_STAT": "1",
    }
