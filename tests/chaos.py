"""Small runs to be killed: their command, how it is started, and what must be true in the end.

A run over stand-ins is forked from a server process that has imported what it needs, so that one
costs a fraction of a second; the server itself never touches a table.
"""

import asyncio
import contextlib
import io
import json
import multiprocessing
import os
import shutil
import traceback
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.dataset as ds
from commands import SECONDS, Said
from doom import Doom, Fate, Instant, run
from playact import SCRIPT

from schemas.sections import StorageSection
from storage.access import Access
from storage.audit import audit
from storage.delta import Handle
from storage.objects import ObjectStore
from storage.places import open_store, open_tables, table_url
from storage.publish.folder import Folder
from storage.publish.manifest import MANIFEST
from storage.publish.proof import verify_published
from storage.publish.store import Store

ROUNDS = int(os.environ.get("STEPMILL_CHAOS_ROUNDS") or 4)
"""How often a run in a real browser is killed; all that is drawn here grows with it."""

KILLS = int(os.environ.get("STEPMILL_CHAOS_KILLS") or 20)
"""How many runs over stand-ins are killed at random moments, in a folder."""

BUCKET_KILLS = KILLS // 5
"""The same, in a bucket."""

THOROUGH = ROUNDS > 4
"""There is time."""

TIMEOUT = 0 if THOROUGH else 600
"""Seconds for one test; none at all if there is time."""

KILLED = -9
"""The exit code of a command that was killed."""

PART_BYTES = 4096
"""Small enough that every shard goes up in parts."""

VERIFIERS = ("structure", "outcome", "replay")
"""All that a run without an engine has."""

_BROKEN = 70
_ANSWERS = {"passed", "failed", "unsupported"}

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(
    [
        "PIL.GifImagePlugin",
        "PIL.JpegImagePlugin",
        "flows.cli_generate",
        "generators.browser.scripted",
        "miniwob",
        "pyarrow.acero",
        "pytest",
        "storage.audit",
        "storage.s3",
    ]
)


class Finished(NamedTuple):
    """What tells one rollout of an attempt from any other."""

    content_sha256: str
    started_at: datetime


@dataclass(frozen=True)
class Trial:
    """A run in a folder of its own, its dataset beside it, and the command that makes it."""

    base: Path
    """Where both lie."""
    settings: tuple[str, ...]
    """Of its configuration."""
    episodes: int
    """How many there are to be."""
    verifiers: tuple[str, ...] = VERIFIERS
    """Who judges."""
    scripted: bool = False
    """It is made of stand-ins."""
    bucket: str | None = None
    """Where the run lies, if not in the folder."""
    dataset: str | None = None
    """Where its dataset lies, if not in the folder."""
    part_bytes: int | None = None
    """What is larger goes up to a bucket in parts; None: as it always does."""

    @property
    def run(self) -> Path:
        return self.base / "run"

    @property
    def to(self) -> Path:
        return self.base / "to"

    @property
    def url(self) -> str:
        return self.bucket or str(self.run)

    @property
    def argv(self) -> tuple[str, ...]:
        settings = (
            f"run.url={self.url}",
            f'publish.to=["{self.dataset or self.to}"]',
            f"verify.verifiers={json.dumps(self.verifiers)}",
            f"accept.passed={json.dumps(self.verifiers)}",
            *self.settings,
        )
        return ("generate", "--no-prefect", "--json", *(f"--set={item}" for item in settings))

    def doom(self, **fate: Any) -> Doom:
        """Return the command with a fate."""
        return self.command(self.argv, **fate)

    def command(self, argv: tuple[str, ...], **fate: Any) -> Doom:
        """Return any command, with a fate, where the run's own would be carried out."""
        buckets = self.bucket or self.dataset
        names = [name for name in os.environ if name.startswith("AWS_")] if buckets else []
        return Doom(
            argv=argv,
            base=self.base,
            scripted=self.scripted,
            environ={name: os.environ[name] for name in names},
            part_bytes=self.part_bytes,
            **fate,
        )

    def finished(self) -> dict[str, Finished]:
        """Return every episode that is durable: in the spool, or committed."""
        out: dict[str, Finished] = {}
        for data in self.objects("spool/").values():
            head = json.loads(data)
            started = datetime.fromisoformat(head["started_at"])
            out[head["episode_id"]] = Finished(head["content_sha256"], started)
        return out | self.committed()

    def objects(self, prefix: str = "") -> dict[str, bytes]:
        """Return what lies in the run, by key."""
        return objects_at(self.url, prefix)

    def published(self) -> Path:
        """Return a folder that holds the dataset: its own, or a copy of what the bucket holds."""
        if self.dataset is None:
            return self.to
        folder = self.base / "copy"
        shutil.rmtree(folder, ignore_errors=True)
        for key, data in objects_at(self.dataset).items():
            (folder / key).parent.mkdir(parents=True, exist_ok=True)
            (folder / key).write_bytes(data)
        return folder

    def committed(self) -> dict[str, Finished]:
        """Return every committed episode; one that is there twice is a failure."""
        found = self.rows("episodes", "episode_id", "content_sha256", "started_at")
        out = {episode_id: Finished(*told) for episode_id, *told in found}
        assert len(out) == len(found), "an episode is committed twice"
        return out

    def rows(self, table: str, *columns: str) -> list[tuple[Any, ...]]:
        """Return columns of a table's rows; none where there is no table."""
        dataset = self.table(table)
        if dataset is None:
            return []
        found = dataset.to_table(columns=list(columns))
        return list(zip(*(column.to_pylist() for column in found.columns), strict=True))

    def table(self, name: str) -> ds.Dataset | None:
        """Return a table as it is now; None if there is none."""
        return Handle(name, table_url(self.url, name), _tables(self.url)).dataset()


def objects_at(url: str, prefix: str = "") -> dict[str, bytes]:
    """Return what lies at a place, by key; the store is asked from a loop of its own."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, _objects(url, prefix)).result()


async def _objects(url: str, prefix: str) -> dict[str, bytes]:
    store = _store(url)
    keys = [item.key async for item in store.list(prefix)]
    return {key: await store.get(key) for key in keys}


# A client of a bucket costs more than all that is asked of it here.
@lru_cache(8)
def _store(url: str) -> ObjectStore:
    return open_store(url, StorageSection())


@lru_cache(8)
def _tables(url: str) -> Access:
    return open_tables(url, StorageSection())


def scripted_trial(
    base: Path,
    *,
    episodes: int = 3,
    unit_size: int = 2,
    bucket: str | None = None,
    verifiers: tuple[str, ...] = VERIFIERS,
) -> Trial:
    """Return a run over stand-ins, which wins every episode in two clicks."""
    base.mkdir()
    script = base.with_suffix(".json")
    script.write_text(SCRIPT)
    settings = (
        "policy.name=scripted",
        f"policy.script={script}",
        'tasks.include=["click-test"]',
        f"tasks.seeds=[0, {episodes - 1}]",
        f"tasks.unit_size={unit_size}",
        "browser.viewport=[100, 100]",
        "browser.sessions=2",
    )
    return Trial(base, settings, episodes, verifiers, scripted=True, bucket=bucket)


def bucket_trial(base: Path, place: str, *, episodes: int = 2) -> Trial:
    """Return such a run at a place in a bucket, its dataset beside it, both written in parts."""
    verifiers = ("structure", "outcome")
    trial = scripted_trial(base, episodes=episodes, bucket=f"{place}/run", verifiers=verifiers)
    return replace(trial, dataset=f"{place}/to", part_bytes=PART_BYTES)


class Fork:
    """A command at work in a process of its own."""

    def __init__(self, doom: Doom) -> None:
        self._ear, mouth = _FORKS.Pipe(duplex=False)
        self._process = _FORKS.Process(target=_live, args=(doom.model_dump_json(), mouth))
        self._process.start()
        mouth.close()

    def end(self) -> Said:
        """Wait until it has ended, one way or another."""
        said = Said(KILLED, "", "")
        with contextlib.suppress(EOFError):  # killed processes say nothing
            if not self._ear.poll(SECONDS):
                self._process.kill()
            said = Said(*self._ear.recv())
        self._ear.close()
        self._process.join()
        return said


def fork(doom: Doom) -> Said:
    """Carry out a command in a process of its own."""
    return Fork(doom).end()


def finish(trial: Trial) -> None:
    """Run the same command to its end, and hold the run against what is promised."""
    before = trial.finished()
    said = fork(trial.doom())
    assert said.code == 0, said.err
    assert said.err == ""
    assert said.answer["rolled_out"] == trial.episodes - len(before)
    asyncio.run(assert_whole(trial, before))


def stop_and_finish(trial: Trial, at: Instant, fate: Fate = Fate.KILLED) -> bool:
    """Kill a run at an instant, if that comes, and finish it; return whether it came."""
    ended = fork(trial.doom(at=at, fate=fate))
    assert ended.code in {0, KILLED}, ended.err
    try:
        finish(trial)
    except AssertionError as error:
        error.add_note(f"it was killed at: {at}")
        raise
    return ended.code != 0


def _live(doom: str, mouth: "Connection[Any, Any]") -> None:
    out, err, code = io.StringIO(), io.StringIO(), _BROKEN
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = run(Doom.model_validate_json(doom))
        except Exception:  # noqa: BLE001 - it is told to the test
            err.write(traceback.format_exc())
    mouth.send((code, out.getvalue(), err.getvalue()))


async def assert_whole(trial: Trial, before: Mapping[str, Finished] | None = None) -> None:
    """Hold a run that has ended against everything that is promised of one.

    `before` are the episodes that were durable when it was stopped.
    """
    there = before or {}
    now = trial.committed()
    assert len(now) == trial.episodes
    assert {key: now.get(key) for key in there} == there, "an episode was rolled out again"
    _assert_rows_are_there_once(trial)
    report = await audit(_store(trial.url), deep=True)
    assert report.findings == ()
    to = trial.published()
    manifest = json.loads((to / MANIFEST).read_bytes())
    assert f"versions/{manifest['version']}.json" == max(trial.objects("versions/"))
    place = Folder(to) if trial.dataset is None else Store(_store(trial.dataset))
    assert (await verify_published(place, deep=True)).findings == ()
    published = ds.dataset(to / "data" / "trajectories").to_table(columns=["episode_id"])
    assert Counter(published.column("episode_id").to_pylist()) == Counter(_accepted(trial))


def _assert_rows_are_there_once(trial: Trial) -> None:
    heads = trial.rows("episodes", "episode_id", "task_id", "n_steps")
    wanted = Counter((key, step) for key, _, n_steps in heads for step in range(n_steps + 1))
    assert Counter(trial.rows("steps", "episode_id", "step")) == wanted
    assert Counter(trial.rows("observations", "episode_id", "step")) == wanted
    tasks = {(task_id,) for _, task_id, _ in heads}
    assert Counter(trial.rows("tasks", "task_id")) == Counter(tasks)


def _accepted(trial: Trial) -> set[str]:
    """Return the accepted episodes; every verifier answered once on what none before it failed."""
    found = trial.rows("verdicts", "episode_id", "verifier", "verifier_version", "round", "status")
    assert len({row[:4] for row in found}) == len(found), "a verdict is there twice"
    answers = [(*row[:2], row[4]) for row in found if row[4] in _ANSWERS]
    said = {(episode_id, verifier): status for episode_id, verifier, status in answers}
    assert len(said) == len(answers), "a question was answered twice"
    accepted: set[str] = set()
    for episode_id in trial.committed():
        statuses = [said.pop((episode_id, name), None) for name in trial.verifiers]
        asked = statuses[: statuses.index("failed") + 1] if "failed" in statuses else statuses
        assert None not in asked, "a verdict is missing"
        if set(asked) == {"passed"}:
            accepted.add(episode_id)
    return accepted
