"""The teacher on the real pages: every template it promises, by ordinary actions that each dialect has
words for, with true thoughts, and what a dataset of its episodes shows.

A template of each skill of the demo is played once, through the real sites and the real recorder, in the viewport that a
run would draw for it; `make test-full` plays two seeds of every template. Those of the demo are published, and no
split of the dataset has a copy of another's rows; `make test-full` publishes all. Pictures and splits are judged by
code of their own (`task_pictures`, `split_copies`).
"""

import asyncio
import io
import tomllib
from collections import Counter
from collections.abc import Callable, Container, Sequence
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
from support.episodes.untrue_thoughts import untrue
from support.inputs.dialect_variants import NEEDED, framed
from support.runs.memory_run import RULE, MemoryRun, published
from support.stores.split_copies import SHARE, Shown, copies, group_counts, read_shown

from flows.job.plan import PlannedAttempt, plan_units
from flows.job.unit_runner import RolloutSetup
from generators.policy.dialects.protocol import InexpressibleAction
from generators.policy.dialects.registry import DIALECTS, make_dialect
from generators.policy.factory import PolicyFactory
from generators.policy.teacher.skill_table import SKILLS, UNRELIABLE
from generators.sites.miniwob import NAME
from generators.tasks.site_offers import make_template_task, site_offers
from generators.verify.novelty import Novelty
from generators.verify.panel import Panel
from schemas.configuration.config import RunConfig, resolve
from schemas.episodes.action import TypeText, target_point
from schemas.episodes.episode import Episode
from schemas.episodes.observation import Screenshot
from schemas.tasks.task import SPLITS, Task

DEMO = tomllib.loads((ROOT / "configs/demo.toml").read_text(encoding="utf-8"))
TWINS = ("login-user", "login-user-popup")
"""Two templates of one group: no two splits may have one each."""


def _one_of_each_skill(templates: Container[str]) -> list[str]:
    """Return one of some templates for each reliable skill that does any of them."""
    chosen = dict[str, str]()
    for template in sorted(SKILLS.keys() - UNRELIABLE.keys()):
        if template in templates:
            chosen.setdefault(repr(SKILLS[template]), template)
    return sorted(chosen.values())


PLAYED = sorted(SKILLS if THOROUGH else {*_one_of_each_skill(DEMO["tasks"]["include"]), *TWINS})
PUBLISHED = {*PLAYED} if THOROUGH else {*PLAYED} & {*DEMO["tasks"]["include"]}
"""Templates whose pictures are looked at one by one, and whose episodes are published."""

SEEDS = (0, 1) if THOROUGH else (0,)
SESSIONS = 8
MAX_STEPS = 40
Test = TypeVar("Test", bound=Callable[..., object])
PASSED = 1.0
SHOWN = 0.75
"""Of the last actions at least so many change the picture; a click on plain text may change nothing."""

LOCATES = frozenset({"holo1"})
"""Dialects that only point, and do not act."""

LOST = {
    "ui_tars": {"wait": {"button-delay", "moving-items", "simon-says"}},
    "computer_use": {"key_down": {"click-scroll-list"}},
    "claude": {"key_down": {"click-scroll-list"}},
}
"""Kinds of action that a family has no words for, and the templates that cannot do without them."""

MAX_LOST = 0.03
"""Share of its episodes that a dialect may lose for want of words."""

TEMPLATES = 40
"""So many templates are published at least."""


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

    @property
    def published(self) -> Sequence[tuple[Task, Episode]]:
        """Those of the templates that are published."""
        return [(task, one) for task, one in self.episodes if task.template_id in PUBLISHED]

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
    made = [(task, one) for task, one in played.published if played.has_passed(task, one)]
    run.commit([task for task, _ in made], [one for _, one in made])
    others = [name for name in RULE.passed if name != Novelty.name]
    panel = Panel([Novelty()], RULE)
    for task, one in made:
        run.judge([make_verdict(one, verifier=name) for name in others])
        run.judge(await panel.judge(task, one))
    await asyncio.to_thread(published, run.seal(), to)
    return await asyncio.to_thread(read_shown, to)


@in_module
async def test_the_teacher_solves_every_family_it_promises(played: Played) -> None:
    lost = {task.template_id for task, one in played.episodes if not played.has_passed(task, one)}

    assert len(played.episodes) == len(PLAYED) * len(SEEDS)
    assert lost <= {*UNRELIABLE}
    assert {
        (task.template_id, step.action_error)
        for task, one in played.episodes
        for step in one.steps
        if step.action_error is not None
    } == set()


@in_module
async def test_its_thoughts_are_true(played: Played) -> None:
    wrong = {task.template_id: [*untrue(one.steps)] for task, one in played.episodes}

    assert {template: said for template, said in wrong.items() if said} == {}


@in_module
@pytest.mark.parametrize("name", sorted(DIALECTS.keys() - LOCATES))
async def test_a_dialect_has_words_for_what_the_teacher_does(played: Played, name: str) -> None:
    dialect = make_dialect(name, NEEDED.get(name, {}))
    lost = dict[str, str]()
    for task, one in played.episodes:
        if not played.has_passed(task, one):  # it has given up what it does not promise
            continue
        frame = framed(dialect, one.viewport_width, one.viewport_height)
        for step in one.steps[:-1]:
            try:
                said = dialect.format_action(step.action, frame)
            except InexpressibleAction:
                lost[one.episode_id] = step.action.type
                assert task.template_id in LOST.get(name, {}).get(step.action.type, ()), str(task)
                break
            assert dialect.parse(said, frame).action.type == step.action.type
    # Those that cannot do without are all among the skills, of which most templates are no more than variants.
    assert len(lost) < MAX_LOST * len(SKILLS) * len(SEEDS), Counter(lost.values())


@in_module
async def test_the_teacher_looks_at_a_field_before_it_types_into_it(played: Played) -> None:
    actions = [step.action for _, one in played.episodes for step in one.steps]
    typed = [action for action in actions if isinstance(action, TypeText)]

    assert len(typed) > len(SEEDS) * len(PLAYED) / 4
    assert [one for one in typed if target_point(one) is not None or one.enter] == []


@in_module
async def test_the_task_fills_the_picture_and_points_fill_it_too(played: Played) -> None:
    steps = [step for _, one in played.episodes for step in one.steps]
    points = [(step.x_norm, step.y_norm) for step in steps if step.x_norm is not None]

    quarters = Counter((x < 0.5, (y or 0) < 0.5) for x, y in points)
    assert float(np.mean(played.site.shares)) >= 0.9
    assert len(quarters) == 4
    assert min(quarters.values()) >= 0.07 * len(points)


@in_module
async def test_no_picture_shows_a_cover_or_a_panel(played: Played) -> None:
    assert played.site.looked >= sum(one.n_steps + 1 for _, one in played.episodes)
    assert played.site.panels == {}
    for task, one in played.published:
        for step in one.steps:
            assert not is_covered(pixels(step.screenshot.bytes, every=4)), str(task)


@in_module
async def test_the_last_picture_shows_what_the_last_action_did(played: Played) -> None:
    faults = {
        str(task): last_picture_faults(task.template_id, one) for task, one in played.published
    }
    changed = [
        one.steps[-1].screenshot.bytes != one.steps[-3].screenshot.bytes
        for _, one in played.published
    ]

    assert {task: found for task, found in faults.items() if found} == {}
    assert sum(changed) >= SHOWN * len(changed)


@in_module
async def test_a_last_picture_that_shows_nothing_new_is_found(played: Played) -> None:
    episode = next(one for task, one in played.episodes if task.template_id == "click-button")
    *steps, before, answered, last = episode.steps
    black = io.BytesIO()
    Image.new("RGB", (40, 40), COVER).save(black, "PNG")
    torn = {
        "it is the one before the last action": before.screenshot,
        "it is covered": Screenshot(bytes=black.getvalue(), path="black.png"),
    }

    assert last_picture_faults("click-button", episode) == []
    for fault, screenshot in torn.items():
        end = last.model_copy(update={"screenshot": screenshot})
        other = episode.model_copy(update={"steps": (*steps, before, answered, end)})
        assert last_picture_faults("click-button", other) == [fault]


@in_module
async def test_no_split_has_a_copy_of_anothers_rows(dataset: list[Shown]) -> None:
    counts = group_counts(dataset)

    assert len({row.template for row in dataset}) >= TEMPLATES
    assert copies(dataset) == set()
    assert {*counts} == {*SPLITS}
    whole = {split for split, count in counts.items() if SHARE * count >= sum(counts.values())}
    assert not THOROUGH or whole == {*SPLITS}, "of all templates a twentieth is in each"


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
    moved = [row.in_split("test") if row.template == TWINS[0] else row for row in dataset]

    assert {row.split for row in dataset if row.template == TWINS[0]} == {"train"}
    assert {found[1:] for found in copies(moved)} == {TWINS}
