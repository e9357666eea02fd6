"""An attempt as one page: the explanation, then each step with what it did drawn on its picture.

The marks are an SVG over the picture, so they stay sharp at any size; the pictures are as recorded, but shrunk where the
page would grow beyond its bound.
"""

from collections.abc import Iterator
from typing import NamedTuple

from markupsafe import Markup

from flows.looking.explanation import Explanation
from flows.looking.films import marks_of, step_words
from flows.looking.marks import open_picture
from flows.looking.overlay import overlay
from flows.looking.page import jpeg_address, render
from flows.looking.places import Head
from schemas.episodes.episode import Episode, Step
from schemas.errors import Damaged
from schemas.verdicts.full_episode import FullEpisode

MAX_STEPS = 150
"""The maximum number of steps with a picture; of a longer attempt the first ones."""

_SIDE, _SMALL_SIDE, _FEW = 1_280, 800, 40
"""The longer side of pictures, px, of an attempt of at most so many steps, and of a longer one."""


class StepView(NamedTuple):
    """A step as the page shows it."""

    words: str
    """The step and its action in words."""
    thought: str
    """The policy's thought; empty if it gave none."""
    label: str
    """What `steps` says that it did; empty if nobody knows."""
    error: str
    """Why the action could not be carried out; empty if it was."""
    picture: str
    """The address of its picture; empty if it cannot be decoded."""
    width: int
    """Of the picture, its own pixels."""
    height: int
    """Of the picture, its own pixels."""
    marks: Markup
    """The marks over it."""
    is_mistake: bool
    """Whether it is the first mistake."""


def episode_page(head: Head, episode: FullEpisode, told: Explanation) -> str:
    """Return the page of an attempt."""
    attempt = episode.episode
    return render(
        "episode.html",
        head=head,
        episode=attempt,
        task=episode.task,
        told=told,
        steps=list(_views(episode, told)),
        left_out=max(0, len(attempt.steps) - MAX_STEPS),
    )


def _views(episode: FullEpisode, told: Explanation) -> Iterator[StepView]:
    attempt = episode.episode
    side = _SIDE if len(attempt.steps) <= _FEW else _SMALL_SIDE
    mistake = None if told.first_mistake is None else told.first_mistake.step
    for step in attempt.steps[:MAX_STEPS]:
        label = episode.label(step.step)
        yield StepView(
            words=step_words(attempt, step),
            thought=step.thought or "",
            label="" if label is None else label.value.replace("_", " "),
            error=step.action_error or "",
            picture=_picture(step, side),
            width=step.width,
            height=step.height,
            marks=marks_over(attempt, step),
            is_mistake=step.step == mistake,
        )


def marks_over(episode: Episode, step: Step) -> Markup:
    """Return the marks of a step as an SVG over its picture."""
    drawn = overlay(marks_of(episode, step), width=step.width, height=step.height)
    return Markup(drawn)  # noqa: S704 - `overlay` escapes all text


def _picture(step: Step, side: int) -> str:
    try:
        found = open_picture(step.screenshot.bytes)
    except Damaged:
        return ""
    found.thumbnail((side, side))
    return jpeg_address(found)
