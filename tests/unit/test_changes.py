"""What a reader is told of changes: a short history, and fragments that can be put into it."""

import tomllib
from subprocess import run

from source_tree import ROOT

LINES = 60
"""Of the history of a version that has everything in it."""

SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["towncrier"]


def test_the_first_version_is_told_on_a_page() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    first = text[text.index("## 0.1.0") :]

    assert first.count("\n") <= LINES
    assert "<!-- towncrier release notes start -->" in text


def test_every_fragment_is_of_a_kind_and_can_be_put_into_it() -> None:
    kinds = {one["directory"] for one in SETTINGS["type"]}
    fragments = [one for one in (ROOT / "changes").iterdir() if one.name != "README.md"]

    for one in fragments:
        name, kind, suffix = one.name.split(".")
        assert (kind in kinds, suffix, bool(name)) == (True, "md", True), one.name
        assert one.read_text(encoding="utf-8").strip(), one.name
    done = run(
        [ROOT / ".venv/bin/towncrier", "build", "--draft", "--version=next"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
