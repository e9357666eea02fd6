"""What the transfer bench could lie about: what a curve learns from, what is scored, what is on both sides."""

from types import ModuleType

import numpy as np
import pytest
from support.episodes.factories import make_task

from bench.flywheel import PAGE, take_script
from bench.measuring.arms import OLD
from bench.measuring.lessons import (
    WORLDS,
    Lesson,
    as_rates,
    count_steps,
    draw_curve,
    next_actions,
    refuse_shared,
)
from bench.transfer import describe, draw_arms, score_target

SCRIPT: ModuleType = take_script(PAGE.read_text(encoding="utf-8"))
WIDTH = SCRIPT.NUMBERS + SCRIPT.HASHED


def _lesson(world: int, number: int, *, taken: int = 0, template: str = "shop/find") -> Lesson:
    """Return an episode of two steps with three candidates each, of which the first has the first number."""
    task = make_task(1_000 * world + number, template=template).model_copy(
        update={
            "start_url": f"http://shop-{world}.localhost/",
            "parameters": {"family": "shop", "world": world},
        }
    )
    features = np.zeros((3, WIDTH), np.float32)
    features[0, 0] = 1
    return Lesson(task, {"goal": "", "steps": []}, (1_024, 768, 1.0), ((features, taken),) * 2)


def _weights() -> dict[str, np.ndarray]:
    """Return weights that prefer what has the first number."""
    into = np.zeros((WIDTH, SCRIPT.HIDDEN), np.float32)
    into[0, 0] = 1
    out = np.zeros(SCRIPT.HIDDEN, np.float32)
    out[0] = 1
    return {"into": into, "bias": np.zeros(SCRIPT.HIDDEN, np.float32), "out": out}


def test_each_number_of_worlds_is_learnt_from_with_as_many_steps() -> None:
    lessons = [_lesson(world, number) for world in range(12) for number in range(4)]
    drawn = draw_curve(lessons, [12, 3, 6], seed=1)

    assert list(drawn) == [3, 6, 12]
    assert {sum(len(one.examples) for one in each) for each in drawn.values()} == {3 * 4 * 2}
    assert len({one.world for one in drawn[3]}) == 3
    assert len({one.world for one in drawn[12]}) > 6
    assert draw_curve(lessons, [3], seed=2)[3] != drawn[3]


def test_more_worlds_than_there_are_is_refused() -> None:
    with pytest.raises(SystemExit, match="--curve: 3 worlds; the rows have 2 "):
        draw_curve([_lesson(0, 0), _lesson(1, 0)], [1, 3], seed=0)


def test_an_action_is_foreseen_where_the_first_choice_is_what_was_done() -> None:
    lessons = [_lesson(0, 0), _lesson(0, 1, taken=2), _lesson(0, 2, template="shop/edit")]

    assert next_actions(SCRIPT, _weights(), lessons) == {"shop/find": 0.5, "shop/edit": 1.0}
    assert next_actions(SCRIPT, None, lessons) == {
        "shop/find": pytest.approx(1 / 3),
        "shop/edit": pytest.approx(1 / 3),
    }


def test_figures_go_by_template_and_training() -> None:
    assert as_rates([{"b": 1.0, "a": 0.5}, {"b": 0.0, "a": 0.25}]) == {
        "a": [0.5, 0.25],
        "b": [1.0, 0.0],
    }


@pytest.mark.parametrize(
    ("world", "number", "is_shared"), [(1, 7, True), (2, 0, False)], ids=["world", "neither"]
)
def test_rows_of_what_is_scored_are_refused(world: int, number: int, *, is_shared: bool) -> None:
    learnt = {"worlds": [_lesson(1, 0)], "miniwob": [_lesson(8, 0)]}
    targets = {"held-out families": [_lesson(world, number)]}

    if is_shared:
        with pytest.raises(
            SystemExit, match=r"held-out families: the task .* is among what is learnt"
        ):
            refuse_shared(learnt, targets)
    else:
        refuse_shared(learnt, targets)


def test_a_task_of_another_site_that_was_learnt_is_refused() -> None:
    learnt = {"worlds": [_lesson(1, 0)], "miniwob": [_lesson(8, 0)]}

    with pytest.raises(SystemExit, match=r"miniwob: the task .* is among what is learnt"):
        refuse_shared(learnt, {"miniwob": [_lesson(8, 0)]})


def _arms() -> dict[str, list[Lesson]]:
    """Return two teachers' episodes of the same worlds, of which the old one's are fewer, and another arm."""
    return {
        WORLDS: [_lesson(world, number) for world in range(6) for number in range(4)],
        "miniwob": [_lesson(20, number) for number in range(9)],
        OLD: [_lesson(world, 10 + number) for world in range(6) for number in range(2)],
    }


def test_old_rows_and_those_of_today_come_to_the_same_number_of_steps() -> None:
    learnt = _arms()
    drawn = draw_arms(learnt, 1)

    assert {arm: count_steps(each) for arm, each in drawn.items()} == {
        WORLDS: 24,
        OLD: 24,
        "miniwob": 18,
    }
    assert {one.task.task_id for one in drawn[WORLDS]} < {
        one.task.task_id for one in learnt[WORLDS]
    }
    assert draw_arms(learnt, 2)[WORLDS] != drawn[WORLDS]
    assert describe([drawn[OLD]]) == {"episodes": 12, "steps": 24, "worlds": 6}


def test_without_old_rows_every_step_is_learnt() -> None:
    learnt = {arm: each for arm, each in _arms().items() if arm != OLD}

    assert draw_arms(learnt, 1) == learnt


def test_a_world_of_the_old_rows_that_is_scored_is_refused() -> None:
    learnt = _arms() | {OLD: [_lesson(30, 0)]}

    refuse_shared(learnt, {"held-out families": [_lesson(31, 0)]})
    with pytest.raises(SystemExit, match="is among what is learnt"):
        refuse_shared(learnt, {"held-out families": [_lesson(30, 1)]})


def test_what_old_rows_teach_less_is_the_difference() -> None:
    none = {**_weights(), "out": -_weights()["out"]}
    arms = {WORLDS: [_weights()] * 2, "miniwob": [none] * 2}
    lessons = [_lesson(0, 0), _lesson(0, 1, template="shop/edit")]

    with_old = score_target(SCRIPT, arms | {OLD: [none] * 2}, lessons, plays=0)
    without = score_target(SCRIPT, arms, lessons, plays=0)

    assert with_old["old_difference"] == {"next_action": {"mean": 1.0, "low": 1.0, "high": 1.0}}
    assert without["old_difference"] == {}
