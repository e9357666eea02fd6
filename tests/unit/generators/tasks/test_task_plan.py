"""From `[tasks]` to tasks: what a source gives, in which order, and what is refused."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.inputs.offered_application import COMMAND, Harbour
from support.inputs.offered_parts import installed, offer

from generators.sites.miniwob import template_paths
from generators.tasks.site_offers import site_offers
from generators.tasks.task_plan import MAX_DRAWN, MAX_TASKS, load_tasks, plan_tasks, refusal_of
from generators.worlds.drawing.draw import FAMILIES
from registries.splits.registry import registry_version
from schemas.configuration.application import Application
from schemas.configuration.sections import TasksSection
from schemas.errors import BadConfig, BadTasks
from schemas.tasks.task import MAX_SEED

TASK_FILE = """\
{"site": "miniwob", "template_id": "click-test-2", "seed": 3}
{"site": "miniwob", "template_id": "click-test", "seed": 7}
{"site": "miniwob", "template_id": "click-test", "seed": 2}
{"site": "miniwob", "template_id": "enter-text", "seed": 1}
"""


@pytest.fixture
def task_file(tmp_path: Path) -> str:
    path = tmp_path / "some.jsonl"
    path.write_text(TASK_FILE)
    return str(path)


def places(section: TasksSection) -> list[tuple[str, int]]:
    return [(task.template_id, task.seed) for task in load_tasks(section)]


def refusal(section: TasksSection) -> str:
    with pytest.raises(BadTasks) as refused:
        load_tasks(section)
    return str(refused.value)


def test_every_template_is_taken_with_every_seed() -> None:
    tasks = load_tasks(TasksSection(seeds=(5, 7)))
    assert len(tasks) == 3 * len(template_paths())
    assert {task.template_id for task in tasks} == set(template_paths())
    assert {task.seed for task in tasks} == {5, 6, 7}
    assert len({task.task_id for task in tasks}) == len(tasks)


def test_tasks_come_by_template_and_seed() -> None:
    section = TasksSection(include=("enter-t*", "click-test*"), seeds=(9, 10))
    assert places(section) == sorted(places(section))


def test_a_template_is_in_if_any_glob_includes_it_and_none_excludes_it() -> None:
    section = TasksSection(
        include=("click-test*", "enter-text"), exclude=("*-transfer",), seeds=(0, 0)
    )
    assert [name for name, _ in places(section)] == ["click-test", "click-test-2", "enter-text"]


def test_seeds_reach_as_far_as_63_bits() -> None:
    section = TasksSection(include=("click-test",), seeds=(MAX_SEED - 1, MAX_SEED))
    assert places(section) == [("click-test", MAX_SEED - 1), ("click-test", MAX_SEED)]


def test_a_task_says_what_is_known_of_its_template() -> None:
    (hover,) = load_tasks(TasksSection(include=("hover-shape",), seeds=(0, 0)))
    assert hover.feasible is False
    assert "hovering" in hover.tags
    assert hover.source == "miniwob"
    assert hover.start_url == "http://miniwob.localhost/miniwob/hover-shape.html"
    assert hover.instruction == ""


def test_families_of_worlds_are_held_out_whole_for_each_split() -> None:
    tasks = load_tasks(TasksSection(source="worlds", include=("*/find", "*/count"), seeds=(0, 0)))
    splits = {(task.template_id.partition("/")[0], task.split) for task in tasks}

    assert {family for family, _ in splits} == set(FAMILIES)
    assert len(splits) == len(FAMILIES)
    held_out = {pair for pair in splits if pair[1] != "train"}
    assert held_out == {
        ("banking", "test"),
        ("files", "validation"),
        ("library", "validation"),
        ("project_board", "test"),
    }


def test_a_task_of_a_template_has_its_split_by_the_registry() -> None:
    section = TasksSection(include=("text-transform", "drag-items", "click-tab"), seeds=(0, 1))

    assert {(task.template_id, task.split, task.split_version) for task in load_tasks(section)} == {
        ("click-tab", "train", registry_version()),
        ("drag-items", "validation", registry_version()),
        ("text-transform", "test", registry_version()),
    }


def test_a_split_that_a_file_names_is_that_of_the_whole_template(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    row = {"site": "miniwob", "template_id": "click-tab", "seed": 7, "split": "validation"}
    path.write_text(json.dumps(row))
    section = TasksSection(sources=("miniwob", str(path)), include=("click-tab",), seeds=(0, 1))

    assert [(task.seed, task.split, task.split_version) for task in load_tasks(section)] == [
        (seed, "validation", None) for seed in (0, 1, 7)
    ]


def test_tasks_of_a_file_have_the_splits_of_all_its_groups_whatever_is_chosen(
    tmp_path: Path,
) -> None:
    path = tmp_path / "live.jsonl"
    rows = [
        {"site": "live", "template_id": f"t{n}", "instruction": f"Do {'x' * n}."}
        | {"start_url": f"https://wiki.test/{n}"}
        for n in range(1, 60)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    whole = plan_tasks(TasksSection(source=str(path))).refused
    some = plan_tasks(TasksSection(source=str(path), include=("t1*",))).refused

    assert {task.split for task in whole} == {"train", "validation", "test"}
    assert some
    assert all(task in whole for task in some)


@pytest.mark.parametrize(("version", "holds"), [(registry_version(), True), (99, False)])
def test_a_row_that_another_version_of_the_registry_put_elsewhere_is_refused(
    tmp_path: Path, version: int, *, holds: bool
) -> None:
    path = tmp_path / "own.jsonl"
    split = "test" if holds else "train"
    row = {"site": "miniwob", "template_id": "text-transform", "seed": 7, "split": split}
    path.write_text(json.dumps(row | {"split_version": version}))
    section = TasksSection(source=str(path))

    if holds:
        assert [task.split for task in load_tasks(section)] == ["test"]
    else:
        assert "text-transform of miniwob is in 'train' by version 99" in refusal(section)


def test_a_glob_that_matches_nothing_is_refused_with_names_like_it() -> None:
    said = refusal(TasksSection(include=("click-test", "clikc-test*")))
    assert "tasks.include: 'clikc-test*' matches no template of miniwob" in said
    assert "'click-test'" in said
    said = refusal(TasksSection(exclude=("enter-tetx",)))
    assert "tasks.exclude: 'enter-tetx' matches no template of miniwob" in said
    assert "'enter-text'" in said


def test_globs_know_capital_letters() -> None:
    assert "'Click-test'" in refusal(TasksSection(include=("Click-test",)))


def test_a_selection_of_nothing_is_refused() -> None:
    assert "leaves no template" in refusal(TasksSection(exclude=("*",)))
    assert "leaves no template" in refusal(TasksSection(include=()))


def test_a_plan_of_too_many_tasks_is_refused_before_it_is_made() -> None:
    said = refusal(TasksSection(seeds=(0, MAX_SEED)))
    assert f"{MAX_TASKS:,}" in said
    assert f"tasks.seeds = [0, {MAX_SEED}]" in said


def test_a_source_that_is_nothing_is_refused_with_a_name_like_it(tmp_path: Path) -> None:
    said = refusal(TasksSection(source="minwob"))
    assert "'minwob' is no such file" in said
    assert "'miniwob'" in said
    assert "is a folder" in refusal(TasksSection(source=str(tmp_path)))
    assert "no such file" in refusal(TasksSection(source=str(tmp_path / "none.jsonl")))


def test_a_task_file_is_sorted_and_keeps_its_own_seeds(task_file: str) -> None:
    section = TasksSection(source=task_file, seeds=(0, 0))
    assert places(section) == [
        ("click-test", 2),
        ("click-test", 7),
        ("click-test-2", 3),
        ("enter-text", 1),
    ]


def test_globs_choose_among_a_files_templates(task_file: str) -> None:
    section = TasksSection(source=task_file, include=("click-*",), exclude=("*-2",))
    assert [name for name, _ in places(section)] == ["click-test", "click-test"]


def test_a_glob_that_matches_nothing_in_the_file_is_refused(task_file: str) -> None:
    said = refusal(TasksSection(source=task_file, include=("click-button",)))
    assert "'click-button' matches no template of" in said
    assert "some.jsonl" in said


def test_a_file_may_lack_what_is_excluded_but_not_what_nobody_knows(task_file: str) -> None:
    section = TasksSection(source=task_file, exclude=("click-button",))
    assert len(places(section)) == 4
    assert "'clik-button'" in refusal(TasksSection(source=task_file, exclude=("clik-button",)))


def test_planning_from_templates_imports_neither_browser_nor_arrow() -> None:
    code = (
        "import sys; from generators.tasks.task_plan import load_tasks; "
        "from schemas.configuration.config import TasksSection; load_tasks(TasksSection()); "
        "print(sorted({'playwright', 'pyarrow', 'miniwob', 'prefect'} & set(sys.modules)))"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert shown.stdout.strip() == "[]"


LIVE_FILE = """\
{"web_name": "Shop", "id": "Shop--0", "ques": "Find a kettle.", "web": "https://www.shop.com/"}
{"web_name": "Shop", "id": "Shop--1", "ques": "", "web": "https://www.shop.com/"}
"""


@pytest.fixture
def live_file(tmp_path: Path) -> str:
    path = tmp_path / "WebVoyager_data.jsonl"
    path.write_text(LIVE_FILE)
    return str(path)


def test_several_sources_are_one_plan(task_file: str) -> None:
    section = TasksSection(
        sources=("miniwob", task_file), include=("click-test", "enter-text"), seeds=(0, 1)
    )
    assert places(section) == [
        *(("click-test", seed) for seed in (0, 1, 2, 7)),
        *(("enter-text", seed) for seed in (0, 1)),
    ]


def test_a_task_of_several_sources_is_planned_once_as_the_first_file_states_it(
    tmp_path: Path, task_file: str
) -> None:
    row = '{"site": "miniwob", "template_id": "click-test", "seed": 7, "difficulty": "%s"}'
    for name in ("easy", "hard"):
        (tmp_path / name).write_text(row % name)
    easy, hard = str(tmp_path / "easy"), str(tmp_path / "hard")
    for sources, difficulty in (
        (("miniwob", hard, easy), "hard"),
        (("miniwob", easy, hard), "easy"),
        ((easy, task_file), "easy"),
        ((task_file, easy), None),
    ):
        section = TasksSection(sources=sources, include=("click-test",), seeds=(7, 7))
        found = [task for task in load_tasks(section) if task.seed == 7]
        assert [task.difficulty for task in found] == [difficulty]


def test_a_row_with_parameters_is_another_task_than_its_seeds_own(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_text(
        '{"site": "miniwob", "template_id": "click-test", "seed": 7, "parameters": {"a": 1}}'
    )
    section = TasksSection(sources=("miniwob", str(path)), include=("click-test",), seeds=(7, 7))
    assert places(section) == [("click-test", 7)] * 2


def test_a_glob_may_match_a_template_of_any_source(task_file: str) -> None:
    section = TasksSection(sources=("miniwob", task_file), include=("click-bottom",))
    assert "matches no template of miniwob, " in refusal(section)


def test_each_source_is_looked_for(task_file: str) -> None:
    said = refusal(TasksSection(sources=(task_file, "minwob")))
    assert "'minwob' is no such file" in said


def test_a_site_without_templates_is_no_source() -> None:
    assert "'live' is no such file" in refusal(TasksSection(source="live"))


def test_a_sample_is_even_over_templates_and_a_function_of_the_runs_seed(task_file: str) -> None:
    section = TasksSection(sources=("miniwob", task_file), sample=300)
    tasks = load_tasks(section, seed=1)
    counts = {task.template_id: 0 for task in tasks}
    for task in tasks:
        counts[task.template_id] += 1
    assert len(tasks) == 300
    assert set(counts) == set(template_paths())
    assert set(counts.values()) == {2, 3}
    assert tasks == load_tasks(section, seed=1)
    assert tasks != load_tasks(section, seed=2)


def test_a_sample_of_more_than_there_are_is_everything(task_file: str) -> None:
    section = TasksSection(source=task_file)
    plan = plan_tasks(section.model_copy(update={"sample": 100}))
    assert list(plan.tasks) == load_tasks(section)
    assert plan.available == 4


def test_a_sample_draws_among_the_seeds_that_are_named() -> None:
    section = TasksSection(include=("click-test",), seeds=(5, 9), sample=3)
    seeds = [seed for _, seed in places(section)]
    assert len(set(seeds)) == 3
    assert set(seeds) <= set(range(5, 10))


def test_tasks_on_live_origins_are_planned_and_set_apart_with_the_reason(
    live_file: str, task_file: str
) -> None:
    plan = plan_tasks(TasksSection(sources=(task_file, live_file)))
    assert len(plan.tasks) == 4
    (live,) = plan.refused
    assert live.instruction == "Find a kettle."
    assert "live origins are not supported yet" in (refusal_of(live, site_offers()) or "")
    assert refusal_of(plan.tasks[0], site_offers()) is None
    assert plan.unmapped == (f"{live_file}: line 2: ques is missing",)


def test_no_place_of_a_sample_goes_to_a_task_that_cannot_be_attempted(
    live_file: str, task_file: str
) -> None:
    plan = plan_tasks(TasksSection(sources=(task_file, live_file), sample=4))
    assert {task.site for task in plan.tasks} == {"miniwob"}
    assert len(plan.tasks) == 4


def test_a_sample_does_not_depend_on_the_order_of_a_files_rows(tmp_path: Path) -> None:
    rows = [
        f'{{"site": "miniwob", "template_id": "click-test", "seed": {seed}}}' for seed in range(40)
    ]
    found = []
    for order in (rows, rows[::-1]):
        (tmp_path / "tasks.jsonl").write_text("\n".join(order))
        found.append(places(TasksSection(source=str(tmp_path / "tasks.jsonl"), sample=5)))
    assert found[0] == found[1]


def application(name: str, *command: str) -> Application:
    return Application.model_validate(
        {
            "origin": f"http://{name}.localhost",
            "start": {"command": command},
            "state": {"folder": "{folder}"},
        }
    )


def test_tasks_of_an_application_that_is_not_installed_wait_and_a_sample_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = {"shop": application("shop", "shop"), "harbour": application("harbour", *COMMAND)}
    harbour = Harbour(tmp_path, monkeypatch)
    rows = [
        {"site": site, "seed": n, "start_url": "/", "instruction": "Go.", "expect": {"answer": "1"}}
        for site in own
        for n in range(9)
    ]
    (tmp_path / "two.jsonl").write_text("\n".join(map(json.dumps, rows)))
    section = TasksSection(source=str(tmp_path / "two.jsonl"), sample=6)
    without = plan_tasks(section, applications=own)
    harbour.install()
    here = plan_tasks(section, applications=own)
    harbour.remove()
    assert (here.set_apart, here.available, without.available) == ((), 18, 18)
    assert without.tasks == tuple(task for task in here.tasks if task.site == "shop")
    assert without.waiting == tuple(task for task in here.tasks if task.site == "harbour")
    assert without.set_apart == without.waiting
    assert (len(without.tasks), len(without.waiting)) == (3, 3)
    offers = site_offers(own)
    assert refusal_of(without.waiting[0], offers) == offers["harbour"].missing
    assert refusal_of(without.tasks[0], offers) is None


@pytest.mark.parametrize("name", ["miniwob", "live"])
def test_no_application_has_the_name_of_a_site_that_ships(name: str) -> None:
    with pytest.raises(BadConfig, match=f"sites.{name}: a site that ships has this name; choose"):
        site_offers({name: application(name, "shop")})


def test_no_application_has_the_name_of_a_plugins_site(tmp_path: Path) -> None:
    own = {"shop": application("shop", "shop")}
    assert "shop" in site_offers(own)
    with installed(tmp_path):
        offer(tmp_path, "own-site", {"stepmill.sites:shop": "own_site:shop"}, modules={})
        with pytest.raises(BadConfig, match=r"sites\.shop: a plug-in's site has this"):
            site_offers(own)


def test_more_worlds_than_one_run_plans_are_refused_and_some_of_them_are_drawn() -> None:
    many = TasksSection(source="worlds", include=("shop/find",), seeds=(0, 99_999))

    assert refusal(many).startswith("tasks.seeds = [0, 99999]: 100,000 tasks of websites")
    assert f"({MAX_DRAWN:,})" in refusal(many)
    assert len({task.seed for task in load_tasks(many.model_copy(update={"sample": 3}))}) == 3
