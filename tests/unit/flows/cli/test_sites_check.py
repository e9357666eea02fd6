"""`stepmill sites check` says how many of the site's tasks it tried, so that nobody takes three for all."""

from collections.abc import Sequence

import pytest
from support.episodes.factories import make_task

from flows.checks.sites import CHECKED_TASKS, choose_tasks
from flows.cli.sites.check import scope_lines
from schemas.errors import BadTasks
from schemas.tasks.task import Task

SCOPES = {
    (3, 12): "tried 3 of 12 tasks; `stepmill tasks check` ",
    (3, 3): "tried all 3 tasks",
    (1, 1): "tried its only task",
}


@pytest.mark.parametrize(("counts", "said"), SCOPES.items())
def test_what_was_left_out_is_said_and_only_that(counts: tuple[int, int], said: str) -> None:
    (line,) = scope_lines(*counts)

    assert line.startswith(said)
    assert ("tasks check" in line) is (counts[0] < counts[1])


def tasks(templates: Sequence[str]) -> list[Task]:
    return [
        make_task().model_copy(
            update={"site": "shop", "template_id": name, "task_id": str(number), "seed": number}
        )
        for number, name in enumerate(templates)
    ]


def test_tasks_of_different_templates_are_tried_first() -> None:
    chosen = choose_tasks(tasks(["a", "a", "b", "b", "c", "d"]), "shop")

    assert [task.template_id for task in chosen] == ["a", "b", "c"]
    assert len(choose_tasks(tasks(["a"] * 9), "shop")) == CHECKED_TASKS


def test_a_site_without_tasks_is_refused() -> None:
    with pytest.raises(BadTasks, match="there is no task of the site 'office'"):
        choose_tasks(tasks(["a"]), "office")
