"""Sessions that remember show what real ones show, and carry out what nobody has carried out."""

import asyncio
from collections.abc import Sequence

import pytest
from support.browsers.remembered_sessions import RememberedSessions, RememberedSite
from support.browsers.scripted_rollouts import RUNNING, WON, clicks, pages, scripted_task
from support.browsers.scripted_session import ScriptedSessions
from support.browsers.scripted_site import ScriptedSite
from support.browsers.visits import visit_to

from generators.browser.protocol import Sessions
from generators.sites.protocol import Site
from schemas.episodes.action import Action
from schemas.errors import FailureKind, RolloutFailure

ACTIONS = clicks(2)
OTHER_END = [ACTIONS[0], ACTIONS[0]]
PAGES = pages(RUNNING, RUNNING, WON)
REMEMBERED: Site = RememberedSite(ScriptedSite())  # type: ignore[assignment]  # the rest is the site's


async def shown(sessions: Sessions, actions: Sequence[Action], site: Site = REMEMBERED) -> object:
    """Return what a session shows, the problem's nonce left out."""
    visit = await visit_to(site, scripted_task())
    spec = visit.session_spec(viewport_width=100, viewport_height=80)
    async with sessions.session(spec) as session:
        await session.open(visit.start_url)
        problem = await site.begin(visit, session)
        found: list[object] = [problem.goal]
        for action in actions:
            found += [await session.observe(), await session.act(action)]
            found.append(await site.outcome(problem, session))
        return [*found, await session.observe()]


async def test_the_same_acts_are_carried_out_once_and_others_from_the_start() -> None:
    browser = ScriptedSessions(PAGES)
    sessions = RememberedSessions(browser)

    same = [await shown(sessions, ACTIONS) for _ in range(2)]
    opened = browser.opened
    other = await shown(sessions, OTHER_END)

    assert (opened, browser.opened) == (1, 2)
    assert same == 2 * [await shown(ScriptedSessions(PAGES), ACTIONS, ScriptedSite())]
    assert other == await shown(ScriptedSessions(PAGES), OTHER_END, ScriptedSite())


async def test_what_is_asked_for_at_once_is_carried_out_once() -> None:
    browser = ScriptedSessions(PAGES)
    sessions = RememberedSessions(browser)

    async with asyncio.TaskGroup() as group:
        found = [group.create_task(shown(sessions, ACTIONS)) for _ in range(3)]

    assert browser.opened == 1
    assert found[0].result() == found[1].result() == found[2].result()


async def test_sessions_that_carry_out_everything_are_remembered() -> None:
    browser = ScriptedSessions(PAGES)
    sessions = RememberedSessions(browser)

    for _ in range(2):
        await shown(sessions.carried_out(), ACTIONS)
    assert browser.opened == 2
    await shown(sessions, ACTIONS)
    assert browser.opened == 2


async def test_a_failure_is_not_remembered() -> None:
    broken = [page.model_copy(update={"breaks": FailureKind.BROWSER}) for page in PAGES]
    sessions = RememberedSessions(ScriptedSessions(broken, PAGES))

    with pytest.raises(RolloutFailure):
        await shown(sessions, ACTIONS)

    assert await shown(sessions, ACTIONS) == await shown(
        ScriptedSessions(PAGES), ACTIONS, ScriptedSite()
    )
