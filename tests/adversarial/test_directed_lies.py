"""No lie told on purpose to the code that guards truth gets past the tests meant for it.

`make test` tells a few of them; `make adversarial` tells all, those about the pages' own part too.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from adversarial.directed_lies import Lie, read_lies
from effort import THOROUGH, TIMEOUT
from source_tree import ROOT

LIES = tuple(read_lies())
SAMPLE = tuple(lie for lie in LIES if not lie.browser)[::60]
"""Those that are told wherever tests run."""

pytestmark = pytest.mark.timeout(TIMEOUT)


def _told(*arguments: str | Path) -> list[dict[str, Any]]:
    """Return what came of these lies, told by a process that knows nothing of us."""
    script = ROOT / "tests/adversarial/directed_lies.py"
    done = subprocess.run(
        [sys.executable, script, *arguments], capture_output=True, text=True, check=False
    )
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == int(not all(one["noticed"] for one in told)), done.stderr
    return told


def test_every_lie_has_a_name_of_its_own() -> None:
    names = [lie.full_name for lie in LIES]

    assert len(names) == len(set(names))


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.full_name)
def test_a_lie_is_about_what_the_code_says_now(lie: Lie) -> None:
    compile(lie.source(), lie.file, "exec")
    assert all((ROOT / test).exists() for test in lie.tests)


def test_a_lie_about_what_the_code_says_no_more_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"found it 0 times; .*'no such text'"):
        LIES[0]._replace(old="no such text").source()


def test_what_changes_nothing_is_not_noticed_and_what_cannot_be_loaded_is_no_lie(
    tmp_path: Path,
) -> None:
    table = tmp_path / "lies.toml"
    table.write_text(
        """[[told]]
        file = "schemas/acceptance.py"
        tests = ["tests/unit/schemas/test_acceptance.py"]
        lies = [
          ["nothing", "accepted=not reasons", "accepted=not reasons"],
          ["no source", "class AcceptanceStatus", "1 / 0\\nclass AcceptanceStatus"],
          ["all is accepted", "accepted=not reasons", "accepted=True"],
        ]"""
    )

    told = _told("--table", table)

    assert [one["noticed"] for one in told] == [False, False, True]


def test_a_lie_is_noticed_by_the_tests_meant_for_it() -> None:
    chosen = LIES if THOROUGH else SAMPLE
    names = [] if THOROUGH else [lie.full_name for lie in SAMPLE]

    told = _told(*(["--browser"] if THOROUGH else []), *names)

    assert [one for one in told if not one["noticed"]] == []
    assert len(told) >= len(chosen)
