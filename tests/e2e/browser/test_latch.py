"""The first end of a visit's own problem, and nothing else, is its outcome: told on a real page.

Each test does to the page what a policy, or the page itself, could do after the problem was begun.
"""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio
from support.browsers.one_browser import browser_and_gateway
from support.browsers.visits import visit_to
from support.episodes.factories import make_task

from generators.browser.chromium import Chromium
from generators.browser.protocol import Session
from generators.sites.miniwob import MiniWob, start_url
from generators.sites.protocol import Outcome, Problem, Visit
from schemas.episodes.action import Click, Reload, Wait
from schemas.errors import FailureKind, RolloutFailure

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.usefixtures("one_browser"),
]

OPEN = Outcome(reward=0.0, done=False)
LOST = Outcome(reward=-1.0, done=True)
WON = Outcome(reward=1.0, done=True)

END = "core.endEpisode(%s)"
"""What a page calls when its problem ends."""

END_AGAIN = "core.EP_TIMER = setTimeout(() => {}, 1e6); " + END
"""The same on a page that has ended: MiniWoB++ itself ends once for each timer."""


@dataclass
class Begun:
    """A problem that was begun in a page of its own."""

    site: MiniWob
    visit: Visit
    session: Session
    problem: Problem

    async def does(self, expression: str) -> None:
        """Have the page do something, whatever it throws."""
        await self.session.evaluate(f"(() => {{ try {{ {expression} }} catch {{}} return 1 }})()")

    async def outcome(self) -> Outcome:
        return await self.site.outcome(self.problem, self.session)


@dataclass
class Served:
    """The site, and the browser that its pages are opened in."""

    site: MiniWob
    browser: Chromium

    @contextlib.asynccontextmanager
    async def opened(
        self, template: str, *, bare: bool = True
    ) -> AsyncIterator[tuple[Visit, Session]]:
        """Open a template's page, and leave it to be begun; `bare` as episodes are recorded now."""
        task = make_task(3, template=template).model_copy(update={"start_url": start_url(template)})
        visit = (await visit_to(self.site, task)).model_copy(update={"bare": bare})
        spec = visit.session_spec(viewport_width=500, viewport_height=400)
        async with self.browser.session(spec) as session:
            await session.open(visit.start_url)
            yield visit, session

    @contextlib.asynccontextmanager
    async def begun(
        self, template: str = "click-button", *, bare: bool = True
    ) -> AsyncIterator[Begun]:
        """Begin a template's problem."""
        async with self.opened(template, bare=bare) as (visit, session):
            yield Begun(self.site, visit, session, await self.site.begin(visit, session))


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def served() -> AsyncIterator[Served]:
    async with browser_and_gateway() as (browser, gateway):
        yield Served(MiniWob(gateway), browser)


async def test_a_problem_that_was_begun_is_open(served: Served) -> None:
    async with served.begun() as begun:
        assert await begun.outcome() == OPEN


@pytest.mark.parametrize(("reward", "outcome"), [(1, WON), (-1, LOST)])
async def test_the_end_is_kept(served: Served, reward: int, outcome: Outcome) -> None:
    async with served.begun() as begun:
        await begun.does(END % reward)

        assert await begun.outcome() == outcome


@pytest.mark.parametrize(("first", "second", "outcome"), [(-1, 1, LOST), (1, -1, WON)])
async def test_the_first_end_counts_even_if_the_second_follows_at_once(
    served: Served, first: int, second: int, outcome: Outcome
) -> None:
    async with served.begun() as begun:
        await begun.does(f"{END % first}; {END_AGAIN % second}")

        assert await begun.outcome() == outcome


async def test_an_end_that_the_page_itself_ignores_is_none(served: Served) -> None:
    async with served.begun() as begun:
        await begun.does("core.EP_TIMER = null; " + END % 1)

        assert await begun.outcome() == OPEN


async def test_an_end_at_which_the_page_breaks_is_kept(served: Served) -> None:
    async with served.begun() as begun:
        await begun.does("core.updateDisplay = () => { throw new Error() }; " + END % -1)

        assert await begun.outcome() == LOST


async def test_the_reward_does_not_shrink_with_time(served: Served) -> None:
    async with served.begun() as begun:
        await begun.session.act(Wait(ms=2_000))
        await begun.does(END % "1, true")

        assert await begun.outcome() == WON


@pytest.mark.parametrize("ended", [False, True], ids=["open", "ended"])
async def test_what_the_page_says_later_changes_no_end(served: Served, *, ended: bool) -> None:
    async with served.begun() as begun:
        await begun.does((END % -1 if ended else "") + "; WOB_DONE_GLOBAL = true")
        await begun.does("WOB_RAW_REWARD_GLOBAL = 1")

        outcome = await begun.outcome()

        assert outcome == LOST if ended else not outcome.done


@pytest.mark.parametrize("bare", [True, False], ids=["bare", "with its sheet"])
async def test_start_draws_no_other_problem(served: Served, *, bare: bool) -> None:
    async with served.begun(bare=bare) as begun:
        goal = await begun.session.evaluate("core.getUtterance()")
        await begun.does(END % -1)
        covered = "document.querySelector('#sync-task-cover[style*=block]') !== null"
        assert await begun.session.evaluate(covered) is not bare
        await begun.session.act(Click(x=80, y=100))
        await begun.does("core.startEpisode(); core.startEpisodeReal()")

        assert await begun.session.evaluate("core.getUtterance()") == goal
        assert await begun.session.evaluate("WOB_DONE_GLOBAL") is True
        assert await begun.session.evaluate(covered) is not bare
        assert await begun.outcome() == LOST


async def test_the_sheet_is_gone_before_the_end_too(served: Served) -> None:
    async with served.begun() as begun:
        sheet = "document.getElementById('sync-task-cover')"

        assert await begun.session.evaluate(f"{sheet} === null") is True


async def test_from_its_end_on_a_page_stands_still(served: Served) -> None:
    async with served.begun() as begun:
        await begun.does("window.ticks = 0; setInterval(() => { ticks += 1 }, 100)")
        await begun.session.act(Wait(ms=500))
        before = await begun.session.evaluate("ticks")
        await begun.does(END % 1 + "; setTimeout(() => { ticks += 1_000 }, 10)")
        await begun.session.act(Wait(ms=2_000))

        assert before == await begun.session.evaluate("ticks")
        assert before not in (0, None)


async def test_a_page_is_begun_once(served: Served) -> None:
    async with served.begun() as begun:
        await begun.does(END % -1)

        with pytest.raises(RolloutFailure) as caught:
            await served.site.begin(begun.visit, begun.session)

        assert caught.value.kind is FailureKind.PAGE
        assert await begun.outcome() == LOST


async def test_another_visits_nonce_gets_nothing_of_the_page(served: Served) -> None:
    async with served.begun() as begun:
        await begun.does(END % 1)
        other = begun.problem.model_copy(update={"nonce": "0" * 32})

        assert await served.site.outcome(other, begun.session) == LOST


async def test_a_page_that_was_loaded_again_is_lost_and_stays_so(served: Served) -> None:
    async with served.begun() as begun:
        await begun.session.act(Reload())
        assert await begun.outcome() == LOST
        await begun.does("core.startEpisodeReal(); " + END % 1)

        assert await begun.outcome() == LOST


@pytest.mark.parametrize(
    "forgery",
    [
        "window.stepmillProblem = () => [1, true]",
        "delete window.stepmillProblem; window.stepmillProblem = () => [1, true]",
        "Object.defineProperty(window, 'stepmillProblem', {value: () => [1, true]})",
    ],
)
async def test_the_page_cannot_take_the_latch_away(served: Served, forgery: str) -> None:
    async with served.begun() as begun:
        await begun.does(forgery)

        assert await begun.outcome() == OPEN


async def test_a_seed_draws_one_problem_and_no_timer_ends_it(served: Served) -> None:
    async with served.begun() as one, served.begun() as other:
        documents = [(await each.session.observe()).page.dom_sha256 for each in (one, other)]
        assert (one.problem.goal, documents[0]) == (other.problem.goal, documents[1])

        for _ in range(3):
            await one.session.act(Wait(ms=5_000))
        assert await one.outcome() == OPEN


async def test_the_score_board_is_hidden(served: Served) -> None:
    async with served.begun() as begun:
        shown = "getComputedStyle(document.getElementById('reward-display')).display"

        assert await begun.session.evaluate(shown) == "none"


async def test_a_page_begins_its_problem_once(served: Served) -> None:
    async with served.begun() as begun:
        with pytest.raises(RolloutFailure, match="the page has begun its problem before"):
            await begun.site.begin(begun.visit, begun.session)

        await begun.does(END % 1)
        assert await begun.outcome() == WON


async def test_a_goal_with_fields_is_its_words(served: Served) -> None:
    async with served.opened("click-button") as (visit, session):
        await session.evaluate("core.getUtterance = () => ({utterance: 'Say it.', fields: {}}), 1")

        assert (await served.site.begin(visit, session)).goal == "Say it."
