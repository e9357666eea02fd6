"""What finding repeats among very many episodes costs by their sketches, and how sure it is.

* Joining: a million new episodes, ten of each course, among which 1,000 copies and 1,000 near copies are
  planted, of 1 to 100 pictures; read from Parquet and joined in a process of its own. Its memory is that of
  one heap, as the tests measure it; what Arrow's own allocator keeps for later is told beside it.
* Appending: a night of 1,000 new episodes, a tenth of them copies and a tenth near copies, against a
  million that are published.
* Sureness: the share found of the planted ones, and of those whose every picture differs in all bits that it
  may; the share of strangers, whose every picture is another one, that seem to be near. An episode of
  which a single picture is another one is no near copy either: how many seem to be one is told, by the
  number of pictures, and held to no line, because a sketch has too few bits of each of very many pictures.

Lines: joining and appending within 300 s and 400 MB each; at least 95 % of the near copies found, and at most
0.1 % of the strangers taken for one.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import pyarrow as pa
import pyarrow.parquet as pq

from bench.measuring.process import alone, peak_mb
from bench.measuring.result import report
from bench.synthetic.sketches import Planted, plant, write_sketches
from storage.publish.plan.repeats import COLUMNS, Repeat, repeats_of

MAX_SECONDS = 300.0
MAX_MB = 400.0
MIN_FOUND = 0.95
MAX_FALSE = 0.001
PLANTED = 1_000
NIGHT = 1_000
FEW_PICTURES = 30


class Joined(NamedTuple):
    """What a join found and cost."""

    found: dict[str, Repeat]
    seconds: float
    """To read both files and to join them."""
    peak_mb: float
    """The most memory of its process."""


def main() -> int:
    """Run the benchmark; the exit status says whether every line is held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=1_000_000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="stepmill-bench-") as folder:
        figures = joining(Path(folder), args.episodes) | appending(Path(folder), args.episodes)
    held = (
        max(figures["join_seconds"], figures["append_seconds"]) <= MAX_SECONDS
        and max(figures["join_peak_mb"], figures["append_peak_mb"]) <= MAX_MB
        and min(figures["found_share"], figures["far_near_share"]) >= MIN_FOUND
        and min(figures["copy_share"], figures["append_found_share"]) >= MIN_FOUND
        and figures["false_share"] <= MAX_FALSE
    )
    limits = {
        "max_seconds": MAX_SECONDS,
        "max_peak_mb": MAX_MB,
        "min_found": MIN_FOUND,
        "max_false": MAX_FALSE,
    }
    rounded = {name: round(value, 5) for name, value in figures.items()}
    report({"bench": "duplicates", "episodes": args.episodes, **rounded, **limits, "held": held})
    return 0 if held else 1


def joining(base: Path, episodes: int) -> dict[str, float]:
    """Return what a join of new episodes alone costs, and how sure it is."""
    begun = time.process_time()
    planted = plant(PLANTED, salt="joining")
    each = (time.process_time() - begun) / (2 * len(planted))
    rows = [row for one in planted for row in ((one.base, one.base_sketch), _row(one))]
    strangers = episodes - len(rows)
    write_sketches(base / "new.parquet", strangers, rows)
    write_sketches(base / "none.parquet", 0, [])
    files = base / "none.parquet", base / "new.parquet"
    usual: Joined = alone(join, *files)
    joined = _join_on_one_heap(*files)
    named = {id_ for one in planted for id_ in (one.base, one.episode_id)}
    others = {id_ for id_, one in joined.found.items() if not {id_, one.original} <= named}
    one_other = [one for one in planted if one.kind == "one_other"]
    few = [one for one in one_other if one.pictures <= FEW_PICTURES]
    many = [one for one in one_other if one.pictures > FEW_PICTURES]
    return {
        "join_seconds": joined.seconds,
        "join_peak_mb": joined.peak_mb,
        "join_usual_peak_mb": usual.peak_mb,
        "plant_ms": each * 1e3,
        "copy_share": _share(planted, "copy", joined.found),
        "found_share": _share(planted, "near", joined.found),
        "far_near_share": _share(planted, "far_near", joined.found),
        "false_share": len(others) / strangers,
        "one_other_of_few_share": _share(few, "one_other", joined.found),
        "one_other_of_many_share": _share(many, "one_other", joined.found),
    }


def appending(base: Path, episodes: int) -> dict[str, float]:
    """Return what a night costs that is joined with what is published, and how sure it is."""
    planted = [one for one in plant(NIGHT // 10, salt="appending") if one.kind in ("copy", "near")]
    known = [(one.base, one.base_sketch) for one in planted]
    write_sketches(base / "published.parquet", episodes - len(known), known)
    write_sketches(base / "night.parquet", NIGHT - len(planted), [_row(one) for one in planted])
    joined = _join_on_one_heap(base / "published.parquet", base / "night.parquet")
    shares = [_share(planted, kind, joined.found) for kind in ("copy", "near")]
    return {
        "append_seconds": joined.seconds,
        "append_peak_mb": joined.peak_mb,
        "append_found_share": min(shares),
    }


def _join_on_one_heap(published: Path, new: Path) -> Joined:
    """Return what a process finds that gives freed memory back at once, as the tests measure memory."""
    from support.runs.memory_run import (  # noqa: PLC0415 - the measured process would hold it too
        ONE_HEAP,
    )

    with patch.dict(os.environ, ONE_HEAP):
        joined: Joined = alone(join, published, new)
    return joined


def join(published: Path, new: Path) -> Joined:
    """Read two files of sketches and join them."""
    begun = time.perf_counter()
    found = repeats_of(_read(published), _read(new))
    return Joined(found, time.perf_counter() - begun, peak_mb())


def _read(path: Path) -> pa.Table:
    """Return the rows of a file, read group by group: all at once they take twice the memory."""
    file = pq.ParquetFile(path)
    groups = (file.read_row_group(n, use_threads=False) for n in range(file.num_row_groups))
    return pa.concat_tables([COLUMNS.empty_table(), *groups])


def _row(one: Planted) -> tuple[str, bytes]:
    return one.episode_id, one.sketch


def _share(planted: Sequence[Planted], kind: str, found: dict[str, Repeat]) -> float:
    """Return the share of the planted episodes of a kind that are found beside their own."""
    own = [one for one in planted if one.kind == kind]
    is_near = kind != "copy"
    pairs = [((one.base, one.episode_id), (one.episode_id, one.base)) for one in own]
    told = sum(
        any(found.get(id_) == Repeat(original, is_near) for id_, original in pair) for pair in pairs
    )
    return told / len(own)


if __name__ == "__main__":
    sys.exit(main())
