"""The teacher on the real pages: every template it promises, by ordinary actions that each dialect has
words for, with true thoughts.

`make chaos` tries two seeds of each template.
"""

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field

import pytest
import pytest_asyncio
from effort import THOROUGH
from support.browsers.one_browser import browser_and_gateway
from support.browsers.visits import visit_to
from support.episodes.factories import make_step
from support.inputs.dialect_variants import framed

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
from generators.sites.miniwob import MiniWob, start_url, template_paths
from generators.sites.protocol import Problem
from generators.verify.thoughts import contradiction, quotes
from schemas.action import Action, Answer, Click, TypeText, target_point
from schemas.base import sha256_hex
from schemas.config import RunConfig
from schemas.episode import Step, ThoughtSource
from schemas.observation import Target
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
    steps: list[Step] = field(default_factory=list)
    passed: bool = False

    @property
    def actions(self) -> list[Action]:
        return [step.action for step in self.steps]

    def __str__(self) -> str:
        thoughts = [step.thought for step in self.steps]
        return f"{self.template} {self.seed}: {self.goal} {thoughts}"


_JARGON = re.compile(
    r"\b(?:div|span|li|ul|ol|td|tr|th|svg|img|input|textarea|href|css|html|dom|class|id|px|null"
    r"|undefined|element|node)\b|(?<=\w )(?-i:None)\b|[#.]\w+-\w|rgb\(",
    re.IGNORECASE,
)
"""What only who reads the document says."""

_OPENS = re.compile(r"\b(?:open|unfold|look (?:into|under)|turn it over)\b")
"""What a thought says of an action after which something else is seen."""


def _untrue(steps: Sequence[Step]) -> Iterator[str]:
    """Yield what is wrong about the thoughts of steps that follow each other."""
    for step, after in zip(steps, [*steps[1:], None], strict=True):
        thought = bare = step.thought or ""
        for quoted in quotes(thought):
            bare = bare.replace(quoted, "")
        if not thought:
            yield f"step {step.step} has no thought"
        if (word := _JARGON.search(bare)) is not None:
            yield f"{thought} says {word[0]}"
        if (wrong := contradiction(step)) is not None:
            yield f"{thought} is denied: {wrong}"
        same = after is not None and after.screenshot_sha256 == step.screenshot_sha256
        if same and _OPENS.search(bare):
            yield f"{thought} opens nothing"


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
        effect = await session.act(decision.action)
        taken = make_step(len(attempt.steps), picture=0, action=decision.action)
        told = {
            "thought": decision.thought,
            "thought_source": decision.thought_source,
            "target": effect.target,
            "elements": seen.elements,
            "sights": seen.sights,
            "screenshot_sha256": sha256_hex(seen.screenshot.bytes),
        }
        attempt.steps.append(taken.model_copy(update=told))
        assert effect.error is None, f"{attempt}: {effect.error}"
        outcome = await site.outcome(problem, session)
        if outcome.done or isinstance(decision.action, Answer):
            reward = 0.0 if outcome.reward is None else outcome.reward
            attempt.passed = outcome.done and reward >= (
                PASSED if threshold is None else threshold.reward
            )
            return


async def _attempt(chromium: Chromium, site: MiniWob, template: str, seed: int) -> Attempt:
    visit = await visit_to(site, _task(template, seed))
    spec = visit.session_spec(viewport_width=WIDTH, viewport_height=HEIGHT)
    async with chromium.session(spec) as session:
        await session.open(visit.start_url)
        problem = await site.begin(visit, session)
        attempt = Attempt(template, seed, problem.goal)
        await _drive(problem, site, session, attempt, PolicySection(name=PolicyName.TEACHER))
    return attempt


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def attempts(one_browser: None) -> AsyncIterator[list[Attempt]]:
    del one_browser  # is at hand
    made: list[Attempt] = []
    limit = asyncio.Semaphore(SESSIONS)

    async def attempt(chromium: Chromium, site: MiniWob, template: str, seed: int) -> None:
        async with limit:
            made.append(await _attempt(chromium, site, template, seed))

    async with browser_and_gateway() as (chromium, gateway):
        site = MiniWob(gateway)
        async with asyncio.TaskGroup() as group:
            for template in sorted(SKILLS):
                for seed in SEEDS:
                    group.create_task(attempt(chromium, site, template, seed))
    yield made


@pytest.mark.browser
def test_the_teacher_solves_every_family_it_promises(attempts: list[Attempt]) -> None:
    assert len(attempts) == len(SKILLS) * len(SEEDS)
    failed = [each for each in attempts if not each.passed and each.template not in UNRELIABLE]
    assert [str(each) for each in failed] == []
    assert {each.template: wrong for each in attempts for wrong in _untrue(each.steps)} == {}


@pytest.mark.parametrize(
    ("said", "thought", "picture"),
    [
        ("has no thought", "", 0),
        ("says div", "It is out of view, so I scroll to the div.", 0),
        ("says class", "There is no button of class red.", 0),
        ("says .ui-t", "I click .ui-tabs-anchor.", 0),
        ("says None", "The name of it is None.", 0),
        ("says rgb(", "This is rgb(1, 2, 3).", 0),
        ("points at 'Submit'", "I click 'Cancel'.", 0),
        ("opens nothing", "The link is not in sight, so I look under the 1st tab.", 1),
        ("opens nothing", "'Submit' is folded, so I unfold it.", 1),
    ],
)
def test_an_untrue_thought_is_told(said: str, thought: str, picture: int) -> None:
    target = Target(tag="button", text="Submit", bbox=(0, 0, 9, 9))
    told = {"thought": thought, "thought_source": ThoughtSource.TEMPLATE, "target": target}
    first = make_step(0, picture=1, action=Click(x=1, y=1)).model_copy(update=told)
    last = make_step(1, picture=picture, action=Answer(text="")).model_copy(
        update={"thought": "All is done."}
    )

    [wrong] = _untrue([first, last])
    assert said in wrong


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
