"""A task's directory of Harbor: the same bytes each time, whatever the words, and the same task when it is read."""

import json
import tomllib
from pathlib import Path

import pytest
from support.episodes.factories import make_episode, make_task

from generators.tasks.harbor.directory import files_of, name_of, selector_of
from generators.tasks.site_offers import make_template_task, site_offers
from generators.tasks.task_file_reader import read_task_file
from schemas.episodes.action import Click
from schemas.tasks.selector import Difficulty
from schemas.tasks.task import Task

GOLDEN = Path(__file__).with_name("task.toml")
"""Harbor's own model reads it in `make test-trainers`."""

OFFERS = site_offers()
MINIWOB, WORLDS = OFFERS["miniwob"], OFFERS["worlds"]


def of_miniwob(template: str = "click-button", seed: int = 3, goal: str = "Click it.") -> Task:
    task = make_template_task(MINIWOB, template, seed=seed, source="miniwob")
    return task.model_copy(update={"instruction": goal})


def files(task: Task) -> dict[str, bytes]:
    return files_of(task, make_episode(make_task()), OFFERS)


def write(folder: Path, *tasks: Task) -> Path:
    for task in tasks:
        for path, data in files(task).items():
            place = folder / name_of(task) / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
    return folder


def test_a_directory_has_the_files_that_harbor_looks_for() -> None:
    assert set(files(of_miniwob())) == {
        "task.toml",
        "instruction.md",
        "environment/Dockerfile",
        "environment/seat.py",
        "environment/task.json",
        "tests/seat.py",
        "tests/task.json",
        "tests/test.sh",
        "solution/solve.sh",
        "solution/oracle.json",
    }


def test_the_same_task_and_episode_give_the_same_bytes() -> None:
    assert files(of_miniwob()) == files(of_miniwob())
    assert files(of_miniwob()) != files(of_miniwob(seed=4))


def test_a_task_toml_is_as_the_golden_one_that_harbors_own_model_reads() -> None:
    assert files(of_miniwob())["task.toml"].decode() == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "goal",
    [
        'Say "no"\n\\ and \'\'\' """',
        "\x01 \x7f \x85 \u2028",
        "${STEPMILL_TOKEN}",
        "انقر",
        "{goal} {0}",
    ],
)
def test_any_goal_is_held_as_it_is(goal: str) -> None:
    made = files(of_miniwob(goal=goal))
    told = tomllib.loads(made["task.toml"].decode())
    assert told["metadata"]["stepmill"]["instruction"] == goal
    assert made["instruction.md"].decode().startswith(goal.strip())


def test_what_an_agent_gets_holds_neither_the_expectation_nor_the_oracle() -> None:
    task = make_template_task(WORLDS, "shop/edit", seed=0, source="worlds")
    assert task.expect is not None
    shown = {path: data for path, data in files(task).items() if path.startswith("environment/")}
    assert json.loads(shown["environment/task.json"]).keys() == {"task_id", "reset"}
    told = b"".join(shown.values()) + files(task)["instruction.md"]
    assert b"nothing_else" not in told
    assert b"oracle.json" not in told


def test_an_oracle_has_the_actions_of_its_episode_but_the_last_row() -> None:
    episode = make_episode(make_task())
    oracle = json.loads(files(of_miniwob())["solution/oracle.json"])
    assert oracle["viewport"] == [episode.viewport_width, episode.viewport_height]
    assert len(oracle["actions"]) == episode.n_steps
    first = episode.steps[0].action
    assert isinstance(first, Click)
    assert oracle["actions"][0] == {"type": "click", "x": first.x, "y": first.y}


def test_a_template_and_a_seed_name_a_task_where_they_make_it() -> None:
    assert selector_of(of_miniwob(), OFFERS) == {"name": "click-button", "seed": 3}
    assert selector_of(of_miniwob("enter-text"), OFFERS)["split"] == "test"


def test_any_other_task_is_named_by_its_id() -> None:
    harder = make_template_task(
        WORLDS, "shop/edit", seed=0, source="worlds", difficulty=Difficulty(rows=12)
    )
    older = make_task()
    assert selector_of(harder, OFFERS) == {"name": harder.task_id}
    assert selector_of(older, OFFERS) == {"name": older.task_id}


def test_directories_are_read_as_the_tasks_that_they_were_made_of(tmp_path: Path) -> None:
    tasks = [
        of_miniwob(),
        of_miniwob("enter-text", 0),
        make_template_task(WORLDS, "shop/edit", seed=0, source="worlds"),
        make_template_task(
            WORLDS, "shop/find", seed=1, source="worlds", difficulty=Difficulty(rows=12)
        ),
    ]
    found = read_task_file(write(tmp_path, *tasks), OFFERS, max_tasks=9).tasks
    kept = {task.task_id: task for task in found}
    assert kept.keys() == {task.task_id for task in tasks}
    for task in tasks:  # the page of MiniWoB++ states the goal
        goal = "" if task.site == "miniwob" else task.instruction
        assert kept[task.task_id] == task.model_copy(update={"instruction": goal})
