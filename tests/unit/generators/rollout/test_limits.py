"""Each limit ends an attempt when it is reached, not before, and the first in their order is the reason."""

import pytest
from support.episodes.factories import make_step, make_task

from generators.rollout.limits import Limits, is_stuck, make_limits, stop_reason
from schemas.configuration.sections import LimitsSection
from schemas.episodes.action import Action, Answer, Click
from schemas.episodes.episode import Step, StopReason

LIMITS = Limits(steps=4, seconds=60.0, tokens=1_000, stuck_steps=3)


def steps(*pictures: int, action: Action | None = None, terminated: bool = False) -> list[Step]:
    """Return steps that saw these pictures; the last one did `action`."""
    made = [
        make_step(at, picture=picture, action=Click(x=1, y=1))
        for at, picture in enumerate(pictures)
    ]
    made[-1] = made[-1].model_copy(
        update={"terminated": terminated, **({"action": action} if action else {})}
    )
    return made


@pytest.mark.parametrize(
    ("taken", "seconds", "tokens", "reason"),
    [
        ([], 0.0, 0, None),
        ([], 59.99, 999, None),
        ([], 60.0, 0, StopReason.TIME_LIMIT),
        ([], 60.0, 1_000, StopReason.TIME_LIMIT),
        ([], 0.0, 1_000, StopReason.TOKEN_LIMIT),
        (steps(1, 2, 3), 0.0, 0, None),
        (steps(1, 2, 3, 4), 0.0, 0, StopReason.STEP_LIMIT),
        (steps(1, 2, 3, 4), 99.0, 9_999, StopReason.STEP_LIMIT),
        (steps(2, 1, 1), 0.0, 0, None),
        (steps(1, 1, 1), 0.0, 0, StopReason.STUCK),
        (steps(2, 1, 1, 1), 0.0, 0, StopReason.STUCK),
        (steps(1, 1, 2), 0.0, 0, None),
        (steps(1, 2, 2, 2, action=Answer(text="x")), 99.0, 0, StopReason.ANSWERED),
        (steps(1, terminated=True), 99.0, 9_999, StopReason.FINISHED),
        (steps(1, action=Answer(text="x"), terminated=True), 0.0, 0, StopReason.FINISHED),
    ],
)
def test_the_first_limit_that_is_reached_is_the_reason(
    taken: list[Step], seconds: float, tokens: int, reason: StopReason | None
) -> None:
    assert stop_reason(LIMITS, taken, seconds=seconds, tokens=tokens) is reason


def test_without_a_limit_any_number_of_tokens_may_be_used() -> None:
    limits = LIMITS.model_copy(update={"tokens": None})

    assert stop_reason(limits, [], seconds=0.0, tokens=10**9) is None


def test_an_action_is_a_repetition_only_on_the_same_picture() -> None:
    assert is_stuck(steps(1, 1), 2)
    assert not is_stuck(steps(1, 2), 2)
    assert not is_stuck(steps(1, 1, action=Click(x=2, y=1)), 2)
    assert not is_stuck(steps(1), 2)


@pytest.mark.parametrize(("of_the_run", "of_the_task", "least"), [(5, 9, 5), (9, 5, 5)])
def test_the_limits_are_the_runs_and_the_lower_number_of_steps(
    of_the_run: int, of_the_task: int, least: int
) -> None:
    section = LimitsSection(steps=of_the_run, seconds=7.0, tokens=8, stuck_steps=6)
    task = make_task().model_copy(update={"max_steps": of_the_task})

    assert make_limits(task, section) == Limits(steps=least, seconds=7.0, tokens=8, stuck_steps=6)
