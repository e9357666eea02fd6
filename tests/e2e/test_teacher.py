"""The teacher on the real pages: every template it promises, by ordinary actions, in every dialect's words.

`make chaos` tries two seeds of each template.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio
from dialect_variants import framed
from effort import THOROUGH

from generators.browser.chromium import Chromium
from generators.browser.protocol import Session
from generators.policy.dialects.protocol import InexpressibleAction
from generators.policy.dialects.registry import DIALECTS, make_dialect
from generators.policy.factory import PolicyFactory
from generators.policy.model.try_account import Account
from generators.policy.protocol import PolicyInput
from generators.policy.teacher.skill_table import (
    HAND_SKILLS,
    IMPOSSIBLE,
    PAGE_SKILLS,
    SKILLS,
    UNRELIABLE,
)
from generators.sites.gateway import Gateway
from generators.sites.miniwob import MiniWob, start_url, template_paths
from generators.sites.protocol import Problem
from schemas.action import Action, Answer, TypeText, target_point
from schemas.config import RunConfig
from schemas.sections import PolicyName, PolicySection
from schemas.task import Task

SEEDS = (0, 1) if THOROUGH else (0,)
SESSIONS = 8
MAX_STEPS = 40
PASSED = 1.0
WIDTH, HEIGHT = 500, 400

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


@dataclass
class Attempt:
    """What became of one task."""

    template: str
    seed: int
    goal: str
    thoughts: list[str]
    passed: bool
    actions: list[Action]

    def __str__(self) -> str:
        return f"{self.template} {self.seed}: {self.goal} {self.thoughts}"


def _task(template: str, seed: int) -> Task:
    return Task(
        task_id=f"{template}-{seed}",
        template_id=template,
        source="test",
        site="miniwob",
        start_url=start_url(template),
        instruction="",
        seed=seed,
        split="train",
    )


async def _drive(
    problem: Problem, site: MiniWob, session: Session, attempt: Attempt, section: PolicySection
) -> None:
    """Act until the page is done, the policy has had enough, or too much was done."""
    task = _task(attempt.template, attempt.seed)
    policy = PolicyFactory(RunConfig()).make(section, seed="test", task=task, account=Account())
    threshold = site.threshold(attempt.template)
    for _ in range(MAX_STEPS):
        seen = await session.observe()
        decision = await policy.act(PolicyInput(attempt.goal, [], seen, session.reader))
        attempt.thoughts.append(decision.thought or "")
        attempt.actions.append(decision.action)
        effect = await session.act(decision.action)
        assert effect.error is None, f"{attempt}: {effect.error}"
        outcome = await site.outcome(problem, session)
        if outcome.done or isinstance(decision.action, Answer):
            reward = 0.0 if outcome.reward is None else outcome.reward
            attempt.passed = outcome.done and reward >= (
                PASSED if threshold is None else threshold.reward
            )
            return


async def _attempt(chromium: Chromium, site: MiniWob, template: str, seed: int) -> Attempt:
    visit = await site.visit(_task(template, seed))
    spec = visit.session_spec(viewport_width=WIDTH, viewport_height=HEIGHT)
    async with chromium.session(spec) as session:
        await session.open(visit.start_url)
        problem = await site.begin(visit, session)
        attempt = Attempt(template, seed, problem.goal, [], passed=False, actions=[])
        await _drive(problem, site, session, attempt, PolicySection(name=PolicyName.TEACHER))
    return attempt


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def attempts() -> AsyncIterator[list[Attempt]]:
    made: list[Attempt] = []
    limit = asyncio.Semaphore(SESSIONS)

    async def attempt(chromium: Chromium, site: MiniWob, template: str, seed: int) -> None:
        async with limit:
            made.append(await _attempt(chromium, site, template, seed))

    async with Gateway() as gateway:
        site = MiniWob(gateway)
        async with Chromium(gateway_port=gateway.port) as chromium, asyncio.TaskGroup() as group:
            for template in sorted(SKILLS):
                for seed in SEEDS:
                    group.create_task(attempt(chromium, site, template, seed))
    yield made


@pytest.mark.browser
def test_the_teacher_solves_every_family_it_promises(attempts: list[Attempt]) -> None:
    assert len(attempts) == len(SKILLS) * len(SEEDS)
    failed = [each for each in attempts if not each.passed and each.template not in UNRELIABLE]
    assert [str(each) for each in failed] == []
    assert [str(each) for each in attempts if not all(each.thoughts)] == []


@pytest.mark.browser
@pytest.mark.parametrize("name", sorted(DIALECTS.keys() - LOCATES))
def test_a_dialect_has_words_for_what_the_teacher_does(attempts: list[Attempt], name: str) -> None:
    dialect = make_dialect(name)
    frame = framed(dialect, WIDTH, HEIGHT)
    lost = dict[str, str]()
    for each in attempts:
        for action in each.actions:
            try:
                said = dialect.format_action(action, frame)
            except InexpressibleAction:
                lost[str(each)] = action.type
                assert each.template in LOST.get(name, {}).get(action.type, ()), each
                break
            assert dialect.parse(said, frame).action.type == action.type
    assert len(lost) < MAX_LOST * len(attempts), Counter(lost.values())


@pytest.mark.browser
def test_the_teacher_looks_at_a_field_before_it_types_into_it(attempts: list[Attempt]) -> None:
    typed = [one for each in attempts for one in each.actions if isinstance(one, TypeText)]

    assert len(typed) > len(SEEDS) * 30
    assert [one for one in typed if target_point(one) is not None or one.enter] == []


def test_every_family_is_taken_on_or_said_to_be_impossible() -> None:
    small = {name for name in template_paths() if not name.startswith("flight.")}

    assert PAGE_SKILLS.keys().isdisjoint(HAND_SKILLS)
    assert set(SKILLS).isdisjoint(IMPOSSIBLE)
    assert set(SKILLS) | set(IMPOSSIBLE) == set(template_paths())
    assert set(UNRELIABLE) < set(SKILLS)
    assert len(set(SKILLS) & small - set(UNRELIABLE)) >= 90
    assert all(len(reason.split()) > 3 for reason in (IMPOSSIBLE | UNRELIABLE).values())
