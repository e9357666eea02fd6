"""Seats over pages that cost nothing: pictures from memory, so that only the program itself takes time.

In place of the browsers of a run stand sessions over a ring of pictures, and in place of MiniWoB++ a site that ends
nothing. Everything else, from the lease to the tables, is the program itself.
"""

import contextlib
from collections.abc import AsyncIterator, Collection, Mapping, Sequence

from pydantic import JsonValue

from bench.client import screenshots
from flows.resources.engines import PolicyRuntime
from flows.resources.resources import RunResources
from flows.serving import opening
from flows.serving.seating import Seats
from generators.browser.protocol import ClockSpec, Node, Session, SessionSpec
from generators.sites.protocol import Judge, Outcome, Problem, Site, Threshold, Visit
from generators.verify.panel import Panel
from generators.verify.registry import make_verifiers
from schemas.base import sha256_hex
from schemas.configuration.config import RunConfig
from schemas.episodes.action import Action
from schemas.episodes.episode import BlockedRequests
from schemas.episodes.observation import Download, Effect, Observation, PageState, Screenshot
from schemas.tasks.task import Task

ORIGIN = "http://miniwob.localhost"


class BlankSession:
    """A session over a ring of pictures: each action shows the next."""

    browser_version = "blank"
    downloads: tuple[Download, ...] = ()

    def __init__(self, pages: Sequence[Observation]) -> None:
        self._pages, self._at = pages, 0

    @property
    def reader(self) -> "BlankSession":
        """The privileged view: an empty document."""
        return self

    async def read(self) -> Node:
        """Return a document with nothing in it."""
        return Node("html", {}, "", "", (0, 0, 0, 0), None, shown=True, style={})

    def blocked_requests(self) -> tuple[BlockedRequests, ...]:
        """Return nothing."""
        return ()

    async def open(self, url: str) -> None:
        """Show the first picture."""
        del url
        self._at = 0

    async def observe(self) -> Observation:
        """Return the picture."""
        return self._pages[self._at % len(self._pages)]

    async def act(self, action: Action) -> Effect:
        """Show the next picture."""
        del action
        self._at += 1
        return Effect(act_ms=0.0)

    async def settle(self) -> None:
        """Do nothing."""

    async def evaluate(self, expression: str) -> JsonValue:
        """Return nothing."""
        del expression
        return None


class BlankSessions:
    """Hands out such sessions."""

    version = "blank"

    def __init__(self) -> None:
        self._pages = [_page(jpeg, number) for number, jpeg in enumerate(screenshots(5))]

    @contextlib.asynccontextmanager
    async def session(self, spec: SessionSpec) -> AsyncIterator[BlankSession]:
        """Open one."""
        del spec
        yield BlankSession(self._pages)


def _page(jpeg: bytes, number: int) -> Observation:
    state = sha256_hex(str(number).encode())
    return Observation(
        screenshot=Screenshot(bytes=jpeg, path="blank.jpg"),
        width=1_024,
        height=768,
        page=PageState(
            url=f"{ORIGIN}/{number}",
            title="blank",
            form_sha256=state,
            scroll_x=0,
            scroll_y=0,
            dom_sha256=state,
        ),
        observe_ms=0.0,
    )


class BlankSite:
    """A site whose tasks nothing ends."""

    name, version, repeatable, judge = "miniwob", "1", True, Judge.PAGE

    def has_template(self, template_id: str) -> bool:
        """Say that every template is known."""
        return bool(template_id)

    def area(self, template_id: str) -> tuple[int, int] | None:
        """Return none: its pages fill any viewport."""
        del template_id
        return None

    def threshold(self, template_id: str) -> Threshold | None:
        """Return no threshold of its own."""
        del template_id
        return None

    @contextlib.asynccontextmanager
    async def open(self, task: Task) -> AsyncIterator[Visit]:
        """Lease a visit."""
        yield Visit(
            start_url=task.start_url,
            allowed_origins=(ORIGIN,),
            clock=ClockSpec(),
            seed=str(task.seed),
            parameters=task.parameters,
        )

    async def begin(self, visit: Visit, session: Session) -> Problem:
        """Return a goal."""
        del visit, session
        return Problem(goal="Go on.", nonce="0" * 32)

    async def state(self, problem: Problem) -> None:
        """Return None: the page is the judge."""
        del problem

    async def outcome(
        self, problem: Problem, session: Session, *, answer: str | None = None
    ) -> Outcome:
        """Return that it goes on."""
        del problem, session, answer
        return Outcome(reward=0.0, done=False)


class _BlankWorkshop(RunResources):
    def __init__(self, config: RunConfig, *, policies: bool = True) -> None:
        super().__init__(config, policies=policies)
        sites: Mapping[str, Site] = {"miniwob": BlankSite()}
        self.sites = sites
        names = config.verify.verifiers
        verifiers = make_verifiers(names, sites=sites, sessions=self._replays)
        self.panel = Panel(verifiers, config.accept)

    async def start(self, sites: Collection[str], *, rollouts: bool) -> PolicyRuntime | None:
        del sites, rollouts
        self.rollouts.add(BlankSessions())
        return None


@contextlib.asynccontextmanager
async def blank_seats(config: RunConfig) -> AsyncIterator[Seats]:
    """Open seats over pages that cost nothing."""
    name = RunResources.__name__
    setattr(opening, name, _BlankWorkshop)
    try:
        async with opening.open_seats(config) as seats:
            yield seats
    finally:
        setattr(opening, name, RunResources)
