"""What reading a published dataset takes: the time to its first row, and pictures that were not selected.

A run of 80 episodes of ten states, with JPEG pictures of some 100 kB, is published to a local Hub
and to a bucket of a local S3 server. Each reading is done by a process of its own.

* First row: seconds from asking `datasets` for the train split of `steps`, streamed, until a row is
  there with its picture decoded. Importing the library is not in it, nor is anything it may have
  kept: its caches are empty. The best of a few, because only other work can make one slower; on a
  busy machine it makes all of them slower; the result keeps the load.
* Columns: four small columns of every row of `steps`, by `datasets` (streamed), Polars and DuckDB,
  each as docs/dataset.md has it. What the servers gave out is on record, part by part, and the
  files' footers say which of these bytes are pictures.

Lines: a first row within a second from either; of the bytes of pictures at most 2 % are read. What
the Hub's client reads with its default read-ahead is reported without a line.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from random import Random

from PIL import Image

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from hub.publishing import TO, published_to  # noqa: E402
from hub.server import TOKEN, LocalHub  # noqa: E402
from support.runs.memory_run import RULE, STORAGE, make_run_file  # noqa: E402
from support.servers.read_ranges import Read, Spans, bytes_read, pictures_in  # noqa: E402
from support.servers.s3_read_log import Watching  # noqa: E402
from support.servers.seaweedfs import Weed  # noqa: E402

from bench.measuring.result import report  # noqa: E402
from bench.synthetic.published import EPISODES, make  # noqa: E402
from schemas.configuration.sections import PublishSection  # noqa: E402
from storage.publish.publish import publish  # noqa: E402

MAX_SECONDS = 1.0
MAX_SHARE = 0.02
SECONDS = 120
BUCKET = "s3://bucket/data"
FEW = ("datasets-streamed", "polars", "duckdb")
"""Readers that can do without the rest of a file."""


@dataclass(frozen=True)
class Server:
    """A server of the dataset, which records what was read."""

    place: str
    """What readers call the dataset there."""
    env: Mapping[str, str]
    """Of readers."""
    watched: Mapping[str, str]
    """Of readers whose readings are to be on record."""
    reads: list[Read]
    """The record so far."""

    def ask(self, what: str, reader: str, *, env: Mapping[str, str]) -> object:
        """Return what a reader found, in a process with nothing in its caches."""
        with tempfile.TemporaryDirectory(prefix="stepmill-bench-") as home:
            paths = os.pathsep.join(sys.path[:2])
            done = subprocess.run(
                [
                    sys.executable,
                    str(ROOT / "tests" / "support" / "stores" / "dataset_readers.py"),
                    what,
                    reader,
                    self.place,
                ],
                env={**os.environ, **env, "HF_HOME": home, "PYTHONPATH": paths},
                capture_output=True,
                text=True,
                check=False,
                timeout=SECONDS,
            )
        if done.returncode:
            raise SystemExit(done.stderr)
        output: object = json.loads(done.stdout)[self.place]
        return output

    def first_row(self, times: int) -> list[float]:
        """Return the seconds until there is a row, each time."""
        self.ask("first", FEW[0], env=self.env)  # what was uploaded in chunks is put together once
        seconds = []
        for _ in range(times):
            match self.ask("first", FEW[0], env=self.env):
                case {"all": float(taken)}:
                    seconds.append(taken)
        return seconds

    def share(self, what: str, reader: str, spans: Spans, rows: int) -> float:
        """Return the share of the pictures' bytes that a reading of small columns takes."""
        self.reads.clear()
        output = self.ask(what, reader, env=self.watched)
        if output != rows:
            raise SystemExit(f"{reader} found {output} of {rows} rows at {self.place}")
        _, pictures = bytes_read(self.reads, spans)
        return pictures / bytes_of(spans)


def bytes_of(spans: Spans) -> int:
    """Return how many bytes the pictures of all files are."""
    return sum(stop - start for parts in spans.values() for start, stop in parts)


def main() -> int:
    """Run the benchmark; the exit status says whether every line is held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=EPISODES)
    parser.add_argument("--times", type=int, default=7)
    args = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="stepmill-bench-") as folder,
        served(Path(folder), args.episodes) as (rows, spans, servers),
    ):
        firsts = {name: server.first_row(args.times) for name, server in servers.items()}
        shares = {
            f"{name} {reader}": server.share("small", reader, spans, rows)
            for name, server in servers.items()
            for reader in FEW
        }
        ahead = servers["hub"].share("unrestrained", FEW[0], spans, rows)
        pictures = bytes_of(spans)
    held = all(min(taken) <= MAX_SECONDS for taken in firsts.values())
    held = held and all(share <= MAX_SHARE for share in shares.values())
    rounded = {
        "first_row_seconds": {name: round(min(taken), 2) for name, taken in firsts.items()},
        "median": {name: round(statistics.median(taken), 2) for name, taken in firsts.items()},
        "max_seconds": MAX_SECONDS,
        "share_of_pictures": {name: round(share, 4) for name, share in shares.items()},
        "max_share": MAX_SHARE,
        "share_read_ahead": round(ahead, 3),
    }
    report({"bench": "reading", "held": held, "rows": rows, "mb": round(pictures / 1e6), **rounded})
    return 0 if held else 1


@contextmanager
def served(base: Path, episodes: int) -> Iterator[tuple[int, Spans, dict[str, Server]]]:
    """Publish a run; yield its steps, where their pictures lie, and who has them."""
    pictures = jpegs()
    run, _ = make(episodes=episodes, paint=lambda random: random.choice(pictures))
    snapshot, terms = run.seal(), PublishSection(private=False)
    (base / "weed").mkdir()
    weed = Weed(base / "weed")
    os.environ |= {**weed.environment, "HF_TOKEN": TOKEN}
    try:
        weed.start()
        weed.client().create_bucket(Bucket=BUCKET.split("/")[2])
        reports = [
            asyncio.run(publish(snapshot, make_run_file(), RULE, to, terms=terms, storage=STORAGE))
            for to in (BUCKET, str(base / "folder"))
        ]
        with LocalHub(base / "hub") as hub, Watching(weed.endpoint) as bucket:
            published_to(hub, snapshot, terms=terms)
            near, watched = {"HF_ENDPOINT": hub.url}, {"AWS_ENDPOINT_URL": bucket.endpoint}
            servers = {
                "hub": Server(TO, near, near, hub.reads),
                "bucket": Server(BUCKET, {}, watched, bucket.reads),
            }
            files = (base / "folder" / "data" / "steps").glob("*.parquet")
            yield reports[0].rows["steps"], pictures_in(files), servers
    finally:
        weed.kill()


def jpegs() -> Sequence[bytes]:
    """Return some pictures of the size that screenshots have."""
    random, made = Random(7), list[bytes]()
    for _ in range(40):
        file, sigma = BytesIO(), random.uniform(10, 40)
        Image.effect_noise((640, 480), sigma).convert("RGB").save(file, "JPEG", quality=75)
        made.append(file.getvalue())
    return made


if __name__ == "__main__":
    sys.exit(main())
