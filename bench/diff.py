"""What comparing two large datasets costs: `stepmill diff` without its output, in a process of its own.

Each of the two has 100,000 rows of `steps` and as many of `observations`, of 5,000 episodes, and what else a
publication has of them: half a million rows in all. In a tenth of the episodes the second has another result and
other rows, in every file, so no file is the same on both sides and every row is read. A second figure is for a
dataset compared with a copy of itself, whose files need not be read. Pictures are small here, 4 kB of noise each,
because they are not read: a line holds that fewer bytes are read than the pictures have.

Lines: at most 60 s and 500 MB.
"""

import argparse
import asyncio
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from bench.measuring.process import alone, peak_mb
from bench.measuring.result import report
from bench.synthetic.rows import row_of
from schemas.base import content_hash, sha256_hex
from schemas.configuration.sections import AcceptSection, StorageSection
from schemas.tables.tables import Row
from storage.diff.diff import diff
from storage.diff.sides import dataset_side
from storage.publish.plan.config_columns import config_schema
from storage.publish.plan.manifest import MANIFEST, Counts, Manifest, PublishedFile
from storage.reading.place import open_dataset, open_place

MAX_SECONDS = 60.0
MAX_MB = 500.0
STEPS = 20
"""Steps of an episode."""

EPISODES_A_FILE = 500
TENTH = 10
PICTURE_BYTES = 4_000
ELEMENTS_CHARS = 3_000
VERIFIERS = ("structure", "steps", "outcome", "replay", "novelty")


def main() -> int:
    """Run the benchmark; the exit status says whether every line is held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100_000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="stepmill-bench-") as folder:
        base = Path(folder)
        rows = alone(make_dataset, base / "a", args.steps // STEPS, 0)
        alone(make_dataset, base / "b", args.steps // STEPS, TENTH)
        found = alone(compare, base / "a", base / "b")
        shutil.copytree(base / "a", base / "copy")
        copied = alone(compare, base / "a", base / "copy")
    held = (
        found["seconds"] <= MAX_SECONDS
        and found["peak_mb"] <= MAX_MB
        and found["read_mb"] <= 2 * args.steps * PICTURE_BYTES / 1e6
    )
    report(
        {
            "bench": "diff",
            "steps": args.steps,
            "rows": rows,
            **{name: round(value, 1) for name, value in found.items()},
            **{f"copy_{name}": round(value, 1) for name, value in copied.items()},
            "pictures_mb": round(2 * args.steps * PICTURE_BYTES / 1e6, 1),
            "max_seconds": MAX_SECONDS,
            "max_peak_mb": MAX_MB,
            "held": held,
        }
    )
    return 0 if held else 1


def make_dataset(place: Path, episodes: int, changed: int) -> int:
    """Write a dataset; return its rows. One episode of so many `changed` has other rows; 0: none has."""
    files = []
    for number, start in enumerate(range(0, episodes, EPISODES_A_FILE)):
        stretch = range(start, min(start + EPISODES_A_FILE, episodes))
        for config, rows in Stretch(stretch, changed).rows().items():
            path = (
                f"data/{config}/train-{number:05}-000-{content_hash([config, number])[:16]}.parquet"
            )
            target = place / path
            target.parent.mkdir(parents=True, exist_ok=True)
            table = pa.Table.from_pylist(list(rows), schema=config_schema(config))
            pq.write_table(table, target, row_group_size=4_096)
            data = target.read_bytes()
            files.append(
                PublishedFile(
                    path=path,
                    config=config,
                    split="train",
                    rows=table.num_rows,
                    bytes=len(data),
                    sha256=sha256_hex(data),
                    recipe=None,
                )
            )
    counts = dict.fromkeys(("episodes", "accepted", "trajectories", "tasks"), episodes)
    manifest = Manifest(
        run="0" * 32,
        version=1,
        rule=AcceptSection().model_dump(mode="json"),
        include_rejected=True,
        counts=Counts(rejected=0, unjudged=0, steps=episodes * STEPS, **counts),
        files=tuple(files),
    )
    (place / MANIFEST).write_bytes(manifest.to_bytes())
    return sum(file.rows for file in files)


@dataclass(frozen=True)
class Stretch:
    """The rows of a stretch of episodes; one of so many `changed` has other rows, 0: none has."""

    numbers: range
    changed: int

    def rows(self) -> Mapping[str, Iterator[Row]]:
        """Return the rows by config."""
        return {
            "attempts": self._episodes("attempts"),
            "trajectories": self._episodes("trajectories"),
            "steps": self._states("steps"),
            "observations": self._states("observations"),
            "verdicts": self._verdicts(),
            "tasks": self._tasks("tasks"),
            "results": self._tasks("results"),
        }

    def _is_other(self, number: int) -> bool:
        return self.changed > 0 and number % self.changed == 0

    def _episodes(self, config: str) -> Iterator[Row]:
        common = row_of(config_schema(config)) | {"status": "accepted", "failure_kind": None}
        for number in self.numbers:
            accepted = not self._is_other(number)
            status = "accepted" if accepted else "rejected"
            yield own(common, number) | {"status": status, "accepted": accepted}

    def _states(self, config: str) -> Iterator[Row]:
        common, random = row_of(config_schema(config)), Random(self.numbers.start)
        for number in self.numbers:
            anew = " anew" * self._is_other(number)
            for step in range(STEPS):
                more: Row = {"step": step, "title": f"page {number} {step}{anew}"}
                if config == "steps":
                    more["screenshot"] = {"bytes": random.randbytes(PICTURE_BYTES), "path": "x.jpg"}
                else:
                    more["elements"] = random.randbytes(ELEMENTS_CHARS // 2).hex() + anew
                yield own(common, number) | more

    def _verdicts(self) -> Iterator[Row]:
        common = row_of(config_schema("verdicts"))
        for number in self.numbers:
            more = {"status": "failed" if self._is_other(number) else "passed"}
            for place, name in enumerate(VERIFIERS):
                yield own(common, number) | {"verifier": name, "round": place} | more

    def _tasks(self, config: str) -> Iterator[Row]:
        common = row_of(config_schema(config))
        for number in self.numbers:
            yield own(common, number) | {"successes": int(self._is_other(number))}


def own(common: Row, number: int) -> Row:
    """Return a row of an episode; four episodes are attempts at one task of one of a hundred templates."""
    ids = {
        "episode_id": content_hash(["episode", number]),
        "task_id": content_hash(["task", number]),
        "content_sha256": content_hash(["content", number]),
        "template_id": f"template-{number % 100}",
        "policy": "teacher",
        "attempt": 0,
    }
    return {name: ids.get(name, value) for name, value in common.items()}


def compare(first: Path, second: Path) -> dict[str, float]:
    """Compare two datasets; return the seconds, the most MB that took, and the MB that were read."""
    begun, cpu, before = time.perf_counter(), time.process_time(), read_bytes()

    async def look() -> None:
        sides = []
        for place in (first, second):
            opened = await open_dataset(open_place(str(place), None, StorageSection()), None)
            sides.append(await asyncio.to_thread(dataset_side, opened, address=str(place)))
        found = await asyncio.to_thread(diff, *sides)
        differing.append(sum(one.changed for one in found.rows))

    differing: list[int] = []
    asyncio.run(look())
    return {
        "seconds": time.perf_counter() - begun,
        "cpu_seconds": time.process_time() - cpu,
        "peak_mb": peak_mb(),
        "read_mb": (read_bytes() - before) / 1e6,
        "changed": differing[0],
    }


def read_bytes() -> int:
    """Return the bytes that this process has read, from the disk or the system's cache."""
    return int(psutil.Process().io_counters().read_chars)


if __name__ == "__main__":
    sys.exit(main())
