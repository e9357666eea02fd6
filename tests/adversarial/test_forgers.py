"""No policy is rewarded for a problem that is not its task's own."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio
from adversarial.forgers import TRICKS, Forger
from effort import THOROUGH
from factories import make_task
from pydantic import JsonValue

from generators.browser.chromium import Chromium
from generators.browser.protocol import Session
from generators.policy.protocol import Policy
from generators.policy.teacher.policy import TeacherPolicy
from generators.rollout.episode_recorder import Attempt
from generators.rollout.limits import Limits
from generators.rollout.rollout import rollout
from generators.sites.gateway import Gateway
from generators.sites.miniwob import MiniWob, start_url, template_paths
from generators.sites.protocol import Outcome, Problem, Visit
from schemas.episode import Episode

pytestmark = pytest.mark.browser

TEMPLATES = (
    sorted(template_paths())
    if THOROUGH
    else ["click-button", "click-test-2", "enter-text", "count-sides"]
)
SEEDS = range(3 if THOROUGH else 1)


WATCH = """(() => {
  const events = window.watchedEvents = [];
  const draw = genProblem, end = core.endEpisode;
  genProblem = (...given) => { events.push("draw"); return draw(...given); };
  core.endEpisode = (...given) => {
    const running = core.EP_TIMER !== null;
    try { return end(...given); } finally { if (running) events.push(given[0]); }
  };
})()"""
"""Notes what the page draws and ends from now on, beside what the site itself keeps."""


@dataclass
class WatchedSite:
    """MiniWoB++ with an oracle beside it, which follows the events of each problem's own page."""

    site: MiniWob
    true_reward: JsonValue = None
    """The reward of the first end of the visit's own problem; None: it has none, or was left."""

    def __getattr__(self, name: str) -> object:
        return getattr(self.site, name)

    async def begin(self, visit: Visit, session: Session) -> Problem:
        self.true_reward = None
        problem = await self.site.begin(visit, session)
        await session.evaluate(WATCH)
        return problem

    async def outcome(self, problem: Problem, session: Session) -> Outcome:
        outcome = await self.site.outcome(problem, session)
        events = await session.evaluate("window.watchedEvents || []")
        assert isinstance(events, list)
        if events and events[0] != "draw":
            self.true_reward = events[0]
        return outcome


@dataclass
class Served:
    """The site and a browser in front of it."""

    site: WatchedSite
    browser: Chromium

    async def attempt(self, template: str, seed: int, policy: Policy) -> Episode:
        """Return what `policy` made of a task of `template`."""
        task = make_task(seed, template=template, instruction="")
        attempt = Attempt(
            run_id="run",
            unit_id="unit",
            task=task.model_copy(update={"start_url": start_url(template)}),
            attempt=0,
            viewport_width=500,
            viewport_height=400,
            device_scale_factor=1.0,
            code_version="test",
        )
        return await rollout(
            attempt,
            site=self.site,  # type: ignore[arg-type]  # the rest of the protocol is the site's
            sessions=self.browser,
            make_policy=lambda _: policy,
            limits=Limits(steps=30, seconds=120, stuck_steps=10),
        )


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served() -> AsyncIterator[Served]:
    async with Gateway() as gateway, Chromium(gateway_port=gateway.port) as browser:
        yield Served(WatchedSite(MiniWob(gateway)), browser)


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("trick", TRICKS)
async def test_a_forger_is_rewarded_for_its_own_problem_alone(served: Served, trick: str) -> None:
    for template in TEMPLATES:
        for seed in SEEDS:
            episode = await served.attempt(template, seed, Forger(TRICKS[trick]))

            what = f"{template} {seed}: {episode.stop_reason} {episode.failure_message}"
            assert episode.failure_kind is None, what
            if episode.done and (episode.reward or 0) > 0:
                assert served.site.true_reward == episode.reward, what


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("template", TEMPLATES)
async def test_a_policy_that_does_the_task_is_rewarded(served: Served, template: str) -> None:
    episode = await served.attempt(template, 0, TeacherPolicy())

    assert episode.done
    assert served.site.true_reward == episode.reward == 1
