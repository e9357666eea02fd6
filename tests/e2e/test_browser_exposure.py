"""What is stated of a browser's sandbox and port is true of the browser that runs."""

import os
import subprocess

import psutil
import pytest
from html_site import browsing

from flows.job.provenance import provenance
from generators.browser.launch import exposure, launch_options
from schemas.config import RunConfig

NOBODY = 65_534
ASKING = (
    "exec 3<>/dev/tcp/127.0.0.1/$0; "
    r"printf 'GET /json/version HTTP/1.1\r\nHost: localhost\r\n\r\n' >&3; head -n 1 <&3"
)


def _browsers() -> list[list[str]]:
    """Return the arguments of every browser below this process, but not of their children."""
    found = [process.cmdline() for process in psutil.Process().children(recursive=True)]
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


@pytest.mark.browser
async def test_the_sandbox_and_the_port_of_a_running_browser_are_as_they_are_stated() -> None:
    stated = exposure(launch_options())

    async with browsing({"/": "hello"}) as (chromium, _):
        argv = _browsers()[0]
        answer = _asked_by_somebody_else(chromium.port)

    assert stated.sandboxed == ("--no-sandbox" not in argv)
    assert stated.port == ("200 OK" in answer), answer
    assert stated.port == any(argument.startswith("--remote-debugging-port=") for argument in argv)
    assert provenance(RunConfig(), ())["browser"] == {
        "sandbox": stated.sandbox,
        "devtools": stated.devtools,
    }


@pytest.mark.browser
async def test_a_running_browser_has_all_features_switched_off_that_playwright_switches_off() -> (
    None
):
    mark = "--disable-features="
    async with browsing({"/": "hello"}):
        lists = [one for one in _browsers()[0] if one.startswith(mark)]

    theirs, read = (one.removeprefix(mark).split(",") for one in lists)
    assert {*theirs, "RenderDocument"} == {*read}
