"""What bounds the episodes that are made at once, and what bounds the replays."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Collection
from pathlib import Path

import pytest
from support.browsers.scripted_rollouts import RUNNING, WON, pages
from support.browsers.scripted_session import ScriptedSession, ScriptedSessions
from support.runs.fake_miniwob import SCRIPT, ScriptedWorkshop
from support.runs.rolled_out import judge_of, plan_of, state_of, units_of

from flows.job.config_loader import Sources, load
from flows.job.context import UnitState
from flows.resources.engines import PolicyRuntime
from generators.browser.protocol import SessionSpec
from schemas.configuration.config import RunConfig

EPISODES = 4
"""Of a unit, and sessions that a run may have open."""


class Gathering:
    """Sessions that act once so many of them are open together."""

    version = "scripted"

    def __init__(self, together: int) -> None:
        self._sessions = ScriptedSessions(pages(RUNNING, RUNNING, WON))
        self._together = asyncio.Barrier(together)
        self._open = 0
        self.most = 0
        """The most that were open at once."""

    @contextlib.asynccontextmanager
    async def session(self, spec: SessionSpec) -> AsyncIterator[ScriptedSession]:
        self._open += 1
        self.most = max(self.most, self._open)
        try:
            async with asyncio.timeout(200):
                await self._together.wait()
            async with self._sessions.session(spec) as session:
                yield session
        finally:
            self._open -= 1


class GatheringWorkshop(ScriptedWorkshop):
    """A workshop whose episodes are made alone, and replayed all together."""

    def __init__(self, config: RunConfig) -> None:
        super().__init__(config)
        self.making = Gathering(1)
        self.replaying = Gathering(EPISODES)

    async def start(self, sites: Collection[str], *, rollouts: bool) -> PolicyRuntime | None:
        del sites, rollouts
        self.rollouts.add(self.making)
        self._replays.add(self.replaying)
        return None


@pytest.fixture
def config(tmp_path: Path) -> RunConfig:
    script = tmp_path / "script.json"
    script.write_text(SCRIPT)
    settings = (
        f"browser.sessions={EPISODES}",
        f"tasks.unit_size={EPISODES}",
        "policy.name='scripted'",
        f"policy.script='{script}'",
        "limits.live_episodes=1",
    )
    return load(Sources(settings=settings, run=str(tmp_path / "run")), {})


async def test_a_limit_on_live_episodes_bounds_what_is_made_and_no_replay(
    config: RunConfig,
) -> None:
    (unit,) = plan_of(config)
    async with GatheringWorkshop(config) as shop:
        await shop.start((), rollouts=True)

        report = await units_of(shop, config).make(unit, set())

        verdicts = await shop.lake.verdicts(units={unit.unit_id})
    assert report.state is UnitState.DONE, report.reason
    assert (shop.making.most, shop.replaying.most) == (1, EPISODES)
    assert [one.status for one in verdicts if one.verifier == "replay"] == ["passed"] * EPISODES


async def test_a_limit_on_live_episodes_slows_no_verification(config: RunConfig) -> None:
    (unit,) = plan = plan_of(config)
    async with GatheringWorkshop(config) as shop:
        await shop.start((), rollouts=True)
        await units_of(shop, config).make(unit, set())

        found = await state_of(shop, plan)
        report = await judge_of(shop, config).judge_again(unit.unit_id, found.known)

        verdicts = await shop.lake.verdicts(units={unit.unit_id})
    assert report.state is UnitState.DONE, report.reason
    assert len([one for one in verdicts if one.verifier == "replay"]) == 2 * EPISODES


async def test_more_live_episodes_than_sessions_change_nothing(config: RunConfig) -> None:
    limits = config.limits.model_copy(update={"live_episodes": 10 * EPISODES})
    async with ScriptedWorkshop(config.model_copy(update={"limits": limits})) as shop:
        assert shop.slots.limit == EPISODES

    limits = config.limits.model_copy(update={"live_episodes": None})
    async with ScriptedWorkshop(config.model_copy(update={"limits": limits})) as shop:
        assert shop.live_episodes.limit == shop.slots.limit == EPISODES
