"""`make lint` reads every script of pages, and stops at each kind of fault that is none of form."""

import subprocess
import sys
from pathlib import Path

import pytest
from source_tree import ROOT

LINTER = Path(sys.executable).parent / "oxlint"

SOUND = """// Each link of a page says where it leads.
(() => {
  "use strict";
  const words = (link) => (link ? link.textContent.trim() : null);
  for (const link of document.querySelectorAll("a[href]")) link.title = `${words(link)}: ${link.href}`;
})();
"""

FAULTS = {
    "no-undef": ("words(link)}:", "wrods(link)}:"),
    "no-unused-vars": ("(link) =>", "(link, unused) =>"),
    "no-implicit-globals": ("// Each", "const links = document.links;\n// Each"),
    "no-restricted-globals": ("link.textContent.trim()", "name.trim()"),
    "no-redeclare": ("(() => {", "(() => {\n  var at = 1;\n  var at = document;\n  at.focus();"),
    "no-use-before-define": ('"use strict";', '"use strict";\n  words(null);'),
    "no-var": ("const words", "var words"),
    "prefer-const": ("const words", "let words"),
    "eqeqeq": ("link ?", "link == true ?"),
    "no-console": ("for (const", "console.log(words(null));\n  for (const"),
    "no-unused-expressions": ("for (const", "words === null;\n  for (const"),
    "no-dupe-keys": ("for (const", "words.at = { a: 1, a: 2 };\n  for (const"),
    "require-await": ("(link) =>", "async (link) =>"),
    "no-fallthrough": (
        "for (const",
        "switch (words.length) {\n    case 1: words.a = 1;\n    default: words.a = 2;\n  }\n  for (const",
    ),
}
"""By the rule that finds it: what of the sound script is replaced, and by what."""


def lint(*paths: Path | str) -> subprocess.CompletedProcess[str]:
    """Have the linter read scripts as the gate does."""
    return subprocess.run(
        [LINTER, "--config=.oxlintrc.json", "--deny-warnings", "--format=unix", *paths],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )


def gate(scripts: Path) -> subprocess.CompletedProcess[str]:
    """Run the gate with the scripts of a folder in the place of ours."""
    return subprocess.run(
        ["make", "-s", "-f", ROOT / "Makefile", "-C", ROOT, "lint", f"SCRIPTS={scripts}"],
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_faulty_script_stops_the_gate_and_a_sound_one_does_not(tmp_path: Path) -> None:
    script = tmp_path / "links.js"
    script.write_text(SOUND)
    passed = gate(tmp_path)
    script.write_text(SOUND.replace(*FAULTS["no-undef"]))
    stopped = gate(tmp_path)

    assert passed.returncode == 0, passed.stdout + passed.stderr
    assert stopped.returncode != 0
    assert 'STOPPED at the gate "lint of scripts"' in stopped.stderr
    assert "links.js:5" in stopped.stdout


@pytest.mark.parametrize("rule", FAULTS)
def test_a_fault_is_found_by_its_rule(tmp_path: Path, rule: str) -> None:
    (tmp_path / "links.js").write_text(SOUND.replace(*FAULTS[rule]))

    done = lint(tmp_path)

    assert done.returncode == 1
    assert f"({rule})" in done.stdout, done.stdout


def test_a_script_that_is_no_javascript_is_found(tmp_path: Path) -> None:
    (tmp_path / "links.js").write_text(SOUND.replace("})();", "})(;"))

    assert lint(tmp_path).returncode == 1


def test_every_script_of_the_project_is_read() -> None:
    kept = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.js"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )

    read = lint("--debug=files", ".").stdout.split()

    assert sorted(read) == sorted(kept.stdout.split())
    assert len(read) > 10
