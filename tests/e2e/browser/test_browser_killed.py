"""Browsers that are killed all through a run cost it nothing, and nothing is left of a run that is killed.

`make test-full` goes on for 500 episodes, kills every 20 s, and holds new sessions to their time.
"""

import asyncio
import contextlib
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import psutil
import pytest
from effort import THOROUGH
from playwright.async_api import BrowserContext, Page
from support.browsers.html_site import ORIGIN, browsing, spec
from support.browsers.one_browser import processes
from support.runs.commands import LOOK, SECONDS, UNREPLAYED, start, stepmill, until
from support.runs.locations import Place

from generators.browser import page_calls as channel

pytestmark = [pytest.mark.browser, pytest.mark.timeout(0 if THOROUGH else 300)]

EPISODES = 500 if THOROUGH else 8

KILL_SECONDS = 20.0 if THOROUGH else 2.0
"""From one kill to the next."""

KILLS = 1_000 if THOROUGH else 1
"""How often at most."""

BACK_SECONDS = 3.0
"""After a kill, until pages are open again: asserted where there is time to wait for a quiet machine."""

AT_WORK = 2
"""Renderers of a browser with an open page: it keeps one more than it has pages."""

MARK = "--stepmill-browser="


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """Make a folder for a run's temporary files; the browser's user has to pass through it."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        yield Path(folder)


def begin(run: Path, scratch: Path, *, episodes: int) -> subprocess.Popen[str]:
    """Start a run of the teacher, in three sessions."""
    return start(
        *("generate", "--no-prefect", "--json", f"--run={run}", *UNREPLAYED),
        "--set=tasks.include=['click-test','click-button']",
        f"--set=tasks.seeds=[0,{episodes // 2 - 1}]",
        *("--set=tasks.unit_size=4", "--set=browser.sessions=3", "--set=publish.to=[]"),
        env={"TMPDIR": str(scratch)},
    )


def below(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """Return every process that a run has started and that is still there."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(process.pid).children(recursive=True)
    return []


def browsers(process: subprocess.Popen[str]) -> dict[psutil.Process, int]:
    """Return the run's browsers with the number of renderers of each."""
    renderers: dict[psutil.Process, int] = {}
    for one in below(process):
        with contextlib.suppress(psutil.Error):
            words = one.cmdline()
            if any(word.startswith(MARK) for word in words) and "--type=zygote" not in words:
                children = one.children(recursive=True)
                renderers[one] = sum("--type=renderer" in child.cmdline() for child in children)
    return renderers


def at_work(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """Return the run's browsers that have an open page."""
    return [one for one, renderers in browsers(process).items() if renderers >= AT_WORK]


def kill_again_and_again(process: subprocess.Popen[str]) -> Iterator[float]:
    """Kill every browser that is at work, each time; yield how long the next took to be at work."""
    for _ in range(KILLS):
        if process.poll() is not None:
            return
        until(lambda: process.poll() is not None or bool(at_work(process)), every=LOOK)
        for one in at_work(process):
            with contextlib.suppress(psutil.NoSuchProcess):
                one.kill()
        begun = time.monotonic()
        until(lambda: process.poll() is not None or bool(at_work(process)), every=LOOK)
        if process.poll() is None:
            yield time.monotonic() - begun
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(KILL_SECONDS)


class HasConnections(Protocol):
    """A process, or the machine."""

    def net_connections(self, kind: str) -> list[Any]: ...


def listening(of: HasConnections) -> set[int]:
    """Return the TCP ports that somebody listens on; none of a process that has ended."""
    try:
        ends = of.net_connections("tcp")
    except psutil.NoSuchProcess:
        return set()
    return {end.laddr.port for end in ends if end.status == psutil.CONN_LISTEN}


@dataclass(frozen=True)
class Survived:
    """A run that has ended, although its browsers were killed."""

    said: tuple[int, str]
    """Its exit code, and what it said."""
    rows: list[dict[str, Any]]
    """Its episodes."""
    back: list[float]
    """After each kill, until the next browser was at work, s."""
    left: list[Path]
    """Temporary files that are left."""


@pytest.fixture(scope="module")
def survived(tmp_path_factory: pytest.TempPathFactory) -> Survived:
    """Make a run and kill its browsers all the while."""
    run = tmp_path_factory.mktemp("survived") / "run"
    with scratch_folder() as scratch:
        process = begin(run, scratch, episodes=EPISODES)
        back = list(kill_again_and_again(process))
        _, err = process.communicate(timeout=SECONDS)
        left = list(scratch.iterdir())
    rows = Place(str(run)).rows("episodes", "episode_id", "reward", "tries")
    return Survived((process.returncode, err), rows, back, left)


def test_a_run_whose_browsers_are_killed_records_every_episode_once(survived: Survived) -> None:
    code, err = survived.said

    assert code == 0, err
    assert "Traceback" not in err
    assert survived.back, "no browser was killed"
    assert len(survived.rows) == len({row["episode_id"] for row in survived.rows}) == EPISODES
    assert not THOROUGH or any(row["tries"] for row in survived.rows), "no kill met an episode"
    assert {row["reward"] for row in survived.rows} == {1.0}


def test_no_file_is_left_of_browsers_that_were_killed(survived: Survived) -> None:
    assert survived.left == []


@pytest.mark.full
def test_browsers_are_at_work_again_in_time(survived: Survived) -> None:
    assert max(survived.back) <= BACK_SECONDS


@dataclass(frozen=True)
class Killed:
    """A run that was killed itself."""

    started: list[psutil.Process]
    """What it had started."""
    ports: set[int]
    """Where it and they listened."""
    scratch: Path
    """The folder of its temporary files."""


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Killed]:
    """Kill a run whose browser is at work."""
    with scratch_folder() as scratch:
        process = begin(tmp_path_factory.mktemp("killed") / "run", scratch, episodes=200)
        until(lambda: bool(at_work(process)), every=LOOK)
        started = below(process)
        ports = {port for one in (psutil.Process(process.pid), *started) for port in listening(one)}
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=SECONDS)
        psutil.wait_procs(started, timeout=SECONDS)
        yield Killed(started, ports, scratch)


def test_no_process_and_no_port_is_left_of_a_run_that_is_killed(killed: Killed) -> None:
    assert killed.started
    assert killed.ports
    assert [one for one in killed.started if one.is_running()] == []
    assert not killed.ports & listening(psutil)


def test_what_a_killed_run_leaves_goes_with_the_next_command(killed: Killed) -> None:
    [left] = killed.scratch.iterdir()
    (left / "playwright_chromiumdev_profile-abandoned" / "Default").mkdir(parents=True)

    assert stepmill("doctor", env={"TMPDIR": str(killed.scratch)}).out

    assert list(killed.scratch.iterdir()) == []


@pytest.mark.parametrize("delay", [0.01, 0.02, 0.03, 0.04, 0.05] if THOROUGH else [0.03])
async def test_a_session_that_is_being_opened_moves_at_once_when_its_browser_is_killed(
    delay: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = BrowserContext.new_page
    killed: list[psutil.Process] = []

    async def new_page(context: BrowserContext) -> Page:
        if not killed:
            killed.extend(processes())
            for one in killed:
                if "headless" in one.name():
                    asyncio.get_running_loop().call_later(delay, one.kill)
        return await real(context)

    async with browsing({"/": "one"}) as (chromium, _):
        monkeypatch.setattr(BrowserContext, "new_page", new_page)
        begun = time.monotonic()
        async with chromium.session(spec()) as session:
            await session.open(ORIGIN + "/")

    assert killed
    assert time.monotonic() - begun < channel.CALL_SECONDS / 2
