"""Small runs, in a folder or a bucket: their command, and what it has left so far."""

import json
import os
import shutil
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.dataset as ds
from support.runs.fake_miniwob import SCRIPT
from support.runs.kill_at import Doom
from support.runs.locations import Place

PART_BYTES = 4096
"""Small enough that every shard goes up in parts."""

VERIFIERS = ("structure", "steps", "outcome", "novelty", "replay", "seen")
"""All that a run without an engine has."""

ALL_BUT_NOVELTY = tuple(name for name in VERIFIERS if name != "novelty")
"""For stand-ins, whose episodes are copies of one another."""


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
        return Place(self.url).objects(prefix)

    def published(self) -> Path:
        """Return a folder that holds the dataset: its own, or a copy of what the bucket holds."""
        if self.dataset is None:
            return self.to
        folder = self.base / "copy"
        shutil.rmtree(folder, ignore_errors=True)
        for key, data in Place(self.dataset).objects().items():
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
        return Place(self.url).table(name)


def scripted_trial(
    base: Path,
    *,
    episodes: int = 3,
    unit_size: int = 2,
    bucket: str | None = None,
    verifiers: tuple[str, ...] = ALL_BUT_NOVELTY,
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
