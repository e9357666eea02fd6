"""What holds of a browser's enclosure is found out on this machine, and stated in plain words."""

import errno
import json
import os
import subprocess

import pytest
from support.runs.commands import called

from flows.cli.doctor import Health, containment_lines
from generators.browser.process.enclosure import Confinement, Containment, _control, probe
from schemas.configuration.browser_section import BrowserSection, Sandbox

CLOSED = Containment(namespace="", user="", sandbox="")


def test_where_all_holds_nothing_is_open() -> None:
    assert CLOSED.levels == {
        "sandbox": "on",
        "user": "one of its own",
        "network": "a namespace with the gateway alone",
        "devtools": "a port in a network namespace of its own: no other program can reach it",
    }
    assert CLOSED.open == frozenset()
    assert {line.health for line in containment_lines(CLOSED)} == {Health.GOOD}


@pytest.mark.parametrize(
    ("missing", "is_open", "said"),
    [
        ({"sandbox": "S"}, {"sandbox"}, {"sandbox": "off: S"}),
        ({"user": "U"}, set(), {"user": "that of the run: U"}),
        (
            {"namespace": "N"},
            set(),
            {
                "network": "the gateway alone: N",
                "devtools": "a port that other users can reach, of a browser that can read nothing of this user's",
            },
        ),
        (
            {"namespace": "N", "user": "U"},
            {"devtools"},
            {"devtools": "a port without a lock: other users of the machine can reach it"},
        ),
    ],
)
def test_each_part_that_does_not_hold_is_stated(
    missing: dict[str, str], is_open: set[str], said: dict[str, str]
) -> None:
    found = CLOSED.model_copy(update=missing)

    assert found.open == is_open
    assert said.items() <= found.levels.items()
    poor = [line for line in containment_lines(found) if line.health is Health.POOR]
    assert {line.name for line in poor} == is_open
    assert all("SECURITY.md" in line.remedy for line in poor)


def test_the_doctor_states_what_this_machine_allows() -> None:
    answer = json.loads(called("doctor", "--json").out)

    found = {line["name"]: line["found"] for line in answer["lines"]}
    levels = probe().levels
    assert {name: found[name] for name in levels} == levels


def test_a_sandbox_that_is_switched_off_is_off_and_keeps_the_user() -> None:
    found = probe(Confinement(sandbox=Sandbox.OFF))

    assert (found.user, found.sandbox) == ("browser.sandbox is off", "browser.sandbox is off")


def test_a_configuration_says_what_is_wanted() -> None:
    section = BrowserSection(sandbox=Sandbox.OFF, user=4_711)

    assert Confinement.of(section) == Confinement(sandbox=Sandbox.OFF, user=4_711)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give the browser another user")
def test_root_s_browser_has_a_user_of_its_own() -> None:
    assert probe().user == ""


NO_MORE = (
    "echo 0 > /proc/sys/user/max_user_namespaces && echo 0 > /proc/sys/user/max_net_namespaces; "
    'exec "$@"'
)


def _reported(*unshare: str) -> Containment:
    """Return what the program reports in a user namespace in which no other namespace can be made."""
    with _control() as (listener, control):
        command = ("unshare", "--user", *unshare, "--keep-caps", "sh", "-c", NO_MORE, "sh")
        listener.settimeout(20)
        with subprocess.Popen([*command, *Confinement().command(control)]):
            line, _ = listener.accept()
            with line, line.makefile("rb") as reports:
                return Containment.model_validate_json(reports.readline())


@pytest.mark.skipif(
    subprocess.run(["unshare", "--user", "true"], check=False, capture_output=True).returncode != 0,
    reason="this machine allows no user namespaces",
)
@pytest.mark.parametrize("root", [True, False])
def test_where_no_namespaces_are_allowed_the_program_says_so_and_why(*, root: bool) -> None:
    found = _reported("--map-root-user") if root else _reported("--map-user=1000")

    full = os.strerror(errno.ENOSPC)  # what the kernel says where the limit is 0
    assert found.namespace == full
    assert found.user == (os.strerror(errno.EPERM) if root else "only root can give it another")
    assert found.sandbox == (
        "Chromium has none for root" if root else f"this user may make no user namespaces: {full}"
    )
    assert found.open == {"sandbox", "devtools"}
