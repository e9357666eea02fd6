"""Tasks are held to what costs nothing, and worlds to what another process draws."""

from typing import Any

import pytest
from support.worlds.made_world import SHOP, shop_rows

from flows.checks import worlds as world_check
from flows.checks.worlds import check_config, drawn_elsewhere, task_failures, world_digest
from generators.rollout.limits import make_limits
from generators.sites.gates import Gate
from generators.tasks.worlds.draw import draw_tasks
from generators.tasks.worlds.ground.task import WorldTask, to_task
from generators.tasks.worlds.ground.world_rows import Setting
from generators.worlds.checking.crawl import Crawl, Trial
from generators.worlds.drawing.draw import draw_whole
from schemas.tasks.expectation import Expectation, RowRule


def _task(kind: str) -> WorldTask:
    return next(each for each in draw_tasks(SHOP, shop_rows(), 0, 60) if each.kind == kind)


async def _failing(task: WorldTask, crawl: Crawl) -> list[str]:
    rows = shop_rows()
    found = task_failures(Setting(SHOP, rows), Trial(SHOP, rows), crawl, task)
    return [one.gate async for one in found]


async def test_a_task_that_nothing_but_work_does_passes() -> None:
    assert await _failing(_task("delete"), await Trial(SHOP, shop_rows()).crawl()) == []


async def test_a_task_that_an_end_without_sense_does_is_found() -> None:
    rows = shop_rows()
    after: Any = {**rows, "customer": rows["customer"][:-1]}
    expect = Expectation(removed=(RowRule(table="customer", where={"id": 8}),))
    task = _task("delete").model_copy(update={"expect": expect})

    assert await _failing(task, Crawl(ends={"every button is pressed": after})) == [
        Gate.CANARY_FLOOR
    ]


async def test_a_task_that_a_shortcut_answers_is_found() -> None:
    title = str(shop_rows()["product"][0]["name"])
    task = _task("extreme").model_copy(
        update={"instruction": "Which Product is it?", "expect": Expectation(answer=title)}
    )

    assert await _failing(task, Crawl()) == [Gate.CANARY_FLOOR]


def test_a_check_s_attempts_may_take_as_many_steps_as_the_longest_references() -> None:
    world, rows = draw_whole("clinic", 40)
    tasks = [to_task(world, task) for task in draw_tasks(world, rows, 40, 40)]
    longest = max(tasks, key=lambda task: len(task.reference or ()))

    assert len(longest.reference or ()) > 30
    assert make_limits(longest, check_config().limits).steps >= len(longest.reference or ())


async def test_a_page_that_gives_an_answer_away_is_found() -> None:
    page = "<main><p>Our range, sorted by price</p></main>"

    assert await _failing(_task("delete"), Crawl(pages={"/": page})) == [Gate.NO_SOLUTION_LEAKAGE]


def test_a_world_is_the_same_elsewhere_and_another_one_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def digest(family: str, seed: int) -> str:
        return f"{family} {seed}" if seed == 8 else world_digest(family, seed)

    monkeypatch.setattr(world_check, "world_digest", digest)

    because = "another process, time zone, locale and hash seed draw another world"
    assert list(drawn_elsewhere([("shop", 7), ("shop", 8)])) == [("shop/8", because)]
