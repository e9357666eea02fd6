"""Runs in a real browser, killed with `kill -9` at random moments and run again to their end.

The moments are drawn by seed, one stretch of a run's life after the other: while episodes end and
are stored, while shards are written, while tables are committed, while the version is sealed and
published, and now and then by the clock alone. `make test` kills one alone, without its group, and leaves
the moments to runs over stand-ins; `make test-full` draws more of them.
"""

import json
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from random import Random

import psutil
import pytest
from effort import BROWSER_ROUNDS, THOROUGH, TIMEOUT
from source_tree import ROOT
from support.runs.chaos import KILLED, assert_whole, fork
from support.runs.commands import LOOK, SECONDS, end, environment, start, stepmill, until
from support.runs.kill_at import Doom, Fate, Instant
from support.runs.small_runs import Trial, scripted_trial

pytestmark = [pytest.mark.browser, pytest.mark.timeout(TIMEOUT)]

DOOM = str(ROOT / "tests" / "support" / "runs" / "kill_at.py")

MARK = "STEPMILL_TEST_MARK"
"""An environment variable by which the processes of one test are known."""

EPISODES = 8 if THOROUGH else 4

FAMILIES = ["click-test", "enter-text", "click-button", "focus-text"]


def real_trial(base: Path, episodes: int = EPISODES) -> Trial:
    """Return a run of two episodes a unit, by the teacher and a clumsy one."""
    base.mkdir()
    settings = (
        'policies=[{name="teacher", share=3}, {name="clumsy", share=1}]',
        f"tasks.include={json.dumps(FAMILIES[: episodes // 2])}",
        "tasks.seeds=[0, 1]",
        "tasks.unit_size=2",
        "browser.sessions=3",
    )
    return Trial(base, settings, episodes)


def doomed(doom: Doom, mark: str, **more: str) -> int:
    """Run a command to its fate, in a group of its own; return what it ended with."""
    process = subprocess.Popen(
        [sys.executable, DOOM, doom.model_dump_json()],
        cwd=ROOT,
        env=environment({MARK: mark, **more}),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    return process.wait(SECONDS)


def alive(mark: str) -> list[str]:
    """Return the processes that a test started and that are still there."""
    found: list[str] = []
    for process in psutil.process_iter():
        try:
            if process.status() != psutil.STATUS_ZOMBIE and process.environ().get(MARK) == mark:
                found.append(" ".join(process.cmdline()))
        except psutil.Error:
            continue
    return found


async def finish(trial: Trial, mark: str) -> None:
    """Run the same command to its end and hold everything against what is promised."""
    before = trial.finished()
    said = stepmill(*trial.argv, env={MARK: mark})
    assert said.code == 0, said.err
    assert "Traceback" not in said.err
    assert said.answer["rolled_out"] == trial.episodes - len(before)
    await assert_whole(trial, before)
    until(lambda: not alive(mark), every=LOOK)


def _in_dataset(random: Random) -> Instant:
    if random.random() < 1 / 3:
        return Instant(name="* run/versions", number=random.randint(1, 3))
    return Instant(name="* to/data/*", number=random.randint(1, 12))


STRETCHES: dict[str, Callable[[Random], Instant]] = {
    "spool": lambda random: Instant(name="* run/spool", number=random.randint(1, 3 * EPISODES)),
    "shards": lambda random: Instant(name="* run/tables/*", number=random.randint(1, 7 * EPISODES)),
    "commits": lambda random: Instant(name="* write *", number=random.randint(1, 4 * EPISODES)),
    "dataset": _in_dataset,
    "clock": lambda random: Instant(name="start git", seconds=random.uniform(0.05, 8)),
}
"""A moment of each stretch of a run's life."""

STRIDE = 3
"""From one stretch to the next: the first two are the spool and the dataset, and five are all."""


@pytest.mark.full
@pytest.mark.parametrize("number", range(BROWSER_ROUNDS))
async def test_killed_at_a_random_moment_and_run_again_it_is_whole(
    tmp_path: Path, number: int
) -> None:
    stretch = list(STRETCHES)[STRIDE * number % len(STRETCHES)]
    at, mark = STRETCHES[stretch](Random(number)), uuid.uuid4().hex
    trial = real_trial(tmp_path / "trial")

    code = doomed(trial.doom(at=at), mark)

    assert code == KILLED or (code == 0 and stretch == "clock"), at
    await finish(trial, mark)


@pytest.mark.full
@pytest.mark.prefect
async def test_killed_alone_it_leaves_no_server_and_no_browser_to_the_next_start(
    tmp_path: Path,
) -> None:
    mark, trial = uuid.uuid4().hex, real_trial(tmp_path / "trial", episodes=2)
    command = tuple(part for part in trial.argv if part != "--no-prefect")
    doom = Doom(
        argv=command,
        base=trial.base,
        at=Instant(name="start python*", seconds=1.0),
        fate=Fate.ALONE,
    )

    code = doomed(doom, mark, PREFECT_HOME=str(tmp_path / "prefect"), PREFECT_API_URL="")

    assert code == -signal.SIGALRM, "no server was started"
    await finish(trial, mark)


@pytest.mark.full
async def test_two_commands_at_once_make_each_episode_once(tmp_path: Path) -> None:
    mark, trial = uuid.uuid4().hex, real_trial(tmp_path / "trial")

    both = [start(*trial.argv, env={MARK: mark}) for _ in range(2)]
    for said in [end(process) for process in both]:
        problems = said.answer["problems"]
        assert isinstance(problems, list)
        assert all("another publication is writing here" in str(problem) for problem in problems)
        assert said.code == (1 if problems else 0), said.err
    await finish(trial, mark)


def test_once_more_a_command_changes_nothing_and_starts_nothing(tmp_path: Path) -> None:
    trial = scripted_trial(tmp_path / "trial", episodes=2, verifiers=("structure", "outcome"))
    assert fork(trial.doom()).code == 0
    before = everything(trial)
    trace = tmp_path / "trace"
    command = tuple(part for part in trial.argv if part != "--no-prefect")
    prefect = {"PREFECT_HOME": str(tmp_path / "prefect"), "PREFECT_API_URL": ""}

    said = fork(Doom(argv=command, base=trial.base, trace=trace, environ=prefect))

    assert said.code == 0, said.err
    assert everything(trial) == before
    # It asks git what it is, what a browser may do here, and whether there is room where it would publish.
    assert set(trace.read_text().splitlines()) == {
        "start git",
        "start python",
        "open to",
        "remove to",
    }
    assert not (tmp_path / "prefect").exists()


def everything(trial: Trial) -> dict[Path, tuple[int, bytes]]:
    """Return the bytes and the time of every file, and the time of every folder of the run."""
    files = [path for path in trial.base.rglob("*") if path.is_file()]
    folders = [path for path in trial.run.rglob("*") if path.is_dir()]
    return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in files} | {
        path: (path.stat().st_mtime_ns, b"") for path in [trial.run, *folders]
    }
