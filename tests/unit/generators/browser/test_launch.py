"""What a launch leaves open follows from its options, and is stated in plain words."""

import json

import pytest
from commands import called

from flows.cli.doctor import Health, exposure_lines
from generators.browser.launch import Exposure, LaunchOptions, exposure, launch_options

CLOSED: LaunchOptions = {**launch_options(), "chromium_sandbox": True, "args": ["--disable-gpu"]}


def test_a_browser_with_a_sandbox_and_without_a_port_leaves_nothing_open() -> None:
    left = exposure(CLOSED)

    assert left == Exposure(sandboxed=True, port=False)
    assert (left.sandbox, left.devtools) == ("on", "no port: no other program can reach it")
    assert {line.health for line in exposure_lines(left)} == {Health.GOOD}


@pytest.mark.parametrize(
    ("options", "sandboxed", "port"),
    [
        ({**CLOSED, "chromium_sandbox": False}, False, False),
        ({**CLOSED, "args": ["--no-sandbox"]}, False, False),
        ({**CLOSED, "args": ["--remote-debugging-port=0"]}, True, True),
        ({**CLOSED, "args": ["--remote-debugging-pipe"]}, True, False),
    ],
)
def test_each_option_that_opens_something_is_seen(
    options: LaunchOptions, *, sandboxed: bool, port: bool
) -> None:
    assert exposure(options) == Exposure(sandboxed=sandboxed, port=port)


def test_the_doctor_says_that_there_is_no_sandbox_and_who_can_reach_the_port() -> None:
    answer = json.loads(called("doctor", "--json").out)

    found = {line["name"]: line for line in answer["lines"]}
    assert "--no-sandbox" in found["sandbox"]["found"]
    assert "other users of the machine can reach it" in found["devtools"]["found"]
    assert {found[name]["health"] for name in ("sandbox", "devtools")} == {"poor"}
    assert all("SECURITY.md" in found[name]["remedy"] for name in ("sandbox", "devtools"))
