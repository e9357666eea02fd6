"""What is stated of a browser's enclosure is true of the browser that runs."""

import asyncio
import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from support.browsers.html_site import ORIGIN, browsing, spec
from support.browsers.one_browser import processes

from flows.job.provenance import provenance
from generators.browser.chromium import Chromium
from generators.browser.enclosure import Confinement, probe
from generators.sites.gateway import Gateway
from schemas.config import RunConfig
from schemas.errors import NoBrowser
from schemas.sections import UNPRIVILEGED_USER, Sandbox

NOBODY = 65_534
INVALID = 2**32 - 1
"""A number that no user can have."""
ASKING = (
    "exec 3<>/dev/tcp/127.0.0.1/$0; "
    r"printf 'GET /json/version HTTP/1.1\r\nHost: localhost\r\n\r\n' >&3; head -n 1 <&3"
)


def _browsers() -> list[list[str]]:
    """Return the arguments of every browser below this process, but not of their children."""
    found = [process.cmdline() for process in processes()]
    return [
        argv
        for argv in found
        if any(argument.startswith("--user-data-dir=") for argument in argv)
        and not any(argument.startswith("--type=") for argument in argv)
    ]


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


@pytest.mark.browser
async def test_what_is_stated_of_a_browser_is_true_of_the_browser_that_runs() -> None:
    async with browsing({"/": "hello"}) as (chromium, _), chromium.session(spec()) as session:
        await session.open(ORIGIN + "/")
        assert chromium.process is not None
        stated = chromium.process.containment
        argv = _browsers()[0]
        statuses = _statuses()
        answer = await asyncio.to_thread(_asked_by_somebody_else, chromium.process.endpoint.port)

    users = {status["Uid"].split()[0] for status in statuses}
    renderers = [status for status in statuses if status["Seccomp"] == "2"]
    assert stated == probe()
    assert bool(stated.sandbox) == ("--no-sandbox" in argv)
    assert bool(stated.sandbox) == (not renderers), "a renderer has a filter of system calls"
    assert users == {str(os.geteuid() if stated.user else UNPRIVILEGED_USER)}
    assert bool(stated.namespace) == ("200 OK" in answer), answer
    assert provenance(RunConfig(), ())["browser"] == stated.levels


@contextlib.contextmanager
def _planted(mode: int) -> Iterator[Path]:
    """Plant a file in a folder that all may enter."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        planted = Path(folder) / "planted.txt"
        planted.write_text("planted", encoding="utf-8")
        planted.chmod(mode)
        yield planted


@pytest.mark.browser
@pytest.mark.skipif(os.geteuid() != 0, reason="the planted file is root's")
@pytest.mark.parametrize("mode", [0o600, 0o644])
async def test_a_browser_that_is_steered_reads_what_all_may_read_and_no_private_file(
    mode: int,
) -> None:
    with _planted(mode) as planted:
        async with (
            browsing({"/": "hello"}) as (chromium, _),
            chromium.session(spec(clock=None)) as session,
        ):
            await session.open(ORIGIN + "/")
            await session._tab.channel.send("Page.navigate", {"url": planted.as_uri()})
            await asyncio.sleep(1.0)
            text = await session._tab.channel.evaluate("document.documentElement?.innerText || ''")

    assert ("planted" in str(text)) == (mode == 0o644)


@pytest.mark.browser
@pytest.mark.skipif(os.geteuid() != 0, reason="only root changes the browser's user")
async def test_a_browser_that_its_user_may_not_execute_is_refused(tmp_path: Path) -> None:
    hidden = tmp_path / "chromium-headless-shell"
    shutil.copy("/bin/true", hidden)

    async def start() -> None:
        async with Gateway() as gateway, Chromium(network=gateway, executable=hidden):
            pass

    with pytest.raises(NoBrowser, match=f"it may not execute {hidden}; install it where all may"):
        await start()


@pytest.mark.browser
async def test_the_sandbox_that_is_switched_off_is_off_in_the_browser() -> None:
    off = Confinement(sandbox=Sandbox.OFF)
    async with Gateway() as gateway, Chromium(network=gateway, wanted=off) as chromium:
        assert chromium.process is not None
        assert "--no-sandbox" in _browsers()[0]
        assert chromium.process.containment.levels["sandbox"] == "off: browser.sandbox is off"


@pytest.mark.browser
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


@pytest.mark.browser
@pytest.mark.parametrize(
    ("mark", "ours"),
    [
        ("--disable-features=", {"RenderDocument"}),
        ("--blink-settings=", {"fullscreenSupported=false"}),
    ],
)
async def test_a_running_browser_is_set_as_playwright_sets_it_and_as_we_do(
    mark: str, ours: set[str]
) -> None:
    async with browsing({"/": "hello"}):
        lists = [one for one in _browsers()[0] if one.startswith(mark)]

    theirs, read = (one.removeprefix(mark).split(",") for one in lists)
    assert {*theirs} | ours == {*read}
    assert not ours & {*theirs}
