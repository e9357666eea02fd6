"""Tasks of worlds can be done, by pages alone, and nothing else is paid for."""

import re
from functools import cache
from random import Random

import pytest
from effort import THOROUGH
from support.worlds import drawn
from support.worlds.drawn_visits import attempt, paid
from support.worlds.made_world import SHOP, shop_rows

from generators.sites.judging.answers import answer_matches, normalise, read_number
from generators.tasks.worlds.ground.grammar import grammar
from generators.tasks.worlds.ground.row_conditions import NEAR_MISSES, draw_part
from generators.tasks.worlds.ground.task import Difficulty, WorldTask, actions_of, measure, to_task
from generators.tasks.worlds.ground.world_rows import Setting
from generators.tasks.worlds.kinds import KINDS
from generators.tasks.worlds.references.steps import answer, choose, click, fill, part_of
from generators.worlds.drawing.draw import FAMILIES
from schemas.tasks.expectation import Expectation, RowRule
from schemas.tasks.reference import Do, Purpose
from schemas.worlds.language import Language

MOST_KINDS = 20
"""The kinds that every world has tasks of, at least."""


@cache
def _many_tasks() -> tuple[WorldTask, ...]:
    return tuple(drawn.tasks(SHOP, shop_rows(), 0, 300))


def _tasks(count: int) -> tuple[WorldTask, ...]:
    """Return the shop's first tasks; whoever asks for fewer gets the first of them."""
    return _many_tasks()[:count]


@pytest.mark.parametrize("family", FAMILIES[:: 1 if THOROUGH else 6])
def test_a_world_has_tasks_of_most_kinds(family: str) -> None:
    for seed in range(2 if THOROUGH else 1):
        tasks = drawn.tasks(*drawn.whole(family, seed), seed, len(KINDS))

        assert len({task.kind for task in tasks}) >= MOST_KINDS


async def test_a_task_of_another_row_is_not_done_by_its_reference() -> None:
    one, other = [to_task(SHOP, task) for task in _tasks(60) if task.kind == "delete"][:2]

    attempted, _ = await attempt(SHOP, shop_rows(), one)

    assert await paid(one, attempted) == 1
    assert await paid(other, attempted) == 0


def test_kinds_take_turns_and_no_goal_comes_twice() -> None:
    drawn = {"ask-permission", "procedure", "undo"}  # of records that a seed draws
    free = {one.name for one in KINDS.values() if one.needs is None}
    possible = free - drawn  # nor has the shop settings, messages or boards
    tasks = _tasks(5 * len(possible))

    kinds = [task.kind for task in tasks]
    assert {kinds.count(kind) for kind in possible} == {5}
    goals = [task.model_dump_json(exclude={"instruction"}) for task in tasks]
    assert len(set(goals)) == len(goals)


def test_other_seeds_draw_other_tasks() -> None:
    first, second = (drawn.tasks(SHOP, shop_rows(), seed, 24) for seed in (0, 1))

    assert {task.instruction for task in first} != {task.instruction for task in second}


def test_every_kind_is_worded_in_several_sentences() -> None:
    rules = grammar(Language.ENGLISH)

    worded = [one for one in KINDS.values() if one.name != "impossible"]
    for kind in worded:
        sentences = [each for table in rules.tables() for each in table.get(kind.name, ())]
        assert len(sentences) >= 6, kind.name


def test_goals_differ_in_more_than_names_and_numbers() -> None:
    tasks = _tasks(270)

    goals = {re.sub(r'"[^"]*"|\d+', "", task.instruction) for task in tasks}
    assert len(goals) >= 0.95 * len(tasks)
    assert not any(re.search(r"[{}\[\]|\ue000-\ue003]|  ", task.instruction) for task in tasks)


def test_what_cannot_be_done_is_asked_for_like_what_can() -> None:
    tasks = _tasks(300)

    twins = [task for task in tasks if task.kind == "impossible"]
    assert 0 < len(twins) <= 0.1 * len(tasks)
    assert all(task.expect.looked for task in twins), "nothing asks whether anybody looked"
    assert not any(one in task.instruction for task in twins for one in task.expect.looked[1:])
    others = [task for task in tasks if task not in twins and "refusal" in task.manners]
    assert 0.005 < len(others) / (len(tasks) - len(twins)) < 0.12
    for task in twins:
        answer = task.reference[-1].text or ""
        assert ("refusal" in task.manners) is (answer == "impossible")
        assert task.expect.answer is not None
        assert answer_matches(task.expect.answer, answer)


def test_an_answer_that_is_computed_names_what_it_follows_from() -> None:
    tasks = _tasks(300)

    by_kind = {task.kind: task.expect.facts for task in tasks}
    assert all(by_kind[kind] for kind in ("count", "aggregate", "rank", "rank-three", "compare"))
    assert not any(by_kind[kind] for kind in ("find", "join", "edit"))


def test_whoever_does_not_read_closely_takes_other_rows_too() -> None:
    setting = Setting(SHOP, shop_rows())
    view = SHOP.view_of("purchase")
    assert view is not None
    drawn = [
        draw_part(setting, Random(number), view, sizes=range(1, 5), conditions=2)
        for number in range(40)
    ]

    parts = [part for part in drawn if part is not None]
    assert parts
    for part in parts:
        rows = setting.rows_of(part.entity)
        met = [setting.rows_met(part.entity, one.met) for one in part.conditions]
        near = [row for row in rows if sum(row not in each for each in met) == 1]
        assert min(NEAR_MISSES, len(rows) - len(part.rows)) <= len(near) <= len(rows) / 2


def test_the_wording_is_drawn() -> None:
    tasks = [task for task in _tasks(240) if task.kind == "edit"]

    beginnings = {" ".join(task.instruction.split()[:2]) for task in tasks}
    assert len(beginnings) >= 4


def test_a_reference_opens_no_list_that_it_does_not_use() -> None:
    """A detour without a cause would open a list, and leave it for another one or a row that no later step needs."""
    for task in _tasks(240):
        views = [step.on for step in task.reference if step.purpose is Purpose.VIEW]
        assert len(views) <= 1 + task.difficulty.pages if task.difficulty else views


@pytest.mark.parametrize(
    "title", ["A-1040", "Blue lamp", "The long way home again", "One two three"]
)
def test_what_is_put_into_a_search_is_a_part_of_the_title(title: str) -> None:
    part = part_of(title)

    assert part in title
    assert len(part.split()) >= len(title.split()) / 2
    assert part == part_of(title)


def test_titles_are_searched_whole_and_by_their_beginnings_and_ends() -> None:
    titles = [f"red item {number}" for number in range(30)]
    found = {part_of(title).replace(title, "whole").split()[0] for title in titles}

    assert found == {"whole", "red", "item"}


def test_a_budget_is_a_small_multiple_of_the_reference() -> None:
    for task in _tasks(54):
        made, actions = to_task(SHOP, task), actions_of(task.reference)
        looks = sum(step.do is Do.LOOK for step in task.reference)
        lists = sum(step.do in (Do.FIND, Do.READ) for step in task.reference)
        assert 3 * actions < made.max_steps <= 3 * actions + 10 + looks / 2 + 20 * lists
        assert task.difficulty is not None
        assert task.difficulty.decisions >= 1


def test_difficulty_is_measured_by_the_plan() -> None:
    plan = (
        click("Orders"),
        fill("Search", "A-1"),
        click("A-1"),
        choose("Channel", "Web"),
        answer(),
    )
    rule = RowRule(table="purchase", where={"id": 1}, set={"channel": "Web"})

    found = measure(plan, Expectation(changed=(rule,)), "What A-1 has.", {"Orders", "A-1"})

    assert found == Difficulty(actions=7, pages=2, facts=1, decisions=1)


def test_answers_are_accepted_as_people_write_them() -> None:
    tasks = _tasks(300)

    for task in tasks:
        if task.kind == "find" and "price" in task.instruction.casefold():
            assert task.expect.answer is not None
            said = task.reference[-1]
            assert said.do is Do.ANSWER
            assert read_number(said.text or "") is not None
            assert normalise(said.text or "") not in normalise(task.instruction)


def test_a_task_as_runs_attempt_it_begins_on_its_worlds_origin() -> None:
    (task, *_) = drawn.tasks(SHOP, shop_rows(), 5, 1)

    made = to_task(SHOP, task)

    assert made.site == "worlds"
    assert made.template_id == f"made/{task.kind}"
    assert made.start_url == "http://harbour-supplies.localhost/"
    assert {**made.parameters, "difficulty": None} == {
        "family": "made",
        "world": 0,
        "manners": [*task.manners],
        "difficulty": None,
    }
    assert task.difficulty is not None
    assert made.parameters["difficulty"] == task.difficulty.model_dump()
    assert (made.seed, made.expect, made.reference) == (5, task.expect, task.reference)
    assert made.task_id != to_task(SHOP, task.model_copy(update={"instruction": "Else."})).task_id
