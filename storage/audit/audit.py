"""The audit from end to end: inventory, versions, histories, shards, rows, spool, copies.

Each published copy is checked against its own manifest, and its findings say nothing of the run.
"""

from collections.abc import Sequence

from schemas import ids
from schemas.configuration.config import RunConfig, identity
from schemas.errors import Damaged, NotFound, StepmillError
from schemas.redaction import redact_values
from schemas.tables.tables import TABLES, UNIT_TABLES
from storage import run_file
from storage.audit.history import Histories, History, read_history
from storage.audit.inventory import Inventory, shard_key, take_inventory
from storage.audit.report import AuditReport, Notes, Progress, PublishedCopy
from storage.audit.rows import RowChecks
from storage.audit.shard_contents import read_committed, read_uncommitted
from storage.lake.retention import parse_decision, retention_key
from storage.lake.shard_upload import COMPACT
from storage.lake.split_record import KEY as SPLITS_KEY
from storage.lake.split_record import read_splits
from storage.lake.versions import Versions, parse_version, version_key
from storage.lake.withdrawals import KEY as WITHDRAWN_KEY
from storage.lake.withdrawals import Withdrawals, read_withdrawals
from storage.objects.protocol import Missing, ObjectStore
from storage.publish.destinations.protocol import Destination
from storage.publish.verify import verify_published
from storage.spool import read_spooled


async def audit(
    store: ObjectStore,
    *,
    deep: bool,
    copies: Sequence[Destination] = (),
    progress: Progress | None = None,
) -> AuditReport:
    """Check that the run in `store` and its published `copies` are complete and unaltered.

    `deep` reads every byte that was committed or published; otherwise only the logs, the manifests
    and the listings.

    Raises:
        NotFound: the store holds no run.
    """
    notes = Notes(progress)
    if not await _holds_run(store):  # anything may lie there, and much of it
        raise NotFound(f"{store.url}: there is no run here ({run_file.KEY} is missing)")
    inventory = await take_inventory(store, notes)
    objects = [len(inventory.entries[table]) + len(inventory.shards[table]) for table in TABLES]
    notes.expect(sum(objects) + len(inventory.spooled))
    run = await _read_run(store, notes)
    withdrawn = await _read_withdrawals(store, notes)
    if SPLITS_KEY in inventory.files:
        await _check_splits(store, notes)
    pins = await _read_versions(store, inventory, notes)
    histories = {
        table: await read_history(
            store,
            table,
            inventory,
            pins={version[table] for version in pins if table in version},
            deep=deep,
            notes=notes,
        )
        for table in TABLES
    }
    _check_units(histories, notes)
    _check_uncommitted(inventory, histories, notes)
    if deep:
        checks = RowChecks(run, notes, withdrawn)
        await read_committed(store, histories, checks=checks, notes=notes)
        await read_uncommitted(store, inventory, histories, notes)
    else:
        await _check_sizes(store, inventory, histories, notes)
    await _check_spool(store, inventory, histories, run=run if deep else None, notes=notes)
    await _check_copies(copies, run.run_id if run else None, deep=deep, notes=notes)
    return notes.report()


async def _holds_run(store: ObjectStore) -> bool:
    """Return whether the store holds a run's `run.json` or any of its tables."""
    try:
        await store.info(run_file.KEY)
    except Missing:
        async for found in store.list("tables/"):
            return found.size >= 0
        return False
    return True


async def _read_run(store: ObjectStore, notes: Notes) -> run_file.RunFile | None:
    try:
        run = run_file.read_run(await store.get(run_file.KEY), run_file.KEY)
        now = redact_values(identity(RunConfig.model_validate(run.config)))
    except Missing:
        notes.finding(run_file.KEY, "is missing")
        return None
    except (Damaged, ValueError) as error:
        notes.finding(run_file.KEY, f"is torn or altered: {error}")
        return None
    current = now if isinstance(now, dict) else {}
    for key in sorted(current.keys() & run.identity.keys()):
        if current[key] != run.identity[key]:
            notes.finding(run_file.KEY, f"states {key} twice, with two values")
    return run


async def _check_splits(store: ObjectStore, notes: Notes) -> None:
    try:
        await read_splits(store)
    except Damaged as error:
        notes.finding(SPLITS_KEY, f"is torn or altered: {error}")


async def _read_withdrawals(store: ObjectStore, notes: Notes) -> Withdrawals:
    try:
        return await read_withdrawals(store)
    except Damaged as error:
        notes.finding(WITHDRAWN_KEY, f"is torn or altered: {error}")
        return Withdrawals()


async def _read_versions(store: ObjectStore, inventory: Inventory, notes: Notes) -> list[Versions]:
    """Return the versions whose shards must exist."""
    out: list[Versions] = []
    last: Versions = {}
    released = await _read_released(store, inventory, notes)
    for number in range(1, max(inventory.versions, default=0) + 1):
        key = version_key(number)
        try:
            version = parse_version(await store.get(key), key)
        except Missing:
            notes.finding(key, "is missing")
            continue
        except Damaged:
            notes.finding(key, "is torn or altered")
            continue
        if not version.keys() <= TABLES.keys() or any(at < 0 for at in version.values()):
            notes.finding(key, "names an unknown table or an impossible version")
            continue
        if any(version.get(table, -1) < at for table, at in last.items()):
            notes.finding(key, "is older than the version before it")
        last = version
        notes.count("versions")
        if number not in released:
            out.append(version)
    return out


async def _read_released(store: ObjectStore, inventory: Inventory, notes: Notes) -> set[int]:
    """Return the released versions, whose shards may be removed."""
    out: set[int] = set()
    for number in sorted(inventory.keeping):
        key = retention_key(number)
        if number not in inventory.versions:
            notes.finding(key, "is of a version that does not exist")
        try:
            if not parse_decision(await store.get(key), key):
                out.add(number)
        except (Missing, Damaged):
            notes.finding(key, "is torn or altered")
    return out


def _check_units(histories: Histories, notes: Notes) -> None:
    """Compare the tables' transactions: each has a unit once, with the token it has in `episodes`."""
    committed = _units(histories["episodes"])
    notes.count("units", len(committed))
    for table in UNIT_TABLES:
        where = f"tables/{table}"
        for unit_id, token in _units(histories[table]).items():
            if unit_id in committed and committed[unit_id] != token:
                notes.finding(
                    where, f"unit {unit_id}: was made from other episodes than in episodes"
                )
            if unit_id not in committed and _is_id(unit_id):
                notes.leftover(where, f"unit {unit_id}: is committed here and not yet in episodes")
    for unit_id in committed:
        if unit_id not in histories["tasks"].transactions and _is_id(unit_id):
            notes.finding("tables/tasks", f"unit {unit_id}: is in episodes and not here")


def _units(history: History) -> dict[str, int]:
    """Return a table's transactions without those of compactions, which each table numbers itself."""
    return {key: token for key, token in history.transactions.items() if key != COMPACT}


def _is_id(text: str) -> bool:
    return set(text) <= set("0123456789abcdef")


def _check_uncommitted(inventory: Inventory, histories: Histories, notes: Notes) -> None:
    committed = histories["episodes"].transactions
    for table, history in histories.items():
        for path in inventory.shards[table].keys() - history.needed.keys():
            unit_id = path.partition("-")[0]
            # A unit's episodes are committed last, so its rows are in every other table by then.
            if (
                table in UNIT_TABLES
                and unit_id in committed
                and unit_id not in history.transactions
            ):
                notes.finding(
                    shard_key(table, path), "is of a unit that is committed, and is in no log"
                )
                continue
            replaced = path in history.ever or unit_id in history.transactions
            what = (
                "was replaced by another shard"
                if replaced
                else "is a shard that was never committed"
            )
            notes.leftover(shard_key(table, path), what)


async def _check_sizes(
    store: ObjectStore, inventory: Inventory, histories: Histories, notes: Notes
) -> None:
    """Compare the shards that the log needs with the listing."""
    for table, history in histories.items():
        for path, file in history.needed.items():
            key = shard_key(table, path)
            size = inventory.shards[table].get(path)
            if size is None:
                # It may have been written after the listing.
                try:
                    size = (await store.info(key)).size
                except Missing:
                    notes.finding(key, "is missing: a committed shard")
                    continue
            if size != file.size:
                notes.finding(key, f"is torn: it has {size} bytes, the log says {file.size}")
            notes.count("shards")
            notes.advance()


async def _check_spool(
    store: ObjectStore,
    inventory: Inventory,
    histories: Histories,
    *,
    run: run_file.RunFile | None,
    notes: Notes,
) -> None:
    """Count spooled episodes, and note those of committed units; read them if `run` is given."""
    committed = histories["episodes"].transactions
    for key, unit_id in inventory.spooled.items():
        if unit_id in committed:
            notes.leftover(key, "is a spooled episode of a committed unit")
        else:
            notes.count("spooled")
        if run is not None:
            try:
                episode = read_spooled(await store.get(key), key)
                own_id = ids.episode_id(run.run_id, episode.task_id, episode.attempt)
                if episode.episode_id != own_id:
                    notes.finding(key, "is of another run: its id is not made from this run's")
            except Missing:
                pass  # its unit was committed meanwhile
            except Damaged as error:
                notes.finding(key, f"is torn or foreign: {error}")
        notes.advance()


async def _check_copies(
    copies: Sequence[Destination], run_id: str | None, *, deep: bool, notes: Notes
) -> None:
    """Verify every copy; a destination to which nothing was published is not a finding.

    `run_id` is the run that they must belong to; None if it is unknown.
    """

    def report_progress(done: int, total: int) -> None:
        if done == 0:
            notes.expect(total)
        else:
            notes.count("published files")
            notes.advance()

    for copy in copies:
        where = copy.address
        try:
            proof = await verify_published(copy, run_id=run_id, deep=deep, progress=report_progress)
        except StepmillError as error:
            why = str(error).removeprefix(f"{where}: ")
            notes.copy(
                PublishedCopy(
                    destination=where,
                    version=None,
                    files=0,
                    bytes=0,
                    whole=False,
                    unproven=why,
                    findings=(f"{where}: cannot be proven: {why}",),
                )
            )
            continue
        for path in proof.leftovers:
            notes.leftover(f"{where}/{path}", "is part of a publication that has not ended")
        notes.copy(
            PublishedCopy(
                destination=where,
                version=proof.version,
                files=proof.files,
                bytes=proof.bytes,
                whole=not proof.findings,
                findings=tuple(f"{where}/{one.path}: {one.message}" for one in proof.findings),
            )
        )
