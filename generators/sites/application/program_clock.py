"""Stops the clock of an application's server with libfaketime, which the program preloads."""

from pathlib import Path

FAKETIME = "usr/lib/*/faketime/libfaketime.so.1"
"""The library's path in Debian's package, below the root of a tree."""

PLACES = (FAKETIME, "usr/lib*/faketime/libfaketime.so.1")
"""The library's paths in the packages of several distributions."""


def find_faketime() -> Path | None:
    """Return the system's library; None if it is not installed."""
    return next((path for place in PLACES for path in Path("/").glob(place)), None)


def stand_still(library: Path, *, at: str) -> dict[str, str]:
    """Return the environment variables that stop a program's clock.

    `at` is the time in UTC, as `2026-01-15 10:00:00`. Timeouts still elapse, and files have real times.
    """
    return {
        "LD_PRELOAD": str(library),
        "FAKETIME": at,
        "TZ": "UTC",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "DONT_FAKE_MONOTONIC": "1",
        "NO_FAKE_STAT": "1",
    }
