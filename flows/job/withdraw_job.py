"""The withdrawal of episodes from a run, a published dataset or a collection."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from os import environ

from flows.job.config_loader import Sources, load
from flows.job.publish_job import holds_dataset
from flows.job.stored_run import open_stored_run
from flows.job.used_keys import check_settings
from schemas.errors import BadConfig, NotFound
from storage.lake.readers import rows
from storage.lake.withdrawals import (
    RunWithdrawal,
    add_withdrawals,
    read_withdrawals,
    withdrawals_of,
)
from storage.publish.collection.withdraw import WithdrawReport, withdraw
from storage.publish.publish import open_destination

_COLUMNS = ("episode_id", "task_id", "attempt", "unit_id")
"""The columns of `episodes` that say which episode it is."""


async def withdraw_episodes(
    place: str, ids: Sequence[str], reason: str, sources: Sources
) -> WithdrawReport:
    """Withdraw episodes from what is at `place`.

    Raises:
        BadConfig: no reason is given, or a setting is of a key that a withdrawal does not use.
        NotFound: there is neither a run nor a dataset, or it has no such episode; nothing was changed.
        Unwritable, Unfinished, Damaged, Conflict: as `storage.publish.collection.withdraw.withdraw`.
    """
    check_settings("withdraw", sources.settings)
    if not reason.strip():
        raise BadConfig("--reason: say why; it stays beside the episodes' ids")
    config = load(sources, environ)
    if not await holds_dataset(place, config):
        return await _from_run(place, ids, reason, sources)
    return await withdraw(
        lambda: open_destination(place, config.publish, config.storage), ids, reason
    )


async def _from_run(url: str, ids: Sequence[str], reason: str, sources: Sources) -> WithdrawReport:
    stored = await open_stored_run(url, sources, environ)
    try:
        snapshot, _ = await stored.lake.current()
        episodes = await snapshot.dataset("episodes")
        known = (await read_withdrawals(stored.store)).ids
        heads = await asyncio.to_thread(rows, episodes, columns=_COLUMNS)
        there = {row["episode_id"]: {name: row[name] for name in _COLUMNS[1:]} for row in heads}
        missing = sorted({*ids} - there.keys() - known)  # known ones may have no rows left
        if missing:
            raise NotFound(f"{url}: the run has no episode {missing[0]}; nothing was changed")
        day = f"{datetime.now(UTC):%Y-%m-%d}"
        wanted = [
            RunWithdrawal(episode=one, reason=reason, day=day, **there[one])
            for one in dict.fromkeys(ids)
            if one not in known
        ]
        await add_withdrawals(stored.store, withdrawals_of(wanted, heads))
    finally:
        await stored.lake.close()
    new = tuple(one.episode for one in wanted)
    return WithdrawReport(
        place=url,
        version=None,
        withdrawn=new,
        before=tuple(one for one in dict.fromkeys(ids) if one in known),
        rewritten=0,
        bytes=0,
        remains=(
            "the run's next publications and exports leave them out; its tables keep the rows until `stepmill compact`",
            "published datasets keep them until `stepmill withdraw PLACE`, or the next publication there",
        )
        if new
        else (),
    )
