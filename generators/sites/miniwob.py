"""MiniWoB++: 134 templates of small tasks, each a page that draws a new problem from a seed.

Only the HTML of the `miniwob` package is used. The site loads a page, lifts its ten-second timer, seeds its
random generator with the task's seed **as a string** (a number would lose bits above 2**53), and draws its
problem. It hides everything beside the task: a panel that draws the policy's clicks, a score board, and at
flights the question and the verdict on it.

A page of MiniWoB++ covers itself with a START sheet when its problem ends. A click on the sheet draws
another problem and resets reward and `done`; a reload does the same, unseeded. Therefore the site begins
one problem a visit. It removes the sheet and START's function, records the raw, undiscounted reward in the
page at the moment of the first end, and marks the record with the visit's nonce. A page without the nonce
is not the problem's: the session has left it, and has lost. After the first end the page's time stands
still, so that later effects, such as a closing menu or the next price, do not happen and the last picture
shows the end of the problem. A page may run no code but its own, so that typed text cannot end a problem.
"""

import asyncio
import mimetypes
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

from aiohttp import web

from generators.browser.page_scripts import read_script, to_call
from generators.browser.protocol import ClockSpec, Session
from generators.sites.gateway import Gateway
from generators.sites.miniwob_catalogue import catalogue
from generators.sites.own_code import own_code_policy
from generators.sites.protocol import Judge, Outcome, Problem, Threshold, Visit
from schemas.episodes.action import Wait
from schemas.errors import FailureKind, RolloutFailure, boundary
from schemas.tasks.task import Task
from schemas.truncation import GOAL_BYTES, truncate

NAME = "miniwob"
"""The site's name in tasks."""

HOST = "miniwob.localhost"
"""Its stable host name; `.localhost` is a secure context."""

ORIGIN = f"http://{HOST}"
"""Its stable origin: no port, the same on every machine."""

AREA = (160, 210)
"""Default size of a page, CSS px, unless the catalogue has another."""

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

HANDLERS = ("return false", "Alaska.datepickrDone();", "Alaska.modal.remove();")
"""The event handlers that scripts of the pages write into a document as text."""

_EVALUATES = b"/jscolor.min.js"
"""The script that evaluates its options, as pages refer to it."""

READY_MS, READY_WAITS = 500, 40
"""Pause in ms, and number of pauses, while a page loads the parts of its problem (a flight's frame)."""

LOST = -1.0
"""The reward of a problem whose page was left; pages themselves use it for a lost problem."""

REWARDS = (-1.0, 1.0)
"""The minimum and maximum raw reward of a page."""

_LEFT = "left"
"""The reply of a page that is not the problem's."""

_OUTCOME = '(nonce, left) => typeof stepmillProblem === "function" ? stepmillProblem(nonce) : left'


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


def _allowed_path(template_id: str) -> str:
    """Return the path of a template's own page; for a flight, its folder."""
    path = template_paths()[template_id]
    return path.removesuffix("wrapper.html")


def _load(path: str) -> tuple[bytes, dict[str, str]] | None:
    """Return a file's bytes and headers; None if the site has no such file."""
    file = (pages_root() / path.lstrip("/")).resolve()
    if not file.is_relative_to(pages_root().resolve()) or not file.is_file():
        return None
    kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    if kind.startswith("text/") or kind.endswith("javascript"):
        kind += "; charset=utf-8"
    body = file.read_bytes()
    headers = {"Content-Type": kind, "Cache-Control": "max-age=3600"}
    if kind.startswith("text/html"):
        headers["Content-Security-Policy"] = own_code_policy(
            body.decode(errors="replace"), handlers=HANDLERS, evaluates=_EVALUATES in body
        )
    return body, headers


class MiniWob:
    """The site. It serves its pages through a gateway, which the gateway's owner starts and stops."""

    name = NAME
    repeatable = True
    judge = Judge.PAGE

    def __init__(self, gateway: Gateway) -> None:
        self._cache: dict[str, tuple[bytes, dict[str, str]]] = {}
        gateway.mount(HOST, self._serve)

    @property
    def version(self) -> str:
        """The version of the pages."""
        return site_version()

    def has_template(self, template_id: str) -> bool:
        """Return whether the site has this template."""
        return template_id in template_paths()

    def threshold(self, template_id: str) -> Threshold | None:
        """Return a template's own threshold; None if its score is not continuous."""
        return THRESHOLDS.get(template_id)

    def area(self, template_id: str) -> tuple[int, int]:
        """Return width and height of a template's page with everything that it opens, CSS px."""
        entry = catalogue().get(template_id)
        return AREA if entry is None or entry.area is None else entry.area

    @asynccontextmanager
    async def open(self, task: Task) -> AsyncIterator[Visit]:
        """Lease a visit of `task`: its page, in virtual time, with its seed."""
        if not self.has_template(task.template_id):
            raise RolloutFailure(
                FailureKind.SITE, f"MiniWoB++ has no template '{task.template_id}'"
            )
        yield Visit(
            start_url=task.start_url,
            allowed_origins=(ORIGIN,),
            allowed_paths=(_allowed_path(task.template_id),),
            clock=ClockSpec(),
            seed=str(task.seed),
            parameters=task.parameters,
            bare=True,
        )

    async def begin(self, visit: Visit, session: Session) -> Problem:
        """Seed the page, draw its problem, hide everything else and return the problem."""
        nonce = secrets.token_hex(16)
        begin = read_script("generators.sites", "miniwob.js")
        settings = {"bare": visit.bare, "left": _LEFT, "timerMs": LIFTED_TIMER_MS}
        goal = await session.evaluate(to_call(begin, visit.seed, nonce, settings))
        if not isinstance(goal, str):
            raise RolloutFailure(FailureKind.PAGE, f"the page's goal is not text: {goal!r}")
        problem = Problem(goal=truncate(goal, GOAL_BYTES), nonce=nonce)
        await session.settle()
        for _ in range(READY_WAITS):
            if await session.evaluate("WOB_TASK_READY"):
                return problem
            await session.act(Wait(ms=READY_MS))
        raise RolloutFailure(
            FailureKind.PAGE, f"the page was not ready after {READY_WAITS * READY_MS / 1_000:g} s"
        )

    async def state(self, problem: Problem) -> None:
        """Return None: the page is the judge."""
        del problem

    async def outcome(
        self, problem: Problem, session: Session, *, answer: str | None = None
    ) -> Outcome:
        """Return the raw reward of the problem's end, or that it has not ended; an answer changes nothing."""
        del answer
        least, greatest = REWARDS
        with boundary(FailureKind.PAGE, "reading the outcome"):
            value = await session.evaluate(to_call(_OUTCOME, problem.nonce, _LEFT))
            match value:
                case "left":
                    return Outcome(reward=LOST, done=True)
                case [int() | float() as reward, bool() as done] if (
                    not isinstance(reward, bool) and least <= reward <= greatest
                ):
                    return Outcome(reward=float(reward), done=done)
                case _:
                    raise RolloutFailure(
                        FailureKind.PAGE,
                        f"the page's outcome is {value!r}; expected [reward, done], a number from "
                        f"{least:g} to {greatest:g} and a boolean",
                    )

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        found = self._cache.get(request.path)
        if found is None:
            found = await asyncio.to_thread(_load, request.path)
            if found is None:
                return web.Response(status=404, text=f"no {request.path}")
            self._cache[request.path] = found
        body, headers = found
        return web.Response(body=body, headers=headers)
