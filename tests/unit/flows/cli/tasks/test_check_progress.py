"""`stepmill tasks check` says at every time what it is doing and how much of it is done."""

from support.episodes.factories import make_task

from flows.cli.tasks.check import CheckProgress
from flows.job.evaluation import TemplateCheck


def share(*, passed: int, reproduced: int) -> TemplateCheck:
    return TemplateCheck(
        template="add",
        episodes=1,
        passed=passed,
        reproduced=reproduced,
        broken=0,
        steps=1,
        pictures_equal=0,
        states=1,
        problems=(),
    )


def test_each_part_of_a_check_is_named_and_counted() -> None:
    progress = CheckProgress()
    progress.episodes_total = 2
    said = [(progress.percent, progress.sentence)]

    progress.begin_attempts(gated=2)
    said.append((progress.percent, progress.sentence))
    for number in (1, 0):
        progress.add(share(passed=1, reproduced=number))
        said.append((progress.percent, progress.sentence))
    for seed in (3, 4):
        progress.begin_gates(make_task().model_copy(update={"template_id": "add", "seed": seed}))
        said.append((progress.percent, progress.sentence))

    assert said == [
        (0.0, "starting the browser and the sites"),
        (0.0, "0/2 episodes · 0 passed · 0 reproduced"),
        (25.0, "1/2 episodes · 1 passed · 1 reproduced"),
        (50.0, "2/2 episodes · 2 passed · 1 reproduced"),
        (50.0, "gates of task 1/2: add 3"),
        (75.0, "gates of task 2/2: add 4"),
    ]


def test_a_check_without_tasks_of_applications_ends_with_its_episodes() -> None:
    progress = CheckProgress()
    progress.episodes_total = 1
    progress.begin_attempts(gated=0)

    progress.add(share(passed=0, reproduced=0))

    assert (progress.percent, progress.sentence) == (
        100.0,
        "1/1 episodes · 0 passed · 0 reproduced",
    )
