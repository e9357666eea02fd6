"""No policy is rewarded for a problem that is not its task's own.

`make test-full` plays every trick, and guesses, on every template.
"""

import asyncio
import itertools
import math
from collections.abc import AsyncIterator, Callable
from random import Random

import pytest
import pytest_asyncio
from adversarial.forgers import TRICKS, Forger
from adversarial.guessers import ButtonGuesser, Guesser
from adversarial.recorded import Recorder, recording
from adversarial.watched import Counts, play
from effort import THOROUGH, TIMEOUT

from generators.policy.protocol import Policy
from generators.policy.teacher.policy import TeacherPolicy
from generators.sites.miniwob import template_paths

pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(TIMEOUT),
    pytest.mark.usefixtures("one_browser"),
]

TEMPLATES = (
    sorted(template_paths())
    if THOROUGH
    else ["click-button", "click-test-2", "count-sides", "terminal"]
)
FEW = (
    *("double_click_on_wrong", "tab_and_enter", "reload", "same_address_with_a_query"),
    *("other_template", "back_and_forward", "tab_that_takes_its_place", "script_typed"),
    *("anchor_then_reload", "time_passed"),
)
"""Tricks of every kind: by mouse and by key, into another document, another problem, another tab; with code; with time."""

SEEDS = range(3 if THOROUGH else 1)
GUESSES = 100 if THOROUGH else 8
"""Of a template whose chance is known."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def recorder() -> AsyncIterator[Recorder]:
    async with recording() as started:
        yield started


def templates_of(trick: str) -> list[str]:
    """Return where a trick is played; at the small size each in one template, in turn."""
    return TEMPLATES if THOROUGH else TEMPLATES[FEW.index(trick) % len(TEMPLATES) :][:1]


async def play_all(
    recorder: Recorder, make_policy: Callable[[], Policy], templates: list[str]
) -> Counts:
    """Let policies attempt `templates`; what is paid for the first seed is replayed, too."""
    counts = Counts()
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(play(recorder, template, seed, make_policy(), replays=seed == 0))
            for seed in SEEDS
            for template in templates
        ]
    for task in tasks:
        counts.add(task.result())
    return counts


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize(
    "trick",
    [*FEW, *(pytest.param(one, marks=pytest.mark.full) for one in TRICKS if one not in FEW)],
)
async def test_a_forger_is_rewarded_for_its_own_problem_alone(
    recorder: Recorder, trick: str, record_testsuite_property: Callable[[str, object], None]
) -> None:
    counts = await play_all(recorder, lambda: Forger(TRICKS[trick]), templates_of(trick))
    record_testsuite_property(trick, counts)

    assert counts.false == []
    assert counts.failed == []


@pytest.mark.asyncio(loop_scope="session")
async def test_what_a_guesser_is_paid_for_is_true(
    recorder: Recorder, record_testsuite_property: Callable[[str, object], None]
) -> None:
    numbers = itertools.count()
    counts = await play_all(recorder, lambda: Guesser(Random(f"guess {next(numbers)}")), TEMPLATES)
    record_testsuite_property("guesser", counts)

    assert counts.false == []
    assert counts.failed == []


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize(
    "template",
    [
        "click-test-2",
        *(pytest.param(name, marks=pytest.mark.full) for name in ("count-sides", "identify-shape")),
    ],
)
async def test_a_guesser_is_paid_as_often_as_chance_allows(
    recorder: Recorder, template: str
) -> None:
    guessers = [ButtonGuesser(Random(f"press {number}")) for number in range(GUESSES)]
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(play(recorder, template, seed, guesser, replays=False))
            for seed, guesser in enumerate(guessers)
        ]
    chances = [chance for guesser in guessers for chance in guesser.chances]
    expected = sum(chances)
    spread = math.sqrt(sum(chance * (1 - chance) for chance in chances))
    paid = sum(task.result().paid for task in tasks)

    assert len(chances) == GUESSES
    assert 0 < paid < GUESSES
    assert abs(paid - expected) <= 4 * spread, f"{paid} of {GUESSES}, by chance {expected:.1f}"
    assert [str(task.result()) for task in tasks if task.result().false] == []


@pytest.mark.asyncio(loop_scope="session")
async def test_a_policy_that_does_the_task_is_rewarded(recorder: Recorder) -> None:
    for template in ("click-button", "enter-text"):
        played = await play(recorder, template, 0, TeacherPolicy())

        assert played.site.true_reward == played.told.episode.reward == 1
        assert played.paid
        assert played.replayed
