"""Checks whether an application is fit for runs, by trying the promises of its file on its own tasks.

For a few tasks the start page is opened twice to find differences between equal visits, which must be masked. The
task's reference is carried out, recorded and replayed, while a second visit stays open whose state must not change. A
visit afterwards must find the initial state again. Nothing is stored.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from pydantic import JsonValue

from flows.checks.page_reports import refusals, reports
from flows.checks.suggested_masks import PageLook, SuggestedMask, page_masks, state_masks
from flows.checks.tasks import attempt_watched
from flows.resources.browsers import Browsers
from generators.browser.page_scripts import read_script, to_call
from generators.browser.protocol import SessionSpec
from generators.policy.reference import ReferencePolicy
from generators.sites.protocol import Problem, Site, Visit
from generators.sites.state import ServerState, StateChange
from generators.verify.replay import replay
from schemas.base import Record
from schemas.configuration.config import RunConfig
from schemas.configuration.masks import Masks
from schemas.episodes.episode import BlockedRequests
from schemas.episodes.viewport import Viewport, draw_viewport
from schemas.errors import BadTasks, RolloutFailure
from schemas.tasks.task import Task

CHECKED_TASKS = 3
"""Number of tasks to try, of different templates and seeds if possible."""

MAX_SHOWN = 8
"""Maximum number of differences in one line of a check."""


class SiteCheck(Record):
    """The result of one check."""

    name: str
    """The check: `start`, `origins`, `reset`, `isolation`, `masks`, `outcome` or `replay`."""
    task: str
    """The task: its template and seed."""
    ok: bool
    """Whether the check passed."""
    because: str
    """The finding in a sentence, with the remedy for a failure."""


@dataclass(frozen=True, slots=True)
class Look:
    """A start page in one visit."""

    page: PageLook
    state: ServerState
    blocked: tuple[BlockedRequests, ...]


def choose_tasks(tasks: Sequence[Task], site: str) -> list[Task]:
    """Return a few tasks of a site to try: different templates first, then different seeds.

    Raises:
        BadTasks: the run has no task of the site.
    """
    own = [task for task in tasks if task.site == site]
    if not own:
        raise BadTasks(f"tasks.source: there is no task of the site '{site}' to try it on")
    first: dict[str, Task] = {}
    for task in own:
        first.setdefault(task.template_id, task)
    others = [task for task in own if task not in first.values()]
    return [*first.values(), *others][:CHECKED_TASKS]


@dataclass(frozen=True, slots=True)
class SiteTrial:
    """Tries a site on its tasks."""

    config: RunConfig
    """The run that names the site."""
    browsers: Browsers
    """Sites and sessions."""

    async def try_task(self, task: Task) -> list[SiteCheck]:
        """Return the checks of a site with one task."""
        site, label = self.browsers.sites[task.site], f"{task.template_id} {task.seed}"
        checks = list[tuple[str, bool, str]]()
        try:
            one, other = await self.look(task), await self.look(task)
            checks += await _compare_looks(one, other)
            if refused := refusals(one.blocked):
                checks.append(("origins", True, f"the start page works without, but {refused}"))
            if all(check[1] for check in checks) and task.reference is not None:
                checks += await self._carry_out(site, task, one.state)
        except RolloutFailure as failure:
            checks.append(("start", False, failure.message))
        if task.reference is None:
            because = "was not tried: the task has no reference"
            checks += [("outcome", True, because), ("replay", True, because)]
        return [
            SiteCheck(name=name, task=label, ok=ok, because=because) for name, ok, because in checks
        ]

    async def look(self, task: Task) -> Look:
        """Open the start page of a task and return what it holds.

        Raises:
            RolloutFailure: it does not open.
        """
        site = self.browsers.sites[task.site]
        async with site.open(task) as visit:
            spec = self._spec(visit, site, task)
            async with self.browsers.sessions.session(spec) as session:
                await session.open(visit.start_url)
                problem = await site.begin(visit, session)
                found = await session.evaluate(to_call(read_script("flows.checks", "page_look.js")))
                page = _to_page(found, visit.masks or Masks())
                return Look(page, await _state(site, problem), session.blocked_requests())

    async def _carry_out(
        self, site: Site, task: Task, first: ServerState
    ) -> list[tuple[str, bool, str]]:
        """Carry out, judge and replay the reference, beside another visit if the site allows several.

        `first` is the initial state of a visit.
        """
        application = self.config.sites[task.site]
        if application.visits == "one" and application.start.url is not None:
            alone = ("isolation", True, "was not tried: visits wait for each other")
            return [alone, *await self._roll_out(task, first)]
        async with site.open(task) as visit:
            before = await self._state_of(site, task, visit)
            carried = await self._roll_out(task, first)
            differ = await _places(before, await self._state_of(site, task, visit))
        because = "a visit held open meanwhile has its state"
        if differ:
            because = (
                f"a visit held open meanwhile finds changed: {differ}; keep the state of each visit apart, by the "
                "id that `visits` sends along, or give each a server to itself"
            )
        return [("isolation", not differ, because), *carried]

    async def _roll_out(self, task: Task, first: ServerState) -> list[tuple[str, bool, str]]:
        """Carry out and judge the reference, check the state of a later visit, and replay."""
        steps = task.reference or ()
        episode, watched = await attempt_watched(
            self.config, self.browsers, task, lambda: ReferencePolicy(steps)
        )
        paid = episode.reward == 1 and episode.done
        because = "the reference is rewarded"
        if not paid:
            found = (episode.failure_message or watched.because, reports(episode))
            because = f"the reference is not rewarded: {'; '.join(filter(None, found))}"
        checks = [("outcome", paid, because)]
        left = await _places(first, (await self.look(task)).state)
        if left:
            because = (
                f"a visit afterwards finds what the reference left: {left}; have reset put it back"
            )
            checks.append(("reset", False, because))
        if left or not paid:
            return checks
        replayed = await replay(
            task, episode, sites=self.browsers.sites, sessions=self.browsers.replays
        )
        return [*checks, ("replay", replayed.reproduced, replayed.because)]

    async def _state_of(self, site: Site, task: Task, visit: Visit) -> ServerState:
        """Return the state of an open visit, read in its own session."""
        spec = self._spec(visit, site, task)
        async with self.browsers.sessions.session(spec) as session:
            await session.open(visit.start_url)
            return await _state(site, await site.begin(visit, session))

    def _spec(self, visit: Visit, site: Site, task: Task) -> SessionSpec:
        drawn: Viewport = draw_viewport(self.config, site.area(task.template_id), seed=task.task_id)
        return visit.session_spec(
            viewport_width=drawn.width, viewport_height=drawn.height, task=task
        )


async def _compare_looks(one: Look, other: Look) -> list[tuple[str, bool, str]]:
    """Compare two consecutive visits of a task, and return the checks of start, reset and masks."""
    masks = await _state_masks(one.state, other.state)
    differ = ", ".join(mask.sentence for mask in masks)
    shown = islice(page_masks(one.page, other.page), MAX_SHOWN)
    pages = "; ".join(mask.sentence for mask in shown)
    return [
        ("start", True, "the start page opens"),
        (
            "reset",
            not differ,
            f"two visits find states that differ; reset them, or mask in masks.state: {differ}"
            if differ
            else "two visits find equal states",
        ),
        (
            "masks",
            not pages,
            f"two visits find pages that differ; mask {pages}"
            if pages
            else "two visits find equal pages",
        ),
    ]


async def _state_masks(before: ServerState, after: ServerState) -> list[SuggestedMask]:
    """Return masks for the differences of two states; none if they are equal."""
    change = await StateChange.between(before, after)
    return list(islice(state_masks(change.delta), MAX_SHOWN))


async def _places(before: ServerState, after: ServerState) -> str:
    """Return the places where two states differ; empty if they are equal."""
    return ", ".join(mask.mask for mask in await _state_masks(before, after))


async def _state(site: Site, problem: Problem) -> ServerState:
    return await site.state(problem) or ServerState(None)


def _to_page(found: JsonValue, masks: Masks) -> PageLook:
    """Return what `page_look.js` found; a page that has changed what the script uses may give anything."""
    look = found if isinstance(found, dict) else {}
    listed = look.get("fields")
    pairs = [one for one in listed if isinstance(one, list)] if isinstance(listed, list) else []
    fields = tuple((str(one[0]), str(one[1])) for one in pairs if len(one) > 1)
    return PageLook(source=str(look.get("source")), fields=fields, masks=masks)
