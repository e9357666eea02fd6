"""What a dataset of the teacher's episodes shows, and that no split of it has a copy of another's rows.

The templates of the demo are played once each, through the real sites and the real recorder, and published;
`make chaos` plays two seeds of every template that the teacher does. Pictures and splits are judged by code
of their own (`task_pictures`, `split_copies`).
"""

import asyncio
import io
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import pytest
import pytest_asyncio
from conftest import ROOT
from effort import THOROUGH, TIMEOUT
from PIL import Image
from support.browsers.one_browser import browser_and_gateway
from support.browsers.task_pictures import (
    COVER,
    WatchedSite,
    is_covered,
    last_picture_faults,
    pixels,
)
from support.episodes.factories import RUN_ID, make_verdict
from support.runs.memory_run import RULE, MemoryRun, published
from support.stores.split_copies import SHARE, Shown, copies, group_counts, read_shown

from flows.job.plan import PlannedAttempt, plan_units
from flows.job.unit_runner import RolloutSetup
from generators.policy.factory import PolicyFactory
from generators.policy.teacher.skill_table import SKILLS, UNRELIABLE
from generators.sites.miniwob import NAME
from generators.tasks.site_templates import make_template_task, site_offers
from generators.verify.novelty import Novelty
from generators.verify.panel import Panel
from schemas.config import RunConfig, resolve
from schemas.episode import Episode
from schemas.observation import Screenshot
from schemas.task import SPLITS, Task

DEMO = tomllib.loads((ROOT / "configs/demo.toml").read_text(encoding="utf-8"))
PLAYED = sorted(SKILLS if THOROUGH else SKILLS.keys() & {*DEMO["tasks"]["include"]})
SEEDS = (0, 1) if THOROUGH else (0,)
SESSIONS = 8
MAX_STEPS = 40
Test = TypeVar("Test", bound=Callable[..., object])
PASSED = 1.0
SHOWN = 0.75
"""Of the last actions at least so many change the picture; a click on plain text may change nothing."""

TEMPLATES = 40
"""From so many templates on, the small splits hold enough to conclude from."""


def in_module(test: Test) -> Test:
    """Mark a test of what was played in a browser, in the event loop of this module."""
    marks = (pytest.mark.browser, pytest.mark.timeout(TIMEOUT))
    for mark in (*marks, pytest.mark.asyncio(loop_scope="session")):
        test = mark(test)
    return test


@dataclass(frozen=True)
class Played:
    """What the teacher made of every task."""

    episodes: Sequence[tuple[Task, Episode]]
    """By template and seed."""
    site: WatchedSite
    """What served the pages, and looked at them."""

    def has_passed(self, task: Task, episode: Episode) -> bool:
        """Return whether an episode did its task."""
        threshold = self.site.threshold(task.template_id)
        reward = 0.0 if episode.reward is None else episode.reward
        return episode.done and reward >= (PASSED if threshold is None else threshold.reward)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def played(one_browser: None) -> Played:
    """Every task, done once in the viewport that a run would draw for it."""
    del one_browser  # is at hand
    limits = {"steps": MAX_STEPS, "seconds": 600.0, "stuck_steps": MAX_STEPS}
    config: RunConfig = resolve([("test", {"limits": limits})])
    offer = site_offers()[NAME]
    tasks = [
        make_template_task(offer, template, seed=seed, source=NAME)
        for template in PLAYED
        for seed in SEEDS
    ]
    episodes: list[tuple[Task, Episode]] = []
    limit = asyncio.Semaphore(SESSIONS)
    async with browser_and_gateway() as (chromium, gateway):
        site = WatchedSite(gateway)
        setup = RolloutSetup.of(
            config,
            RUN_ID,
            tasks,
            sites={NAME: site},
            sessions=chromium,
            policies=PolicyFactory(config),
        )

        async def play(unit_id: str, planned: PlannedAttempt) -> None:
            async with limit:
                episodes.append((planned.task, await setup.roll_out(unit_id, planned)))

        async with asyncio.TaskGroup() as group:
            for unit in plan_units(config, tasks, run_id=RUN_ID):
                for planned in unit.attempts:
                    group.create_task(play(unit.unit_id, planned))
    episodes.sort(key=lambda made: (made[0].template_id, made[0].seed))
    return Played(episodes, site)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def dataset(played: Played, tmp_path_factory: pytest.TempPathFactory) -> list[Shown]:
    """What is published of it, where all but copies is accepted."""
    run, to = MemoryRun(), tmp_path_factory.mktemp("published") / "to"
    made = [(task, one) for task, one in played.episodes if played.has_passed(task, one)]
    run.commit([task for task, _ in made], [one for _, one in made])
    others = [name for name in RULE.passed if name != Novelty.name]
    panel = Panel([Novelty()], RULE)
    for task, one in made:
        run.judge([make_verdict(one, verifier=name) for name in others])
        run.judge(await panel.judge(task, one))
    await asyncio.to_thread(published, run.seal(), to)
    return await asyncio.to_thread(read_shown, to)


@in_module
async def test_every_template_was_played(played: Played) -> None:
    lost = [task for task, one in played.episodes if not played.has_passed(task, one)]

    assert len(played.episodes) == len(PLAYED) * len(SEEDS)
    assert {task.template_id for task in lost} <= {*UNRELIABLE}


@in_module
async def test_no_picture_shows_a_cover_or_a_panel(played: Played) -> None:
    assert played.site.looked >= sum(one.n_steps + 1 for _, one in played.episodes)
    assert played.site.panels == {}
    for task, one in played.episodes:
        for step in one.steps:
            assert not is_covered(pixels(step.screenshot.bytes, every=4)), str(task)


@in_module
async def test_the_last_picture_shows_what_the_last_action_did(played: Played) -> None:
    faults = {
        str(task): last_picture_faults(task.template_id, one) for task, one in played.episodes
    }
    changed = [
        one.steps[-1].screenshot.bytes != one.steps[-2].screenshot.bytes
        for _, one in played.episodes
    ]

    assert {task: found for task, found in faults.items() if found} == {}
    assert sum(changed) >= SHOWN * len(changed)


@in_module
async def test_a_last_picture_that_shows_nothing_new_is_found(played: Played) -> None:
    episode = next(one for task, one in played.episodes if task.template_id == "click-button")
    *steps, before, last = episode.steps
    black = io.BytesIO()
    Image.new("RGB", (40, 40), COVER).save(black, "PNG")
    torn = {
        "it is the one before the last action": before.screenshot,
        "it is covered": Screenshot(bytes=black.getvalue(), path="black.png"),
    }

    assert last_picture_faults("click-button", episode) == []
    for fault, screenshot in torn.items():
        end = last.model_copy(update={"screenshot": screenshot})
        other = episode.model_copy(update={"steps": (*steps, before, end)})
        assert last_picture_faults("click-button", other) == [fault]


@in_module
async def test_no_split_has_a_copy_of_anothers_rows(dataset: list[Shown]) -> None:
    counts = group_counts(dataset)

    assert len({row.template for row in dataset}) >= TEMPLATES
    assert copies(dataset) == set()
    assert {split for split, count in counts.items() if SHARE * count >= sum(counts.values())} == {
        *SPLITS
    }


@in_module
async def test_a_row_that_moves_to_another_split_is_found(dataset: list[Shown]) -> None:
    own = next(
        row
        for row in dataset
        for others in [[one for one in dataset if one.template != row.template]]
        if row.split == "train" and not copies([row.in_split("its own"), *others])
    )
    blank = np.full_like(own.first, 255)
    shares = {
        "trajectory": replace(own, goal=("else",), first=blank, pages=frozenset()),
        "first picture": replace(own, goal=("else",), trajectory="", pages=frozenset()),
        "goal": replace(own, first=blank, trajectory="", pages=frozenset()),
        "page": replace(own, goal=("else",), first=blank, trajectory=""),
    }
    same = (own.template, own.template)

    for what, moved in shares.items():
        assert copies([*dataset, moved.in_split("test")]) == {(what, *same)}
    assert {what for what, *_ in copies([*dataset, own.in_split("validation")])} == {*shares}


@in_module
async def test_a_template_that_moves_out_of_its_group_is_found(dataset: list[Shown]) -> None:
    moved = [row.in_split("test") if row.template == "login-user" else row for row in dataset]

    assert {row.split for row in dataset if row.template == "login-user"} == {"train"}
    assert {found[1:] for found in copies(moved)} == {("login-user", "login-user-popup")}
