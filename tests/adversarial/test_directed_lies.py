"""No lie told on purpose to the code that guards truth gets past the tests meant for it.

`make test` tells a few of them; `make test-full` tells all, those about the pages' own part too.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from adversarial.directed_lies import TABLE, read_lies
from effort import THOROUGH, TIMEOUT
from source_tree import ROOT

LIES = tuple(read_lies())
SAMPLE = tuple(lie for lie in LIES if not lie.browser)[::120]
"""Those that are told wherever tests run."""

OTHERS = """[[told]]
file = "schemas/verdicts/acceptance.py"
tests = ["tests/unit/schemas/verdicts/test_acceptance.py"]
lies = [
  ["nothing", "accepted=not reasons", "accepted=not reasons"],
  ["no source", "class AcceptanceStatus", "1 / 0\\nclass AcceptanceStatus"],
  ["everything is accepted", "accepted=not reasons", "accepted=True"],
]"""
"""What is no lie, and one."""

pytestmark = pytest.mark.timeout(TIMEOUT)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Return what came of the lies, told by a process that knows nothing of us."""
    others = tmp_path_factory.mktemp("lies") / "others.toml"
    others.write_text(OTHERS, encoding="utf-8")
    chosen = ["--browser"] if THOROUGH else [one.full_name for one in (*read_lies(others), *SAMPLE)]
    script = ROOT / "tests/adversarial/directed_lies.py"
    done = subprocess.run(
        [sys.executable, script, "--table", others, "--table", TABLE, *chosen],
        capture_output=True,
        text=True,
        check=False,
    )
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(told) >= 3, done.stderr
    assert done.returncode == 1, "two of the others are not noticed"
    return told


def test_every_lie_has_a_name_of_its_own() -> None:
    names = [lie.full_name for lie in LIES]

    assert len(names) == len(set(names))


def test_a_lie_is_about_what_the_code_says_now(subtests: pytest.Subtests) -> None:
    for lie in LIES:
        with subtests.test(msg=lie.full_name):
            source = lie.source()
            if lie.file.endswith(".py"):
                compile(source, lie.file, "exec")
            assert all((ROOT / test).exists() for test in lie.tests)


def test_a_lie_about_a_script_is_javascript(tmp_path: Path) -> None:
    scripts = [lie for lie in LIES if lie.file.endswith(".js")]
    for number, lie in enumerate(scripts):
        (tmp_path / f"{number}.js").write_text(lie.source(), encoding="utf-8")
    linter = Path(sys.executable).parent / "oxlint"

    done = subprocess.run(
        [linter, "--allow=all", tmp_path], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout
    assert f"on {len(scripts)} files" in done.stdout


def test_a_lie_about_what_the_code_says_no_more_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"found it 0 times; .*'no such text'"):
        LIES[0]._replace(old="no such text").source()


def test_what_changes_nothing_is_not_noticed_and_what_cannot_be_loaded_is_no_lie(
    told: list[dict[str, Any]],
) -> None:
    assert [one["noticed"] for one in told[:3]] == [False, False, True]


def test_a_lie_is_noticed_by_the_tests_meant_for_it(told: list[dict[str, Any]]) -> None:
    chosen = LIES if THOROUGH else SAMPLE

    assert [one for one in told[3:] if not one["noticed"]] == []
    assert {one["lie"] for one in told[3:]} == {one.full_name for one in chosen}
