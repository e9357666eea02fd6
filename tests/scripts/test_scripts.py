"""Fifty accepted trajectories of worlds and those of an application, as scripts in each language: whole, and broken."""

import json
import os
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from support.runs.commands import called, stepmill
from support.runs.library import Kept, RunLibrary

from scripts.npm import run_typescript
from scripts.running import run_python, serve_ledger, serve_world, without_last_act

pytestmark = pytest.mark.browser

MIN_SCRIPTS = 50
MIN_SHARE = 0.8
"""Of clicks on named controls, the share that role and name find."""

FAILING_MS = 8_000
RUN_SECONDS = 3_600.0

LANGUAGES: dict[str, tuple[str, Callable[..., CompletedProcess[str]]]] = {
    "python": ("test_*.py", run_python),
    "typescript": ("*.spec.ts", run_typescript),
}


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the scripts of the run at `STEPMILL_SCRIPTS_RUN`, or of one that is made for them."""
    base = tmp_path_factory.mktemp("worlds")
    run = os.environ.get("STEPMILL_SCRIPTS_RUN", f"{base}/run")
    if run == f"{base}/run":
        made = stepmill(
            *("generate", "--config", "configs/worlds.toml", "--no-prefect", f"--run={run}"),
            *("--set=tasks.seeds=[0,9]", "--set=tasks.sample=54", "--set=tasks.faults=0"),
            *("--set=browser.sessions=2", "--set=publish.to=[]"),
            seconds=RUN_SECONDS,
        )
        assert made.code == 0, made.err
    said = called("export", run, "--format=playwright", f"--to={base}/scripts", "--json")
    assert said.code == 0, said.err
    (base / "scripts/counts.json").write_text(json.dumps(said.answer["counts"]), "utf-8")
    return base / "scripts"


def failing(
    paths: list[Path],
    language: str,
    serve: Callable[[str], AbstractContextManager[str]],
    *,
    timeout_ms: int,
) -> dict[str, str]:
    """Return what the scripts that fail say, by their names; each has a server of its own, two run at once."""
    run = LANGUAGES[language][1]

    def attempt(path: Path) -> tuple[str, CompletedProcess[str]]:
        with serve(path.read_text("utf-8")) as url:
            return path.name, run(path, url, timeout_ms=timeout_ms)

    with ThreadPoolExecutor(2) as pool:
        ended = dict(pool.map(attempt, paths))
    return {name: one.stdout + one.stderr for name, one in ended.items() if one.returncode}


def broken(paths: list[Path], to: Path) -> list[Path]:
    """Return the scripts without their last acts, in another folder."""
    made = [to / path.name for path in paths]
    for path, one in zip(paths, made, strict=True):
        one.write_text(without_last_act(path.read_text("utf-8")), "utf-8")
    return made


def test_most_clicks_on_named_controls_are_on_a_role_and_a_name(scripts: Path) -> None:
    counts = json.loads((scripts / "counts.json").read_text("utf-8"))

    assert counts["scripts"] >= MIN_SCRIPTS
    assert counts["by_role"] >= MIN_SHARE * counts["clicks"] > 0
    named = sum(count for word, count in counts.items() if re.match("by_", word))
    assert named == counts["clicks"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_script_of_a_world_does_its_task_and_none_without_its_last_act(
    language: str, scripts: Path, tmp_path: Path
) -> None:
    paths = sorted(scripts.rglob(LANGUAGES[language][0]))
    assert len(paths) >= MIN_SCRIPTS

    assert failing(paths, language, serve_world, timeout_ms=60_000) == {}
    undone = broken(paths, tmp_path)
    fails = failing(undone, language, serve_world, timeout_ms=FAILING_MS)
    assert {path.name for path in undone} - set(fails) == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_script_of_an_application_does_its_task_and_none_without_its_last_act(
    language: str, run_library: RunLibrary, tmp_path: Path
) -> None:
    run, to = run_library.read(Kept.LEDGER).url, tmp_path / "scripts"
    assert called("export", run, "--format=playwright", f"--to={to}").code == 0
    paths = sorted(to.rglob(LANGUAGES[language][0]))

    def serve(_: str) -> AbstractContextManager[str]:
        return serve_ledger()

    assert failing(paths, language, serve, timeout_ms=60_000) == {}
    (tmp_path / "broken").mkdir()
    undone = broken(paths, tmp_path / "broken")
    assert len(failing(undone, language, serve, timeout_ms=FAILING_MS)) == len(paths) > 0
