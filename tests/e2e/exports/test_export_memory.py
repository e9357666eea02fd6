"""An export holds a bounded piece of a run at a time, however large the run is."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from source_tree import ROOT
from support.runs.memory_run import ONE_HEAP, TRAIN, MemoryRun, commit_unit

from schemas.base import sha256_hex
from schemas.tables.tables import Row
from storage.export.registry import FormatName

PADDING = bytes(100_000)
"""After a JPEG's end, where no decoder looks: a picture as heavy as a screenshot."""

JUDGED = (FormatName.PREFERENCE, FormatName.KTO, FormatName.STEP_LABELS)
"""Formats that write nothing of accepted episodes on which `steps` says nothing."""

NAMES = [name for name in FormatName if name not in JUDGED]

TOKENS = [*range(1_000_000, 1_000_500)]
"""Of a prompt."""

UNIT_BYTES = 24 * len(PADDING)
"""Of a unit's pictures: eight episodes of three rows."""

SMALL, LARGE = 4, 40
"""Units; the small run too is several of the pieces that are read together."""

NOTICED = 0.25
"""Of what the large run has more: what a peak may be higher by, and tell nothing. Of a run that is held whole it
is higher by all of it."""

EXPORTING = """
import sys
from pathlib import Path

import pyarrow.dataset as ds
from support.runs.exports import Parrot
from support.runs.memory_run import RULE

from storage.export.registry import FormatName, Pictures
from storage.export.export import export
from storage.export.format_factory import FormatParts, make_format
from storage.publish.plan import episode_reader
from storage.publish.plan.rows import Tables

episode_reader.PIECE_BYTES = 2_000_000
run, to = map(Path, sys.argv[1:3])
tables = Tables(version=1, datasets={path.name: ds.dataset(path) for path in run.iterdir()})
for name in sys.argv[3:]:
    format_ = make_format(FormatName(name), FormatParts(renderer=Parrot(), pictures=Pictures.DATA))
    export(tables, format_, to / name, run_id="r", rule=RULE)
status = Path("/proc/self/status").read_text().splitlines()
print(next(line for line in status if line.startswith("VmHWM")).split()[1])
"""


def _episode(row: Row) -> Row:
    return row | {"viewport_width": 1_000, "viewport_height": 667}


def _step(row: Row) -> Row:
    data = row["screenshot"]["bytes"] + PADDING
    picture = row["screenshot"] | {"bytes": data}
    digest = sha256_hex(data)
    box = row["target_tag"] and [5.0, 5.0, 30.0, 20.0]
    return row | {"screenshot": picture, "screenshot_sha256": digest, "target_bbox": box}


def _call(row: Row) -> Row:
    look = [{"type": "image", "step": row["step"]}]
    return row | {
        "messages": json.dumps([{"role": "user", "content": look}]),
        "prompt_token_ids": TOKENS,
    }


HEAVIER: dict[str, Callable[[Row], Row]] = {"episodes": _episode, "steps": _step, "calls": _call}
"""How rows of a table become as heavy as those of a real run."""


def write_run(place: Path, *, units: int) -> Path:
    """Write the tables of a run, a file a unit."""
    for number in range(units):
        run = MemoryRun()
        commit_unit(run, number + 1, TRAIN, tasks=4, model=True)
        for table, [part] in run.rows.items():
            rows = [HEAVIER.get(table, dict)(row) for row in part.to_pylist()]
            made = pa.Table.from_pylist(rows, schema=part.schema)
            (place / table).mkdir(parents=True, exist_ok=True)
            pq.write_table(made, place / table / f"{number}.parquet", compression="none")
    return place


def peak_of(run: Path, to: Path) -> int:
    """Return the most memory, bytes, of a process that exports a run to every format."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    done = subprocess.run(
        [sys.executable, "-c", EXPORTING, run, to, *NAMES],
        env={**os.environ, **ONE_HEAP, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout) * 1_024


@pytest.mark.full
def test_many_times_the_episodes_take_no_more_memory(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / f"run-{units}", units=units) for units in (SMALL, LARGE)]
    few, many = (peak_of(run, tmp_path / f"to-{run.name}") for run in runs)

    for name in NAMES:
        files = (tmp_path / f"to-{runs[1].name}" / name).rglob("*")
        assert sum(path.stat().st_size for path in files) > LARGE * UNIT_BYTES / 2, name
    assert many - few < NOTICED * (LARGE - SMALL) * UNIT_BYTES
