"""`manifest.json`: the files of a published dataset, with their hashes.

A publication writes it after everything it lists, so it proves that the publication ended, and the
next one compares its plan with it. It names neither the destination nor the time of publication: the
same version makes the same manifest everywhere.

A collection is a dataset over many runs at one place. Each publication of a run adds a night, or renews that of the
run, and gives the collection its next version. All that the card says of earlier nights is in their records, so that
adding a night reads none of their rows.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from pydantic import Field, ValidationError

from schemas.base import JsonObject, Record
from schemas.configuration.sections import AcceptSection
from schemas.errors import Damaged
from schemas.verdicts.acceptance import AcceptanceStatus
from storage.lake.withdrawals import Withdrawal
from storage.publish.plan.config_columns import DATASET_CONFIGS, config_schema
from storage.publish.plan.plan import PublishPlan

MANIFEST = "manifest.json"
"""The manifest's path."""

CARD = "README.md"
"""The card's path."""

YIELD_PLOT = "plots/yield.svg"
"""The path of the plot of the yield by template."""

LENGTH_PLOT = "plots/length.svg"
"""The path of the plot of the episodes' lengths."""

FILMSTRIP = "plots/filmstrip.png"
"""The path of the picture of one trajectory; absent if no trajectory is accepted."""

CONTACT_SHEET = "plots/pages.png"
"""The path of the picture of many first pages; absent if no trajectory is published."""

COLLECTION = "collection"
"""Stands in a manifest and in a mark where a dataset of one run has the run's id."""

TEXTS = (FILMSTRIP, CONTACT_SHEET, YIELD_PLOT, LENGTH_PLOT, CARD, MANIFEST)
"""The files that describe the data files, in the order in which they are written."""


class PublishedFile(Record):
    """One file of a published dataset."""

    path: str = Field(pattern=r"^[^/\\][^\\]*$")
    """Below the dataset's root, parts separated by `/`."""
    config: str | None
    """The config it belongs to; None for the card, its plots and the index of a night."""
    split: str | None
    """The split it belongs to; None for the card, its plots and the index of a night."""
    rows: int = Field(ge=0)
    """Rows; 0 for the card and its plots."""
    bytes: int = Field(ge=0)
    """Its size."""
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    """Hash of its bytes."""
    recipe: str | None
    """Hash of all that it was made from; None for the card, its plots and the index of a night."""
    nulls: tuple[str, ...] | None = None
    """The columns in which no row of its stretch has a value, all its parts together; None for the card
    and its plots, and where an earlier version wrote the manifest."""
    night: int | None = Field(default=None, ge=1)
    """The number of the night that it is from; None for the card and its plots, and in the dataset of one run."""


class Tally(Record):
    """Episodes by their status under the rule."""

    accepted: int = 0
    """Episodes that meet the rule."""
    rejected: int = 0
    """Episodes that do not."""
    unjudged: int = 0
    """Episodes of which nothing failed, but something required was not judged."""

    @property
    def total(self) -> int:
        """All of them."""
        return self.accepted + self.rejected + self.unjudged

    def __add__(self, other: "Tally") -> "Tally":
        """Return the sum of both."""
        return Tally(
            accepted=self.accepted + other.accepted,
            rejected=self.rejected + other.rejected,
            unjudged=self.unjudged + other.unjudged,
        )


class Night(Record):
    """One run in a collection."""

    number: int = Field(ge=1)
    """From 1, in the order in which the runs came."""
    run: str
    """The run's id."""
    version: int
    """The version of the run's tables."""
    name: str
    """The run's name, `run.name` of its configuration."""
    begun: str
    """The day on which the run began, `YYYY-MM-DD` in UTC."""
    added: int = Field(ge=1)
    """The version of the collection in which it came, or was last renewed."""
    license: str | None
    """The licence stated for it; None: none."""
    rule: JsonObject
    """The rule of acceptance."""
    include_rejected: bool
    """Whether episodes that do not meet the rule are included, labelled."""
    published: int = Field(ge=0)
    """Its trajectories."""
    copies: int = Field(ge=0)
    """Episodes left out as copies of trajectories of other nights."""
    near_copies: int = Field(ge=0)
    """Trajectories that are near copies of those of other nights, and say so."""
    held_back: int = Field(ge=0)
    """Episodes left out because another split shows their goal or their first picture."""
    templates: Mapping[str, Tally]
    """Its episodes by template."""
    policies: Mapping[str, Tally]
    """Its episodes by policy."""
    sites: Mapping[str, int]
    """Its trajectories by site."""
    splits: Mapping[str, str]
    """The split of each template."""
    select: JsonObject = Field(default_factory=dict)
    """What was selected of its episodes: the keys of the configuration's `select`; empty: all."""
    left_out: Mapping[str, int] = {}
    """Episodes that each key of the selection leaves out of its trajectories."""
    capped: Mapping[str, int] = {}
    """Its episodes by template that the caps of other nights count: its trajectories, and those that only the shares
    of its mixture leave out."""
    index: PublishedFile
    """The file by which later nights find what they repeat."""
    withdrawn: int = Field(default=0, ge=0)
    """Episodes of it that were withdrawn."""
    hours: float = Field(default=0.0, ge=0)
    """Hours from the start of its first episode to the end of its last one, pauses included."""

    @property
    def tally(self) -> Tally:
        """All its episodes by status."""
        return total(self.templates.values())

    @property
    def label(self) -> str:
        """The part of its run's id that stands in the names of its files."""
        return label_of(self.run)


def label_of(run_id: str) -> str:
    """Return the part of a run's id that stands in the names of its files."""
    return run_id[:8]


def total(tallies: Iterable[Tally]) -> Tally:
    """Return the sum of tallies."""
    return sum(tallies, Tally())


class Counts(Record):
    """How many episodes and rows there are."""

    episodes: int
    """Episodes committed in this version."""
    accepted: int
    """Episodes that meet the rule."""
    rejected: int
    """Episodes that do not."""
    unjudged: int
    """Episodes of which nothing failed, but something required was not judged."""
    trajectories: int
    """Published episodes."""
    steps: int
    """Their steps, the final states included."""
    tasks: int
    """Tasks attempted."""
    attempts: int | None = None
    """Episodes that are in a split, published or not; None where an earlier version wrote this file."""
    results: int | None = None
    """Policies at tasks; None where an earlier version wrote this file."""
    verdicts: int | None = None
    """Verdicts on `attempts`; None where an earlier version wrote this file."""


class Manifest(Record):
    """The contents of a published dataset."""

    kind: Literal["stepmill dataset"] = "stepmill dataset"
    """Distinguishes it from any other manifest."""
    layout: Literal[1, 2] = 1
    """Incremented when the meaning of this file changes: 2 is that of a collection, which has nights."""
    run: str
    """The run's id; `collection` for a collection."""
    version: int
    """The version of the run's tables, or of the collection."""
    rule: JsonObject
    """The rule of acceptance, in a collection that of the night that came last."""
    include_rejected: bool
    """Whether episodes that do not meet the rule are included, labelled."""
    counts: Counts
    """Its episodes and rows."""
    files: tuple[PublishedFile, ...]
    """Every file except this one, by path."""
    empty: tuple[str, ...] = ()
    """Recipes of stretches that were found to give no training row, and so have no file."""
    nights: tuple[Night, ...] = ()
    """The runs of a collection, by their numbers; empty for the dataset of one run."""
    former: tuple[PublishedFile, ...] = ()
    """Files of earlier versions of a collection that this one has no more; compaction removes them."""
    columns: Mapping[str, tuple[str, ...]] = {}
    """The columns of each config of a collection, those of its newest files; empty for the dataset of one run."""
    select: JsonObject = Field(default_factory=dict)
    """What was selected of the episodes: the keys of the configuration's `select`, in a collection those of the night
    that came last; empty: all."""
    withdrawn: tuple[Withdrawal, ...] = ()
    """The episodes that were withdrawn, in the order in which that was asked for."""

    def to_bytes(self) -> bytes:
        """Return the file's content, in a collection on one line; what only a collection has stands only there."""
        if self.nights:
            return self.model_dump_json().encode() + b"\n"
        left_out: dict[str, Any] = {
            name: True for name in _OF_COLLECTIONS if not getattr(self, name)
        }
        left_out["files"] = {"__all__": {"night"}}
        return self.model_dump_json(indent=2, exclude=left_out).encode() + b"\n"


_OF_COLLECTIONS = ("nights", "former", "columns", "select", "withdrawn")


def read_manifest(data: bytes, where: str) -> Manifest:
    """Return the manifest that `data` holds.

    Raises:
        Damaged: `data` is no manifest; the error names `where`.
    """
    try:
        return Manifest.model_validate_json(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        raise Damaged(f"{where}: is not a manifest of a dataset: {place}: {first['msg']}") from None


def make_manifest(
    plan: PublishPlan,
    rule: AcceptSection,
    files: Sequence[PublishedFile],
    withdrawn: Sequence[Withdrawal] = (),
) -> Manifest:
    """Return the manifest of `plan`, whose files came out as `files`; planned ones without any are empty."""
    chosen = plan.selection
    rows = row_counts(files)
    built = {file.recipe for file in files}
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
            trajectories=rows.get("trajectories", 0),
            steps=rows.get("steps", 0),
            tasks=rows.get("tasks", 0),
            attempts=rows.get("attempts", 0),
            results=rows.get("results", 0),
            verdicts=rows.get("verdicts", 0),
        ),
        files=tuple(sorted(files, key=lambda file: file.path)),
        empty=tuple(file.recipe for file in plan.files if file.recipe not in built),
        select=chosen.section.stated,
        withdrawn=tuple(withdrawn),
    )


def null_columns_by_config(files: Sequence[PublishedFile]) -> Mapping[str, tuple[str, ...]]:
    """Return the columns without a value in any row, for each config that has such columns."""
    out: dict[str, tuple[str, ...]] = {}
    for config in DATASET_CONFIGS:
        own = [set(file.nulls or ()) for file in files if file.config == config]
        names = set[str].intersection(*own) if own else set[str]()
        if names:
            out[config] = tuple(name for name in config_schema(config).names if name in names)
    return out


def rows_by_config(files: Sequence[PublishedFile]) -> Mapping[str, Mapping[str, int]]:
    """Return the rows of each config and split, in the order of `DATASET_CONFIGS`."""
    out: dict[str, dict[str, int]] = {config: defaultdict(int) for config in DATASET_CONFIGS}
    for file in files:
        if file.config is not None and file.split is not None:
            out[file.config][file.split] += file.rows
    return {config: splits for config, splits in out.items() if splits}


def row_counts(files: Sequence[PublishedFile]) -> dict[str, int]:
    """Return the rows of each config over all splits, in the order of `DATASET_CONFIGS`."""
    return {config: sum(splits.values()) for config, splits in rows_by_config(files).items()}
