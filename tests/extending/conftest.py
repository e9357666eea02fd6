"""What every extension is tried on: the small run that ships with the tests, in a folder of its own."""

import shutil
from pathlib import Path

import pytest
from conftest import GOLDEN


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Return a copy of a run with committed episodes and a sealed version."""
    return Path(shutil.copytree(GOLDEN / "run", tmp_path / "run"))
