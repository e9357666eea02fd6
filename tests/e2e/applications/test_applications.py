"""The page about applications of one's own, carried out word for word, and what must not come of it."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]

PAGE = (Path(__file__).parents[3] / "docs" / "extending.md").read_text(encoding="utf-8")

SECTION = PAGE[PAGE.index("## An application of your own") : PAGE.index("## A package of your own")]

FILES = re.compile(r"^```\w+ file (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = re.compile(r"^```bash\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder with the page's files."""
    place: Path = tmp_path_factory.mktemp("shop")
    for name, text in FILES.findall(SECTION):
        (place / name).write_text(text)
    return place


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a line of the page."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        shlex.split(command),
        cwd=folder,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.fixture(scope="module")
def done(folder: Path) -> dict[str, subprocess.CompletedProcess[str]]:
    """What each command of the page gave."""
    (block,) = COMMANDS.findall(SECTION)
    out = dict[str, subprocess.CompletedProcess[str]]()
    for line in block.splitlines():
        out[line] = run(line, folder)
        assert out[line].returncode == 0, f"{line}\n{out[line].stdout}\n{out[line].stderr}"
    return out


def test_the_shop_of_the_page_is_short() -> None:
    files = dict(FILES.findall(SECTION))

    assert len(files["shop.py"].splitlines()) < 60
    assert set(files) == {"shop.py", "shop.toml", "tasks.py", "run.toml"}


def test_the_page_goes_from_nothing_to_fifty_verified_replayed_trajectories(
    done: dict[str, subprocess.CompletedProcess[str]], folder: Path
) -> None:
    checked = next(out.stdout for line, out in done.items() if "sites check" in line)
    assert "shop is fit for runs" in checked
    shards = sorted((folder / "shop-dataset").rglob("trajectories*/**/*.parquet"))
    published = [row for shard in shards for row in pq.read_table(shard).to_pylist()]

    assert len(published) == 50
    assert {row["assurance"] for row in published} == {"replayed"}
    assert {row["replay"] for row in published} == {"reproduced"}
    assert all(row["state_before_sha256"] for row in published)
    changed = [row for row in published if any(json.loads(row["delta"]).values())]
    assert len(changed) == 40  # to say what something costs changes nothing
    assert all(row["state_before_sha256"] != row["state_after_sha256"] for row in changed)
