"""Draws of one task: what fits, which of it is drawn, and what is said where nothing fits."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from generators.tasks.on_demand import TaskPool, draw
from generators.tasks.task_plan import load_tasks
from schemas.configuration.config import RunConfig
from schemas.errors import BadTasks
from schemas.tasks.selector import Difficulty, Selector

TEMPLATES = ("click-link", "click-tab", "drag-items", "enter-date", "text-transform")
"""Of them `drag-items` is in validation, and `text-transform` in test."""


def config(**tasks: object) -> RunConfig:
    return RunConfig.model_validate({"tasks": {"include": TEMPLATES, "seeds": [3, 5], **tasks}})


POOL = TaskPool(config())


def drawn(**asked: object) -> tuple[str, int, str]:
    task = POOL.draw(Selector.model_validate(asked))
    return task.template_id, task.seed, task.split


def refused(pool: TaskPool, **asked: object) -> str:
    with pytest.raises(BadTasks) as found:
        pool.draw(Selector.model_validate(asked))
    return str(found.value)


@pytest.mark.parametrize(
    ("asked", "task"),
    [
        ({}, ("click-link", 3, "train")),
        ({"name": "click-tab"}, ("click-tab", 3, "train")),
        ({"name": "click-tab", "seed": 4}, ("click-tab", 4, "train")),
        ({"name": "click-tab/5"}, ("click-tab", 5, "train")),
        ({"split": "validation", "index": 2}, ("drag-items", 5, "validation")),
        ({"split": "test"}, ("text-transform", 3, "test")),
        ({"split": "test", "name": "text-transform/4"}, ("text-transform", 4, "test")),
        ({"kind": "typing", "index": 1}, ("enter-date", 4, "train")),
        ({"index": 4}, ("click-tab", 4, "train")),
    ],
)
def test_a_task_is_drawn_by_what_is_asked_for(
    asked: Mapping[str, object], task: tuple[str, int, str]
) -> None:
    assert drawn(**asked) == task


def test_a_task_that_is_drawn_is_the_one_that_is_planned() -> None:
    planned = [task for task in load_tasks(config().tasks) if task.split == "train"]

    selector = Selector(split="train")
    indexed = (selector.model_copy(update={"index": n}) for n in range(POOL.count(selector)))
    assert [POOL.draw(one) for one in indexed] == planned


def test_tasks_of_test_are_drawn_only_where_a_selector_names_it() -> None:
    all_fitting = POOL.count(Selector())
    every = {drawn(index=index)[0] for index in range(all_fitting)}

    assert (all_fitting, POOL.count(Selector(split="test"))) == (12, 3)
    assert every == {*TEMPLATES} - {"text-transform"}
    said = refused(POOL, name="text-transform")
    assert "only tasks of 'test' fit, which are drawn where `split` names it" in said


def test_a_seed_alone_draws_one_of_its_templates_and_the_same_one_again() -> None:
    pool = TaskPool(config(seeds=[0, 2**63 - 1]))
    seeds = range(100, 130)
    found = [pool.draw(Selector(seed=seed)) for seed in seeds]

    assert [task.seed for task in found] == [*seeds]
    assert {task.template_id for task in found} == {*TEMPLATES} - {"text-transform"}
    assert found[0] == draw(config(seeds=[0, 2**63 - 1]), Selector(seed=100))
    assert pool.count(Selector()) == 4 * 2**63


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"name": "clik-tab"}, "did you mean 'click-tab'"),
        ({"name": "click-tab/9"}, "the seeds 3 to 5"),
        ({"name": "click-tab/4", "seed": 3}, "no task fits"),
        ({"seed": 77}, "the seeds 3 to 5"),
        ({"kind": "singing"}, "and the kinds clicking, "),
        ({"label": "hard"}, "5 templates (3 in train, 1 in validation, 1 in test)"),
        ({"index": 12}, "12 tasks fit, with the indexes 0 to 11"),
        ({"difficulty": {"rows": 9}}, "no task fits"),
    ],
)
def test_what_fits_no_task_is_refused_with_what_there_is(
    asked: Mapping[str, object], said: str
) -> None:
    assert said in refused(POOL, **asked)


def test_tasks_of_a_file_are_drawn_by_their_labels_and_ids(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    rows = (
        {"seed": 4, "difficulty": "hard", "tags": ["mine"]},
        {"seed": 40, "difficulty": "easy"},
    )
    made = ({"site": "miniwob", "template_id": "click-tab", **row} for row in rows)
    path.write_text("\n".join(map(json.dumps, made)))
    pool = TaskPool(config(sources=["miniwob", str(path)]))

    hard = pool.draw(Selector(label="hard"))
    assert (hard.seed, hard.source, hard.difficulty) == (4, "own.jsonl", "hard")
    assert pool.draw(Selector(kind="mine")) == pool.draw(Selector(name=hard.task_id)) == hard
    assert pool.draw(Selector(label="easy")).seed == 40
    assert pool.count(Selector(name="click-tab")) == 4


def test_a_sample_is_all_that_is_drawn_from() -> None:
    section = config(sample=7)
    pool = TaskPool(section)
    fit = [
        pool.draw(Selector.model_validate({"split": split, "index": index}))
        for split in ("train", "validation", "test")
        for index in range(pool.count(Selector.model_validate({"split": split})))
    ]

    planned = load_tasks(section.tasks, seed=section.run.seed)
    assert {task.task_id for task in fit} == {task.task_id for task in planned}


def test_only_worlds_are_asked_to_be_difficult() -> None:
    pool = TaskPool(
        RunConfig.model_validate(
            {
                "tasks": {
                    "sources": ["miniwob", "worlds"],
                    "include": ["click-tab", "shop/find"],
                    "seeds": [7, 7],
                }
            }
        )
    )

    task = pool.draw(Selector(difficulty=Difficulty(rows=30)))
    assert (task.site, task.template_id) == ("worlds", "shop/find")
    assert pool.count(Selector(difficulty=Difficulty())) == 1
