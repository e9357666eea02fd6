"""The figures of repeats among many runs on `docs/performance.md`."""

from collections.abc import Callable, Iterator

from columns import line
from limits import Result

Show = Callable[..., str]
"""Shows a figure with its unit, or that it was not measured."""


def duplicate_lines(result: Result, show: Show) -> Iterator[str]:
    """Yield the table of planted repeats that were found."""
    yield from ("| planted, a thousand of each | found as a repeat |", "|---|---|")
    for key, name in (
        ("copy", "copies"),
        ("found", "near copies, whose pictures differ in any number of the bits that they may"),
        ("far_near", "near copies, whose every picture differs in all of these bits"),
        ("one_other_of_few", "no near copies: one of up to 30 pictures is another one"),
        ("one_other_of_many", "no near copies: one of 31 to 100 pictures is another one"),
    ):
        yield line(name, show(result[f"{key}_share"], "%"))
    usual = show(round(result["join_usual_peak_mb"]), "MB")
    yield from (
        "",
        f"With the allocator that Arrow usually takes, joining a million needed {usual}.",
    )
