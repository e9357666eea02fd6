"""The example plug-in of `docs/extending.md`, built to a wheel and installed beside Stepmill."""

import shutil
import subprocess
import sys
from pathlib import Path

from source_tree import ROOT

SOURCE = ROOT / "tests" / "extending" / "plugin"
"""The package as it stands on the page."""

DISTRIBUTION = "stepmill-example 1.0"

_UV = Path(sys.executable).parent / "uv"


def build_plugin(work: Path) -> Path:
    """Return the wheel, built from a copy in `work`."""
    ignored = shutil.ignore_patterns("__pycache__")
    source = shutil.copytree(SOURCE, work / "source", ignore=ignored)
    _uv("build", "--wheel", "--offline", "--no-build-isolation", "--out-dir", work, source)
    return next(work.glob("*.whl"))


def install_plugin(wheel: Path, *where: str | Path) -> None:
    """Install the wheel and nothing else; `where` are the flags that say into what."""
    _uv("pip", "install", "--offline", "--no-deps", *where, wheel)


def _uv(*args: str | Path) -> None:
    done = subprocess.run(
        [_UV, *args, "--quiet"], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
