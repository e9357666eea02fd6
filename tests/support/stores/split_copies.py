"""What a published dataset has in two splits, told from its rows alone.

It shares no code with what assigns splits: it decodes pictures, reads goals its own way, and takes first
pictures for the same that look alike at the size of the page, however large each was taken.
"""

import hashlib
import io
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pyarrow.parquet as pq
from PIL import Image

from schemas.tables.tables import Row

QUOTES = {'"': '"', "'": "'", "“": "”", "\u2018": "\u2019", "«": "»"}
"""What opens a quotation, and what closes it."""

ALIKE = 1.0
"""Levels of grey, of 255, by which first pictures that are the same may differ in the mean."""

SHARE = 20
"""One group in so many has to be in each small split."""


@dataclass(frozen=True)
class Shown:
    """A trajectory, and what would give it away in another split."""

    split: str
    template: str
    goal: tuple[str, ...]
    """Its words, without numbers and what is quoted."""
    trajectory: str
    """A hash of the pixels of all pictures, and of the actions."""
    first: np.ndarray
    """The first picture, grey, a pixel for two CSS px of the page each way."""
    pages: frozenset[str]
    """Where it starts, and the first title."""

    def in_split(self, split: str) -> "Shown":
        """Return it as if it were published in another split."""
        return replace(self, split=split)


def words(goal: str) -> tuple[str, ...]:
    """Return the words of a goal without numbers and quotations."""
    kept, closing = "", ""
    for at, char in enumerate(goal):
        before, after = goal[at - 1 : at], goal[at + 1 : at + 2]
        if closing:
            if char == closing and not after.isalnum():
                closing = ""
        elif char in QUOTES and not before.isalnum():
            closing = QUOTES[char]
            kept += " … "
        else:
            kept += char
    bare = (word.strip(".,;:!?").lower() for word in kept.split())
    return tuple("#" if any(map(str.isdigit, word)) else word for word in bare)


def read_shown(folder: Path) -> list[Shown]:
    """Return all trajectories of a dataset that is published in a folder."""
    templates = {row["task_id"]: row["template_id"] for _, row in _rows(folder, "tasks")}
    steps: defaultdict[str, list[Row]] = defaultdict(list)
    for _, row in _rows(folder, "steps"):
        steps[row["episode_id"]].append(row)
    return [
        _shown(split, row, templates[row["task_id"]], steps[row["episode_id"]])
        for split, row in _rows(folder, "trajectories")
    ]


def _rows(folder: Path, config: str) -> Iterator[tuple[str, Row]]:
    for path in sorted((folder / "data" / config).glob("*.parquet")):
        for row in pq.read_table(path).to_pylist():
            yield path.name.partition("-")[0], row


def _shown(split: str, row: Row, template: str, steps: list[Row]) -> Shown:
    steps.sort(key=lambda step: int(step["step"]))
    pictures = [Image.open(io.BytesIO(_bytes(step))).convert("RGB") for step in steps]
    digest = hashlib.sha256()
    for step, picture in zip(steps, pictures, strict=True):
        digest.update(repr(picture.size).encode() + picture.tobytes())
        digest.update(json.dumps(json.loads(step["action"]), sort_keys=True).encode())
    size = row["viewport_width"] // 2, row["viewport_height"] // 2
    first = pictures[0].convert("L").resize(size, Image.Resampling.BOX)
    url = urlsplit(steps[0]["url"])
    return Shown(
        split=split,
        template=template,
        goal=words(row["instruction"]),
        trajectory=digest.hexdigest(),
        first=np.asarray(first).astype(float),
        pages=frozenset({url.netloc + url.path, f"{row['site']}: {steps[0]['title']}"}),
    )


def _bytes(step: Row) -> bytes:
    picture = step["screenshot"]
    return bytes(picture["bytes"] if isinstance(picture, dict) else picture)


def looks_alike(one: np.ndarray, other: np.ndarray) -> bool:
    """Return whether two first pictures show the same, as far down as both reach."""
    height = min(one.shape[0], other.shape[0])
    if one.shape[1] != other.shape[1]:
        return False
    return float(np.abs(one[:height] - other[:height]).mean()) < ALIKE


def _shares(one: Shown, other: Shown) -> Iterator[str]:
    """Yield what two trajectories have in common."""
    if one.trajectory == other.trajectory:
        yield "trajectory"
    if looks_alike(one.first, other.first):
        yield "first picture"
    if one.goal == other.goal:
        yield "goal"
    if one.pages & other.pages:
        yield "page"


def copies(rows: Sequence[Shown]) -> set[tuple[str, ...]]:
    """Return what stands in two splits, with the templates that have it."""
    return {
        (what, *sorted((one.template, other.template)))
        for one, other in combinations(rows, 2)
        if one.split != other.split
        for what in _shares(one, other)
    }


def group_counts(rows: Sequence[Shown]) -> dict[str, int]:
    """Return how many groups of templates that share something each split has."""
    groups = {row.template: {row.template} for row in rows}
    splits = {row.template: row.split for row in rows}
    for one, other in combinations(rows, 2):
        joined = groups[one.template]
        if other.template not in joined and any(_shares(one, other)):
            joined |= groups[other.template]
            groups |= dict.fromkeys(joined, joined)
    counts: defaultdict[str, int] = defaultdict(int)
    for members in {frozenset(group) for group in groups.values()}:
        counts[splits[min(members)]] += 1
    return dict(counts)
