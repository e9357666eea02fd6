"""Tasks as Harbor's directories, done by hand: a container's place is taken by a folder, the server and the pages are real.

Of a run of MiniWoB++ and a run of a world, exported into one folder each; the server's tasks are those folders.
"""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.inputs.harbor_tasks import TOKEN, export, serving
from support.runs.commands import SECONDS, UNREPLAYED, Said, stepmill
from support.runs.library import Kept, RunLibrary

WORLD = (
    "--set=tasks.source='worlds'",
    "--set=tasks.include=['shop/edit']",
    "--set=tasks.seeds=[1,1]",
    "--set=publish.to=[]",
    "--no-prefect",
    *UNREPLAYED,
)


class Trial:
    """A trial's folder, in the place of a container: what a task's image has is on its path."""

    def __init__(self, place: Path, task: Path, url: str) -> None:
        (place / "bin").mkdir(parents=True)
        (place / "bin" / "seat").symlink_to(task / "environment" / "seat.py")
        self.task = task
        self.state = place / "state"
        self.logs = place / "logs"
        self._env = {
            "PATH": f"{place / 'bin'}:{os.environ['PATH']}",
            "STEPMILL_URL": url,
            "STEPMILL_STATE": str(self.state),
            "VERIFIER_LOGS": str(self.logs),
            **TOKEN,
        }

    def script(self, name: str) -> Said:
        done = subprocess.run(
            ["bash", str(self.task / name)],
            env=self._env,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        return Said(done.returncode, done.stdout, done.stderr)

    def reward(self) -> float | None:
        """Verify, and return the reward; None: there is none, and the verifier has failed."""
        said = self.script("tests/test.sh")
        path = self.logs / "reward.txt"
        assert path.exists() == (said.code == 0), said.err
        return float(path.read_text()) if path.exists() else None


@pytest.fixture
def trial(tmp_path: Path) -> Iterator[Callable[[Path, str], Trial]]:
    """Return what makes trials; what holds their seats ends with them."""
    made: list[Trial] = []

    def make(task: Path, url: str) -> Trial:
        made.append(Trial(tmp_path / f"trial-{len(made)}", task, url))
        return made[-1]

    yield make
    for one in made:
        (one.state / "state.json").unlink(missing_ok=True)


def test_an_oracle_gets_1_who_does_nothing_0_and_a_server_that_has_gone_fails(
    run_library: RunLibrary, tmp_path: Path, trial: Callable[[Path, str], Trial]
) -> None:
    easy = export(run_library.read(Kept.TEACHER).run, tmp_path / "easy", "enter-text")
    world = tmp_path / "world-run"
    made = stepmill("generate", "--run", str(world), *WORLD)
    assert made.code == 0, made.err
    (edit,) = export(world, tmp_path / "world")

    with serving(tmp_path / "served", tmp_path / "easy", tmp_path / "world") as url:
        for task in (easy[0], edit):
            done = trial(task, url)
            said = done.script("solution/solve.sh")
            assert said.code == 0, said.err
            assert done.reward() == 1
        assert trial(easy[0], url).reward() == 0
        left = trial(easy[1], url)
        assert left.script("solution/solve.sh").code == 0
    assert left.reward() is None
    assert trial(easy[1], url).reward() is None

    shown = stepmill("show", str(tmp_path / "served"), "--json")
    assert shown.answer["episodes"], "every trial's episode is a row of the run"
    assert stepmill("audit", str(tmp_path / "served"), "--deep").code == 0
