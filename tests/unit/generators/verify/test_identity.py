"""What can change a verdict is held by the verifier's version, or is in the verdict's evidence."""

import json
import shutil
from pathlib import Path

import pytest
import verifier_identity
from source_tree import ROOT
from verifier_identity import RECORD, changes, parts_of, verifiers

from generators.verify.registry import VERIFIER_NAMES

JUDGE_NOTHING = {"__init__", "panel", "protocol", "registry"}
"""Modules of `generators/verify` that hold no part of a verdict."""


@pytest.mark.parametrize("name", VERIFIER_NAMES)
def test_what_a_verifier_rests_on_is_what_its_version_stands_for(name: str) -> None:
    module, version = verifiers()[name]
    recorded = json.loads(RECORD.read_text(encoding="utf-8")).get(name)

    assert recorded is not None, f"{name} is not recorded: `make identity`"
    found = changes(parts_of(module), recorded["rests_on"])
    assert not found or recorded["version"] != version, (
        f"{', '.join(found)} changed, on which `{name}` {version} rests. If it judges any stored "
        f"episode differently, raise its version, then `make identity`; else `make identity SAME={name}`"
    )
    assert not found, f"`{name}` has a new version: `make identity` records what it stands for"


def test_every_module_that_judges_is_part_of_a_verifier() -> None:
    modules = {path.stem for path in (ROOT / "generators" / "verify").glob("*.py")}
    known = {path for module, _ in verifiers().values() for path in parts_of(module)}

    assert {f"generators/verify/{name}.py" for name in modules - JUDGE_NOTHING} <= known


EDITS = {
    "tries": ("generators/verify/replay.py", "MAX_REPLAYS = 2", "MAX_REPLAYS = 3", {"replay"}),
    "tolerance": ("generators/verify/pictures.py", "TOLERANCE = 24", "TOLERANCE = 25", {"replay"}),
    "comparison": (
        *("generators/verify/differences.py", "if recorded != found:", "if not recorded:"),
        {"structure", "replay"},
    ),
    "derivation": (
        *(
            "schemas/tasks/task.py",
            '    content: JsonObject = {\n        "site": site,',
            '    content: JsonObject = {\n        "place": site,',
        ),
        {"structure"},
    ),
    "threshold": (
        "generators/sites/miniwob.py",
        "reward=0.95,",
        "reward=0.5,",
        {"outcome", "replay"},
    ),
    "flag": (
        "generators/browser/chromium.py",
        "FLAGS = (",
        'FLAGS = (\n    "--other",',
        {"replay"},
    ),
    "script": ("generators/browser/page.js", "", "// ", {"replay"}),
    "script of a site": ("generators/sites/miniwob.js", "", "// ", {"outcome", "replay"}),
    "comment": ("generators/verify/replay.py", "MAX_REPLAYS = 2", "MAX_REPLAYS = 2  # so", set()),
    "docstring": ("generators/verify/replay.py", '"""Times an', '"""How many times an', set()),
    "import": (
        "generators/verify/replay.py",
        "import asyncio\n",
        "import ast\nimport asyncio\n",
        set(),
    ),
    "panel": ("generators/verify/panel.py", "MAX_ROUNDS = 3", "MAX_ROUNDS = 4", set()),
}
"""A change of the source, and the verifiers whose verdicts it may change."""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the sources."""
    root = tmp_path_factory.mktemp("tree")
    for package in ("generators", "schemas"):
        wanted = shutil.ignore_patterns("__pycache__", "policy", "engine", "rollout")
        shutil.copytree(ROOT / package, root / package, ignore=wanted)
    return root


@pytest.mark.parametrize(("file", "old", "new", "who"), EDITS.values(), ids=EDITS)
def test_a_change_is_found_by_the_verifiers_that_it_concerns(
    tree: Path, file: str, old: str, new: str, who: set[str]
) -> None:
    path = tree / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    known = {name: module for name, (module, _) in verifiers().items() if name in {*who, "replay"}}
    before = {name: parts_of(module, tree) for name, module in known.items()}

    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    try:
        found = {
            name for name, module in known.items() if changes(parts_of(module, tree), before[name])
        }
    finally:
        path.write_text(text, encoding="utf-8")

    assert found == who


def test_a_change_is_recorded_with_a_raised_version_or_a_developers_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tmp_path / RECORD.name
    monkeypatch.setattr(verifier_identity, "RECORD", record)
    assert verifier_identity.main([]) == 0
    true = json.loads(record.read_text(encoding="utf-8"))
    told = json.loads(record.read_text(encoding="utf-8"))
    told["replay"]["rests_on"]["generators/verify/pictures.py"] = "another"

    record.write_text(json.dumps(told), encoding="utf-8")
    assert verifier_identity.main([]) == 1
    assert "generators/verify/pictures.py changed" in capsys.readouterr().err
    assert json.loads(record.read_text(encoding="utf-8")) == told

    assert verifier_identity.main(["replay"]) == 0
    assert json.loads(record.read_text(encoding="utf-8")) == true

    told["replay"]["version"] = "of before"
    record.write_text(json.dumps(told), encoding="utf-8")
    assert verifier_identity.main([]) == 0
