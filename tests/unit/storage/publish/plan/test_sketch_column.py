"""The column of sketches: in which configs it is, what it is made of, and which files it renews."""

import asyncio
from pathlib import Path

import pyarrow.dataset as ds
import pytest
from support.episodes.factories import make_task, make_unit, make_verdict
from support.runs.memory_run import RULE, MemoryRun, later, published, tables_of

from generators.verify.novelty import Novelty
from schemas.base import JsonObject
from schemas.episodes.episode import Episode
from schemas.tasks.task import Task
from storage.publish.plan.plan import plan_files
from storage.publish.plan.selection import select

TASK = make_task(1)


def _judged() -> tuple[MemoryRun, Episode]:
    """Return a run of one accepted episode, which `novelty` has not seen."""
    run = MemoryRun()
    _, [made] = make_unit([TASK])
    episode = later(made, 1)
    run.commit([TASK], [episode])
    run.judge([make_verdict(episode, verifier=name) for name in RULE.passed])
    return run, episode


def _fingerprint(run: MemoryRun, task: Task, episode: Episode, *, earlier: bool) -> str:
    """Have `novelty` judge an episode; return the sketch, which an earlier verdict of it did not hold."""
    evidence: JsonObject = dict(asyncio.run(Novelty().examine(task, episode)).evidence)
    sketch = str(evidence.pop("sketch") if earlier else evidence["sketch"])
    verdict = make_verdict(episode, verifier="novelty")
    run.judge([verdict.model_copy(update={"evidence": evidence})])
    return sketch


def _sketches(folder: Path, config: str) -> list[bytes | None]:
    return ds.dataset(folder / "data" / config).to_table()["sketch"].to_pylist()


@pytest.mark.parametrize("config", ["attempts", "trajectories"])
@pytest.mark.parametrize("earlier", [True, False])
def test_a_verdict_s_sketch_is_published_of_an_earlier_one_too(
    tmp_path: Path, config: str, *, earlier: bool
) -> None:
    run, episode = _judged()
    sketch = _fingerprint(run, TASK, episode, earlier=earlier)

    published(run.seal(), tmp_path)

    assert _sketches(tmp_path, config) == [bytes.fromhex(sketch)]


@pytest.mark.parametrize("config", ["attempts", "trajectories"])
def test_what_novelty_has_not_seen_has_no_sketch(tmp_path: Path, config: str) -> None:
    run, _ = _judged()

    published(run.seal(), tmp_path)

    assert _sketches(tmp_path, config) == [None]


def test_a_sketch_that_comes_later_renews_the_files_that_hold_it() -> None:
    run, episode = _judged()
    before = _recipes(run)
    _fingerprint(run, TASK, episode, earlier=False)
    after = _recipes(run)

    renewed = {config for config in before if before[config] != after[config]}
    assert renewed == {"attempts", "trajectories", "verdicts"}


def _recipes(run: MemoryRun) -> dict[str, str]:
    """Return the recipe of each config's file."""
    tables = tables_of(run.seal())
    selection = select(tables, RULE, include_rejected=False)
    plan = plan_files(tables, selection, run_id="r", shard_bytes=1 << 30)
    return {planned.config: planned.recipe for planned in plan.files}
