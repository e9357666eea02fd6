"""What pages met in a check that may be why it fails: refused connections, dialogs, missing files, refused actions."""

from collections.abc import Iterator, Sequence
from itertools import islice

from schemas.episodes.episode import BlockedRequests, Episode

MAX_SHOWN = 6
"""Largest number of reports in one line of a check."""


def refusals(blocked: Sequence[BlockedRequests]) -> str:
    """Return what pages asked for and did not get, and how they would get it; empty if they got everything."""
    if not blocked:
        return ""
    named = ", ".join(
        f"{one.name} ({one.count} {one.kind.value})" for one in islice(blocked, MAX_SHOWN)
    )
    more = f" and {len(blocked) - MAX_SHOWN} more" if len(blocked) > MAX_SHOWN else ""
    return (
        f"pages asked for {named}{more}, which are not served; a part of the application belongs into [origins], by a "
        "name without a port, and nothing else is reached"
    )


def reports(episode: Episode) -> str:
    """Return what an attempt's pages said and refused, step by step; empty if they did nothing of it."""
    said = "; ".join(islice(_sayings(episode), MAX_SHOWN))
    return "; ".join(filter(None, (said, refusals(episode.blocked or ()))))


def _sayings(episode: Episode) -> Iterator[str]:
    for step in episode.steps:
        for text in (step.action_error, step.result_text):
            if text:
                yield f"after step {step.step} ({step.action.type}): {' '.join(text.split())}"
        if step.page.dialog is not None:
            yield f"at step {step.step} the page asked: {' '.join(step.page.dialog.message.split())}"
