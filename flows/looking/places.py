"""What can be looked at: the attempts of a run, or of a published dataset, by id.

A run is as it is now, whether it has ended or not; attempts that have ended and wait for their unit's commit are named
and not shown. A dataset has rows for all attempts, but pictures of those alone that were published as trajectories.
Nothing is written.
"""

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple, Protocol

import pyarrow.dataset as ds

from flows.job.config_loader import Sources, load
from flows.job.report_lines import ID_CHARS
from flows.job.stored_run import StoredRun, open_stored_run
from schemas.configuration.sections import AcceptSection
from schemas.errors import NotFound
from schemas.nearest import did_you_mean
from schemas.tables.tables import Row, from_row
from schemas.tasks.task import SPLITS
from schemas.verdicts.acceptance import AcceptanceStatus, deciding_reason
from schemas.verdicts.full_episode import FullEpisode
from schemas.verdicts.verdict import Verdict
from storage.lake import readers
from storage.lake.lake_reader import Snapshot
from storage.lake.withdrawals import read_withdrawals
from storage.publish.plan.episode_reader import EpisodeReader
from storage.publish.plan.rows import Tables, open_tables, table_errors
from storage.publish.plan.selection import Selection, select
from storage.reading.place import OpenDataset, Place, StorePlace, open_dataset, open_place
from storage.reading.published_episodes import read_episodes
from storage.reading.row_files import read_errors
from storage.run_file import KEY
from storage.spool import Spool

_MAX_NAMED = 5


class Head(NamedTuple):
    """An attempt, without its steps."""

    episode_id: str
    """Its id."""
    template_id: str
    """Its task's template."""
    site: str
    """The site that served its pages."""
    policy: str
    """The policy's name."""
    n_steps: int
    """Actions taken."""
    status: AcceptanceStatus
    """What the run's rule makes of it."""
    success: bool | None
    """Whether the site found the task done; None if nobody judged that."""
    reason: str | None
    """The reason that decided, where it was not accepted; None if it was."""
    broke: bool
    """It failed before its end, in the environment or in the policy."""


class Attempts(Protocol):
    """The attempts of a run or a dataset."""

    address: str
    """Where it lies, as the user said it."""
    heads: Sequence[Head]
    """Every attempt, in the order of publication."""
    rule: AcceptSection
    """The rule that they were judged by."""
    withdrawn: Mapping[str, str]
    """Why attempts were withdrawn, by id."""
    waiting: Collection[str]
    """The ids of attempts that have ended and are not committed yet."""

    def read(self, ids: Collection[str]) -> Iterator[FullEpisode]:
        """Yield those of `ids` that have pictures here, whole, in the order of publication.

        Raises:
            Damaged: rows of one are missing, or differ from the record.
        """
        ...

    def verdicts(self, ids: Collection[str]) -> dict[str, list[Verdict]]:
        """Return every verdict on some attempts, by id.

        Raises:
            Damaged: the rows cannot be read.
        """
        ...


class RunAttempts(Attempts):
    """The attempts of a run, as they were when it was opened."""

    def __init__(
        self,
        stored: StoredRun,
        tables: Tables,
        selection: Selection,
        *,
        address: str,
        withdrawn: Mapping[str, str],
        waiting: Collection[str],
    ) -> None:
        self.stored = stored
        self.tables = tables
        self.selection = selection
        self.address = address
        self.rule = stored.config.accept
        self.withdrawn = withdrawn
        self.waiting = waiting
        self.heads = tuple(
            Head(
                episode_id=one.episode_id,
                template_id=one.template_id,
                site=one.site,
                policy=one.policy,
                n_steps=one.n_steps,
                status=one.status,
                success=one.success,
                reason=_reason_of(one.acceptance.rejected_because),
                broke=not one.whole,
            )
            for one in selection.candidates
        )

    def read(self, ids: Collection[str]) -> Iterator[FullEpisode]:
        """Yield attempts whole."""
        wanted = (one for one in self.selection.candidates if one.episode_id in ids)
        with table_errors("the episodes of the run"):
            yield from EpisodeReader(self.tables).read(wanted)

    def verdicts(self, ids: Collection[str]) -> dict[str, list[Verdict]]:
        """Return every verdict on some attempts."""
        units = {one.unit_id for one in self.selection.candidates if one.episode_id in ids}
        dataset = self.tables.datasets.get("verdicts")
        return _by_episode(readers.read_verdicts(dataset, units=units), ids)


class DatasetAttempts(Attempts):
    """The attempts of a published dataset."""

    def __init__(self, opened: OpenDataset, *, address: str) -> None:
        self._opened = opened
        self.address = address
        self.rule = AcceptSection()
        self.withdrawn = {one.episode: one.reason for one in opened.manifest.withdrawn}
        self.waiting = ()
        columns = (
            *("episode_id", "template_id", "site", "policy", "n_steps", "status"),
            *("success", "deciding_reason", "stop_reason"),
        )
        self.heads = tuple(_head(row) for row in self._rows("attempts", columns))

    def read(self, ids: Collection[str]) -> Iterator[FullEpisode]:
        """Yield attempts whole."""
        with read_errors(self.address):
            for split in SPLITS:
                files = partial(self._files, splits=(split,))
                yield from read_episodes(files, accepted=None, ids=ids)

    def verdicts(self, ids: Collection[str]) -> dict[str, list[Verdict]]:
        """Return every verdict on some attempts, where the dataset has the config `verdicts`."""
        where = ds.field("episode_id").isin(sorted(ids))
        found = (from_row(Verdict, row) for row in self._rows("verdicts", (), where))
        return _by_episode(found, ids)

    def _rows(
        self, config: str, columns: Collection[str], where: ds.Expression | None = None
    ) -> Iterator[Row]:
        with read_errors(self.address):
            for file in self._files(config, SPLITS):
                there = [name for name in columns if name in file.physical_schema.names]
                yield from file.to_table(columns=there or None, filter=where).to_pylist()

    def _files(self, config: str, splits: Sequence[str]) -> Iterator[ds.ParquetFileFragment]:
        """Yield the files of a config, in the order of their rows."""
        known = {
            one.fragment.path: one.fragment
            for one in self._opened.configs.get(config, ())
            if isinstance(one.fragment, ds.ParquetFileFragment)
        }
        chosen = [
            (splits.index(file.split), file.night or 0, file.path)
            for file in self._opened.manifest.files
            if file.config == config and file.split in splits
        ]
        yield from (known[path] for _, _, path in sorted(chosen))


def _head(row: Row) -> Head:
    return Head(
        episode_id=row["episode_id"],
        template_id=row["template_id"],
        site=row["site"],
        policy=row["policy"],
        n_steps=row["n_steps"],
        status=AcceptanceStatus(row["status"]),
        success=row.get("success"),
        reason=row.get("deciding_reason"),
        broke=row.get("stop_reason") == "failed",
    )


def _reason_of(reasons: Sequence[str]) -> str | None:
    return deciding_reason(reasons) if reasons else None


def _by_episode(
    verdicts: Iterator[Verdict] | Sequence[Verdict], ids: Collection[str]
) -> dict[str, list[Verdict]]:
    out: dict[str, list[Verdict]] = {id_: [] for id_ in ids}
    for one in verdicts:
        if one.episode_id in out:
            out[one.episode_id].append(one)
    return out


async def open_attempts(
    url: str, sources: Sources, environ: Mapping[str, str], *, version: int | None = None
) -> Attempts:
    """Return the attempts of the run or the dataset at `url`.

    Args:
        url: a folder, `s3://…`, or for a dataset `hf://…`.
        sources: the user's settings, over a run's own configuration.
        environ: the environment.
        version: one of its versions; None: a run as it is now, a dataset's last version.

    Raises:
        NotFound: there is neither, no such version, or no attempt in it yet.
        BadConfig: a setting is wrong.
        Damaged: it cannot be read.
    """
    place: Place = open_place(url, version, load(sources, environ).storage)
    is_run = isinstance(place, StorePlace) and await place.text(KEY) is not None
    if is_run:
        return await _open_run(url, sources, environ, version)
    opened = await open_dataset(place, version if isinstance(place, StorePlace) else None)
    return await asyncio.to_thread(DatasetAttempts, opened, address=url)


async def _open_run(
    url: str, sources: Sources, environ: Mapping[str, str], version: int | None
) -> RunAttempts:
    stored = await open_stored_run(url, sources, environ)
    try:
        spooled = {id_ for ids in (await Spool(stored.store).listing()).values() for id_ in ids}
        snapshot: Snapshot
        if version is None:
            snapshot, _ = await stored.lake.current()
        else:
            snapshot = await stored.lake.snapshot(version)
        tables = await open_tables(snapshot)
        gone = (await read_withdrawals(stored.store)).episodes
    finally:
        await stored.lake.close()
    if not tables.datasets.get("episodes") and spooled:
        raise NotFound(
            f"{url}: {len(spooled)} episodes have ended and none is committed yet: look again later"
        )
    with table_errors("the run"):
        rule = stored.config.accept
        selection = await asyncio.to_thread(select, tables, rule, include_rejected=True)
    committed = {one.episode_id for one in selection.candidates}
    return RunAttempts(
        stored,
        tables,
        selection,
        address=url,
        withdrawn={one.episode: one.reason for one in gone},
        waiting=frozenset(spooled - committed),
    )


def find_attempt(attempts: Attempts, prefix: str) -> Head:
    """Return the attempt that an id, or the beginning of one id alone, names.

    Raises:
        NotFound: it names none, or several; one that was withdrawn, or that is not committed yet.
    """
    found = [one for one in attempts.heads if one.episode_id.startswith(prefix)]
    if len(found) == 1:
        return found[0]
    if found:
        named = ", ".join(one.episode_id for one in found[:_MAX_NAMED])
        more = f" and {len(found) - _MAX_NAMED} more" if len(found) > _MAX_NAMED else ""
        raise NotFound(
            f"'{prefix}' begins {len(found)} episodes: {named}{more}: say more of the id"
        )
    for id_, reason in attempts.withdrawn.items():
        if id_.startswith(prefix):
            raise NotFound(f"episode {id_} was withdrawn: {reason}")
    for id_ in attempts.waiting:
        if id_.startswith(prefix):
            raise NotFound(
                f"episode {id_} has ended and its unit is not committed yet: look again later"
            )
    near = did_you_mean(prefix, _beginnings(attempts, len(prefix)), cutoff=0.3)
    raise NotFound(f"{attempts.address}: has no episode '{prefix}'{near}")


def _beginnings(attempts: Attempts, chars: int) -> Iterator[str]:
    """Yield as much of each id as was asked for, so that likeness is not a matter of length."""
    shown = max(chars, ID_CHARS)
    yield from dict.fromkeys(one.episode_id[:shown] for one in attempts.heads)


def read_attempt(attempts: Attempts, head: Head) -> FullEpisode:
    """Return an attempt whole.

    Raises:
        NotFound: it has no pictures here, as an attempt that a dataset did not publish.
        Damaged: its rows cannot be read.
    """
    for found in attempts.read({head.episode_id}):
        return found
    raise NotFound(
        f"{attempts.address}: has no steps and pictures of {head.episode_id}, which was {head.status}"
        f"{f' ({head.reason})' if head.reason else ''}: the run has them, or a dataset published with "
        "publish.include_rejected = true"
    )


def failures(
    attempts: Attempts, *, template: str | None = None, count: int | None = None
) -> list[Head]:
    """Return attempts that were not accepted, spread over the causes: one of each, then a second of each.

    Args:
        attempts: the run or dataset.
        template: only those of this template; None: of all.
        count: at most so many; None: all.

    Raises:
        NotFound: there is no attempt of the template.
    """
    known = dict.fromkeys(one.template_id for one in attempts.heads)
    if template is not None and template not in known:
        raise NotFound(
            f"{attempts.address}: has no attempt of the template '{template}'{did_you_mean(template, known)}"
        )
    groups: dict[tuple[str, str], list[Head]] = {}
    for one in attempts.heads:
        if one.status is not AcceptanceStatus.ACCEPTED and template in (None, one.template_id):
            groups.setdefault((one.template_id, _cause(one)), []).append(one)
    turns = sorted(
        (turn, -len(group), name, one)
        for name, group in groups.items()
        for turn, one in enumerate(group)
    )
    return [one for *_, one in turns[:count]]


def _cause(head: Head) -> str:
    """Return what the reasons of like failures have in common: the verifier and its status."""
    return ": ".join((head.reason or str(head.status)).split(": ")[:2])
