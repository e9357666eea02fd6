"""What is stated of a browser's enclosure is true of the browser that runs."""

import asyncio
import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psutil
import pytest
import pytest_asyncio
from support.browsers.html_site import HOST, ORIGIN, handler, spec
from support.browsers.one_browser import processes
from support.browsers.ways_out_run import own_network
from support.runs.commands import GLANCE

from flows.job.provenance import provenance
from generators.browser.chromium import Chromium
from generators.browser.page_calls import Channel
from generators.browser.process.enclosure import Confinement, probe
from generators.sites.gateway import Gateway
from schemas.configuration.browser_section import UNPRIVILEGED_USER, Sandbox
from schemas.configuration.config import RunConfig
from schemas.errors import NoBrowser, RolloutFailure

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

NOBODY = 65_534
INVALID = 2**32 - 1
"""A number that no user can have."""
ASKING = (
    "exec 3<>/dev/tcp/127.0.0.1/$0; "
    r"printf 'GET /json/version HTTP/1.1\r\nHost: localhost\r\n\r\n' >&3; head -n 1 <&3"
)


def _argv(process: psutil.Process) -> list[str]:
    """Return the arguments of a process; none, if it has ended meanwhile."""
    with contextlib.suppress(psutil.Error):
        return process.cmdline()
    return []


def _arguments(chromium: Chromium) -> list[str]:
    """Return the arguments of a browser that runs, and not of its children."""
    assert chromium.process is not None
    return next(
        argv
        for argv in map(_argv, processes())
        if chromium.process._mark in argv
        and any(argument.startswith("--user-data-dir=") for argument in argv)
        and not any(argument.startswith("--type=") for argument in argv)
    )


def _asked_by_somebody_else(port: int) -> str:
    """Return the first line of the port's answer to a user who has nothing here, if we may be one."""
    other = NOBODY if os.geteuid() == 0 else None
    asked = subprocess.run(
        ["bash", "-c", ASKING, str(port)],
        cwd="/",
        env={},
        user=other,
        group=other,
        extra_groups=[] if other else None,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    return asked.stdout + asked.stderr


def _statuses() -> list[dict[str, str]]:
    """Return the status of every process of a browser, as the kernel states it."""
    found = []
    for process in processes():
        with contextlib.suppress(OSError, psutil.NoSuchProcess):
            if "headless" in process.name():
                lines = Path(f"/proc/{process.pid}/status").read_text("utf-8").splitlines()
                found.append(dict(line.split(":\t", 1) for line in lines if ":\t" in line))
    return found


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def enclosed() -> AsyncIterator[Chromium]:
    """A browser of this module's own, enclosed as far as the machine allows."""
    async with Gateway() as gateway, Chromium(network=gateway) as chromium:
        gateway.mount(HOST, handler({"/": "hello"}))
        yield chromium


async def test_what_is_stated_of_a_browser_is_true_of_the_browser_that_runs(
    enclosed: Chromium,
) -> None:
    assert enclosed.process is not None
    async with enclosed.session(spec()) as session:
        await session.open(ORIGIN + "/")
        stated = enclosed.process.containment
        argv = _arguments(enclosed)
        statuses = _statuses()
        answer = await asyncio.to_thread(_asked_by_somebody_else, enclosed.process.endpoint.port)

    users = {status["Uid"].split()[0] for status in statuses}
    renderers = [status for status in statuses if status["Seccomp"] == "2"]
    assert stated == probe()
    assert not (stated.namespace and own_network()), "this machine allows network namespaces"
    assert bool(stated.sandbox) == ("--no-sandbox" in argv)
    assert bool(stated.sandbox) == (not renderers), "a renderer has a filter of system calls"
    assert users == {str(os.geteuid() if stated.user else UNPRIVILEGED_USER)}
    assert bool(stated.namespace) == ("200 OK" in answer), answer
    assert provenance(RunConfig(), ())["browser"] == stated.levels


async def test_an_interrupt_from_the_terminal_is_for_no_process_of_a_browser(
    enclosed: Chromium,
) -> None:
    assert enclosed.process is not None
    drivers = [one for one in psutil.Process().children() if "run-driver" in _argv(one)]
    assert drivers
    for driver in drivers:
        for process in (driver, *driver.children(recursive=True)):
            with contextlib.suppress(psutil.Error, ProcessLookupError):  # it may end meanwhile
                assert os.getsid(process.pid) != os.getsid(0)


@contextlib.contextmanager
def _planted(mode: int) -> Iterator[Path]:
    """Plant a file in a folder that all may enter."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        planted = Path(folder) / "planted.txt"
        planted.write_text("planted", encoding="utf-8")
        planted.chmod(mode)
        yield planted


async def _shown_of(channel: Channel, url: str) -> str:
    """Steer a page to an address, and return its text once it is another one."""
    before = await channel.evaluate(_TEXT)
    refused = (await channel.send("Page.navigate", {"url": url})).get("errorText")
    async with asyncio.timeout(60):
        while True:
            with contextlib.suppress(RolloutFailure):  # the document is being replaced
                text = await channel.evaluate(_TEXT)
                if text != before and (text or refused):
                    return str(text)
            await asyncio.sleep(GLANCE)


_TEXT = "document.readyState === 'complete' && document.documentElement?.innerText || ''"


@pytest.mark.skipif(os.geteuid() != 0, reason="the planted file is root's")
@pytest.mark.parametrize("mode", [0o600, 0o644])
async def test_a_browser_that_is_steered_reads_what_all_may_read_and_no_private_file(
    mode: int, enclosed: Chromium
) -> None:
    with _planted(mode) as planted:
        async with enclosed.session(spec(clock=None)) as session:
            await session.open(ORIGIN + "/")
            text = await _shown_of(session._tab.channel, planted.as_uri())

    assert ("planted" in text) == (mode == 0o644)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root changes the browser's user")
async def test_a_browser_that_its_user_may_not_execute_is_refused(tmp_path: Path) -> None:
    hidden = tmp_path / "chromium-headless-shell"
    shutil.copy("/bin/true", hidden)

    async def start() -> None:
        async with Gateway() as gateway, Chromium(network=gateway, executable=hidden):
            pass

    with pytest.raises(NoBrowser, match=f"it may not execute {hidden}; install it where all may"):
        await start()


async def test_the_sandbox_that_is_switched_off_is_off_in_the_browser() -> None:
    off = Confinement(sandbox=Sandbox.OFF)
    async with Gateway() as gateway, Chromium(network=gateway, wanted=off) as chromium:
        assert chromium.process is not None
        assert "--no-sandbox" in _arguments(chromium)
        assert chromium.process.containment.levels["sandbox"] == "off: browser.sandbox is off"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root changes the browser's user")
async def test_a_browser_that_would_run_as_root_is_refused() -> None:
    async def start() -> None:
        async with (
            Gateway() as gateway,
            Chromium(network=gateway, wanted=Confinement(user=INVALID)),
        ):
            pass

    with pytest.raises(NoBrowser, match=r'browser\.sandbox = "off"'):
        await start()


@pytest.mark.parametrize(
    ("mark", "ours"),
    [
        ("--disable-features=", {"RenderDocument"}),
        ("--blink-settings=", {"fullscreenSupported=false"}),
    ],
)
async def test_a_running_browser_is_set_as_playwright_sets_it_and_as_we_do(
    mark: str, ours: set[str], enclosed: Chromium
) -> None:
    lists = [one for one in _arguments(enclosed) if one.startswith(mark)]

    theirs, read = (one.removeprefix(mark).split(",") for one in lists)
    assert {*theirs} | ours == {*read}
    assert not ours & {*theirs}
