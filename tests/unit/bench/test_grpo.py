"""What the tiny policy reads and replies, and what its trainings are said to have gained."""

import json
from collections.abc import Sequence
from typing import Any

import training_figures
from columns import renewed
from source_tree import ROOT

from bench.grpo import gains, success, summarise
from bench.tiny_policy.picture import draw
from bench.tiny_policy.texts import choice_of, choices_of, page_text, reply_of

LINES = [
    'div "Click button TWO." at 80,25',
    'button "ONE" at 93,136',
    'textbox "" = "a at 1,2" at 20,147',
]
"""A page of MiniWoB++, as the step door tells it."""


def test_a_page_is_read_as_numbered_lines_without_its_query_bar() -> None:
    choices = choices_of(LINES)

    assert [(one.text, one.x, one.y) for one in choices] == [
        ('button "ONE"', 93, 136),
        ('textbox "" = "a at 1,2"', 20, 147),
    ]
    assert (
        page_text(choices, "Click.") == 'Click.\n[1] button "ONE"\n[2] textbox "" = "a at 1,2"\n>'
    )
    assert page_text(choices, None).startswith("[1]")


def test_a_reply_chooses_the_element_of_its_number() -> None:
    choices = choices_of(LINES)

    assert [choice_of(reply_of(number), choices) for number in range(2)] == choices


def test_a_reply_of_no_element_chooses_none() -> None:
    choices = choices_of(LINES)

    for reply in ("[3]<end>", "[0]<end>", "[1][2]<end>", "ONE<end>", "<end>", ""):
        assert choice_of(reply, choices) is None


def result(
    before: Sequence[float | None], trained: Sequence[float], control: Sequence[float]
) -> dict[str, Any]:
    """Return what a training would tell of one kind."""
    return {
        "parameters": 1000,
        "rows": 60,
        "warm_seconds": 1.0,
        "seconds": 100.0,
        "before": {"click-tab": before},
        **{
            arm: {
                "after": {"click-tab": after},
                "rewards": [0.4] * 10,
                "failed": 0,
                "seconds": 50.0,
            }
            for arm, after in (("trained", trained), ("control", control))
        },
    }


def test_a_gain_pairs_each_task_with_itself_and_leaves_out_what_failed() -> None:
    found = [result([0.0, None, 1.0], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0])] * 2

    assert gains(found, "trained") == {"click-tab 0": [1.0, 1.0], "click-tab 2": [0.0, 0.0]}
    assert gains(found, "control") == {"click-tab 0": [0.0, 0.0], "click-tab 2": [-1.0, -1.0]}
    assert success(found[0]["before"]) == {"click-tab": 0.5, "all": 0.5}


def test_a_gain_holds_where_the_control_has_none() -> None:
    before = [1.0, 0.0, 0.0, 0.0] * 5
    learnt = [1.0, 1.0, 1.0, 0.0] * 5

    held = summarise({seed: result(before, learnt, before) for seed in range(3)})
    both = summarise({seed: result(before, learnt, learnt) for seed in range(3)})
    none = summarise({seed: result(before, before, before) for seed in range(3)})
    mastered = summarise({seed: result([1.0] * 20, [1.0] * 20, before) for seed in range(3)})

    assert [one["held"] for one in (held, both, none, mastered)] == [True, False, False, False]
    assert held["gained"]["mean"] == 0.5
    assert held["control_gained"] == {"mean": 0.0, "low": 0.0, "high": 0.0}


def test_equal_figures_give_the_same_picture() -> None:
    before, after = [1.0, 0.0], [1.0, 1.0]
    figures = summarise({0: result(before, after, before)})

    picture = draw(figures)

    assert picture == draw(json.loads(json.dumps(figures)))
    assert "50% before, 100% after" in picture
    assert "50% before, 50% after" in picture


def test_the_page_says_what_the_result_says() -> None:
    page = (ROOT / "docs/training.md").read_text(encoding="utf-8")

    assert renewed(page, training_figures.PARTS) == page, "docs/training.md is stale: `make docs`"
