"""What `make mutants` asks and keeps, on a small tree whose tests notice some changes and some not."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import verification
from columns import renewed
from source_tree import ROOT

from bench.measuring.mutant_runner import Mutant
from bench.measuring.mutants import UNEXPLAINED, Kind, read_kinds, summary

TREE = {
    "pyproject.toml": """
        [tool.mutmut]
        source_paths = ["schemas"]
        only_mutate = ["schemas/sum.py"]
        pytest_add_cli_args_test_selection = ["tests"]
        pytest_add_cli_args = ["-p", "no:cacheprovider"]
        """,
    "schemas/__init__.py": "",
    "schemas/sum.py": '''
        import logging

        LOG = logging.getLogger(__name__)

        def added(one, other):
            """Return a sum."""
            LOG.info("adding %d", 1)
            if one > 100:
                raise ValueError(f"{one + 0} is too much")
            return one + other

        def forgotten():
            return 1 + 1
        ''',
    "tests/test_sum.py": """
        from schemas.sum import added

        def test_a_sum():
            assert added(2, 3) == 5

        def test_too_much():
            try:
                added(101, 0)
            except ValueError:
                return
            raise AssertionError
        """,
    "tests/adversarial/harmless.toml": """
        [[kind]]
        name = "the bound"
        why = "nobody adds as much"
        changes = [["schemas.sum.x_added", "one >= 100"]]
        """,
}


def _lines(text: str) -> str:
    return "\n".join(line.removeprefix("        ") for line in text.strip("\n").splitlines()) + "\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in TREE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(_lines(text))
    shutil.copytree(
        ROOT / "bench/measuring",
        tmp_path / "bench/measuring",
        ignore=shutil.ignore_patterns("*.json", "__pycache__"),
    )
    return tmp_path


def test_mutants_are_killed_or_survive_or_are_reached_by_no_test(tree: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench.measuring.mutants"],
        cwd=tree,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1, done.stderr
    kept = json.loads((tree / "bench/measuring/mutants.json").read_text())
    assert list(kept["modules"]) == ["schemas/sum.py"]
    assert kept["modules"]["schemas/sum.py"]["not_asked"] == 0
    changes = {kind: [one["change"] for one in of] for kind, of in kept["survivors"].items()}
    assert changes["the bound"] == ["- if one > 100:\n+ if one >= 100:"]
    assert "- return 1 + 1\n+ return 1 - 1" in changes[UNEXPLAINED]
    assert all("one + other" not in change for of in changes.values() for change in of)
    assert all(
        "LOG" not in change and "+ 1 is" not in change for of in changes.values() for change in of
    )
    assert kept["killed"] == kept["mutants"] - sum(map(len, changes.values())) > 0
    assert f"{kept['killed']} of {kept['mutants']} mutants killed" in done.stdout


def test_a_mutant_that_was_not_asked_about_counts_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Mutant, "change", lambda _: "- a\n+ b")
    found = summary(
        [
            Mutant("m.py", f"m.x_f__mutmut_{n}", code)
            for n, code in enumerate([1, 0, 33, None, -24])
        ],
        [Kind("harmless", "because", (("m.x_f", "+ b"),))],
    )

    assert (found["mutants"], found["killed"], found["share"]) == (4, 2, 0.5)
    assert found["modules"] == {"m.py": {"mutants": 4, "killed": 2, "not_asked": 1}}
    assert [len(of) for of in found["survivors"].values()] == [2]
    assert list(found["survivors"]) == ["harmless"]


def test_every_kind_of_survivor_has_a_reason_and_says_which_changes_are_of_it() -> None:
    for kind in read_kinds():
        assert len(kind.why) > len(kind.name), kind.name
        assert kind.changes, kind.name


def test_the_page_says_what_the_result_says() -> None:
    page = (ROOT / "docs/verification.md").read_text(encoding="utf-8")

    assert renewed(page, verification.PARTS) == page, "docs/verification.md is stale: `make docs`"
    result = verification.read_result()
    assert result["mutants"] == sum(one["mutants"] for one in result["modules"].values())
    assert result["share"] >= result["min_share"]
