"""Publishes a version of a run to a destination.

`publish` chooses the kind of destination by its URL: a folder, a bucket or a repository on the
Hugging Face Hub. The plan, the files and the order of writes are the same for every kind.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping, Sequence

from schemas.base import Record, sha256_hex
from schemas.configuration.sections import AcceptSection, PublishSection, StorageSection
from schemas.configuration.select_section import SelectSection
from schemas.errors import Unwritable
from schemas.tables.training_renderer import Renderer
from schemas.verdicts.acceptance import AcceptanceStatus
from storage.lake.parquet_writer import MEGABYTE
from storage.objects.urls import folder, open_store
from storage.publish.apply import Applied, Progress, Publication
from storage.publish.card.card import CardFacts, make_card
from storage.publish.card.contact_sheet import contact_sheet, read_pages
from storage.publish.card.filmstrip import Film, filmstrip, read_film
from storage.publish.card.licences import refuse_unknown_licence
from storage.publish.card.loading import loading_lines
from storage.publish.card.plots import length_plot, yield_plot
from storage.publish.card.survey import Survey, survey
from storage.publish.card.yields import template_yields
from storage.publish.destinations.protocol import Destination
from storage.publish.destinations.store import FolderDestination, StoreDestination
from storage.publish.plan.manifest import (
    CARD,
    CONTACT_SHEET,
    FILMSTRIP,
    LENGTH_PLOT,
    MANIFEST,
    YIELD_PLOT,
    PublishedFile,
    make_manifest,
    row_counts,
)
from storage.publish.plan.plan import PublishPlan, TrainingTerms, plan_files
from storage.publish.plan.published_before import PublishedBefore
from storage.publish.plan.rows import SnapshotTables, Tables, open_tables, table_errors
from storage.publish.plan.selection import select
from storage.run_file import RunFile

LOG = logging.getLogger(__name__)


class PublishReport(Record):
    """The result of a publication."""

    destination: str
    """The destination's URL or path."""
    version: int
    """The version of the run published."""
    episodes: int
    """Episodes committed in this version."""
    accepted: int
    """The number of these that meet the rule."""
    rejected: int
    """The number of these that do not meet the rule."""
    unjudged: int
    """The number of these that lack a verdict that the rule needs."""
    rows: dict[str, int]
    """Rows by config."""
    files: int
    """Files of the dataset, with the card and its plots and without the manifest."""
    bytes: int
    """Their size."""
    put: int
    """Files written now; 0 if the dataset was complete already."""
    deleted: int
    """Files removed now."""
    loading: tuple[str, ...]
    """The lines of Python that load the dataset."""
    collection: int | None = None
    """The version of the collection; None: the dataset of one run."""
    night: int | None = None
    """The number of this run's night in the collection; None: the dataset of one run."""
    added: Mapping[str, int] = {}
    """Rows of this run in the collection, by config; empty: the dataset of one run."""
    left_out: Mapping[str, int] = {}
    """Episodes that each key of the selection leaves out; empty: none."""
    copies: int = 0
    """Episodes left out as copies of trajectories of other nights."""
    held_back: int = 0
    """Episodes left out because another split shows their goal or their first picture."""
    warnings: tuple[str, ...] = ()
    """In which the night did worse than those before it, in sentences."""

    @property
    def link(self) -> str:
        """Where people look at it: its page on the Hub, else its place."""
        if self.destination.startswith("hf://buckets/"):
            owner, name, *folders = self.destination.removeprefix("hf://buckets/").split("/")
            below = "/".join(["/tree", *folders]) if folders else ""
            return f"https://huggingface.co/buckets/{owner}/{name}{below}"
        name = self.destination.removeprefix("hf://datasets/")
        if name == self.destination:
            return self.destination
        repository, _, branch = name.partition("@")
        return f"https://huggingface.co/datasets/{repository}" + (f"/tree/{branch}" * bool(branch))


def _open_hub(to: str, terms: PublishSection, _: StorageSection) -> Destination:
    from storage.publish.destinations.hub import bucket, checks, destination  # noqa: PLC0415 - heavy, and only for this

    if checks.is_bucket_url(to):
        return bucket.BucketDestination(to, terms)
    return destination.HubDestination(to, terms)


Opener = Callable[[str, PublishSection, StorageSection], Destination]
"""Opens the destination that a URL names; nothing is asked or written there yet."""

OPENERS: dict[str, Opener] = {
    "hf": _open_hub,
    "s3": lambda to, _, storage: StoreDestination(open_store(to, storage)),
}
"""The kinds of destination by the scheme of their URL; everything else is a folder."""


def open_destination(to: str, terms: PublishSection, storage: StorageSection) -> Destination:
    """Return the destination at `to`; nothing is requested or written yet.

    Raises:
        BadConfig: nothing can be published to such a URL.
        Unwritable: the path is a file, not a folder.
    """
    opener = OPENERS.get(to.partition("://")[0].lower())
    return FolderDestination(folder(to)) if opener is None else opener(to, terms, storage)


async def publish(
    snapshot: SnapshotTables,
    run_file: RunFile,
    rule: AcceptSection,
    to: str,
    *,
    terms: PublishSection,
    storage: StorageSection,
    section: SelectSection | None = None,
    renderer: Renderer | None = None,
    progress: Progress | None = None,
) -> PublishReport:
    """Publish the episodes of `snapshot` that `rule` accepts to the destination at `to`.

    `section` selects among them; None: all. `renderer` knows the dialect of the training rows; without one none are
    published.

    Raises:
        BadConfig: nothing can be published to `to`, the credentials do not allow it, the Hub does not know the
            licence, or the selection selects nothing.
        NotFound: the version has no episodes.
        OtherRun: the destination holds the dataset of another run.
        Unwritable: the destination holds something else, or cannot be written.
        Conflict: another writer changed the dataset.
        Damaged: the run's tables are not complete.
    """
    destination = open_destination(to, terms, storage)
    return await publish_to(
        snapshot,
        run_file,
        rule,
        destination,
        terms=terms,
        shard_mb=storage.shard_mb,
        section=section,
        renderer=renderer,
        progress=progress,
    )


async def publish_to(
    snapshot: SnapshotTables,
    run_file: RunFile,
    rule: AcceptSection,
    destination: Destination,
    *,
    terms: PublishSection,
    shard_mb: int,
    section: SelectSection | None = None,
    renderer: Renderer | None = None,
    progress: Progress | None = None,
) -> PublishReport:
    """Publish the episodes of `snapshot` that `rule` accepts to `destination`; see `publish`."""
    refuse_unknown_licence(terms.license)
    there = (
        await destination.owned_listing(run_file.run_id)
    ).manifest  # refuse before the tables are read
    withdrawn = there.withdrawn if there else ()
    tables = await open_tables(snapshot)
    plan = await asyncio.to_thread(
        plan_version,
        tables,
        rule,
        run_id=run_file.run_id,
        include_rejected=terms.include_rejected,
        shard_bytes=shard_mb * MEGABYTE,
        training=training_terms(terms, renderer),
        withdrawn={one.episode for one in withdrawn},
        section=section,
    )

    await record_splits(snapshot, plan)

    counts, film, pages, pictures = await asyncio.to_thread(read_for_card, tables, plan)

    def describe(files: Sequence[PublishedFile]) -> Mapping[str, bytes]:
        name, stated = destination.name, terms.license
        facts = CardFacts(plan, files, run_file, rule, name, stated, counts, film, pages, withdrawn)
        return _texts(facts, pictures)

    publication = Publication(plan=plan, tables=tables, describe=describe)
    applied = await publication.apply(destination, progress=progress)
    return _report(plan, applied, destination)


def training_terms(terms: PublishSection, renderer: Renderer | None) -> TrainingTerms | None:
    """Return the published training rows; None without a renderer, and so without any."""
    if renderer is None:
        return None
    return TrainingTerms(terms.training_rows, renderer, terms.best_of)


async def record_splits(snapshot: SnapshotTables, plan: PublishPlan) -> None:
    """Record the split of each template in the run, before anything is written."""
    try:
        await snapshot.add_splits(plan.selection.splits.by_template)
    except Unwritable as error:
        LOG.warning(
            "the splits of this dataset are not recorded in the run, so that a later publication may "
            "put a template into another split: %s",
            error,
        )


def plan_version(
    tables: Tables,
    rule: AcceptSection,
    *,
    run_id: str,
    include_rejected: bool,
    shard_bytes: int,
    training: TrainingTerms | None,
    before: PublishedBefore | None = None,
    withdrawn: Collection[str] = (),
    section: SelectSection | None = None,
) -> PublishPlan:
    """Return the files of a run's version; `before` is what other nights of a collection published.

    Episodes of `withdrawn` are in none of them, and `section` selects which others are published.

    Raises:
        BadConfig: the selection cannot be evaluated, or selects nothing.
        NotFound: the version has no episodes.
        Damaged: the tables are not complete.
        BadTasks: the run was planned with another split of a template.
    """
    with table_errors(f"version {tables.version} of the run"):
        selection = select(
            tables,
            rule,
            include_rejected=include_rejected,
            before=before,
            withdrawn=withdrawn,
            section=section,
        )
        return plan_files(
            tables, selection, run_id=run_id, shard_bytes=shard_bytes, training=training
        )


def read_for_card(
    tables: Tables, plan: PublishPlan
) -> tuple[Survey, Film | None, Sequence[bytes], Mapping[str, bytes]]:
    """Return the card's counts, its trajectory and pages, and its pictures by path."""
    with table_errors(f"version {tables.version} of the run"):
        counts = survey(tables, plan.selection)
        film = read_film(tables, plan.selection, counts.viewports)
        pages = read_pages(tables, plan.selection)
    pictures = {} if film is None else {FILMSTRIP: filmstrip(film)}
    if pages:
        pictures[CONTACT_SHEET] = contact_sheet(pages)
    return counts, film, pages, pictures


def _texts(facts: CardFacts, pictures: Mapping[str, bytes]) -> Mapping[str, bytes]:
    """Return the files that describe the data files, by path, the manifest last."""
    texts = dict(pictures) | {
        YIELD_PLOT: yield_plot(template_yields(facts.plan.selection)),
        LENGTH_PLOT: length_plot(facts.plan.selection),
        CARD: make_card(facts).encode(),
    }
    listed = [*facts.files, *describe_texts(texts)]
    manifest = make_manifest(facts.plan, facts.rule, listed, facts.withdrawn)
    return texts | {MANIFEST: manifest.to_bytes()}


def describe_texts(texts: Mapping[str, bytes]) -> list[PublishedFile]:
    """Return how a manifest lists texts and pictures."""
    return [
        PublishedFile(
            path=path,
            config=None,
            split=None,
            rows=0,
            bytes=len(text),
            sha256=sha256_hex(text),
            recipe=None,
        )
        for path, text in texts.items()
    ]


def _report(plan: PublishPlan, applied: Applied, destination: Destination) -> PublishReport:
    rows = row_counts(applied.files)
    return PublishReport(
        destination=destination.address,
        version=plan.version,
        episodes=len(plan.selection.candidates),
        accepted=plan.selection.count(AcceptanceStatus.ACCEPTED),
        rejected=plan.selection.count(AcceptanceStatus.REJECTED),
        unjudged=plan.selection.count(AcceptanceStatus.UNJUDGED),
        rows=rows,
        files=len(applied.files) + applied.texts,
        bytes=sum(file.bytes for file in applied.files) + applied.text_bytes,
        put=applied.put,
        deleted=applied.deleted,
        loading=tuple(loading_lines(applied.files, destination.local_name)),
        left_out=plan.selection.left_out,
    )
