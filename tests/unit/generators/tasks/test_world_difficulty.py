"""The difficulty of a world's task, as it is asked for: rows, distractors, steps and faults."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from generators.sites.worlds import draw_world_of
from generators.tasks.site_offers import make_template_task, site_offers
from generators.tasks.task_file_reader import read_task_file
from generators.tasks.worlds.draw import draw_task
from generators.worlds.drawing.draw import draw_whole
from schemas.errors import BadTasks
from schemas.tasks.selector import Difficulty
from schemas.tasks.task import Task

TEMPLATE, SEED = "shop/edit", 4


def made(**asked: float) -> Task:
    return draw_task(TEMPLATE, SEED, 0.0, Difficulty.model_validate(asked))


def test_the_largest_table_has_the_rows_that_are_asked_for() -> None:
    sizes = {
        count: {name: len(rows) for name, rows in draw_whole("shop", SEED, count)[1].items()}
        for count in (10, 40, 150)
    }

    for count, tables in sizes.items():
        assert max(tables[name] for name in ("product", "customer", "purchase", "line")) == count
        assert min(tables.values()) >= 3
    assert sizes[10]["product"] < sizes[40]["product"] < sizes[150]["product"]


def test_a_site_serves_the_rows_that_a_task_was_drawn_for() -> None:
    task = made(rows=25)
    world, rows = draw_world_of(task)

    assert task.parameters["asked"] == {"rows": 25}
    assert len(rows["purchase"]) == 25
    assert (world, rows) != draw_whole("shop", SEED)


def test_distractors_and_steps_come_near_to_what_is_asked_for() -> None:
    few, many = (made(distractors=count).parameters["distractors"] for count in (0, 40))
    short, long = (made(steps=count).parameters["difficulty"] for count in (1, 60))

    assert isinstance(few, int)
    assert isinstance(many, int)
    assert few < many
    assert isinstance(short, dict)
    assert isinstance(long, dict)
    assert int(str(short["actions"])) < int(str(long["actions"]))


def test_faults_are_as_likely_as_is_asked_for() -> None:
    assert made(faults=1.0).fault is not None
    assert made(faults=0.0).fault is None
    assert draw_task(TEMPLATE, SEED, 1.0, Difficulty(faults=0.0)).fault is None


def test_the_same_is_drawn_again_and_nothing_asked_for_is_the_usual_task() -> None:
    assert made(rows=25, steps=9) == made(rows=25, steps=9)
    assert made(rows=25).task_id != made(rows=26).task_id != draw_task(TEMPLATE, SEED).task_id
    assert "asked" not in draw_task(TEMPLATE, SEED).parameters


def test_a_row_of_such_a_task_is_read_again(tmp_path: Path) -> None:
    sites = site_offers()
    asked = Difficulty(rows=25, faults=1.0)
    task = make_template_task(
        sites["worlds"], TEMPLATE, seed=SEED, source="worlds", difficulty=asked
    )
    path = tmp_path / "tasks.jsonl"
    row = task.model_dump(mode="json", exclude_defaults=True, exclude={"reference", "instruction"})
    path.write_text(json.dumps(row))

    (again,) = read_task_file(path, sites, max_tasks=9).tasks
    assert again == task

    path.write_text(json.dumps(row | {"parameters": {"asked": {"rows": "many"}}}))
    with pytest.raises(BadTasks, match=r"parameters\.asked: rows"):
        read_task_file(path, sites, max_tasks=9)


@pytest.mark.parametrize("asked", [{"rows": 1}, {"faults": 2}, {"steps": 0}, {"size": 3}])
def test_a_difficulty_that_there_is_not_is_refused(asked: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        Difficulty.model_validate(asked)
