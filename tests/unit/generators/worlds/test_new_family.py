"""A family that is data alone is drawn, served and has tasks; that of the documentation is one."""

import re
from pathlib import Path

from source_tree import ROOT

from generators.sites.state import ServerState, judge_states
from generators.tasks.worlds.draw import draw_tasks
from generators.tasks.worlds.task import to_task
from generators.worlds.check import Trial
from generators.worlds.content import draw_rows
from generators.worlds.draw import make_world, read_family


async def test_a_family_of_a_file_has_worlds_pages_and_tasks(tmp_path: Path) -> None:
    (text,) = re.findall(r"```toml\n(.*?)```", (ROOT / "docs" / "worlds.md").read_text(), re.DOTALL)
    path = tmp_path / "garage.toml"
    path.write_text(text)

    family = read_family(path)
    worlds = [make_world(family, "garage", seed) for seed in range(3)]

    assert len({world.sha256 for world in worlds}) == 3
    for world in worlds:
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
