"""Episodes of the clumsy teacher on the real pages, each with its own record of what it did wrong."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from support.browsers.one_browser import browser_and_gateway

from generators.browser.chromium import Chromium
from generators.policy.noisy import NoisyPolicy
from generators.policy.teacher.policy import TeacherPolicy
from generators.rollout.episode_recorder import Attempt
from generators.rollout.limits import Limits
from generators.rollout.rollout import rollout
from generators.sites.miniwob import NAME, MiniWob
from generators.tasks.site_offers import make_template_task, site_offers
from schemas.episodes.episode import Episode
from schemas.episodes.mistake import InjectedMistake
from schemas.ids import unit_id
from schemas.tasks.task import Task

RUN_ID = "0123456789abcdef0123456789abcdef"
AT_ONCE = 6


@dataclass(frozen=True)
class Clumsy:
    """An episode of the clumsy teacher."""

    task: Task
    episode: Episode

    @property
    def slips(self) -> Mapping[int, InjectedMistake]:
        """What it did wrong, by step."""
        wrong = {one.step: one.injected_mistake for one in self.episode.steps}
        return {step: mistake for step, mistake in wrong.items() if mistake is not None}


async def record_clumsy(templates: Sequence[str], seeds: Sequence[int]) -> list[Clumsy]:
    """Return an episode of the clumsy teacher for each template and seed."""
    offer, slots = site_offers()[NAME], asyncio.Semaphore(AT_ONCE)

    async def one(site: MiniWob, browser: Chromium, template: str, seed: int) -> Clumsy:
        task = make_template_task(offer, template, seed=seed, source=NAME)
        attempt = Attempt(
            run_id=RUN_ID,
            unit_id=unit_id(RUN_ID, [task.task_id], 1),
            task=task,
            attempt=0,
            viewport_width=500,
            viewport_height=400,
            device_scale_factor=1.0,
            code_version="test",
        )
        async with slots:
            episode = await rollout(
                attempt,
                site=site,
                sessions=browser,
                make_policy=lambda _: NoisyPolicy(TeacherPolicy(), seed=f"{template} {seed}"),
                limits=Limits(steps=30, seconds=300, stuck_steps=10),
            )
        return Clumsy(task, episode)

    async with browser_and_gateway() as (browser, gateway), asyncio.TaskGroup() as group:
        site = MiniWob(gateway)
        made = [
            group.create_task(one(site, browser, name, seed))
            for name in templates
            for seed in seeds
        ]
    return [task.result() for task in made]
