"""Tasks of worlds can be done, by pages alone, and nothing else is paid for."""

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from random import Random

import httpx
import pytest
from effort import THOROUGH
from support.worlds.made_world import SHOP, shop_rows
from support.worlds.world_browser import WorldBrowser

from generators.sites.gates import Attempted, expectation_gates, leak_gates
from generators.sites.judging.answers import normalise, read_number
from generators.sites.state import ServerState, judge_states
from generators.tasks.worlds.draw import KINDS, draw_tasks, kinds_of
from generators.tasks.worlds.moves import answer, choose, click, fill, read_on, to_row
from generators.tasks.worlds.parts import NEAR_MISSES, draw_part
from generators.tasks.worlds.patterned import NEEDS
from generators.tasks.worlds.setting import Setting
from generators.tasks.worlds.styles import Style, styled
from generators.tasks.worlds.task import Difficulty, WorldTask, actions_of, measure, to_task
from generators.tasks.worlds.wording import grammar
from generators.worlds.content import draw_rows
from generators.worlds.database import Rows, make_database
from generators.worlds.draw import FAMILIES, draw_world
from generators.worlds.server import WorldServer
from schemas.expectation import Expectation, RowRule
from schemas.reference import Do
from schemas.world import World

SEEDS = range(2 if THOROUGH else 1)
"""Of each family's worlds here."""

EVERY = 1 if THOROUGH else 3
"""Of a world's tasks one in so many is done; which, goes by the family, so that each kind is done in several."""

ENOUGH = 3 if THOROUGH else 1
"""Tasks of a kind in a family that are done here."""

SPOILED = len(KINDS) // (2 if THOROUGH else 6)
"""Tasks of a family whose ends are spoiled; which kinds they are of is drawn by family."""

MOST_KINDS = 20
"""The kinds that every world has tasks of, at least."""

PRINT_TASKS = """
from hashlib import sha256
from support.worlds.made_world import SHOP, shop_rows
from generators.tasks.worlds.draw import draw_tasks
tasks = draw_tasks(SHOP, shop_rows(), 3, 24)
print(sha256("".join(task.model_dump_json() for task in tasks).encode()).hexdigest())
"""


class _Visit:
    def __init__(self, world: World, rows: Rows) -> None:
        self.server = WorldServer("visit")
        self._world, self._data = world, make_database(world, rows)

    @asynccontextmanager
    async def browser(self) -> AsyncIterator[WorldBrowser]:
        self.server.open(self._world, self._data, "a")
        try:
            async with httpx.AsyncClient(
                transport=httpx.ASGITransport(self.server),
                base_url=self._world.origin,
                cookies={"visit": "a"},
                follow_redirects=True,
            ) as client:
                yield WorldBrowser(client)
        finally:
            self.server.close("a")

    async def attempt(self, task: WorldTask) -> tuple[Attempted, list[str]]:
        """Carry out a task's reference; return its ends, and the texts of the pages it opened."""
        async with self.browser() as browser:
            before = ServerState(self.server.state("a"))
            await browser.open(task.start)
            for step in task.reference:
                follows = step.do is Do.ANSWER and task.expect.facts
                needed = task.expect.facts if follows else filter(None, (step.text,))
                for text in needed if step.do not in {Do.PRESS, Do.DRAG} else ():
                    stated = (task.instruction, *browser.read)
                    assert any(_states(each, text) for each in stated), (
                        f"'{text}' of {task.instruction} stands nowhere"
                    )
                await browser.do(step)
            after = ServerState(self.server.state("a"))
            return Attempted(before, after, browser.answer), browser.read


def _states(text: str, wanted: str) -> bool:
    number, parts = read_number(wanted), wanted.split("/")
    if len(parts) == len(("month", "day", "year")):
        return all(part in text for part in parts)
    return wanted in text or (
        number is not None
        and any(read_number(word.strip('",.;?')) == number for word in text.split())
    )


async def _reward(world: World, task: WorldTask, attempted: Attempted) -> float:
    judgement = await judge_states(
        to_task(world, task),
        before=attempted.before,
        after=attempted.after,
        answer=attempted.answer,
    )
    return judgement.reward


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("family", FAMILIES)
async def test_references_do_their_tasks_and_nothing_does_not(family: str, seed: int) -> None:
    world = draw_world(family, seed)
    rows = draw_rows(world)
    visit, tasks = _Visit(world, rows), draw_tasks(world, rows, seed, len(KINDS))

    assert len({task.kind for task in tasks}) >= MOST_KINDS
    for task in tasks[[*FAMILIES].index(family) % EVERY :: EVERY]:
        attempted, read = await visit.attempt(task)
        untouched = Attempted(attempted.before, attempted.before, "")
        assert await _reward(world, task, attempted) == 1, task.instruction
        assert await _reward(world, task, untouched) == 0, task.instruction
        assert list(leak_gates(to_task(world, task), read[0])) == []


@cache
def _drawn(family: str, seed: int) -> tuple[World, Rows, list[WorldTask]]:
    world = draw_world(family, 200 + seed)
    rows = draw_rows(world)
    return world, rows, draw_tasks(world, rows, seed, 2 * len(KINDS))


@pytest.mark.parametrize("kind", NEEDS)
async def test_kinds_on_patterns_are_done_where_families_have_them(kind: str) -> None:
    families = [family for family in FAMILIES if kind in kinds_of(family)]

    assert families
    assert len(families) < len(FAMILIES)
    for family in families:
        drawn = 0
        for seed in range(4):
            world, rows, every = _drawn(family, seed)
            tasks = [task for task in every if task.kind == kind][:ENOUGH]
            for task in tasks:
                attempted, _ = await _Visit(world, rows).attempt(task)
                assert await _reward(world, task, attempted) == 1, task.instruction
            drawn += len(tasks)
            if drawn >= ENOUGH:
                break
        assert drawn, family


@pytest.mark.parametrize(("seed", "family"), [*enumerate(["made", *FAMILIES])])
async def test_near_misses_are_rejected_and_other_spellings_accepted(
    family: str, seed: int
) -> None:
    world = SHOP if family == "made" else draw_world(family, 100)
    rows = shop_rows() if family == "made" else draw_rows(world)
    visit = _Visit(world, rows)

    for task in draw_tasks(world, rows, seed, SPOILED):
        attempted, _ = await visit.attempt(task)
        found = [one async for one in expectation_gates(to_task(world, task), attempted)]
        assert found == [], task.instruction


async def test_a_task_of_another_row_is_not_done_by_its_reference() -> None:
    rows = shop_rows()
    tasks = draw_tasks(SHOP, rows, 0, 60)
    one, other = [task for task in tasks if task.kind == "delete"][:2]

    attempted, _ = await _Visit(SHOP, rows).attempt(one)

    assert await _reward(SHOP, one, attempted) == 1
    assert await _reward(SHOP, other, attempted) == 0


def test_kinds_take_turns_and_no_goal_comes_twice() -> None:
    drawn = {"ask-permission", "procedure", "undo"}  # of records that a seed draws
    possible = KINDS.keys() - NEEDS.keys() - drawn  # nor has the shop settings, messages or boards
    tasks = draw_tasks(SHOP, shop_rows(), 0, 5 * len(possible))

    kinds = [task.kind for task in tasks]
    assert {kinds.count(kind) for kind in possible} == {5}
    goals = [task.model_dump_json(exclude={"instruction"}) for task in tasks]
    assert len(set(goals)) == len(goals)


def test_other_seeds_draw_other_tasks() -> None:
    first, second = (draw_tasks(SHOP, shop_rows(), seed, 24) for seed in (0, 1))

    assert {task.instruction for task in first} != {task.instruction for task in second}


@pytest.mark.parametrize(
    ("seed", "zone", "language"), [("1", "UTC", "C"), ("2", "Asia/Tokyo", "C.UTF-8")]
)
def test_tasks_are_the_same_in_every_process(seed: str, zone: str, language: str) -> None:
    tasks = draw_tasks(SHOP, shop_rows(), 3, 24)
    here = hashlib.sha256("".join(task.model_dump_json() for task in tasks).encode()).hexdigest()
    environment = {**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": language}
    environment["PYTHONPATH"] = os.pathsep.join((".", "tests"))

    there = subprocess.run(
        [sys.executable, "-c", PRINT_TASKS],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )

    assert there.stdout.strip() == here


def test_every_kind_is_worded_in_several_registers_and_languages() -> None:
    rules = grammar()

    assert set(rules.request) == set(KINDS) - {"impossible"}
    for kind, requests in rules.request.items():
        assert set(requests) == {"terse", "en", "de", "fr", "es"}
        assert len(requests["en"]) >= 6, kind
        assert all(requests.values()), kind
    assert len({tuple(sorted(terms)) for terms in rules.terms.values()}) == 1


def test_goals_differ_in_more_than_names_and_numbers() -> None:
    tasks = draw_tasks(SHOP, shop_rows(), 0, 270)

    goals = {re.sub(r'"[^"]*"|\d+', "", task.instruction) for task in tasks}
    assert len(goals) >= 0.95 * len(tasks)
    assert not any(re.search(r"[{}\[\]|⟦⟧]|  ", task.instruction) for task in tasks)


def test_what_cannot_be_done_is_asked_for_like_what_can() -> None:
    tasks = draw_tasks(SHOP, shop_rows(), 0, 300)

    told = [task for task in tasks if '"impossible"' in task.instruction]
    twins = [task for task in tasks if task.kind == "impossible"]
    assert all(task.expect == Expectation(answer="impossible") for task in twins)
    assert 0 < len(twins) <= 0.1 * len(tasks)
    assert all(task in told for task in twins)
    assert len(told) > 2 * len(twins)


def test_an_answer_that_is_computed_names_what_it_follows_from() -> None:
    tasks = draw_tasks(SHOP, shop_rows(), 0, 300)

    by_kind = {task.kind: task.expect.facts for task in tasks}
    assert all(by_kind[kind] for kind in ("count", "aggregate", "rank", "rank-three"))
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
        near = [row for row in rows if sum(not one.holds(row) for one in part.conditions) == 1]
        assert min(NEAR_MISSES, len(rows) - len(part.rows)) <= len(near) <= len(rows) / 2


def test_the_wording_is_drawn() -> None:
    tasks = [task for task in draw_tasks(SHOP, shop_rows(), 0, 240) if task.kind == "edit"]

    beginnings = {" ".join(task.instruction.split()[:2]) for task in tasks}
    assert len(beginnings) >= 4


def test_styles_do_a_task_in_more_steps_and_look_only() -> None:
    setting, plan = Setting(SHOP, shop_rows()), (click("Orders"), click("A-1040"), answer("8"))

    ways = {style: styled(setting, Random(1), style, plan) for style in Style}

    assert ways[Style.DIRECT] == ways[Style.TURNING] == plan
    for style in (Style.EXPLORING, Style.WRONG_WORD, Style.NEAR_MISS):
        before = ways[style][: -len(plan)]
        assert before
        assert ways[style][-len(plan) :] == plan
        assert all(step.do in {Do.CLICK, Do.TYPE, Do.LOOK} for step in before)
        assert "A-1040" not in {step.on for step in before}
    assert ways[Style.EXPLORING][0] != plan[0]
    assert ways[Style.WRONG_WORD][1].model_copy(update={"why": None}) == fill("Search", "Orders")


def test_a_search_that_finds_something_is_no_wrong_word() -> None:
    rows = shop_rows()
    rows["purchase"][0]["number"] = "Orders of March"

    plan = (click("Orders"), answer())

    assert styled(Setting(SHOP, rows), Random(1), Style.WRONG_WORD, plan) == plan


def test_a_list_is_turned_where_it_might_have_been_searched() -> None:
    setting, view, entity = Setting(SHOP, shop_rows()), SHOP.view_of("product"), SHOP.entities[0]
    assert view is not None
    row = setting.rows_of(entity)[11]

    assert Do.TYPE in {step.do for step in to_row(setting, view, entity, row)}
    turned = [step.on for step in to_row(setting.turning(), view, entity, row)]
    assert turned == ["Products", "Next", "Next", row["name"]]


def test_each_row_of_a_list_that_is_read_is_looked_at() -> None:
    setting, view, entity = Setting(SHOP, shop_rows()), SHOP.view_of("product"), SHOP.entities[0]
    assert view is not None
    rows = setting.rows_of(entity)[: 2 * view.page_size]
    steps = read_on(setting, view, rows, turns=1)

    assert [step.on for step in steps if step.do is Do.LOOK] == [row["name"] for row in rows]


def test_a_budget_is_a_small_multiple_of_the_reference() -> None:
    for task in draw_tasks(SHOP, shop_rows(), 0, 54):
        made, actions = to_task(SHOP, task), actions_of(task.reference)
        looks = sum(step.do is Do.LOOK for step in task.reference)
        assert 3 * actions < made.max_steps <= 3 * actions + 10 + looks / 2
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
    tasks = draw_tasks(SHOP, shop_rows(), 0, 300)

    for task in tasks:
        if task.kind == "find" and "Price" in task.instruction:
            assert task.expect.answer is not None
            said = task.reference[-1]
            assert said.do is Do.ANSWER
            assert read_number(said.text or "") is not None
            assert normalise(said.text or "") not in normalise(task.instruction)


def test_a_task_as_runs_attempt_it_begins_on_its_worlds_origin() -> None:
    (task, *_) = draw_tasks(SHOP, shop_rows(), 5, 1)

    made = to_task(SHOP, task)

    assert made.site == "worlds"
    assert made.template_id == f"made/{task.kind}"
    assert made.start_url == "http://harbour-supplies.localhost/"
    assert {**made.parameters, "difficulty": None} == {
        "family": "made",
        "world": 0,
        "difficulty": None,
    }
    assert task.difficulty is not None
    assert made.parameters["difficulty"] == task.difficulty.model_dump()
    assert (made.seed, made.expect, made.reference) == (5, task.expect, task.reference)
    assert made.task_id != to_task(SHOP, task.model_copy(update={"instruction": "Else."})).task_id
