"""Whether pictures show their tasks and little else, and whether points are all over them.

Reads a published dataset in a folder, or a run, and prints two figures with their limits:

* the share of a picture that is the page's own content, in the mean over all pictures: every pixel
  that has not the colour of the bare page around a task of MiniWoB++, so neither the margin below a task
  nor what stays empty of an area that is kept for a menu counts. Beside it stands the share of the area that
  the site states for the task (`Site.area`), which counts such a menu whether it is open or not;
* the share of the clicked points in the emptiest quarter of the unit square. Points of drags, scrolls and
  other actions are told beside it.

The templates with the least content and those whose clicks are in the emptiest quarter are named.
"""

import argparse
import asyncio
import io
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import numpy as np
import pyarrow.dataset as ds
from PIL import Image

from bench.measuring.result import report
from generators.sites.miniwob import AREA
from generators.sites.miniwob_catalogue import catalogue
from schemas.configuration.sections import StorageSection
from schemas.tables.tables import Row
from storage.lake.lake import Lake
from storage.objects.urls import open_store
from storage.publish.plan.manifest import MANIFEST

MIN_CONTENT = 0.9
MIN_QUARTER = 0.07
MIDDLE = 0.5
BARE = (0x55, 0x55, 0x55)
"""The colour of a page of MiniWoB++ around its task."""

SHADES = 8
"""Levels by which a pixel's channels may differ from it."""

NAMED = 5
"""Templates named at most."""

Quarter = tuple[bool, bool]
"""Whether a point is in the right half, and whether in the lower one."""

Tables = Mapping[str, ds.Dataset]


class Figures(NamedTuple):
    """What was measured of the pictures and points of a dataset."""

    content: Mapping[str, Sequence[float]]
    """The share of each picture that is content, by template."""
    areas: Sequence[float]
    """The share of each picture that is the task's stated area."""
    clicks: Mapping[str, Counter[Quarter]]
    """Where the clicked points are, by template."""
    others: Counter[Quarter]
    """Where the other points are."""


def content_share(picture: bytes) -> float:
    """Return the share of a picture that is not the bare page, 0–1; 0 of one that does not decode."""
    try:
        with Image.open(io.BytesIO(picture)) as image:
            pixels = np.asarray(image.convert("RGB")).astype(np.int16)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return 0.0
    return float((np.abs(pixels - BARE).max(axis=2) >= SHADES).mean())


def area_share(template: str, width: int, height: int) -> float:
    """Return the share of a viewport that is the area which the site states for a task, 0–1."""
    entry = catalogue().get(template)
    own = AREA if entry is None or entry.area is None else entry.area
    return min(own[0], width) * min(own[1], height) / (width * height)


def quarter_shares(points: Mapping[Quarter, int]) -> dict[Quarter, float]:
    """Return the share of points in each quarter; none of any where there is no point."""
    total = sum(points.values())
    quarters = [(right, lower) for lower in (False, True) for right in (False, True)]
    return {one: points.get(one, 0) / total if total else 0.0 for one in quarters}


def measure(tables: Tables) -> Figures:
    """Return the figures of everything that is in tables of tasks, episodes and steps."""
    templates = {
        row["task_id"]: row["template_id"]
        for row in _rows(tables["tasks"], "task_id", "template_id")
    }
    sizes = ("viewport_width", "viewport_height")
    of = {
        row["episode_id"]: (templates[row["task_id"]], row[sizes[0]], row[sizes[1]])
        for row in _rows(tables["episodes"], "episode_id", "task_id", *sizes)
    }
    content: defaultdict[str, list[float]] = defaultdict(list)
    clicks: defaultdict[str, Counter[Quarter]] = defaultdict(Counter)
    areas: list[float] = []
    others: Counter[Quarter] = Counter()
    names = ("episode_id", "screenshot", "action_type", "x_norm", "y_norm")
    for batch in tables["steps"].to_batches(columns=list(names)):
        for row in batch.to_pylist():
            template, width, height = of[row["episode_id"]]
            content[template].append(content_share(row["screenshot"]["bytes"]))
            areas.append(area_share(template, width, height))
            if row["x_norm"] is not None:
                place = row["x_norm"] >= MIDDLE, row["y_norm"] >= MIDDLE
                (clicks[template] if row["action_type"] == "click" else others)[place] += 1
    return Figures(content, areas, clicks, others)


def _rows(table: ds.Dataset, *columns: str) -> list[Row]:
    return table.to_table(columns=list(columns)).to_pylist()


def summarise(found: Figures) -> dict[str, object]:
    """Return the figures as they are printed, with their limits and whether these are held."""
    clicked: Counter[Quarter] = sum(found.clicks.values(), Counter())
    shares = quarter_shares(clicked)
    emptiest = min(shares, key=lambda one: shares[one])
    means = {template: fmean(all_) for template, all_ in found.content.items()}
    content = fmean(share for all_ in found.content.values() for share in all_)
    there = Counter({name: own[emptiest] for name, own in found.clicks.items() if own[emptiest]})
    return {
        "bench": "pictures",
        "pictures": len(found.areas),
        "content": round(content, 4),
        "area": round(fmean(found.areas), 4),
        "min_content": MIN_CONTENT,
        "least_content": {
            name: round(means[name], 3)
            for name in sorted(means, key=lambda one: means[one])[:NAMED]
        },
        "clicks": clicked.total(),
        "quarters": {_name(one): round(share, 4) for one, share in shares.items()},
        "other_quarters": {_name(one): found.others[one] for one in shares},
        "emptiest": {"quarter": _name(emptiest), "templates": dict(there.most_common(NAMED))},
        "min_quarter": MIN_QUARTER,
        "held": content >= MIN_CONTENT and shares[emptiest] >= MIN_QUARTER,
    }


def _name(quarter: Quarter) -> str:
    right, lower = quarter
    return f"{'lower' if lower else 'upper'} {'right' if right else 'left'}"


def open_tables(place: str) -> Tables:
    """Return the tables of a published dataset in a folder, or of the last version of a run.

    Raises:
        NotFound: there is neither.
    """
    if (Path(place) / MANIFEST).exists():
        data = Path(place) / "data"
        names = {"tasks": "tasks", "episodes": "trajectories", "steps": "steps"}
        return {name: ds.dataset(data / config) for name, config in names.items()}
    return asyncio.run(_open_run(place))


async def _open_run(url: str) -> Tables:
    storage = StorageSection()
    lake = Lake(url, open_store(url, storage), storage)
    try:
        snapshot = await lake.snapshot()
        tables = {name: await snapshot.dataset(name) for name in ("tasks", "episodes", "steps")}
    finally:
        await lake.close()
    return {name: table for name, table in tables.items() if table is not None}


def main() -> int:
    """Measure a place; the exit status says whether both limits are held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("place", help="a published dataset in a folder, or a run's URL")
    place = parser.parse_args().place
    found = measure(open_tables(place))
    if not found.areas:
        parser.error(f"{place} holds no pictures")
    figures = summarise(found)
    report(figures)
    return 0 if figures["held"] else 1


if __name__ == "__main__":
    sys.exit(main())
