"""A family that is data alone is drawn, served and has tasks; that of the documentation is one."""

import re
from pathlib import Path

import pytest
from effort import THOROUGH
from source_tree import ROOT

from generators.sites.state import ServerState, judge_states
from generators.tasks.worlds.draw import draw_tasks
from generators.tasks.worlds.ground.task import to_task
from generators.worlds.checking.crawl import Trial
from generators.worlds.drawing.draw import draw_valid, read_family
from generators.worlds.drawing.rows import draw_rows
from generators.worlds.drawing.specification import make_world
from schemas.errors import BadTasks


async def test_a_family_of_a_file_has_worlds_pages_and_tasks(tmp_path: Path) -> None:
    text = _documented()
    path = tmp_path / "garage.toml"
    path.write_text(text)

    family = read_family(path)
    worlds = [make_world(family, "garage", seed) for seed in range(3)]

    assert len({world.sha256 for world in worlds}) == 3
    for world in worlds if THOROUGH else worlds[:1]:
        rows = draw_rows(world)
        trial = Trial(world, rows)
        crawl = await trial.crawl()
        assert [one async for one in trial.gates(crawl)] == []
        tasks = draw_tasks(world, rows, 0, 24)
        assert {"find", "create", "edit", "move"} <= {task.kind for task in tasks}
        before = ServerState(dict(rows))  # type: ignore[arg-type]
        for task in tasks:
            said = await judge_states(to_task(world, task), before=before, after=before, answer="")
            assert said.reward == 0, task.instruction


def test_a_seed_that_makes_no_valid_world_is_drawn_again_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "garage.toml"
    path.write_text(_with_titles("{Oak|" + "Long " * 17 + "}"))
    family = read_family(path)

    drawn = [draw_valid(family, "garage", seed) for seed in range(8)]

    assert {one.world.title for one in drawn} == {"Oak"}
    assert 0 < sum(one.again > 0 for one in drawn) < 8
    assert drawn == [draw_valid(family, "garage", seed) for seed in range(8)]
    assert all(one.rows == draw_rows(one.world) for one in drawn)


def test_a_seed_that_never_makes_a_valid_world_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "garage.toml"
    path.write_text(_with_titles("{Oak|Elm}"))
    family = read_family(path).model_copy(update={"title": "Long " * 17})

    with pytest.raises(
        BadTasks, match=r"^garage\.toml: seed 3 makes no valid world in 20 draws: title"
    ):
        draw_valid(family, "garage", 3)


def _documented() -> str:
    """Return the documentation's family, which is its first block of TOML."""
    page = (ROOT / "docs" / "worlds.md").read_text(encoding="utf-8")
    section = page[page.index("## Adding a family") :]
    found = re.search(r"```toml\n(.*?)```", section, re.DOTALL)
    assert found is not None
    return found[1]


def _with_titles(recipe: str) -> str:
    """Return the documentation's family with another recipe for the website's name."""
    text = _documented()
    return re.sub(r'title = "[^"]*"', f'title = "{recipe}"', str(text), count=1)
