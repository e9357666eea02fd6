"""`make secrets` finds keys of each kind that people leave in files, and passes those that are planted."""

import subprocess
from pathlib import Path

import pytest
from source_tree import ROOT

KEYS = {
    "Amazon's": "AKIA" + "Q3EXR7ZKDN5MWB2L",
    "GitHub's": "ghp_" + "Zx81kPq7VbN3sLw0TyR5uJm2CfGh9DeA4iKo",
    "the Hub's": "hf_" + "QwErTyUiOpAsDfGhJkLzXcVbNmQwErTyUi",
    "OpenAI's": "sk-" + "aB3dE5fG7hJ9kL1mN2pQ" + "T3BlbkFJ" + "rS4tU6vW8xY0zA1bC3dE",
    "a private one": "-----BEGIN RSA " + "PRIVATE KEY-----",
}


def scan(folder: Path) -> subprocess.CompletedProcess[str]:
    """Scan the files of a repository as the gate does."""
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    subprocess.run(["git", "add", "-A"], cwd=folder, check=True)
    return subprocess.run(
        ["make", "-s", "-f", ROOT / "Makefile", "-C", ROOT, "secrets", f"SCANNED={folder}"],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("kind", KEYS)
def test_a_key_in_a_file_stops_the_gate(tmp_path: Path, kind: str) -> None:
    (tmp_path / "notes.md").write_text(f"first\nkey = {KEYS[kind]}\n")

    done = scan(tmp_path)

    assert done.returncode != 0
    assert "notes.md:2" in done.stdout + done.stderr


def test_planted_keys_stop_nothing(tmp_path: Path) -> None:
    (tmp_path / "planted.py").write_text('KEY = "AKIAPLANTEDPLANTED00"\n')

    assert scan(tmp_path).returncode == 0
