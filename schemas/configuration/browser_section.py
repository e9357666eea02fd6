"""The section of a configuration about the browsers: how many sessions, and how large pages and pictures are."""

from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field

from schemas.base import Record


def _check_sides(sides: tuple[int, int]) -> tuple[int, int]:
    if sides[0] > sides[1]:
        raise ValueError("the least side should not be larger than the most")
    return sides


Side = Annotated[int, Field(ge=100, le=8_192)]
"""Width and height of a viewport or a picture."""

SideRange = Annotated[tuple[Side, Side], AfterValidator(_check_sides)]
"""Minimum and maximum, inclusive."""


class Sandbox(StrEnum):
    """Whether the browser's sandbox is used."""

    ON = "on"
    """On, wherever it starts; root's browser runs as another user."""
    OFF = "off"
    """Off, and the browser runs as the user who started the run, root too."""


UNPRIVILEGED_USER = 60_990
"""The user id of root's browser: one that no distribution assigns."""


class BrowserSection(Record):
    """The sessions of the browsers, and the size of their pages and pictures."""

    sessions: int = Field(default=8, ge=1, le=1_024)
    """Sessions open at the same time in each browser process."""
    viewport: tuple[Side, Side] | None = None
    """Width and height of the page. None: the task's own area, as 160×210 of MiniWoB++ and 1024×768 of
    worlds, with a `margin`; for pages without an area of their own `[500, 400]`, or `[1024, 1024]` if a
    policy calls a model."""
    viewports: Annotated[tuple[tuple[Side, Side], ...], Field(min_length=1)] | None = None
    """Several viewports for pages that fit any, as those of worlds: each task draws one, and one that is listed
    twice is drawn twice as often; all attempts at a task have the same. Pages of a fixed size, as those of
    MiniWoB++, keep their own. None: what is said of `viewport`. No effect with a `viewport`."""
    device_scale_factor: float | None = Field(default=None, gt=0, le=8)
    """Pixels of a screenshot for each CSS pixel of the page, in either direction. None: each task
    draws its own, within `picture_side`; 1 for a `viewport` and for one of `viewports`."""
    picture_side: SideRange | None = None
    """The longer side of a screenshot, minimum and maximum: each task draws its own, and its device scale
    factor, at least 1, follows from it; all attempts at a task have the same. None: `[368, 480]`, or `[896,
    1024]` if a policy calls a model. No effect with a `viewport`, one of `viewports` or a `device_scale_factor`."""
    margin: float = Field(default=0.1, ge=0, le=1)
    """The maximum extra height of a viewport, as a part of the height of the task's area: each task draws
    its own height, and so its shape. No effect with a `viewport` or one of `viewports`."""
    processes: int = Field(default=1, ge=1, le=256)
    """Browser processes for rollouts, each with as many sessions; replays have one of their own."""
    sandbox: Sandbox = Sandbox.ON
    """`on`: Chromium's sandbox is on wherever it can start, and a browser that root starts runs as `user`,
    or is refused. `off`: no sandbox; pages run with the rights of the user that started the run."""
    user: int = Field(default=UNPRIVILEGED_USER, ge=1, le=2**32 - 2)
    """The user id of root's browser; this user should be able to read no other user's files. No effect
    unless root starts the run."""
