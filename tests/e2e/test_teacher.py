"""The teacher on the real pages: every template it promises, by ordinary actions.

`make chaos` tries two seeds of each template.
"""

import asyncio
from dataclasses import dataclass

import pytest
from effort import THOROUGH

from generators.browser.chromium import Chromium
from generators.browser.protocol import Session
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
from schemas.action import Answer
from schemas.config import RunConfig
from schemas.sections import PolicyName, PolicySection
from schemas.task import Task

SEEDS = (0, 1) if THOROUGH else (0,)
SESSIONS = 8
MAX_STEPS = 40
PASSED = 1.0


@dataclass
class Attempt:
    """What became of one task."""

    template: str
    seed: int
    goal: str
    thoughts: list[str]
    passed: bool

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
    spec = visit.session_spec(viewport_width=500, viewport_height=400)
    async with chromium.session(spec) as session:
        await session.open(visit.start_url)
        problem = await site.begin(visit, session)
        attempt = Attempt(template, seed, problem.goal, [], passed=False)
        await _drive(problem, site, session, attempt, PolicySection(name=PolicyName.TEACHER))
    return attempt


@pytest.mark.browser
async def test_the_teacher_solves_every_family_it_promises() -> None:
    attempts: list[Attempt] = []
    limit = asyncio.Semaphore(SESSIONS)

    async def attempt(chromium: Chromium, site: MiniWob, template: str, seed: int) -> None:
        async with limit:
            attempts.append(await _attempt(chromium, site, template, seed))

    async with Gateway() as gateway:
        site = MiniWob(gateway)
        async with Chromium(gateway_port=gateway.port) as chromium, asyncio.TaskGroup() as group:
            for template in sorted(SKILLS):
                for seed in SEEDS:
                    group.create_task(attempt(chromium, site, template, seed))

    assert len(attempts) == len(SKILLS) * len(SEEDS)
    failed = [each for each in attempts if not each.passed and each.template not in UNRELIABLE]
    assert [str(each) for each in failed] == []
    assert [str(each) for each in attempts if not all(each.thoughts)] == []


def test_every_family_is_taken_on_or_said_to_be_impossible() -> None:
    small = {name for name in template_paths() if not name.startswith("flight.")}

    assert PAGE_SKILLS.keys().isdisjoint(HAND_SKILLS)
    assert set(SKILLS).isdisjoint(IMPOSSIBLE)
    assert set(SKILLS) | set(IMPOSSIBLE) == set(template_paths())
    assert set(UNRELIABLE) < set(SKILLS)
    assert len(set(SKILLS) & small - set(UNRELIABLE)) >= 90
    assert all(len(reason.split()) > 3 for reason in (IMPOSSIBLE | UNRELIABLE).values())
