"""Tasks of worlds can be done, by pages alone, and nothing else is paid for."""

import hashlib
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random

import httpx
import pytest
from made_world import SHOP, shop_rows
from world_browser import WorldBrowser

from generators.sites.gates import Attempted, expectation_gates, leak_gates
from generators.sites.judging.answers import normalise, read_number
from generators.sites.state import ServerState, judge_states
from generators.tasks.worlds.draw import KINDS, draw_tasks, wordings
from generators.tasks.worlds.setting import Setting
from generators.tasks.worlds.task import WorldTask, to_task
from generators.worlds.content import draw_rows
from generators.worlds.database import Row, Rows, make_database
from generators.worlds.draw import FAMILIES, draw_world
from generators.worlds.server import WorldServer
from schemas.reference import Do
from schemas.world import DataField, Entity, View, World

SEEDS = range(7)
"""Of each family's worlds here."""

PRINT_TASKS = """
from hashlib import sha256
from made_world import SHOP, shop_rows
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
                if step.text and task.kind != "count":
                    stated = (task.instruction, *browser.read)
                    assert any(_states(text, step.text) for text in stated), (
                        f"'{step.text}' of {task.instruction} stands nowhere"
                    )
                await browser.do(step)
            after = ServerState(self.server.state("a"))
            return Attempted(before, after, browser.answer), browser.read


def _states(text: str, wanted: str) -> bool:
    number = read_number(wanted)
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

    assert {task.kind for task in tasks} == set(KINDS)
    for task in tasks:
        attempted, read = await visit.attempt(task)
        untouched = Attempted(attempted.before, attempted.before, "")
        assert await _reward(world, task, attempted) == 1, task.instruction
        assert await _reward(world, task, untouched) == 0, task.instruction
        assert list(leak_gates(to_task(world, task), read[0])) == []


@pytest.mark.parametrize("family", ["made", *FAMILIES])
async def test_near_misses_are_rejected_and_other_spellings_accepted(family: str) -> None:
    world = SHOP if family == "made" else draw_world(family, 100)
    rows = shop_rows() if family == "made" else draw_rows(world)
    visit = _Visit(world, rows)

    for task in draw_tasks(world, rows, 1, len(KINDS)):
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
    tasks = draw_tasks(SHOP, shop_rows(), 0, 5 * len(KINDS))

    kinds = [task.kind for task in tasks]
    assert {kinds.count(kind) for kind in KINDS} == {5}
    goals = [task.model_dump_json(exclude={"instruction"}) for task in tasks]
    assert len(set(goals)) == len(goals)


def test_other_seeds_draw_other_tasks() -> None:
    first, second = (draw_tasks(SHOP, shop_rows(), seed, 24) for seed in (0, 1))

    assert {task.instruction for task in first} != {task.instruction for task in second}


def test_a_world_that_has_no_more_tasks_gives_fewer() -> None:
    world, rows = _only(
        "customer",
        fields=("name", "city"),
        can_add=False,
        can_edit=False,
        can_delete=False,
    )

    tasks = draw_tasks(world, rows, 0, 1_000)

    assert {task.kind for task in tasks} == {"find"}
    assert 4 <= len(tasks) <= 6


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


def test_every_kind_has_wordings_of_several_registers() -> None:
    setting = Setting(SHOP, shop_rows())

    assert set(wordings()) == set(KINDS)
    for kind, make in KINDS.items():
        drafts = (make(setting, Random(f"{kind} {number}")) for number in range(50))
        draft = next(draft for draft in drafts if draft is not None)
        worded = [one.format_map(draft.words) for one in wordings()[kind]]
        assert len(set(worded)) >= 4
        assert not any("{" in one for one in worded)


def test_the_wording_is_drawn() -> None:
    tasks = [task for task in draw_tasks(SHOP, shop_rows(), 0, 240) if task.kind == "edit"]

    beginnings = {" ".join(task.instruction.split()[:2]) for task in tasks}
    assert len(beginnings) >= 4


def test_a_row_that_shares_its_title_is_not_named() -> None:
    assert _named(_customers("Ada Lind", "ada lind", "Ada Lund")) == ["Ada Lund"]


def test_a_row_whose_title_cannot_be_quoted_is_not_named() -> None:
    assert _named(_customers('Ada "Lil" Lind', "Ada  Lond", "Ada Lund" * 20, "Ada Lund")) == [
        "Ada Lund"
    ]


def test_a_row_far_down_a_list_without_a_search_is_not_named() -> None:
    rows = _customers(*(f"Ada {number:02}" for number in range(30)))

    assert len(_named(rows, page_size=3, searched=True)) == 30
    assert len(_named(rows, page_size=3, searched=False)) == 18


def test_rows_with_siblings_are_named_most_often() -> None:
    rows = _customers("Dana Fox", "Ada Lind", "Eve Hart", "Ada Ek", "Bo Ray", "Cleo Ray")
    entity, setting = SHOP.entity("customer"), Setting(SHOP, rows)
    random = Random(0)

    picked = [setting.pick(random, entity, rows["customer"]) for _ in range(400)]

    alone = [row for row in picked if row["name"] in {"Dana Fox", "Eve Hart"}]
    assert 10 <= len(alone) <= 60


def test_a_choice_with_which_another_begins_is_not_chosen() -> None:
    field = SHOP.entity("purchase").field("status")
    field = field.model_copy(update={"choices": ("In", "In progress", "Out")})

    assert [words for _, words in Setting(SHOP, {}).options(field)] == ["In progress", "Out"]


def test_rows_that_tie_are_neither_compared_nor_the_largest() -> None:
    rows = shop_rows()
    for row in rows["product"]:
        row["price"], row["stock"] = 500, 7
    world, kept = _only("product", fields=("name", "price", "stock", "category"), rows=rows)
    assert {"compare", "extreme"}.isdisjoint(task.kind for task in draw_tasks(world, kept, 0, 100))

    rows["product"][0]["price"] = 600
    kinds = {task.kind for task in draw_tasks(world, kept, 0, 100)}

    assert {"compare", "extreme"} <= kinds


def test_a_row_that_another_links_to_is_not_to_be_deleted() -> None:
    rows = shop_rows()
    tasks = [task for task in draw_tasks(SHOP, rows, 0, 500) if task.kind == "delete"]

    removed = {(rule.table, rule.where["id"]) for task in tasks for rule in task.expect.removed}
    assert ("customer", 8) in removed
    assert not {("customer", row["customer"]) for row in rows["purchase"]} & removed


@pytest.mark.parametrize(
    ("field", "value", "asked"),
    [
        ("description", None, False),
        ("category", "Done", False),
        ("category", "Kitchen", True),
        ("stock", 1, False),
        ("stock", 2, True),
        ("price", 0, False),
        ("price", 100, False),
        ("price", 101, True),
    ],
)
def test_answers_that_cost_nothing_are_not_asked_for(
    field: str, value: str | int | None, *, asked: bool
) -> None:
    rows = shop_rows()
    for row in rows["product"]:
        row[field] = value
    world, kept = _only("product", fields=("name", field), rows=rows)

    assert asked is any(task.kind == "find" for task in draw_tasks(world, kept, 0, 50))


def test_a_fact_that_the_instruction_would_give_away_is_not_asked_for() -> None:
    rows = _customers("Oslo Lind", "Bergen Lind")
    world, kept = _only("customer", fields=("name", "city"), rows=rows)

    found = [task for task in draw_tasks(world, kept, 0, 50) if task.kind == "find"]

    assert found
    assert all("Bergen Lind" in task.instruction for task in found)


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
    assert made.parameters == {"family": "made", "world": 0}
    assert (made.seed, made.expect, made.reference) == (5, task.expect, task.reference)
    assert made.task_id != to_task(SHOP, task.model_copy(update={"instruction": "Else."})).task_id


def _customers(*titles: str) -> Rows:
    customers: list[Row] = [
        {"id": n + 1, "name": title, "email": "a@b.c", "city": "Oslo", "joined": "2024-01-01"}
        for n, title in enumerate(titles)
    ]
    return {"customer": customers}


def _named(rows: Rows, **changes: object) -> list[str]:
    entity = SHOP.entity("customer")
    view = SHOP.view_of("customer")
    assert view is not None
    setting = Setting(SHOP, rows)
    named = setting.named(view.model_copy(update=changes), entity)
    return [setting.title(entity, row) for row in named]


def _only(
    name: str, *, fields: tuple[str, ...], rows: Rows | None = None, **changes: object
) -> tuple[World, Rows]:
    """Return the shop with one entity alone, of some of its fields."""
    rows = shop_rows() if rows is None else rows
    entity, view = SHOP.entity(name), SHOP.view_of(name)
    assert view is not None
    kept: tuple[DataField, ...] = tuple(entity.field(each) for each in fields)
    one: Entity = entity.model_copy(update={"fields": kept, **changes})
    seen: View = view.model_copy(update={"columns": fields, "filters": (), "sorts": ()})
    world = SHOP.model_copy(update={"entities": (one,), "workflows": (), "views": (seen,)})
    return world, {name: rows[name]}
