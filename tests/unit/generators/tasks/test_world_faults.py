"""Faults of tasks: the same task with and without, drawn by its seed, and stated by a file."""

import json
from pathlib import Path

import pytest

from generators.tasks.site_offers import site_offers
from generators.tasks.task_file_reader import read_task_file
from generators.tasks.task_plan import load_tasks
from generators.tasks.worlds.draw import draw_task
from schemas.configuration.sections import TasksSection
from schemas.errors import BadTasks
from schemas.tasks.task import Task
from schemas.worlds.fault import Fault

TEMPLATES = (
    "shop/edit",
    "shop/find",
    "help_desk/move",
    "library/create",
    "clinic/delete",
    "crm/edit",
)
SEEDS = range(7_830_000, 7_830_003)


def _pairs() -> list[tuple[Task, Task]]:
    return [
        (draw_task(template, seed), draw_task(template, seed, 1.0))
        for template in TEMPLATES
        for seed in SEEDS
    ]


def test_a_task_with_a_fault_is_the_same_task_but_for_what_goes_wrong() -> None:
    for clean, faulty in _pairs():
        assert clean.fault is None
        assert faulty.fault in set(Fault)
        assert faulty.task_id != clean.task_id
        same = (
            "instruction",
            "start_url",
            "reference",
            "template_id",
            "seed",
            "max_steps",
            "split",
        )
        assert [getattr(faulty, name) for name in same] == [getattr(clean, name) for name in same]
        if faulty.fault != Fault.STALE_ROW:
            assert faulty.expect == clean.expect
        more = {"fault", "meanwhile"} if faulty.fault == Fault.STALE_ROW else {"fault"}
        assert faulty.parameters.keys() - clean.parameters.keys() == more


def test_what_somebody_else_changes_is_expected_beside_what_is_asked() -> None:
    drawn = ((draw_task("shop/edit", one), draw_task("shop/edit", one, 1.0)) for one in range(40))
    stale = [pair for pair in drawn if pair[1].fault == Fault.STALE_ROW]
    assert stale
    for clean, faulty in stale:
        assert clean.expect is not None
        assert faulty.expect is not None
        other = faulty.parameters["meanwhile"]
        assert isinstance(other, dict)
        asked, expected = clean.expect.changed[0], faulty.expect.changed[0]
        assert other["field"] not in asked.set
        assert expected.set == {**asked.set, str(other["field"]): other["value"]}
        assert expected.where == asked.where


def test_a_share_of_tasks_has_faults_of_every_kind() -> None:
    found = [draw_task(template, seed, 0.5).fault for template in TEMPLATES for seed in SEEDS]
    assert None in found
    assert {faulty.fault for _, faulty in _pairs()} >= {Fault.SAVE_FAILS, Fault.SESSION_ENDS}


def test_a_plan_draws_them_by_its_share() -> None:
    section = TasksSection(source="worlds", include=("shop/edit",), seeds=(7_830_000, 7_830_001))
    assert [task.fault for task in load_tasks(section)] == [None, None]
    faulty = load_tasks(section.model_copy(update={"faults": 1.0}))
    assert all(task.fault is not None for task in faulty)


@pytest.mark.parametrize("stated", [True, False], ids=["its own", "another"])
def test_a_file_states_the_fault_of_its_task(tmp_path: Path, *, stated: bool) -> None:
    task = draw_task("shop/edit", 7_830_000, 1.0)
    row = task.model_dump(mode="json", exclude_none=True)
    own = {**row, "fault": task.fault if stated else "no_such_fault"}
    kept = ("site", "template_id", "seed", "task_id", "fault", "expect")
    path = tmp_path / "tasks.jsonl"
    path.write_text(json.dumps({name: own[name] for name in kept}))
    if stated:
        assert read_task_file(path, site_offers(), max_tasks=9).tasks[0].fault == task.fault
    else:
        with pytest.raises(BadTasks, match="fault = 'no_such_fault', but this task's is"):
            read_task_file(path, site_offers(), max_tasks=9)
