"""What the transfer bench could lie about: what a curve learns from, what is scored, what is on both sides."""

from types import ModuleType

import numpy as np
import pytest
from support.episodes.factories import make_task

from bench.flywheel import PAGE, take_script
from bench.transfer import Lesson, as_rates, draw_curve, next_actions, refuse_shared

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
