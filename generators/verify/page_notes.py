"""Whether a page says that it is still busy, and what became of that; whether it shows the same as before.

A page that fetches what it is to show says so in a short line that ends with an ellipsis, in whatever language it is
written: "Loading…", "Searching…". A line that is only cut ends so too, but it stays where it is.
"""

from urllib.parse import urlsplit

from generators.verify.shifts import texts_of
from schemas.episodes.action import Click, Key
from schemas.episodes.episode import Step

_MOST = 30
"""Letters of a line that says that a page is busy, at most."""


def has_come(step: Step, after: Step) -> bool:
    """Return whether a page was busy before a step, and is not so any more but shows something else."""
    here, there = texts_of(step), texts_of(after)
    return bool(busy_lines(step) - there) and not busy_lines(after) and bool(there - here)


def busy_lines(step: Step) -> frozenset[str]:
    """Return the lines by which a page says that it is busy."""
    return frozenset(
        text for text in texts_of(step) if len(text) <= _MOST and text.endswith(("…", "..."))
    )


def shows_same(step: Step, after: Step) -> bool:
    """Return whether a page shows the same words and values after a step, as after the same search again."""
    here, there = urlsplit(step.page.url), urlsplit(after.page.url)
    return (
        isinstance(step.action, Click | Key)
        and step.page.url != after.page.url
        and (here.netloc, here.path) == (there.netloc, there.path)
        and bool(texts_of(step))
        and texts_of(step) == texts_of(after)
        and [one.value for one in step.elements] == [one.value for one in after.elements]
    )
