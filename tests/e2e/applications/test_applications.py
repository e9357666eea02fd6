"""The page about applications of one's own, carried out word for word, and what must not come of it.

`make test` writes tasks of one seed where the page has ten, checks the site on one of them, and its commands begin in
this process, without Prefect.
"""

import contextlib
import json
import re
import runpy
import shlex
from pathlib import Path
from unittest.mock import patch

import pyarrow.parquet as pq
import pytest
from effort import THOROUGH
from support.runs.commands import Said, called, stepmill

from flows.checks import sites

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]

PAGE = (Path(__file__).parents[3] / "docs" / "extending.md").read_text(encoding="utf-8")

SECTION = PAGE[PAGE.index("## An application of your own") : PAGE.index("## A package of your own")]

FILES = re.compile(r"^```\w+ file (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = re.compile(r"^```bash\n(.*?)^```$", re.MULTILINE | re.DOTALL)

ALL, SEEDS = "range(10)", range(10) if THOROUGH else range(3, 4)
"""The seeds of each template, as the page has them, and those that are tried."""

FLOWS = {"generate", "publish"}
"""Commands that Prefect is shown."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder with the page's files."""
    place: Path = tmp_path_factory.mktemp("shop")
    for name, text in FILES.findall(SECTION):
        (place / name).write_text(text.replace(ALL, repr(SEEDS)))
    return place


def run(line: str) -> Said:
    """Run a line of the page, which is Python's or Stepmill's."""
    program, *words = shlex.split(line)
    if program == "python3":
        runpy.run_path(words[0], run_name="__main__")
        return Said(0, "", "")
    assert program == "stepmill"
    if THOROUGH:
        return stepmill(*words, cwd=Path.cwd(), seconds=600)
    with patch.object(sites, "CHECKED_TASKS", 1):
        return called(*words, *(["--no-prefect"] if words[0] in FLOWS else []))


@pytest.fixture(scope="module")
def done(folder: Path) -> dict[str, Said]:
    """What each command of the page gave."""
    (block,) = COMMANDS.findall(SECTION)
    out = dict[str, Said]()
    with contextlib.chdir(folder):
        for line in block.splitlines():
            out[line] = run(line)
            assert out[line].code == 0, f"{line}\n{out[line].out}\n{out[line].err}"
    return out


def test_the_shop_of_the_page_is_short() -> None:
    files = dict(FILES.findall(SECTION))

    assert len(files["shop.py"].splitlines()) < 60
    assert set(files) == {"shop.py", "shop.toml", "tasks.py", "run.toml"}


def test_the_page_goes_from_nothing_to_verified_replayed_trajectories_of_all_its_tasks(
    done: dict[str, Said], folder: Path
) -> None:
    assert SECTION.count(ALL) == 1
    checked = next(said.out for line, said in done.items() if "sites check" in line)
    assert "shop is fit for runs" in checked
    shards = sorted((folder / "shop-dataset").rglob("trajectories*/**/*.parquet"))
    published = [row for shard in shards for row in pq.read_table(shard).to_pylist()]

    assert len(published) == 5 * len(SEEDS)
    assert {row["assurance"] for row in published} == {"replayed"}
    assert {row["replay"] for row in published} == {"reproduced"}
    assert all(row["state_before_sha256"] for row in published)
    changed = [row for row in published if any(json.loads(row["delta"]).values())]
    assert len(changed) == 4 * len(SEEDS)  # to say what something costs changes nothing
    assert all(row["state_before_sha256"] != row["state_after_sha256"] for row in changed)
