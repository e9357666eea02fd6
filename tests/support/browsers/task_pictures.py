"""What a picture of a task may not show, looked for in its pixels and in the page behind it."""

import io
from collections import defaultdict

import numpy as np
from PIL import Image

from generators.browser.protocol import Session
from generators.sites.gateway import Gateway
from generators.sites.miniwob import MiniWob
from generators.sites.protocol import Outcome, Problem
from schemas.episodes.action import Answer, Hover
from schemas.episodes.episode import Episode

PANELS = ("click-canvas", "reward-display", "sync-task-cover", "query-wrap", "reward-reason")
"""What a page shows beside the task, or over it."""

IN_SIGHT = f"""[...document.querySelectorAll("*")].filter(
  element => {[*PANELS]}.includes(element.id) && element.getClientRects().length
).map(element => element.id)"""
"""Says in a page which of these are drawn."""

OWN_SHARE = """(() => {
  const wrap = document.getElementById("wrap");
  if (!wrap) return 0;
  const box = wrap.getBoundingClientRect();
  const within = (from, to, end) => Math.max(0, Math.min(to, end) - Math.max(from, 0));
  return within(box.left, box.right, innerWidth) * within(box.top, box.bottom, innerHeight)
    / (innerWidth * innerHeight);
})()"""
"""The share of the picture that is the page's own content."""

COVER = (0x11, 0x11, 0x11)
"""The colour of the sheet that MiniWoB++ lays over a task that is over."""

AROUND = (0x55, 0x55, 0x55)
"""The colour of a page around its task."""

WIDE = (500, 400)
"""A viewport in which the panels beside a task would be seen, CSS px."""

SHADES = 8
"""Levels by which a pixel's channels may differ from a colour."""

_DRAWN = ("button", "input", "select", "textarea")
"""Elements that a browser draws differently once they were clicked."""

_STYLED = ("book-flight", "book-flight-nodelay", "buy-ticket", "simon-says")
"""Templates that draw their last button themselves, and always alike."""


def pixels(picture: bytes, *, every: int = 1) -> np.ndarray:
    """Return a picture's pixels, red, green and blue; or one of so many each way."""
    with Image.open(io.BytesIO(picture)) as image:
        return np.asarray(image.convert("RGB"))[::every, ::every].astype(np.int16)


def share_of(picture: np.ndarray, colour: tuple[int, int, int]) -> float:
    """Return the share of a picture that has a colour, 0–1."""
    return float((np.abs(picture - colour).max(axis=2) < SHADES).mean())


def is_covered(picture: np.ndarray) -> bool:
    """Return whether a picture shows the sheet and not the task."""
    return share_of(picture, COVER) >= 0.5


def is_beside(picture: np.ndarray, area: tuple[int, int], scale: float = 1.0) -> bool:
    """Return whether something is drawn right of a task, where its page is empty."""
    width, height = (int(side * scale) for side in area)
    right = picture[:height, width + 1 :]
    return right.size > 0 and share_of(right, AROUND) < 1


def last_picture_faults(template: str, episode: Episode) -> list[str]:
    """Return what is wrong with the picture after the last action of an episode.

    It has to differ from the one before wherever something else in sight does, and where a control was
    clicked that a browser draws differently from then on, unless the pointer was on it before.
    """
    steps = [step for step in episode.steps if not isinstance(step.action, Answer)]
    before, after = steps[-2:]
    hovered = any(isinstance(step.action, Hover) for step in steps[-3:-2])
    faults = ["it is covered"] if is_covered(pixels(after.screenshot.bytes, every=4)) else []
    drawn = before.target is not None and before.target.tag in _DRAWN and template not in _STYLED
    changed = (drawn and not hovered) or before.sights != after.sights
    if changed and before.screenshot.bytes == after.screenshot.bytes:
        faults.append("it is the one before the last action")
    return faults


class WatchedSite(MiniWob):
    """The site; before each picture it notes which panels its page shows."""

    def __init__(self, gateway: Gateway) -> None:
        super().__init__(gateway)
        self.looked = 0
        """How often it looked."""
        self.panels: defaultdict[str, set[str]] = defaultdict(set)
        """Those in sight, by template's page."""
        self.shares: list[float] = []
        """Of each picture: how much of it is the page's own content."""

    async def outcome(
        self, problem: Problem, session: Session, *, answer: str | None = None
    ) -> Outcome:
        """Return the outcome; the page stands still from here to the next picture."""
        outcome = await super().outcome(problem, session, answer=answer)
        looked = await session.evaluate(f"[location.pathname, {IN_SIGHT}, {OWN_SHARE}]")
        assert isinstance(looked, list)
        where, shown, share = looked
        assert isinstance(shown, list)
        assert isinstance(share, float | int)
        self.looked += 1
        self.shares.append(share)
        if shown:
            self.panels[str(where)] |= {*map(str, shown)}
        return outcome
