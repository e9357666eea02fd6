"""Worlds, rows, tasks, databases and pages are the same in every process, and so is what tests keep of them."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from effort import THOROUGH
from source_tree import ROOT
from support.worlds import digests, drawn

from generators.worlds.drawing.draw import FAMILIES
from schemas.tasks.task import Task

SEEDS = [0, 1, 2, 2**63 - 1] if THOROUGH else [0, 2**63 - 1]

PLACES = [
    {"PYTHONHASHSEED": "1", "TZ": "Pacific/Kiritimati", "LC_ALL": "C"},
    {"PYTHONHASHSEED": "2", "TZ": "America/Adak", "LC_ALL": "C.UTF-8"},
][: 2 if THOROUGH else 1]
"""Where other processes are; they are as far from each other as can be, and nobody is where this one is."""


def _elsewhere(place: dict[str, str]) -> dict[str, str]:
    """Return what a process draws afresh."""
    done = subprocess.run(
        [sys.executable, digests.__file__, *map(str, SEEDS)],
        env=os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"} | place,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout)
    return found


def _kept_task(template_id: str, seed: int) -> Task:
    task = drawn.task(*template_id.split("/"), seed)
    assert task is not None
    return task


def test_what_a_seed_draws_is_the_same_in_every_process_and_as_it_is_kept(
    subtests: pytest.Subtests,
) -> None:
    here = digests.world_digests(SEEDS, drawn.whole)
    assert len(set(here.values())) == len(SEEDS) * len(FAMILIES)
    here |= digests.task_digests(_kept_task, drawn.tasks) | digests.application_digests()
    here |= asyncio.run(digests.visit_digests())

    for place in PLACES:
        there = _elsewhere(place)
        assert there.keys() == here.keys()
        for name, digest in there.items():
            with subtests.test(msg=f"{name} in {place['TZ']}"):
                assert here[name] == digest


@pytest.mark.parametrize("torn", ["", "0" * 64, "0" * 64 + '\n{"world": {}}', "\0"])
def test_what_is_kept_but_not_whole_is_drawn_again(
    torn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawn, "_folder", lambda: tmp_path)
    expected = drawn.read_or_keep("thing", lambda: [1, None])
    (kept,) = tmp_path.iterdir()
    whole = kept.read_text()
    kept.write_text(torn)

    assert drawn.read_or_keep("thing", lambda: [1, None]) == expected
    assert [path.read_text() for path in tmp_path.iterdir()] == [whole]
    assert drawn.read_or_keep("thing", lambda: pytest.fail("it is kept")) == expected


def test_a_specification_without_rows_is_that_of_the_whole_world() -> None:
    for family in FAMILIES:
        assert drawn.specification(family, 0) == drawn.world(family, 0)
