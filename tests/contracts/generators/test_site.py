"""What every site promises, shown on MiniWoB++, on the scripted site and on that of an application."""

import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from adversarial.watched import first_end, watch_events
from effort import THOROUGH
from pydantic import JsonValue
from support.browsers.one_browser import browser_and_gateway
from support.browsers.random_actions import Truth, falsehood, walk
from support.browsers.scripted_rollouts import RUNNING, WON, pages, scripted_task
from support.browsers.scripted_session import Page, ScriptedSession
from support.browsers.scripted_site import ScriptedSite
from support.browsers.visits import visit_to
from support.episodes.factories import make_task
from support.servers.ledger_site import command, ledger, ledger_task, mounted

from generators.browser.protocol import Session, SessionSpec
from generators.sites.gateway import Gateway
from generators.sites.miniwob import MiniWob
from generators.sites.protocol import Judge, Problem, Site, Visit
from schemas.episodes.action import Action, Answer, Reload, Restart
from schemas.errors import FailureKind, RolloutFailure
from schemas.tasks.task import Task
from schemas.truncation import GOAL_BYTES

pytestmark = pytest.mark.asyncio(loop_scope="session")

WALKS = 4 if THOROUGH else 2
"""Tasks over which random actions are carried out."""

MakeTask = Callable[[int], Task]
"""A task of a site, from a seed."""


@dataclass(frozen=True)
class Served:
    """A site, its tasks, and sessions that reach its pages."""

    site: Site
    task: MakeTask
    session: Callable[[SessionSpec], AbstractAsyncContextManager[Session]]
    watch: Callable[[Session], Awaitable[Truth]]
    """Begins to watch a problem by other means than the site's, and returns what tells its end."""

    @contextlib.asynccontextmanager
    async def visited(self, seed: int) -> AsyncIterator[tuple[Visit, Session]]:
        """A session on the start page of a task."""
        async with (
            self.site.open(self.task(seed)) as visit,
            self.session(spec_of(visit)) as session,
        ):
            await session.open(visit.start_url)
            yield visit, session


def spec_of(visit: Visit) -> SessionSpec:
    return visit.session_spec(viewport_width=500, viewport_height=400)


@contextlib.asynccontextmanager
async def miniwob() -> AsyncIterator[Served]:
    async with browser_and_gateway() as (chromium, gateway):
        yield Served(MiniWob(gateway), make_task, chromium.session, watch_miniwob)


async def watch_miniwob(session: Session) -> Truth:
    await watch_events(session)

    async def truth(_: Action) -> float | None:
        return await first_end(session)

    return truth


async def watch_pages(session: Session) -> Truth:
    """Tell the first end among the pages that a scripted session has shown, if it was not left."""
    ends: list[float | None] = []

    async def truth(_: Action) -> float | None:
        match await session.evaluate("what the page says"):
            case "left":
                ends.append(None)
            case [int() | float() as reward, True]:
                ends.append(reward)
        return ends[0] if ends else None

    return truth


@contextlib.asynccontextmanager
async def scripted() -> AsyncIterator[Served]:
    @contextlib.asynccontextmanager
    async def session(spec: SessionSpec) -> AsyncIterator[Session]:
        yield ScriptedSession(pages(RUNNING, RUNNING, RUNNING, [-1, True], RUNNING, WON), spec)

    yield Served(ScriptedSite(), scripted_task, session, watch_pages)


def entry_task(seed: int) -> Task:
    """Return a task of the ledger that a random walk may do: to add any one entry."""
    return ledger_task(seed, expect={"added": [{"table": "entries", "where": {}}]})


def entries_in(file: Path) -> list[str]:
    """Return the entries that the ledger's server has written down."""
    entries: list[str] = json.loads(file.read_text())
    return entries


@contextlib.asynccontextmanager
async def application() -> AsyncIterator[Served]:
    """Yield an application whose server keeps its entries in a file too, which the site does not read."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "entries")

        async def watch_file(_: Session) -> Truth:
            ends: list[float] = []

            async def truth(action: Action) -> float | None:
                if isinstance(action, Answer):
                    ends.append(float(len(entries_in(file)) == 1))
                return ends[0] if ends else None

            return truth

        start = {"command": command(), "environment": {"LEDGER_FILE": str(file)}}
        async with (
            browser_and_gateway() as (chromium, gateway),
            mounted(gateway, ledger(start=start)) as site,
        ):
            yield Served(site, entry_task, chromium.session, watch_file)


Serving = Callable[[], AbstractAsyncContextManager[Served]]


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(miniwob, marks=pytest.mark.browser),
        scripted,
        pytest.param(application, marks=pytest.mark.browser),
    ],
)
def serving(request: pytest.FixtureRequest) -> Serving:
    chosen: Serving = request.param
    if chosen is not scripted:
        request.getfixturevalue("one_browser")
    return chosen


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def served(serving: Serving) -> AsyncIterator[Served]:
    """Serve the site, once for all tests: each visits it in a state of its own."""
    async with serving() as site:
        yield site


Alone = tuple[Site, MakeTask, Task]
"""A site without a browser, its tasks, and one that it cannot serve."""


def _of_no_template(task: Task) -> Task:
    return task.model_copy(update={"template_id": ""})


@pytest_asyncio.fixture(params=["miniwob", "scripted", "application"], loop_scope="session")
async def alone(request: pytest.FixtureRequest) -> AsyncIterator[Alone]:
    if request.param == "miniwob":
        yield MiniWob(Gateway()), make_task, _of_no_template(make_task(1))
    elif request.param == "scripted":
        yield ScriptedSite(), scripted_task, _of_no_template(scripted_task(1))
    else:
        async with Gateway() as gateway, mounted(gateway, ledger()) as site:
            expects_nothing = ledger_task().model_copy(update={"expect": None})
            yield site, ledger_task, expects_nothing


@pytest.fixture(params=["miniwob", "scripted"])
def paged(request: pytest.FixtureRequest) -> tuple[Site, MakeTask]:
    """Return a site whose pages are the judges, and its tasks."""
    if request.param == "miniwob":
        return MiniWob(Gateway()), make_task
    return ScriptedSite(), scripted_task


def session_over(value: JsonValue) -> ScriptedSession:
    """Return a session whose page gives this value for any expression."""
    visit = Visit(start_url="http://a/", allowed_origins=("http://a",), clock=None, seed="1")
    return ScriptedSession([Page(colour=(0, 0, 0), value=value)], spec_of(visit))


async def test_a_task_is_visited_where_it_starts_on_an_origin_without_a_port(alone: Alone) -> None:
    site, task, _ = alone
    visit = await visit_to(site, task(7))
    start = urlsplit(visit.start_url)

    assert visit.start_url == task(7).start_url
    assert f"{start.scheme}://{start.netloc}" in visit.allowed_origins
    assert all(urlsplit(origin).port is None for origin in visit.allowed_origins)


async def test_what_is_recorded_of_a_visit_is_the_same_every_time_and_survives_json(
    alone: Alone,
) -> None:
    site, task, _ = alone
    one, again, other = [(await visit_to(site, task(seed))).model_dump_json() for seed in (7, 7, 8)]

    assert one == again
    assert one != other
    assert Visit.model_validate_json(one).model_dump_json() == one


async def test_no_bit_of_a_seed_is_lost(alone: Alone) -> None:
    site, task, _ = alone
    largest = task(0).model_copy(update={"seed": 2**63 - 1})

    assert (await visit_to(site, largest)).seed == str(2**63 - 1)


async def test_a_site_knows_the_templates_of_its_tasks_and_serves_no_task_that_is_not_its_own(
    alone: Alone,
) -> None:
    site, task, foreign = alone

    assert site.name == task(1).site
    assert site.has_template(task(1).template_id)
    assert not site.has_template("")
    assert site.threshold("") is None
    with pytest.raises(RolloutFailure) as caught:
        await visit_to(site, foreign)
    assert caught.value.kind is FailureKind.SITE


async def test_a_site_has_a_state_if_its_server_is_the_judge(served: Served) -> None:
    async with served.visited(3) as (visit, session):
        state = await served.site.state(await served.site.begin(visit, session))

        assert (state is not None) is (served.site.judge is Judge.SERVER)


async def test_a_page_without_a_goal_is_a_page_failure(paged: tuple[Site, MakeTask]) -> None:
    site, task = paged
    visit = await visit_to(site, task(1))

    with pytest.raises(RolloutFailure) as caught:
        await site.begin(visit, session_over(None))

    assert caught.value.kind is FailureKind.PAGE


@pytest.mark.parametrize(
    "value",
    [
        None,
        "won",
        [],
        [1],
        [1, True, 2],
        ["1", True],
        [1, 1],
        [True, True],
        [None, None],
        {"done": True},
    ],
)
async def test_an_outcome_that_makes_no_sense_is_a_page_failure_and_no_reward(
    paged: tuple[Site, MakeTask], value: JsonValue
) -> None:
    with pytest.raises(RolloutFailure) as caught:
        await paged[0].outcome(Problem(goal="Do it.", nonce="1"), session_over(value))

    assert caught.value.kind is FailureKind.PAGE


@pytest.mark.parametrize("value", [[1, True], "won", None])
async def test_what_a_page_says_counts_for_nothing_where_the_server_is_the_judge(
    value: JsonValue,
) -> None:
    async with (
        Gateway() as gateway,
        mounted(gateway, ledger()) as site,
        site.open(ledger_task()) as visit,
    ):
        session = session_over(value)
        problem = await site.begin(visit, session)
        going_on = await site.outcome(problem, session)
        end = await site.outcome(problem, session, answer="done")

    assert (going_on.reward, going_on.done) == (0.0, False)
    assert (end.reward, end.done) == (0.0, True)


async def test_a_failure_of_the_session_keeps_its_kind(paged: tuple[Site, MakeTask]) -> None:
    class Dead(ScriptedSession):
        async def evaluate(self, expression: str) -> JsonValue:
            raise RolloutFailure(FailureKind.BROWSER, f"no answer to {expression}")

    site, task = paged
    visit = await visit_to(site, task(1))
    session = Dead([Page(colour=(0, 0, 0))], spec_of(visit))

    problem = Problem(goal="Do it.", nonce="1")
    for asked in (site.begin(visit, session), site.outcome(problem, session)):
        with pytest.raises(RolloutFailure) as caught:
            await asked
        assert caught.value.kind is FailureKind.BROWSER


async def test_a_seed_states_one_goal_and_nothing_is_won_before_the_first_action(
    served: Served,
) -> None:
    goals: list[str] = []
    for seed in (3, 3, 4):
        async with served.visited(seed) as (visit, session):
            problem = await served.site.begin(visit, session)
            goals.append(problem.goal)
            outcome = await served.site.outcome(problem, session)
            assert not outcome.done
            assert outcome == await served.site.outcome(problem, session), "asking changes nothing"

    assert goals[0] == goals[1]
    assert all(0 < len(goal.encode()) <= GOAL_BYTES for goal in goals)


@pytest.mark.parametrize("leave", [Reload(), Restart()], ids=["reload", "restart"])
async def test_a_page_that_is_loaded_again_is_not_the_problem_s(
    served: Served, leave: Action
) -> None:
    async with served.visited(3) as (visit, session):
        problem = await served.site.begin(visit, session)
        await session.act(leave)
        outcome = await served.site.outcome(problem, session)

        assert (outcome.reward or 0) <= 0
        assert outcome == await served.site.outcome(problem, session)


async def test_no_actions_earn_a_reward_but_for_the_task_s_own_problem(served: Served) -> None:
    for seed in range(WALKS):
        async with served.visited(seed) as (visit, session):
            problem = await served.site.begin(visit, session)
            truth = await served.watch(session)
            done = await walk(
                Random(seed),
                served.site,
                session,
                problem,
                truth=truth,
                own=visit.start_url,
                steps=12,
            )
            end = await served.site.outcome(problem, session, answer="")
            assert falsehood(end, done.ended, await truth(Answer())) == "", str(done)
        assert done.false == "", str(done)
        assert done.broken == "", str(done)


async def pays(site: Site, problem: Problem, session: Session) -> bool:
    """Return whether a site rewards a problem in a session; one that says why it cannot look does not."""
    try:
        outcome = await site.outcome(problem, session, answer="")
    except RolloutFailure as failure:
        return failure.kind is not FailureKind.SITE
    return outcome.done and (outcome.reward or 0) > 0


async def test_no_two_visits_have_one_problem(served: Served) -> None:
    problems = []
    for _ in range(2):
        async with served.visited(3) as (visit, session):
            problems.append(await served.site.begin(visit, session))
        async with served.visited(3) as (_, other):
            assert not await pays(served.site, problems[-1], other)

    assert problems[0].nonce != problems[1].nonce


async def test_a_repeatable_site_gives_the_same_document_for_the_same_seed(
    served: Served,
) -> None:
    documents: list[str | None] = []
    assert served.site.repeatable
    for _ in range(2):
        async with served.visited(3) as (visit, session):
            await served.site.begin(visit, session)
            documents.append((await session.observe()).page.dom_sha256)

    assert documents[0] is not None
    assert documents[0] == documents[1]
