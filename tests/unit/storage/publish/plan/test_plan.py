"""Which files a version comes to, and which of them a later version leaves as they are."""

from collections.abc import Callable
from itertools import chain

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.episodes.factories import make_task, make_unit, make_verdict
from support.runs.memory_run import (
    RULE,
    TEST,
    TRAIN,
    VALIDATION,
    MemoryRun,
    MemorySnapshot,
    commit_unit,
    later,
    small_run,
    tables_of,
)

from schemas.episodes.episode import StopReason
from schemas.verdicts.verdict import Status
from storage.publish.plan.config_columns import DATASET_CONFIGS, config_schema
from storage.publish.plan.plan import PublishPlan, _stretches, plan_files
from storage.publish.plan.selection import select

_SMALL = 40_000
"""Bytes at which files are cut where a test wants several: a few episodes' estimate."""


def _plan(
    snapshot: MemorySnapshot, *, shard_bytes: int = 1 << 30, include_rejected: bool = False
) -> PublishPlan:
    tables = tables_of(snapshot)
    chosen = select(tables, RULE, include_rejected=include_rejected)
    return plan_files(tables, chosen, run_id="0" * 32, shard_bytes=shard_bytes)


def _ids(plan: PublishPlan, config: str, split: str) -> list[str]:
    return list(
        chain.from_iterable(f.ids for f in plan.files if (f.config, f.split) == (config, split))
    )


def test_every_config_and_split_with_rows_has_a_file_and_no_other() -> None:
    files = [(f.config, f.split) for f in _plan(small_run().seal()).files]

    configs = ("trajectories", "steps", "tasks", *_JUDGED, "observations")
    every = [(c, s) for c in configs for s in _SPLITS]
    assert files == [*every, ("calls", "validation"), ("prompts", "validation")]


_SPLITS = ("train", "validation", "test")

_JUDGED = ("attempts", "results", "verdicts")
"""Configs with rows of every attempt."""


def test_tasks_are_all_there_whatever_became_of_them() -> None:
    run = MemoryRun()
    episodes = commit_unit(run, 1, TRAIN, tasks=3, attempts=1, rejects=[0, 1, 2])

    plan = _plan(run.seal())

    assert [f.config for f in plan.files] == ["tasks", *_JUDGED]
    assert sorted(_ids(plan, "tasks", "train")) == sorted(e.task_id for e in episodes)


def test_prompts_are_those_of_published_episodes() -> None:
    run = MemoryRun()
    commit_unit(run, 1, TRAIN, model=True, attempts=1, tasks=1, rejects=[0])
    commit_unit(run, 2, TRAIN)

    assert {f.config for f in _plan(run.seal()).files} == {
        "trajectories",
        "steps",
        "tasks",
        *_JUDGED,
        "observations",
    }


def test_an_episode_that_broke_before_its_first_picture_has_no_steps() -> None:
    run = MemoryRun()
    task = make_task(template=TEST)
    _, [episode] = make_unit([task], n_steps=0)
    broken = episode.model_copy(update={"steps": (), "stop_reason": StopReason.FAILED})
    run.commit([task], [broken])
    run.judge([make_verdict(broken, status=Status.FAILED)])

    files = _plan(run.seal(), include_rejected=True).files

    assert [f.config for f in files] == ["trajectories", "tasks", *_JUDGED]


def _grown() -> tuple[PublishPlan, PublishPlan]:
    """Return the plans of a run and of the same run some units later."""
    run = MemoryRun()
    for number in range(6):
        commit_unit(run, number, TRAIN, model=True)
    before = run.seal()
    for number in range(6, 9):
        commit_unit(run, number, TRAIN, model=True)
    return _plan(before, shard_bytes=_SMALL), _plan(run.seal(), shard_bytes=_SMALL)


@pytest.mark.parametrize(
    "config", ["steps", "trajectories", "observations", "calls", "tasks", *_JUDGED]
)
def test_a_later_version_changes_only_the_last_file_and_adds_more(config: str) -> None:
    before, after = ([f.recipe for f in plan.files if f.config == config] for plan in _grown())

    assert len(after) >= len(before)
    assert after[: len(before) - 1] == before[:-1]
    if config == "steps":
        assert len(before) > 2


def test_judging_an_episode_anew_changes_only_the_files_that_hold_it() -> None:
    run = MemoryRun()
    units = [commit_unit(run, number, TRAIN) for number in range(6)]
    before = _plan(run.seal(), shard_bytes=_SMALL)
    episode = units[2][1]
    run.judge([make_verdict(episode, verifier="replay", round_=1, status=Status.FAILED)])
    after = _plan(run.seal(), shard_bytes=_SMALL)

    kept = {f.recipe for f in after.files}
    changed = [f for f in before.files if f.recipe not in kept]
    assert {f.config for f in changed} == {"trajectories", "steps", "observations", *_JUDGED}
    assert all(episode.episode_id in {one.episode_id for one in f.episodes} for f in changed)
    assert len(changed) == 6


@pytest.mark.parametrize(
    "change",
    [
        lambda run: run.judge([]),
        lambda run: run.rows["steps"].reverse(),
        lambda run: run.rows.update(steps=[pa.concat_tables(run.rows["steps"])]),
    ],
    ids=["nothing", "order of files", "compaction"],
)
def test_a_recipe_does_not_depend_on_how_the_tables_lie(
    change: Callable[[MemoryRun], None],
) -> None:
    run = small_run()
    before = _plan(run.seal())
    change(run)

    assert _plan(run.seal()).files == before.files


def test_another_size_is_another_recipe() -> None:
    snapshot = small_run().seal()

    one, other = (_plan(snapshot, shard_bytes=size) for size in (1 << 20, 1 << 21))

    assert not {f.recipe for f in one.files} & {f.recipe for f in other.files}


def test_splits_are_disjoint_by_template() -> None:
    plan = _plan(small_run().seal())

    templates = {
        split: {e.template_id for f in plan.files if f.split == split for e in f.episodes}
        for split in _SPLITS
    }
    assert templates == {"train": {TRAIN}, "validation": {VALIDATION}, "test": {TEST}}


def test_every_config_has_columns() -> None:
    assert all(len(config_schema(config).names) for config in DATASET_CONFIGS)


def test_an_earlier_unit_that_is_committed_late_changes_only_files_from_there_on() -> None:
    run = MemoryRun()
    for number in (1, 2, 3, 4, 8, 9):
        commit_unit(run, number, TRAIN)
    before = _plan(run.seal(), shard_bytes=_SMALL)
    tasks = [make_task(777)]
    run.commit(tasks, [later(e, 5) for e in make_unit(tasks)[1]])
    after = _plan(run.seal(), shard_bytes=_SMALL)

    first, second = ([f for f in p.files if f.config == "steps"] for p in (before, after))
    assert first[:2] == second[:2]
    assert {e for f in first for e in f.ids} == {e for f in second for e in f.ids}


@given(
    st.lists(st.integers(min_value=1, max_value=50)),
    st.lists(st.integers(min_value=1, max_value=50)),
    st.integers(min_value=1, max_value=100),
)
def test_stretches_hold_everything_once_and_grow_at_the_end(
    items: list[int], more: list[int], limit: int
) -> None:
    cut = list(_stretches(items, lambda item: item, limit=limit))
    longer = list(_stretches([*items, *more], lambda item: item, limit=limit))

    assert list(chain.from_iterable(cut)) == items
    assert all(sum(stretch) <= limit or len(stretch) == 1 for stretch in cut)
    assert longer[: len(cut[:-1])] == cut[:-1]


@settings(max_examples=15)
@given(st.lists(st.sampled_from([*map(str, range(40))]), min_size=2, max_size=6))
def test_a_template_never_changes_its_split(templates: list[str]) -> None:
    run = MemoryRun()
    seen: dict[str, str] = {}
    for number, template in enumerate(templates):
        commit_unit(run, number, template, tasks=1, attempts=1)
        plan = _plan(run.seal())
        now = {e.template_id: f.split for f in plan.files for e in f.episodes}
        assert {known: now[known] for known in seen} == seen
        assert all((f.split == now[e.template_id]) for f in plan.files for e in f.episodes)
        seen = now
