"""No lie that matters is accepted, told of real episodes as consistently as it can be.

`make test-full` tells each kind of 40 episodes, and judges 1,000 untouched ones.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

import pytest
import pytest_asyncio
from adversarial.lies.catalogue import LIES, UNTOLD
from adversarial.lies.retelling import Kind, Told
from adversarial.recorded import Judged, Losing, Recorder, Stumbling, asked, recording, truths
from effort import THOROUGH, TIMEOUT

from generators.policy.model.try_account import Account
from generators.policy.protocol import Policy
from generators.policy.teacher.policy import TeacherPolicy
from schemas.configuration.sections import VerifySection

pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(TIMEOUT),
    pytest.mark.xdist_group("lies"),
    pytest.mark.usefixtures("one_browser"),
]

TEMPLATES = (
    "click-button",
    "click-checkboxes",
    "enter-text",
    "choose-list",
    "drag-box",
    "scroll-text-2",
    "circle-center",
    "click-dialog",
    *(("click-scroll-list", "read-table", "count-sides") if THOROUGH else ()),
)
"""Among them they show every action that the teacher has, forms, lists and canvas drawings."""

LOSABLE = ("click-button", "click-checkboxes", "click-dialog")
"""Templates that a wrong click loses, or leaves as they were."""

FULL = () if THOROUGH else ("wait_inserted", "steps_swapped")
"""Kinds that are the truth of most episodes: until one is found of which they are a lie, many are carried out."""

SEEDS = range(100 if THOROUGH else 2)
CASES = 40 if THOROUGH else 1
"""Episodes of which each kind is told."""


@dataclass
class Shown:
    """What was made of all episodes, true and untrue."""

    untouched: list[Judged] = field(default_factory=list)
    lies: dict[str, list[Judged] | Exception] = field(default_factory=dict)
    """By kind; what went wrong where one could not be told."""

    def told(self, name: str) -> list[Judged]:
        """Return what was made of a lie."""
        told = self.lies[name]
        if isinstance(told, Exception):
            raise told
        return told


async def _record(recorder: Recorder) -> tuple[list[Told], list[Told]]:
    """Return episodes that were won, and some that were not."""
    async with asyncio.TaskGroup() as group:
        won = [
            group.create_task(recorder.record(template, seed, _maker(seed + number)))
            for seed in SEEDS
            for number, template in enumerate(TEMPLATES)
        ]
        lost = [
            group.create_task(recorder.record(template, seed, lambda _: Losing()))
            for seed in SEEDS
            for template in LOSABLE
        ]
    missed = [one.result() for one in lost if (one.result().episode.reward or 0) <= 0]
    return [one.result() for one in won], missed


def _maker(number: int) -> Callable[[Account], Policy]:
    """Return what makes the teacher, one that stumbles first, or a model that says what it says."""
    makers = (lambda _: Stumbling(), lambda _: TeacherPolicy(), asked(f"session {number}"))
    return makers[number % 3]


async def _tell(recorder: Recorder, name: str, kind: Kind, told: list[Told]) -> list[Judged]:
    """Tell a lie of so many episodes, and return what is made of each.

    What a replay should reject is told first of policies without replies: a model's would contradict it.
    Where there is little time, short episodes come first.
    """
    out: list[Judged] = []
    if not THOROUGH:
        told = sorted(told, key=lambda one: one.episode.n_steps)
    told = sorted(told, key=lambda one: kind.by == "replay" and bool(one.episode.calls))
    for truth in truths(told, name):
        if sum(not one.true for one in out) == CASES:
            break
        lying = kind.tell(truth)
        if lying is None:
            continue
        if not isinstance(lying, Told):
            lying = Told(truth.task, lying)
        assert lying != Told(truth.task, truth.episode), f"{name} changed nothing"
        out.append(await recorder.judge(lying, name, unless_true=kind.true_at_times))
    return out


async def _try(telling: Awaitable[list[Judged]]) -> list[Judged] | Exception:
    """Return what was made of a lie, or what went wrong, which is that kind's own test to raise."""
    try:
        return await telling
    except Exception as error:  # noqa: BLE001 - the others have to go on
        return error


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shown() -> AsyncIterator[Shown]:
    async with recording() as recorder:
        won, lost = await _record(recorder)
        out = Shown()
        async with asyncio.TaskGroup() as group:
            untouched = [group.create_task(recorder.judge(one)) for one in won]
        out.untouched = [one.result() for one in untouched]
        sound = [one for one, judged in zip(won, out.untouched, strict=True) if judged.accepted]
        async with asyncio.TaskGroup() as group:
            tasks = {
                name: group.create_task(
                    _try(_tell(recorder, name, kind, lost if kind.lost else sound))
                )
                for name, kind in (LIES | UNTOLD).items()
                if name not in FULL
            }
        out.lies = {name: task.result() for name, task in tasks.items()}
    yield out


def test_untouched_episodes_are_accepted(shown: Shown) -> None:
    rejected = [one.what for one in shown.untouched if not one.accepted]

    assert len(rejected) <= len(shown.untouched) // 100, rejected


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.full) if name in FULL else name for name in sorted(LIES)],
)
def test_a_lie_that_matters_is_rejected(shown: Shown, name: str) -> None:
    told = [one for one in shown.told(name) if not one.true]

    assert told, "nothing could be told so"
    assert [one.what for one in told if one.accepted] == []
    by = {one.by for one in told if not (one.of_model and one.by == "structure")}
    # Of some episodes a lie contradicts more than it must: then a verifier that is asked sooner rejects it.
    order = VerifySection().verifiers
    sooner = order[: order.index(LIES[name].by.partition(":")[0])] if len(told) > 1 else ()
    assert not by or LIES[name].by in by, told[0].what
    assert by <= {LIES[name].by, *sooner}, told[0].what


@pytest.mark.parametrize("name", sorted(UNTOLD))
def test_what_nobody_can_tell_is_accepted(shown: Shown, name: str) -> None:
    told = shown.told(name)

    assert told
    assert [one.what for one in told if not one.accepted] == []
