"""The viewport of an episode and the scale of its pictures: fixed by the configuration, or drawn.

The viewport of a page of fixed size is the task's own area, a little higher, so that the task fills the picture. The
device scale factor enlarges it to the size at which a policy sees it. A page that fits any window gets one of
those that the configuration lists. All differ from task to task, so that nothing learnt from the pictures depends
on one size. They are drawn from the task's id, and the episode's row records them.
"""

import math
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from schemas.base import Record
from schemas.configuration.config import RunConfig
from schemas.episodes.action import Action

SCALE_STEPS = 16
"""A drawn scale is a multiple of 1/16, which a float holds exactly."""

_TINY = 1e-6


class Viewport(Record):
    """The viewport of a session and its scale."""

    width: int
    """CSS px."""
    height: int
    """CSS px."""
    scale: float = 1.0
    """Picture px per CSS px."""

    @property
    def picture(self) -> tuple[int, int]:
        """Width and height of its pictures, px."""
        return picture_pixels(self.width, self.scale), picture_pixels(self.height, self.scale)


class UsualArea(NamedTuple):
    """The window that pages have where a run lists no viewports; they fit others too."""

    width: int
    """CSS px."""
    height: int
    """CSS px."""


def picture_pixels(length: int, scale: float) -> int:
    """Return how many picture px a length of CSS px has; the browser rounds a half up."""
    return math.floor(length * scale + 0.5)


def on_pixels(action: Action, viewport: Viewport) -> Action:
    """Return an action with its points on whole px of the picture: each on the first that is not before it.

    So the browser, which tells pages whole CSS px and leaves fractions out, names the same CSS px as
    before. A point outside the viewport stays outside.
    """
    ends = {
        "x": viewport.width,
        "to_x": viewport.width,
        "y": viewport.height,
        "to_y": viewport.height,
    }
    moved = {
        name: _on_pixel(value, end, viewport.scale)
        for name, end in ends.items()
        if isinstance(value := getattr(action, name, None), float)
    }
    return action.model_copy(update=moved) if moved else action


def _on_pixel(value: float, end: int, scale: float) -> float:
    pixel = math.ceil(value * scale - _TINY)
    if value < end:
        pixel = min(pixel, picture_pixels(end, scale) - 1)
    return pixel / scale


def draw_viewport(config: RunConfig, area: tuple[int, int] | None, *, seed: str) -> Viewport:
    """Return the viewport of a task's attempts, fixed by the configuration or drawn.

    It is drawn by the run's seed and by `seed`, the task's id: attempts at one task begin with the same
    picture, so that they can be compared. `area` is the task's own, CSS px; a `UsualArea` where its pages fit
    others too; None: they fill any viewport.
    """
    browser, fixed = config.browser, config.fixed_viewport(area)
    draw = Random(f"viewport {config.run.seed} {seed}")
    fits_any = area is None or isinstance(area, UsualArea)
    if browser.viewports and browser.viewport is None and fits_any:
        fixed = draw.choice(browser.viewports)
    if fixed is not None:
        return Viewport(width=fixed[0], height=fixed[1], scale=browser.device_scale_factor or 1.0)
    assert area is not None  # noqa: S101 - without one the viewport is fixed
    # Pages place dialogs by the window's width, so the width is theirs and the height alone is drawn.
    width, height = area[0], area[1] + draw.randint(0, int(area[1] * browser.margin))
    least, most = config.picture_side
    wanted = draw.randint(least, most) / max(width, height)
    scale = browser.device_scale_factor or max(1.0, int(wanted * SCALE_STEPS) / SCALE_STEPS)
    return Viewport(width=width, height=height, scale=scale)


def largest_viewport(config: RunConfig) -> Viewport:
    """Return the viewport with the largest pictures that a run of this configuration may have."""
    return max(large_viewports(config), key=lambda one: one.picture[0] * one.picture[1])


def large_viewports(config: RunConfig) -> Iterator[Viewport]:
    """Yield the viewports of which one has a run's largest pictures, by whatever rule a model counts them.

    These are one that the configuration fixes, or the largest of those that are drawn around a task's area and each of
    those that it lists.
    """
    browser = config.browser
    scale = browser.device_scale_factor or 1.0
    fixed = browser.viewports or () if browser.viewport is None else (browser.viewport,)
    for width, height in fixed:
        yield Viewport(width=width, height=height, scale=scale)
    if browser.viewport is None:
        side = config.picture_side[1]
        yield Viewport(width=side, height=side)


def picture_shapes(config: RunConfig) -> Iterator[tuple[int, int]]:
    """Yield width and height of every shape that a run's largest pictures may have.

    A viewport that the configuration fixes or lists has one. One that is drawn has the shape of its task's area, which
    may be any: all are yielded, at the largest longer side.
    """
    for viewport in large_viewports(config):
        yield viewport.picture
    if config.browser.viewport is not None:
        return
    if (usual := config.fixed_viewport(None)) is not None:  # of pages without an area
        yield usual
    longer = config.picture_side[1]
    for shorter in range(1, longer):
        yield longer, shorter
        yield shorter, longer
