"""A run's tables in memory, for tests of publication that need no lake."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
from support.episodes.factories import (
    RUN_ID,
    make_prompt,
    make_step,
    make_task,
    make_unit,
    make_verdict,
)
from support.runs.unit_rows import unit_rows

from schemas.configuration.config import RunConfig
from schemas.configuration.sections import AcceptSection, PublishSection, StorageSection
from schemas.configuration.select_section import SelectSection
from schemas.episodes.episode import Episode, steps_sha256
from schemas.tables.tables import Row, arrow_schema, to_row
from schemas.tables.training_renderer import Renderer
from schemas.tasks.task import Task
from schemas.verdicts.verdict import Status, Verdict
from storage.lake.lake import Lake
from storage.objects.local import LocalStore
from storage.publish.destinations.store import FolderDestination
from storage.publish.plan.rows import Tables, open_tables
from storage.publish.publish import PublishReport, publish
from storage.publish.verify import Discrepancy, verify_published
from storage.run_file import RunFile, create_run

ONE_HEAP = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "ARROW_IO_THREADS": "1",
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": "65536",
    "OMP_NUM_THREADS": "1",
}
"""The environment of a process whose memory is measured: one heap, and what is freed leaves the
process at once. Allocators that keep memory for each thread would be measured instead."""

TRAIN, VALIDATION, TEST = "click-test", "click-color", "enter-text"
"""Templates, one of each split; a test holds them to that."""


@dataclass(frozen=True)
class MemorySnapshot:
    """A sealed version whose tables lie in memory, one fragment a unit."""

    version: int
    rows: Mapping[str, Sequence[pa.Table]]
    splits: dict[str, str] = field(default_factory=dict)
    gone: Collection[str] = ()

    async def dataset(self, table: str) -> ds.Dataset | None:
        tables = self.rows.get(table, ())
        if not any(part.num_rows for part in tables):
            return None
        return ds.dataset([ds.dataset(part) for part in tables])

    async def known_splits(self) -> Mapping[str, str]:
        return dict(self.splits)

    async def withdrawn(self) -> Collection[str]:
        return self.gone

    async def add_splits(self, splits: Mapping[str, str]) -> None:
        self.splits.update(splits)


@dataclass
class MemoryRun:
    """Units as they are committed, and the snapshots in between."""

    rows: dict[str, list[pa.Table]] = field(default_factory=dict)
    version: int = 0
    splits: dict[str, str] = field(default_factory=dict)
    """What publications of its snapshots assigned."""

    def commit(self, tasks: Sequence[Task], episodes: Sequence[Episode]) -> None:
        for table, rows in unit_rows(tasks, episodes).items():
            self._append(table, rows)

    def judge(self, verdicts: Sequence[Verdict]) -> None:
        self._append("verdicts", [to_row(verdict) for verdict in verdicts])

    def seal(self) -> MemorySnapshot:
        self.version += 1
        rows = {name: list(parts) for name, parts in self.rows.items()}
        return MemorySnapshot(self.version, rows, self.splits)

    def _append(self, table: str, rows: Sequence[Row]) -> None:
        made = pa.Table.from_pylist(list(rows), schema=arrow_schema(table))
        self.rows.setdefault(table, []).append(made)


RULE = AcceptSection()
"""What an episode must meet in these tests: structure, outcome and replay."""

STORAGE = StorageSection(shard_mb=64)
"""How these tests write files."""


def tables_of(snapshot: MemorySnapshot) -> Tables:
    """Return the snapshot's tables, opened."""
    return asyncio.run(open_tables(snapshot))


def commit_unit(
    run: MemoryRun,
    number: int,
    template: str,
    *,
    tasks: int = 2,
    attempts: int = 2,
    model: bool = False,
    rejects: Collection[int] = (),
    n_steps: int = 2,
    alike: bool = False,
) -> list[Episode]:
    """Commit and judge a unit, a minute after the one before; `rejects` are places in it.

    Where they are `alike`, all episodes of a template begin with the same picture.
    """
    made = [make_task(number * 100 + place, template=template) for place in range(tasks)]
    prompt = make_prompt() if model else None
    _, episodes = make_unit(made, attempts=attempts, n_steps=n_steps, prompt=prompt)
    episodes = [later(_alike(one) if alike else one, number) for one in episodes]
    run.commit(made, episodes)
    run.judge(
        [
            make_verdict(
                episode, verifier=verifier, status=_status(verifier, reject=place in rejects)
            )
            for place, episode in enumerate(episodes)
            for verifier in RULE.passed
        ]
    )
    return episodes


def _status(verifier: str, *, reject: bool) -> Status:
    return Status.FAILED if reject and verifier == "replay" else Status.PASSED


def _alike(episode: Episode) -> Episode:
    """Return an episode that begins with the picture that every episode of its page begins with."""
    first, *others = episode.steps
    shown = make_step(0, picture=sum(episode.start_url.encode()), action=first.action)
    update = {
        "screenshot": shown.screenshot,
        "screenshot_sha256": shown.screenshot_sha256,
        "screenshot_phash": shown.screenshot_phash,
        "page": first.page.model_copy(update={"dom_sha256": shown.page.dom_sha256}),
    }
    steps = (first.model_copy(update=update), *others)
    return episode.model_copy(update={"steps": steps, "content_sha256": steps_sha256(steps)})


def small_run(*, alike: bool = False) -> MemoryRun:
    """Return a run with something in every config and split, and something rejected.

    Of one whose episodes are `alike` the card shows three first pages and not ten: to draw those takes
    longer than all else of a publication.
    """
    run = MemoryRun()
    commit_unit(run, 1, TRAIN, rejects=[1], alike=alike)
    commit_unit(run, 2, VALIDATION, model=True, alike=alike)
    commit_unit(run, 3, TEST, rejects=[0], alike=alike)
    return run


def make_run_file(run_id: str = RUN_ID, *, name: str = "a run") -> RunFile:
    return RunFile(
        run_id=run_id,
        created_at=datetime(2026, 1, 2, tzinfo=UTC),
        identity={},
        config={"run": {"name": name}},
        provenance={"commit": "abc123", "stepmill": "0.1.0"},
    )


def later(episode: Episode, minutes: int) -> Episode:
    """Return `episode` as if it had been attempted some minutes later."""
    return episode.model_copy(
        update={
            name: getattr(episode, name) + timedelta(minutes=minutes)
            for name in ("started_at", "ended_at")
        }
    )


def published(
    snapshot: MemorySnapshot,
    to: Path,
    *,
    run_file: RunFile | None = None,
    shard_mb: int = 64,
    renderer: Renderer | None = None,
    section: SelectSection | None = None,
    **terms: Any,
) -> PublishReport:
    """Publish a snapshot to a folder on these terms and wait for it; with a renderer training rows too."""
    return asyncio.run(
        publish(
            snapshot,
            run_file or make_run_file(),
            RULE,
            str(to),
            terms=PublishSection(**terms),
            storage=StorageSection(shard_mb=shard_mb),
            section=section,
            renderer=renderer,
        )
    )


async def publish_stored(at: Path, to: Path, renderer: Renderer | None = None) -> PublishReport:
    """Publish the last version of the run that lies in a folder."""
    store = LocalStore(at)
    run = await create_run(store, RunConfig(), provenance={})
    lake = Lake(str(at), store, StorageSection())
    report = await publish(
        await lake.snapshot(),
        run,
        RULE,
        str(to),
        terms=PublishSection(),
        storage=STORAGE,
        renderer=renderer,
    )
    await lake.close()
    return report


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def written_at(folder: Path) -> dict[str, int]:
    """Return when each file and folder was last written."""
    return {str(path): path.stat().st_mtime_ns for path in [folder, *folder.rglob("*")]}


def findings(folder: Path) -> list[tuple[Discrepancy, str]]:
    """Return how a published folder differs from its manifest."""
    proof = asyncio.run(verify_published(FolderDestination(folder), deep=True))
    return [(f.kind, f.path) for f in proof.findings]


def two_versions() -> tuple[MemorySnapshot, MemorySnapshot]:
    """Return a version of a run, and a later one that adds, changes and removes files."""
    run = MemoryRun()
    episodes = commit_unit(run, 1, TRAIN, tasks=1)
    alone = commit_unit(run, 2, TEST, tasks=1, attempts=1)
    before = run.seal()
    commit_unit(run, 3, TRAIN, tasks=1, model=True)
    run.judge(
        [
            make_verdict(episode, verifier="replay", round_=1, status=Status.FAILED)
            for episode in (episodes[0], alone[0])
        ]
    )
    return before, run.seal()
