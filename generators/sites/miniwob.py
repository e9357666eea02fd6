"""MiniWoB++: 134 templates of small tasks, each a page that draws a new problem from a seed.

Only the HTML of the `miniwob` package is used. The site disables a loaded page's ten-second timer, seeds
its random generator with the task's seed **as a string** (a number would lose bits above 2**53), hides
the score board and has the page draw its problem; it then reads the raw, undiscounted reward and `done`
from the page. The caller must stop at the first `done`: a later click on the page begins a new problem
and resets both.
"""

import asyncio
import mimetypes
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

from aiohttp import web

from generators.browser.protocol import ClockSpec, Session
from generators.sites.gateway import Gateway
from generators.sites.protocol import Outcome, Threshold, Visit
from schemas.action import Wait
from schemas.base import canonical_json
from schemas.errors import FailureKind, RolloutFailure, boundary
from schemas.task import Task
from schemas.truncation import GOAL_BYTES, truncate

NAME = "miniwob"
"""The site's name in tasks."""

HOST = "miniwob.localhost"
"""Its stable host name; `.localhost` is a secure context."""

ORIGIN = f"http://{HOST}"
"""Its stable origin: no port, the same on every machine."""

LIFTED_TIMER_MS = 2**31 - 1
"""The longest timer that a page can set; a longer one fires at once."""

THRESHOLDS: dict[str, Threshold] = {
    "bisect-angle": Threshold(
        reward=0.95,
        reason="A dot right on the bisector is still set to whole pixels; where the angle is narrow "
        "or the drawing ends near the corner, that rounding is up to a fortieth of the angle, but "
        "for two problems in a thousand.",
    ),
    "chase-circle": Threshold(
        reward=0.96,
        reason="The pointer rests for the half second an action takes, and the circle is faster; "
        "each of twenty times the page may notice that 20 of 10,000 ms before the pointer is moved "
        "on to it again.",
    ),
    "circle-center": Threshold(
        reward=0.97,
        reason="The page takes the dot's radius for 3 where it draws 3.5, so a dot right on the "
        "centre counts as 0.71 px off; of the smallest radius, 25 px, that leaves 0.9717.",
    ),
    "find-midpoint": Threshold(
        reward=0.97,
        reason="A midpoint that falls between pixels is missed by up to 0.71 px of the 30 allowed, "
        "which leaves 0.9764.",
    ),
    "right-angle": Threshold(
        reward=0.96,
        reason="The page takes the dot for half a pixel off where it is, which near the corner, "
        "where the drawing leaves no room further out, turns the best angle by up to 3.6 degrees "
        "of 90, but for one problem in a thousand.",
    ),
}
"""The rewards that count as success in templates whose score is continuous."""

READY_MS, READY_WAITS = 500, 40
"""How long to wait, and how often, for a page to load what its problem needs (a flight's frame)."""

_BEGIN = """(seed => {
  core.EPISODE_MAX_TIME = %d;
  Math.seedrandom(seed);
  core.startEpisodeReal();
  core.hideDisplay();
  const goal = core.getUtterance();
  return typeof goal === "string" ? goal : goal.utterance;
})(%s)"""

_OUTCOME = "[WOB_RAW_REWARD_GLOBAL, WOB_DONE_GLOBAL]"


@cache
def pages_root() -> Path:
    """Return the folder of the pages, found without importing the package."""
    return Path(str(distribution(NAME).locate_file("miniwob/html")))


def site_version() -> str:
    """Return the version of the pages."""
    return distribution(NAME).version


@cache
def template_paths() -> dict[str, str]:
    """Return every template with the path of its page, sorted by name."""
    small = {page.stem: f"/miniwob/{page.name}" for page in pages_root().glob("miniwob/*.html")}
    flights = {
        f"flight.{page.parent.name}": f"/flight/{page.parent.name}/{page.name}"
        for page in pages_root().glob("flight/*/wrapper.html")
    }
    return dict(sorted((small | flights).items()))


def start_url(template_id: str) -> str:
    """Return a template's start URL, on the site's stable origin.

    Raises:
        KeyError: the site has no such template.
    """
    return ORIGIN + template_paths()[template_id]


def _load(path: str) -> tuple[bytes, str] | None:
    """Return a file's bytes and content type; None if the site has no such file."""
    file = (pages_root() / path.lstrip("/")).resolve()
    if not file.is_relative_to(pages_root().resolve()) or not file.is_file():
        return None
    kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    if kind.startswith("text/") or kind.endswith("javascript"):
        kind += "; charset=utf-8"
    return file.read_bytes(), kind


class MiniWob:
    """The site. It serves its pages through a gateway, which the gateway's owner starts and stops."""

    name = NAME
    repeatable = True

    def __init__(self, gateway: Gateway) -> None:
        self._cache: dict[str, tuple[bytes, str]] = {}
        gateway.mount(HOST, self._serve)

    @property
    def version(self) -> str:
        """The version of the pages."""
        return site_version()

    def has_template(self, template_id: str) -> bool:
        """Return whether the site has this template."""
        return template_id in template_paths()

    def threshold(self, template_id: str) -> Threshold | None:
        """Return a template's own threshold; None if it has none, as its score is not continuous."""
        return THRESHOLDS.get(template_id)

    async def visit(self, task: Task) -> Visit:
        """Return how to visit `task`: its page, in virtual time, with its seed."""
        if not self.has_template(task.template_id):
            raise RolloutFailure(
                FailureKind.SITE, f"MiniWoB++ has no template '{task.template_id}'"
            )
        return Visit(
            start_url=task.start_url,
            allowed_origins=(ORIGIN,),
            clock=ClockSpec(),
            seed=str(task.seed),
            parameters=task.parameters,
        )

    async def begin(self, visit: Visit, session: Session) -> str:
        """Seed the page, have it draw its problem, and return the goal in words."""
        goal = await session.evaluate(_BEGIN % (LIFTED_TIMER_MS, canonical_json(visit.seed)))
        if not isinstance(goal, str):
            raise RolloutFailure(
                FailureKind.PAGE, f"expected the page's goal to be text, got {goal!r}"
            )
        goal = truncate(goal, GOAL_BYTES)
        await session.settle()
        for _ in range(READY_WAITS):
            if await session.evaluate("WOB_TASK_READY"):
                return goal
            await session.act(Wait(ms=READY_MS))
        raise RolloutFailure(
            FailureKind.PAGE, f"the page was not ready after {READY_WAITS * READY_MS / 1_000:g} s"
        )

    async def outcome(self, session: Session) -> Outcome:
        """Return the page's raw reward and whether it is done."""
        with boundary(FailureKind.PAGE, "reading the outcome"):
            value = await session.evaluate(_OUTCOME)
            match value:
                case [int() | float() as reward, bool() as done]:
                    return Outcome(reward=float(reward), done=done)
                case _:
                    raise RolloutFailure(
                        FailureKind.PAGE,
                        f"the page's outcome is {value!r}; expected [reward, done], a number and a boolean",
                    )

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        found = self._cache.get(request.path)
        if found is None:
            found = await asyncio.to_thread(_load, request.path)
            if found is None:
                return web.Response(status=404, text=f"no {request.path}")
            self._cache[request.path] = found
        body, kind = found
        return web.Response(
            body=body, headers={"Content-Type": kind, "Cache-Control": "max-age=3600"}
        )
