"""Adds a run to a collection: its files, its index, and the next version.

Nothing that is published already is written again. The order is that of every publication: missing data files first,
then the pictures and the card, then the manifest, by which the version exists. A night that is published twice changes
nothing; a run that has gone on since renews its night. Where another night ended meanwhile, the plan is made anew on
top of it, so that both get in.
"""

import asyncio
import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from schemas.configuration.sections import AcceptSection, PublishSection
from schemas.configuration.select_section import SelectKey, SelectSection
from schemas.errors import BadConfig, Conflict, Unfinished, Unwritable
from schemas.tables.training_renderer import Renderer
from schemas.verdicts.acceptance import AcceptanceStatus
from storage.lake.parquet_writer import MEGABYTE
from storage.publish.apply import Progress, Publication, has_file
from storage.publish.card.card import title_of
from storage.publish.card.filmstrip import Film
from storage.publish.card.licences import refuse_unknown_licence
from storage.publish.collection.falls import falls
from storage.publish.collection.index import index_file, make_index, read_before
from storage.publish.collection.restate import Contents, Shown, collection_texts, empty_recipes
from storage.publish.collection.versions import (
    check_unchanged,
    claim_version,
    end_version,
    loading_of,
    unlisted_versions,
)
from storage.publish.destinations.ownership import MARK, OwnedListing
from storage.publish.destinations.protocol import Destination, is_version
from storage.publish.plan.candidate import Candidate
from storage.publish.plan.config_columns import DATASET_CONFIGS, config_schema
from storage.publish.plan.manifest import (
    COLLECTION,
    Manifest,
    Night,
    PublishedFile,
    Tally,
    label_of,
    row_counts,
)
from storage.publish.plan.plan import PublishPlan
from storage.publish.plan.published_before import PublishedBefore
from storage.publish.plan.rows import SnapshotTables, Tables, open_tables
from storage.publish.plan.selection import Selection
from storage.publish.publish import (
    PublishReport,
    plan_version,
    read_for_card,
    record_splits,
    training_terms,
)
from storage.run_file import RunFile

MAX_TRIES = 20
"""How often a night is planned anew because another one ended meanwhile."""

LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class NightSource:
    """A run at a version, and the terms on which it is added."""

    snapshot: SnapshotTables
    """The version of its tables."""
    run: RunFile
    """Its `run.json`."""
    rule: AcceptSection
    """The rule of acceptance."""
    terms: PublishSection
    """Licence, training rows, and what else is published."""
    shard_mb: int
    """The size above which a file is split, MiB."""
    section: SelectSection = field(default_factory=SelectSection)
    """What is selected of its episodes."""
    renderer: Renderer | None = None
    """The dialect of its training rows; None: none are published."""


async def append(
    source: NightSource, open_place: Callable[[], Destination], progress: Progress | None = None
) -> PublishReport:
    """Add a run to the collection at a place, which may be empty; `open_place` opens it anew for each try.

    Raises:
        BadConfig: the collection has another licence, a newer version of the run, or columns that this version of
            the program does not know; or the selection selects nothing.
        BadTasks: the run was planned with another split of a template than it is published in.
        NotFound: the version has no episodes.
        OtherRun: the place holds the dataset of one run.
        Unwritable: the place holds something else, or cannot be written.
        Unfinished: the publication had begun, and the place cannot be written any longer.
        Conflict: other nights ended there again and again, or one did where one writer is taken at a time, or
            somebody changed a file that was published.
        Damaged: the run's tables, or the collection's, are not complete.
    """
    refuse_unknown_licence(source.terms.license)
    for left in reversed(range(MAX_TRIES)):
        place = open_place()
        # Outside of the tries: what somebody changed stays so, however often one looks.
        existing = await place.owned_listing(COLLECTION)
        try:
            return await _Append(source, place).run(existing, progress)
        except Conflict as error:
            if not left or place.one_writer:
                raise
            LOG.info("%s; the night is planned anew on top of it", error)
    raise AssertionError("a loop without an end has ended")


class _Append:
    """One try to add a night."""

    def __init__(self, source: NightSource, destination: Destination) -> None:
        self._source, self._destination = source, destination
        self._run_id = source.run.run_id
        self._index = b""

    async def run(self, existing: OwnedListing, progress: Progress | None) -> PublishReport:
        self._refuse(existing.manifest)
        before = await read_before(self._destination, _nights(existing), self._run_id)
        tables = await open_tables(self._source.snapshot)
        plan = await asyncio.to_thread(self._plan, tables, before, existing.manifest)
        await record_splits(self._source.snapshot, plan)
        night = self._night(existing, plan, before)
        if self._is_there(existing, plan, night):
            await self._destination.finish(existing.manifest.version if existing.manifest else 0)
            return self._report(plan, existing, night, put=0)
        return await self._write(existing, tables, plan, night, progress)

    def _refuse(self, there: Manifest | None) -> None:
        """Refuse a run that cannot be added, before anything is written."""
        where, terms = self._destination.address, self._source.terms
        for night in there.nights if there else ():
            if night.run == self._run_id and night.version > self._source.snapshot.version:
                raise BadConfig(
                    f"{where}: has this run at version {night.version} as night {night.number}, and version "
                    f"{self._source.snapshot.version} is older; publish a later one"
                )
            if night.run != self._run_id and night.license != terms.license:
                raise BadConfig(
                    f"{where}: its licence is {night.license or 'not stated'} since night {night.number}, and "
                    f"publish.license is {terms.license or 'not set'}: a collection has one licence; "
                    "set publish.license so, or publish to another place"
                )
        for config, columns in (there.columns if there else {}).items():
            known = set(config_schema(config).names) if config in DATASET_CONFIGS else set[str]()
            if unknown := sorted(set(columns) - known):
                raise BadConfig(
                    f"{where}: a newer Stepmill made it, whose `{config}` has the column '{unknown[0]}'; "
                    "add the run with that version"
                )

    def _plan(self, tables: Tables, before: PublishedBefore, there: Manifest | None) -> PublishPlan:
        source = self._source
        return plan_version(
            tables,
            source.rule,
            run_id=self._run_id,
            include_rejected=source.terms.include_rejected,
            shard_bytes=source.shard_mb * MEGABYTE,
            training=training_terms(source.terms, source.renderer),
            before=before,
            withdrawn={one.episode for one in there.withdrawn} if there else (),
            section=source.section,
        )

    def _night(self, existing: OwnedListing, plan: PublishPlan, before: PublishedBefore) -> Night:
        """Return the record of the night as planned."""
        nights = _nights(existing)
        known = next((one for one in nights if one.run == self._run_id), None)
        number = known.number if known else 1 + max((one.number for one in nights), default=0)
        source, selection = self._source, plan.selection
        self._index = make_index(plan)
        published = sum(1 for _ in selection.published)
        made = selection.candidates
        return Night(
            number=number,
            run=self._run_id,
            version=plan.version,
            name=title_of(source.run),
            begun=f"{source.run.created_at:%Y-%m-%d}",
            added=1 + (existing.manifest.version if existing.manifest else 0),
            license=source.terms.license,
            rule=source.rule.model_dump(mode="json"),
            include_rejected=source.terms.include_rejected,
            published=published,
            copies=sum(one.acceptance.duplicate_of in before.episodes for one in made),
            near_copies=sum(
                one.acceptance.near_duplicate_of in before.episodes for one in selection.published
            ),
            held_back=sum(map(selection.leaves_out, made)),
            templates=_tallies(made, lambda one: one.template_id),
            policies=_tallies(made, lambda one: one.policy),
            sites={k: n for k, n in sorted(selection.origins["site"].items()) if k},
            splits=dict(sorted(selection.splits.by_template.items())),
            select=selection.section.stated,
            left_out=selection.left_out,
            capped=_count_capped(selection),
            index=index_file(self._run_id, self._index, rows=published, night=number),
            withdrawn=known.withdrawn if known else 0,
            hours=round(selection.seconds / 3_600, 6),
        )

    def _is_there(self, existing: OwnedListing, plan: PublishPlan, night: Night) -> bool:
        """Return whether the collection has this very night."""
        there = existing.manifest
        if there is None or MARK in existing.sizes:
            return False
        own = [file for file in there.files if file.night == night.number]
        recipes = {file.recipe for file in own} | {*there.empty}
        same = any(one.model_copy(update={"added": night.added}) == night for one in there.nights)
        whole = all(has_file(existing, file) for file in there.files)
        return same and whole and all(file.recipe in recipes for file in plan.files)

    async def _write(
        self,
        existing: OwnedListing,
        tables: Tables,
        plan: PublishPlan,
        night: Night,
        progress: Progress | None,
    ) -> PublishReport:
        destination = self._destination
        facts = await asyncio.to_thread(read_for_card, tables, plan)
        publication = Publication(plan, tables, lambda _: {}, night=label_of(self._run_id))
        async with destination.hold(wait=True):
            await check_unchanged(destination, existing, COLLECTION)
            try:
                await end_version(destination, existing)
                if existing.manifest is None and MARK not in existing.sizes:
                    await destination.put(MARK, COLLECTION.encode())
                own = await publication.put_data(destination, existing, progress)
                own = [file.model_copy(update={"night": night.number}) for file in own]
                files = _files(existing, night, own)
                version = await claim_version(destination, existing, files)
                night = night.model_copy(update={"added": version})
                texts = self._texts(existing, plan, night, own, facts)
                for path, text in texts.items():
                    if existing.texts.get(path) != text and not is_version(path):
                        await destination.put(path, text)
                gone = unlisted_versions(existing, version)
                if MARK in existing.sizes or existing.manifest is None:
                    gone.append(MARK)
                await destination.delete(gone)
                await destination.finish(night.added)
            except Unwritable as error:
                raise Unfinished(str(error)) from error
        put = sum(not has_file(existing, file) for file in own)
        put += sum(existing.texts.get(path) != text for path, text in texts.items())
        return self._report(plan, existing, night, put=put, own=own)

    def _texts(
        self,
        existing: OwnedListing,
        plan: PublishPlan,
        night: Night,
        own: Sequence[PublishedFile],
        facts: tuple[object, Film | None, Sequence[bytes], Mapping[str, bytes]],
    ) -> Mapping[str, bytes]:
        """Return the files that go with the data files, by path, the manifest last."""
        _, film, pages, pictures = facts
        there = existing.manifest
        nights = [*(one for one in _nights(existing) if one.number != night.number), night]
        files = _files(existing, night, own)
        state = Contents(
            version=night.added,
            files=files,
            nights=sorted(nights, key=lambda one: one.number),
            empty=empty_recipes(plan, own, there),
            withdrawn=there.withdrawn if there else (),
        )
        shown = Shown(night.name, plan.training, film, pages, pictures)
        texts = collection_texts(state, there, self._destination, shown)
        return {night.index.path: self._index, **texts}

    def _report(
        self,
        plan: PublishPlan,
        existing: OwnedListing,
        night: Night,
        *,
        put: int,
        own: Sequence[PublishedFile] | None = None,
    ) -> PublishReport:
        if own is None:
            there = existing.manifest.files if existing.manifest else ()
            own = [file for file in there if file.config and file.night == night.number]
        files = _files(existing, night, own)
        version = existing.manifest.version if existing.manifest and not put else night.added
        return PublishReport(
            destination=self._destination.address,
            version=plan.version,
            episodes=len(plan.selection.candidates),
            accepted=plan.selection.count(AcceptanceStatus.ACCEPTED),
            rejected=plan.selection.count(AcceptanceStatus.REJECTED),
            unjudged=plan.selection.count(AcceptanceStatus.UNJUDGED),
            rows=row_counts(files),
            files=len(files),
            bytes=sum(file.bytes for file in files),
            put=put,
            deleted=0,
            loading=tuple(loading_of(files, self._destination.local_name, version)),
            collection=version,
            night=night.number,
            added=row_counts(own),
            copies=night.copies,
            held_back=night.held_back,
            warnings=tuple(falls(_nights(existing), night, self._source.terms.fall_points)),
            left_out=night.left_out,
        )


def _count_capped(selection: Selection) -> Mapping[str, int]:
    """Return how many episodes of each template passed the caps."""
    counts = Counter(
        one.template_id
        for one in selection.candidates
        if selection.publishes(one) or one.left_out_by is SelectKey.SHARES
    )
    return dict(sorted(counts.items()))


def _nights(existing: OwnedListing) -> tuple[Night, ...]:
    return existing.manifest.nights if existing.manifest else ()


def _files(
    existing: OwnedListing, night: Night, own: Sequence[PublishedFile]
) -> list[PublishedFile]:
    """Return all data files, those of the other nights as they are, in the order of the nights."""
    there = existing.manifest.files if existing.manifest else ()
    others = [file for file in there if file.config and file.night != night.number]
    return sorted([*others, *own], key=lambda file: (file.night or 0, file.path))


def _tallies(made: Sequence[Candidate], kind: Callable[[Candidate], str]) -> Mapping[str, Tally]:
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for one in made:
        counts[kind(one)][one.status.value] += 1
    return {name: Tally(**counts[name]) for name in sorted(counts)}
