"""A row with a goal that a model wrote is judged when it is read, like one that was just written."""

import pytest
from support.worlds import drawn

from generators.tasks.files import BadRow, make_task, parse_row
from generators.tasks.rephrase.gate import with_goal
from generators.tasks.site_offers import site_offers
from schemas.base import JsonObject
from schemas.tasks.task import Task

SITES = site_offers()


TASK = drawn.task_that_is_read("edit")


def _row(**other: str | None) -> JsonObject:
    task = TASK
    told = with_goal(task, f"Hello. {task.instruction}", by="a model")
    row = told.model_dump(mode="json", exclude_defaults=True)
    names = ("site", "template_id", "seed", "parameters", "expect", "instruction")
    kept = {name: row[name] for name in (*names, "original_instruction", "rephrased_by")}
    return {name: value for name, value in {**kept, **other}.items() if value is not None}


def _read(row: JsonObject) -> Task:
    return make_task(parse_row(dict(row)), sites=SITES, source="x.jsonl")


def test_both_goals_come_back() -> None:
    row = _row()
    task = _read(row)
    assert task.instruction == row["instruction"]
    assert task.original_instruction == row["original_instruction"]
    assert task.rephrased_by == "a model"
    assert _read(_row(task_id=task.task_id)) == task


@pytest.mark.parametrize(
    ("other", "why"),
    [
        ({"instruction": "Do something else."}, "it is not read"),
        ({"original_instruction": "Do it."}, "but this task's is"),
        ({"rephrased_by": None}, "a row has all three"),
        ({"original_instruction": None}, "a row has all three"),
        ({"instruction": None}, "a row has all three"),
        ({"rephrased_by": ""}, "rephrased_by"),
    ],
)
def test_a_row_with_another_goal_is_a_mistake(other: dict[str, str | None], why: str) -> None:
    with pytest.raises(BadRow, match=why):
        _read(_row(**other))


def test_a_goal_of_another_site_is_not_rephrased() -> None:
    row: JsonObject = {
        "site": "miniwob",
        "template_id": "click-test",
        "seed": 1,
        "rephrased_by": "a model",
    }
    with pytest.raises(BadRow, match="only goals of worlds"):
        _read({**row, "instruction": "Click.", "original_instruction": "Click the button."})
