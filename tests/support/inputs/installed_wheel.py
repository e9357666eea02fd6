"""The wheel, as somebody installs it: built from the source distribution, beside the locked core alone."""

import os
import subprocess
import sys
from pathlib import Path

from source_tree import ROOT

BIN = Path(sys.executable).parent
REQUIREMENTS = ROOT / "requirements"


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command as a user would: outside the checkout, with nothing of it on any path."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env=kept,
    )


def must(*command: str | Path, cwd: Path) -> str:
    """Return what a command prints, which has to succeed."""
    done = run(*command, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


def build_wheel(out: Path, project: Path = ROOT) -> Path:
    """Return the wheel of a project, built by way of its source distribution."""
    must(BIN / "uv", "build", "--no-build-isolation", "--out-dir", out, project, cwd=ROOT)
    return next(out.glob("*.whl"))


def install_wheel(wheel: Path, home: Path, *more: str) -> Path:
    """Return the `bin` of a clean environment with the wheel, the locked core and `more` of the locked checks."""
    python = home / "venv/bin/python"
    where = ("--python", python)
    core = ("--require-hashes", REQUIREMENTS / "core.txt")
    must(BIN / "uv", "venv", "--python", sys.executable, home / "venv", cwd=home)
    must(BIN / "uv", "pip", "sync", *where, *core, cwd=home)
    must(BIN / "uv", "pip", "install", *where, "--no-deps", wheel, cwd=home)
    if more:
        must(BIN / "uv", "pip", "install", *where, "-c", REQUIREMENTS / "dev.txt", *more, cwd=home)
    return python.parent
