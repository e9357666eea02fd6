"""The way in: publish a version of a run to a destination.

`publish` chooses the kind of destination by its URL; this version publishes to folders. The plan,
the files and the order of things are the same for every kind.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from schemas.acceptance import Standing
from schemas.base import Record, sha256_hex
from schemas.errors import BadConfig
from schemas.sections import AcceptSection
from storage.places import folder
from storage.publish.card import CardFacts, loading_lines, make_card
from storage.publish.destination import Destination, Outcome, Progress, Publication
from storage.publish.folder import Folder
from storage.publish.manifest import CARD, PublishedFile, make_manifest, rows_by_config
from storage.publish.plan import Plan, make_plan
from storage.publish.rows import Snapshot, Tables, open_tables, reading
from storage.publish.selection import select
from storage.runs import RunFile
from storage.shards import MEGABYTE

_LATER = ("s3://", "hf://")


class PublishReport(Record):
    """What a publication came to."""

    destination: str
    """Where the dataset lies."""
    version: int
    """The version of the run published."""
    episodes: int
    """Committed in this version."""
    accepted: int
    """Of them meet the rule."""
    rejected: int
    """Of them do not."""
    unjudged: int
    """Of them lack a judgement that the rule asks for."""
    rows: dict[str, int]
    """Rows by config."""
    files: int
    """Files of the dataset, the card included and the manifest not."""
    bytes: int
    """Their size."""
    put: int
    """Files written now; 0 if the dataset was there already."""
    deleted: int
    """Files removed now."""
    loading: tuple[str, ...]
    """The lines of Python that load it."""


async def publish(
    snapshot: Snapshot,
    run_file: RunFile,
    rule: AcceptSection,
    to: str,
    *,
    include_rejected: bool,
    shard_mb: int,
    progress: Progress | None = None,
) -> PublishReport:
    """Publish what `rule` accepts of `snapshot` to the destination that `to` names.

    Raises:
        BadConfig: this version cannot publish there, or no dataset may lie there.
        NotFound: the version holds no episode.
        OtherRun: the dataset of another run lies there.
        Unwritable: something else lies there, or nothing can be written there.
        Damaged: the run's tables are not whole.
    """
    if to.lower().startswith(_LATER):
        raise BadConfig(f"{to}: this version publishes to folders; give a folder or file://…")
    return await publish_folder(
        snapshot,
        run_file,
        rule,
        folder(to),
        include_rejected=include_rejected,
        shard_mb=shard_mb,
        progress=progress,
    )


async def publish_folder(
    snapshot: Snapshot,
    run_file: RunFile,
    rule: AcceptSection,
    to: Path,
    *,
    include_rejected: bool,
    shard_mb: int,
    progress: Progress | None = None,
) -> PublishReport:
    """Publish what `rule` accepts of `snapshot` to the folder `to`; see `publish`."""
    return await publish_to(
        snapshot,
        run_file,
        rule,
        Folder(to),
        include_rejected=include_rejected,
        shard_mb=shard_mb,
        progress=progress,
    )


async def publish_to(
    snapshot: Snapshot,
    run_file: RunFile,
    rule: AcceptSection,
    destination: Destination,
    *,
    include_rejected: bool,
    shard_mb: int,
    progress: Progress | None = None,
) -> PublishReport:
    """Publish what `rule` accepts of `snapshot` to any kind of destination; see `publish`."""
    await destination.stock(run_file.run_id)  # refuse before the tables are read
    tables = await open_tables(snapshot)
    plan = await asyncio.to_thread(
        _plan,
        tables,
        rule,
        run_id=run_file.run_id,
        include_rejected=include_rejected,
        shard_bytes=shard_mb * MEGABYTE,
    )

    def describe(files: Sequence[PublishedFile]) -> tuple[bytes, bytes]:
        facts = CardFacts(plan=plan, files=files, run=run_file, rule=rule, name=destination.name)
        card = make_card(facts).encode()
        return card, make_manifest(plan, rule, [*files, _card_file(card)]).to_bytes()

    publication = Publication(plan=plan, tables=tables, describe=describe)
    outcome = await publication.carry_out(destination, progress=progress)
    return _report(plan, outcome, destination.address)


def _plan(
    tables: Tables,
    rule: AcceptSection,
    *,
    run_id: str,
    include_rejected: bool,
    shard_bytes: int,
) -> Plan:
    with reading(f"version {tables.version} of the run"):
        chosen = select(tables, rule, include_rejected=include_rejected)
        return make_plan(tables, chosen, run_id=run_id, shard_bytes=shard_bytes)


def _card_file(card: bytes) -> PublishedFile:
    return PublishedFile(
        path=CARD,
        config=None,
        split=None,
        rows=0,
        bytes=len(card),
        sha256=sha256_hex(card),
        recipe=None,
    )


def _report(plan: Plan, outcome: Outcome, address: str) -> PublishReport:
    rows = {
        config: sum(splits.values()) for config, splits in rows_by_config(outcome.files).items()
    }
    return PublishReport(
        destination=address,
        version=plan.version,
        episodes=len(plan.selection.candidates),
        accepted=plan.selection.count(Standing.ACCEPTED),
        rejected=plan.selection.count(Standing.REJECTED),
        unjudged=plan.selection.count(Standing.UNJUDGED),
        rows=rows,
        files=len(outcome.files) + 1,
        bytes=sum(file.bytes for file in outcome.files) + outcome.card_bytes,
        put=outcome.put,
        deleted=outcome.deleted,
        loading=tuple(loading_lines(outcome.files, address)),
    )
