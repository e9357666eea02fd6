"""Attempts at hostile and innocent pages in one browser, and what may not differ between two of them."""

import asyncio
import contextlib
import io
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from effort import THOROUGH
from PIL import Image
from sites.hostile.pages import INNOCENTS
from sites.hostile.site import PAGES, Hostile, hostile_task

from generators.browser import clock, session
from generators.browser import page_calls as channel
from generators.browser.chromium import Chromium
from generators.browser.devtools import connection as devtools
from generators.policy.scripted import ScriptedPolicy
from generators.rollout.episode_recorder import Attempt
from generators.rollout.limits import Limits
from generators.rollout.rollout import rollout
from generators.sites.gateway import Gateway
from schemas.episodes.episode import Episode

LIMITS = Limits(steps=8, seconds=60, stuck_steps=4)

VIEWPORT = (500, 400)

OF_ONE_STEP = {"at", "observe_ms", "think_ms", "act_ms"}
"""What no two equal steps share."""

BREATH = 0.2 if THOROUGH else 1.0
"""Seconds between two innocent attempts, which would otherwise keep a core busy by themselves."""


@dataclass(frozen=True, slots=True)
class Arena:
    """A browser and the hostile site."""

    site: Hostile
    chromium: Chromium

    async def attempt(self, name: str, *, limits: Limits = LIMITS) -> Episode:
        """Attempt the task of one page."""
        return await rollout(
            Attempt(
                run_id="run",
                unit_id="unit",
                task=hostile_task(name),
                attempt=0,
                viewport_width=VIEWPORT[0],
                viewport_height=VIEWPORT[1],
                device_scale_factor=1.0,
                code_version="test",
            ),
            site=self.site,
            sessions=self.chromium,
            make_policy=lambda _: ScriptedPolicy(PAGES[name].acts),
            limits=limits,
        )

    async def beside_innocents(
        self, names: Sequence[str]
    ) -> tuple[dict[str, Episode], list[Episode]]:
        """Attempt some pages at once, and innocent ones all the while; return what came of both."""
        async with asyncio.TaskGroup() as group:
            attempts = {name: group.create_task(self.attempt(name)) for name in names}
            innocent = group.create_task(self._attempt_innocents(list(attempts.values())))
        return {name: done.result() for name, done in attempts.items()}, innocent.result()

    async def _attempt_innocents(self, until: Sequence["asyncio.Task[Episode]"]) -> list[Episode]:
        """Attempt each innocent page at least once, and go on while hostile ones are at work."""
        done: list[Episode] = []
        while len(done) < len(INNOCENTS) or not all(task.done() for task in until):
            done.append(await self.attempt(list(INNOCENTS)[len(done) % len(INNOCENTS)]))
            await asyncio.sleep(BREATH)
        return done


@contextlib.asynccontextmanager
async def open_arena() -> AsyncIterator[Arena]:
    """Start a browser and serve the site to it."""
    async with Gateway() as gateway, Chromium(network=gateway) as chromium:
        yield Arena(Hostile(gateway), chromium)


def shorten_deadlines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let deadlines pass twice as quickly: any less, and a page beside hostile ones misses them on a loaded machine."""
    monkeypatch.setattr(channel, "CALL_SECONDS", 10.0)
    monkeypatch.setattr(clock, "EXPIRY_SECONDS", 7.0)
    monkeypatch.setattr(devtools, "ANSWER_SECONDS", 1.5)
    monkeypatch.setattr(session, "USE_SECONDS", 20.0)


def ending(episode: Episode) -> str:
    """Return how an attempt ended, as the patterns of the pages' endings have it."""
    if episode.failure_kind is None:
        return f"{episode.stop_reason} {episode.reward}"
    return f"{episode.failure_kind}: {episode.failure_message}"


def picture_sizes(episode: Episode) -> set[tuple[int, int]]:
    """Return how large the pictures are that an attempt was shown."""
    pictures = [Image.open(io.BytesIO(step.screenshot.bytes)) for step in episode.steps]
    return {picture.size for picture in pictures}


def likeness(episode: Episode) -> dict[str, Any]:
    """Return all of an episode that is the same whenever and beside whatever it was attempted."""
    steps = [step.model_dump(exclude=OF_ONE_STEP) for step in episode.steps]
    kept = {"instruction", "stop_reason", "failure_kind", "reward", "done", "tries", "capsule"}
    return episode.model_dump(include=kept) | {"steps": steps}
