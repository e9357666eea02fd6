"""What sessions need of a machine, held against what it allows."""

import resource
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from source_tree import ROOT

from flows.resources import machine
from flows.resources.machine import (
    DESCRIPTORS,
    DISK,
    MEMORY,
    PORTS,
    SHARED_MEMORY,
    THREADS,
    Machine,
    hold_against,
    prepare_machine,
)
from schemas.errors import BadConfig

LARGE = 1 << 40
ROOMY = Machine(
    descriptors=LARGE,
    threads=LARGE,
    memory=LARGE,
    shared_memory=LARGE,
    ports=LARGE,
    disk=LARGE,
    temporary=LARGE,
)
SESSIONS = 32

JUST_ENOUGH = {
    "descriptors": ("descriptors", DESCRIPTORS.of(SESSIONS), True),
    "threads": ("processes", THREADS.of(SESSIONS), True),
    "ports": ("ports", PORTS.of(SESSIONS), True),
    "memory": ("memory", MEMORY.of(SESSIONS), False),
    "shared_memory": ("shm", SHARED_MEMORY.of(SESSIONS), False),
    "disk": ("disk", DISK, False),
    "temporary": ("temporary", DISK, False),
}


def test_a_machine_that_allows_all_or_sets_no_limits_has_no_shortage() -> None:
    unlimited = replace(ROOMY, descriptors=None, threads=None, shared_memory=None, ports=None)

    assert list(hold_against(512, ROOMY)) == []
    assert list(hold_against(512, unlimited)) == []


@pytest.mark.parametrize("field", JUST_ENOUGH)
def test_one_less_than_is_needed_is_told_with_what_to_set(field: str) -> None:
    name, needed, fatal = JUST_ENOUGH[field]

    assert list(hold_against(SESSIONS, replace(ROOMY, **{field: needed}))) == []
    [short] = hold_against(SESSIONS, replace(ROOMY, **{field: needed - 1}))
    assert (short.name, short.fatal) == (name, fatal)
    assert short.remedy
    assert short.found


@pytest.mark.parametrize("field", ["memory", "shared_memory", "disk"])
def test_what_is_free_does_not_read_like_what_is_needed(field: str) -> None:
    _, needed, _ = JUST_ENOUGH[field]

    [short] = hold_against(SESSIONS, replace(ROOMY, **{field: needed - 2000}))
    free, most = short.found.split()[0], short.found.split()[-1]
    assert float(free) < float(most)


def test_the_number_of_sessions_that_would_do_is_named_and_does() -> None:
    [short] = hold_against(SESSIONS, replace(ROOMY, descriptors=256))

    assert short.found == f"256 open files a process; 32 sessions need {DESCRIPTORS.of(32)}"
    assert short.remedy == "set ulimit -n 352, or browser.sessions = 20 at most"
    assert list(hold_against(20, replace(ROOMY, descriptors=256))) == []
    assert len(list(hold_against(21, replace(ROOMY, descriptors=256)))) == 1


def test_where_no_session_would_do_none_is_advised() -> None:
    [short] = hold_against(1, replace(ROOMY, descriptors=64))

    assert short.remedy == "set ulimit -n 104"


def test_what_cannot_work_is_refused_and_what_may_run_short_is_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(machine, "look_at_machine", lambda *_: replace(ROOMY, memory=1, disk=1))
    prepare_machine(SESSIONS, "runs/x")
    assert [record.getMessage().partition(":")[0] for record in caplog.records] == [
        "memory",
        "disk",
    ]

    monkeypatch.setattr(machine, "look_at_machine", lambda *_: replace(ROOMY, threads=1, ports=1))
    with pytest.raises(BadConfig, match=r"^browser.sessions: 1 threads; .*\nbrowser.sessions: 1 p"):
        prepare_machine(SESSIONS, "runs/x")


_LOOKS = """
import resource, sys
from flows.resources.machine import look_at_machine
soft, hard, sessions = map(int, sys.argv[1:])
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
print(look_at_machine(sessions, "/not/there/yet").descriptors, *resource.getrlimit(resource.RLIMIT_NOFILE))
"""


@pytest.mark.parametrize(
    ("soft", "hard", "sessions", "then"),
    [
        (256, 4096, 64, (608, 608, 4096)),
        (256, 300, 64, (300, 300, 300)),
        (1024, 4096, 16, (1024, 1024, 4096)),
    ],
)
def test_the_limit_on_descriptors_is_raised_as_far_as_it_may_be_and_never_lowered(
    soft: int, hard: int, sessions: int, then: tuple[int, int, int]
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _LOOKS, str(soft), str(hard), str(sessions)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    assert tuple(map(int, done.stdout.split())) == then


def test_this_machine_is_looked_at(tmp_path: Path) -> None:
    found = machine.look_at_machine(1, str(tmp_path))

    assert found.memory > 0
    assert found.disk > 0
    assert found.temporary > 0
    assert found.ports is None or found.ports > 0
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    assert found.descriptors == (None if soft == resource.RLIM_INFINITY else soft)
