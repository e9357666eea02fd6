"""`manifest.json`: what a published dataset consists of, to the byte.

It is written after everything it lists, so it is the proof that a publication ended, and what the
next one compares its plan with. It says nothing of where the dataset lies or when it was
published: the same version makes the same manifest everywhere.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field, ValidationError

from schemas.acceptance import AcceptanceStatus
from schemas.base import JsonObject, Record
from schemas.errors import Damaged
from schemas.sections import AcceptSection
from storage.publish.plan.plan import CONFIGS, Plan

MANIFEST = "manifest.json"
"""Where it lies."""

CARD = "README.md"
"""Where the card lies."""

YIELD_PLOT = "plots/yield.svg"
"""Where the plot of the yield by template lies."""

LENGTH_PLOT = "plots/length.svg"
"""Where the plot of the episodes' lengths lies."""

TEXTS = (YIELD_PLOT, LENGTH_PLOT, CARD, MANIFEST)
"""What describes the data files, in the order it is written."""


class PublishedFile(Record):
    """One file of a published dataset."""

    path: str = Field(pattern=r"^[^/\\][^\\]*$")
    """Below the dataset's root, parts separated by `/`."""
    config: str | None
    """The config it belongs to; None for the card and its plots."""
    split: str | None
    """The split it belongs to; None for the card and its plots."""
    rows: int = Field(ge=0)
    """Rows; 0 for the card and its plots."""
    bytes: int = Field(ge=0)
    """Its size."""
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    """Of its bytes."""
    recipe: str | None
    """Hash of what it was made from; None for the card and its plots."""


class Counts(Record):
    """How many of what there are."""

    episodes: int
    """Committed in this version, whatever became of them."""
    accepted: int
    """Meet the rule."""
    rejected: int
    """Do not."""
    unjudged: int
    """Nothing failed, but something required was not judged."""
    trajectories: int
    """Published episodes."""
    steps: int
    """Their steps, the final states included."""
    tasks: int
    """Tasks attempted."""


class Manifest(Record):
    """What a published dataset consists of."""

    kind: Literal["stepmill dataset"] = "stepmill dataset"
    """Tells it from any other manifest."""
    layout: Literal[1] = 1
    """Grows when the meaning of this file changes."""
    run: str
    """The run's id."""
    version: int
    """The version of the run's tables."""
    rule: JsonObject
    """What an episode had to meet."""
    include_rejected: bool
    """Episodes that do not meet it are here too, labelled."""
    counts: Counts
    """How many of what there are."""
    files: tuple[PublishedFile, ...]
    """Every file but this one, by path."""

    def to_bytes(self) -> bytes:
        """Return the file's content."""
        return self.model_dump_json(indent=2).encode() + b"\n"


def read_manifest(data: bytes, where: str) -> Manifest:
    """Return the manifest that `data` holds.

    Raises:
        Damaged: it holds none of ours; `where` is named.
    """
    try:
        return Manifest.model_validate_json(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        raise Damaged(f"{where}: is no manifest of a dataset: {place}: {first['msg']}") from None


def make_manifest(plan: Plan, rule: AcceptSection, files: Sequence[PublishedFile]) -> Manifest:
    """Return the manifest of `plan` carried out as `files`."""
    chosen = plan.selection
    rows = rows_by_config(files)
    return Manifest(
        run=plan.run_id,
        version=plan.version,
        rule=rule.model_dump(mode="json"),
        include_rejected=chosen.include_rejected,
        counts=Counts(
            episodes=len(chosen.candidates),
            accepted=chosen.count(AcceptanceStatus.ACCEPTED),
            rejected=chosen.count(AcceptanceStatus.REJECTED),
            unjudged=chosen.count(AcceptanceStatus.UNJUDGED),
            trajectories=sum(rows.get("trajectories", {}).values()),
            steps=sum(rows.get("steps", {}).values()),
            tasks=sum(rows.get("tasks", {}).values()),
        ),
        files=tuple(sorted(files, key=lambda file: file.path)),
    )


def rows_by_config(files: Sequence[PublishedFile]) -> Mapping[str, Mapping[str, int]]:
    """Return the rows of each config and split, in the order of `CONFIGS`."""
    out: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for config in CONFIGS:
        for file in files:
            if file.config == config and file.split is not None:
                out[config][file.split] += file.rows
    return out
