"""The rows of a run, and readers in folders of their own."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from environments import Reader, run
from source_tree import ROOT


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A run of the demo."""
    given = os.environ.get("STEPMILL_TRAINERS_RUN")
    if given:
        return given
    url = tmp_path_factory.mktemp("run") / "demo"
    config = ROOT / "configs" / "demo.toml"
    options = ("--config", config, "--run", url, "--set", "publish.to=[]")
    run(ROOT / ".venv/bin/stepmill", "generate", *options)
    return str(url)


@pytest.fixture(scope="session")
def exports(demo: str, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Export a format of the run, once for each choice of options."""
    made: dict[tuple[str, ...], Path] = {}

    def export(*options: str) -> Path:
        if options not in made:
            made[options] = tmp_path_factory.mktemp("export") / "rows"
            to = ("--to", made[options])
            run(ROOT / ".venv/bin/stepmill", "export", demo, "--format", *options, *to)
        return made[options]

    return export


@pytest.fixture
def reader(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Reader:
    """Hand rows to trainers in a folder of the test's own."""
    return Reader(tmp_path, models=tmp_path_factory.getbasetemp() / "models")
