"""No sequence of actions earns a reward for anything but the task's own problem.

`make test-full` carries out more than 20,000 actions over all templates.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from random import Random

import pytest
from adversarial.recorded import HEIGHT, WIDTH, Recorder, recording
from adversarial.watched import WatchedSite
from effort import THOROUGH, TIMEOUT
from support.browsers.random_actions import Walk, walk
from support.browsers.visits import visit_to

from generators.sites.miniwob import NAME, start_url, template_paths
from generators.tasks.site_offers import make_template_task, site_offers
from schemas.episodes.action import Action

pytestmark = [
    pytest.mark.browser,
    pytest.mark.full,
    pytest.mark.timeout(TIMEOUT),
    pytest.mark.usefixtures("one_browser"),
    pytest.mark.asyncio(loop_scope="session"),
]

TEMPLATES = (
    sorted(template_paths()) if THOROUGH else ["click-test-2", "click-button", "count-sides"]
)
WALKS = 12 if THOROUGH else 2
STEPS = 14

DREW_AND_WON = """typeof stepmillProblem !== "function" && typeof WOB_DONE_GLOBAL === "boolean"
  && WOB_DONE_GLOBAL && WOB_RAW_REWARD_GLOBAL > 0"""
"""The page is not the task's, and its own, unseeded problem was won."""


async def walk_on(recorder: Recorder, template: str, number: int, seen: Counter[str]) -> Walk:
    """Walk over one task of a template."""
    site = WatchedSite(recorder.site)
    task = make_template_task(site_offers()[NAME], template, seed=number, source=NAME)
    visit = await visit_to(recorder.site, task)
    spec = visit.session_spec(viewport_width=WIDTH, viewport_height=HEIGHT)
    async with recorder.slots, recorder.browser.session(spec) as session:
        await session.open(visit.start_url)
        problem = await site.begin(visit, session)

        async def truth(_: Action) -> float | None:
            seen["unseeded"] += await session.evaluate(DREW_AND_WON) is True
            return site.true_reward

        out = await walk(
            Random(f"{template} {number}"),
            site,  # type: ignore[arg-type]  # the rest of the protocol is the site's
            session,
            problem,
            truth=truth,
            own=task.start_url,
            elsewhere=(start_url("count-sides"), "http://elsewhere.localhost/"),
            steps=STEPS,
        )
    seen["actions"] += len(out.actions)
    seen["broken"] += bool(out.broken)
    if out.ended is not None:
        seen["won" if (out.ended.reward or 0) > 0 else "lost"] += 1
    return out


async def test_no_actions_earn_a_reward_but_for_the_task_s_own_problem(
    record_testsuite_property: Callable[[str, object], None],
) -> None:
    seen: Counter[str] = Counter()
    async with recording() as recorder, asyncio.TaskGroup() as group:
        walks = {
            (template, number): group.create_task(walk_on(recorder, template, number, seen))
            for template in TEMPLATES
            for number in range(WALKS)
        }
    record_testsuite_property("random actions", dict(seen))
    false = [f"{key}: {one.result()}" for key, one in walks.items() if one.result().false]

    assert false == []
    assert seen["won"], seen
    assert seen["lost"], seen
    assert not THOROUGH or (seen["actions"] >= 20_000 and seen["unseeded"]), seen
