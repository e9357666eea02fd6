"""The withdrawal of episodes from a run, a published dataset or a collection."""

from collections.abc import Sequence
from datetime import UTC, datetime
from os import environ

from flows.job.config_loader import Sources, load
from flows.job.publish_job import holds_dataset
from flows.job.stored_run import open_stored_run
from flows.job.used_keys import check_settings
from schemas.errors import BadConfig, NotFound
from storage.lake.withdrawals import Withdrawal, add_withdrawals, read_withdrawals
from storage.publish.collection.withdraw import WithdrawReport, withdraw
from storage.publish.publish import open_destination


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
        snapshot = await stored.lake.snapshot()
        episodes = await snapshot.dataset("episodes")
        there = set[str]()
        if episodes is not None:
            ids_there = episodes.to_table(columns=["episode_id"])["episode_id"].to_pylist()
            there = set(map(str, ids_there))
        missing = sorted({*ids} - there)
        if missing:
            raise NotFound(f"{url}: the run has no episode {missing[0]}; nothing was changed")
        day = f"{datetime.now(UTC):%Y-%m-%d}"
        wanted = [Withdrawal(episode=one, reason=reason, day=day) for one in dict.fromkeys(ids)]
        known = {one.episode for one in await read_withdrawals(stored.store)}
        await add_withdrawals(stored.store, wanted)
    finally:
        await stored.lake.close()
    new = tuple(one.episode for one in wanted if one.episode not in known)
    return WithdrawReport(
        place=url,
        version=None,
        withdrawn=new,
        before=tuple(one for one in dict.fromkeys(ids) if one in known),
        rewritten=0,
        bytes=0,
        remains=(
            "the run's tables keep the rows; its next publications and exports leave them out",
            "published datasets keep them until `stepmill withdraw PLACE`, or the next publication there",
        )
        if new
        else (),
    )
