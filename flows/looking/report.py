"""What a run came to, for its report: gathered from its tables, its work log and an earlier run.

Nothing is judged or counted anew: the summary is that of `show`, the yields those of the card, the comparison that of
`show RUN RUN2`.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from pyarrow.dataset import Dataset

from flows.job.config_loader import Sources
from flows.job.judging import by_episode
from flows.job.pass_rates import (
    Comparison,
    PassRate,
    TaskAttempts,
    compare_runs,
    count_attempts,
    pass_rates,
)
from flows.job.summary import Summary, read_episodes, read_task_kinds, summarise
from flows.looking.explanation import Explanation, explain
from flows.looking.funnel import Stage, funnel
from flows.looking.over_time import OverTime, Used, over_time
from flows.looking.places import Head, RunAttempts, failures, open_attempts
from schemas.errors import BadConfig
from schemas.tables.tables import Row
from schemas.verdicts.acceptance import AcceptanceStatus
from schemas.verdicts.full_episode import FullEpisode
from schemas.verdicts.verdict import Verdict
from storage.lake import readers
from storage.publish.card.yields import Yield
from storage.publish.plan.candidate import family_of
from storage.publish.plan.rows import Tables
from storage.work_log import Work, WorkLog

MAX_FAILURES = 10
"""The maximum number of failures that a report explains."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An attempt that was not accepted, explained."""

    head: Head
    """The attempt."""
    episode: FullEpisode
    """It whole."""
    told: Explanation
    """Why it ended so."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a run came to."""

    address: str
    """Where it lies."""
    run_id: str
    """Its id."""
    began_at: datetime
    """When its first attempt began, UTC."""
    ended_at: datetime
    """When its last attempt ended, UTC."""
    rule: str
    """What an attempt must have passed, in words."""
    summary: Summary
    """The counts of `show`."""
    heads: Sequence[Head]
    """Every attempt."""
    stages: tuple[Stage, ...]
    """The funnel."""
    families: Sequence[tuple[str, Yield]]
    """The attempts by family of templates, the lowest yield first."""
    sites: Sequence[tuple[str, Yield]]
    """The same by site."""
    policies: Sequence[tuple[str, Yield]]
    """The same by policy."""
    rates: Sequence[PassRate]
    """How often each policy solved its tasks, over all of them."""
    over_time: OverTime | None
    """Actions, tokens and seconds at the engine over time, in this order."""
    works: Sequence[Work]
    """What commands worked on it."""
    failures: Sequence[Failure]
    """Some that were not accepted, of as many causes as there are."""
    against: str | None
    """The earlier run; None: it is compared with none."""
    compared: Sequence[Comparison]
    """The comparison with it, over all tasks and by template; empty without one."""


async def read_report(
    url: str, sources: Sources, environ: Mapping[str, str], *, against: str | None = None
) -> Report:
    """Return what the run at `url` came to, as it is now; `against` is an earlier run to compare it with.

    Raises:
        NotFound: there is no such run, or no attempt in it yet.
        BadConfig: it is a published dataset, or a setting is wrong.
        Damaged: it cannot be read.
    """
    attempts, counted = await _count(url, sources, environ)
    earlier: Sequence[TaskAttempts] = ()
    if against is not None:
        _, before = await _count(against, sources, environ)
        earlier = before.attempts
    chosen = failures(attempts, count=MAX_FAILURES)
    rows = counted.episodes
    return Report(
        address=url,
        run_id=attempts.stored.run.run_id,
        began_at=min(row["started_at"] for row in rows),
        ended_at=max(row["ended_at"] for row in rows),
        rule=_rule_words(attempts),
        summary=counted.summary,
        heads=attempts.heads,
        stages=funnel(attempts.heads, attempts.rule),
        families=_yields(attempts.heads, lambda one: family_of(one.template_id)),
        sites=_yields(attempts.heads, lambda one: one.site),
        policies=_yields(attempts.heads, lambda one: one.policy),
        rates=[one for one in pass_rates(counted.attempts) if one.template is None],
        over_time=_over_time(rows, counted.works),
        works=counted.works,
        failures=await asyncio.to_thread(_explain_all, attempts, chosen),
        against=against,
        compared=compare_runs(earlier, counted.attempts) if against is not None else (),
    )


@dataclass(frozen=True, slots=True)
class _Counted:
    """A run, counted."""

    episodes: Sequence[Row]
    summary: Summary
    attempts: Sequence[TaskAttempts]
    works: Sequence[Work]


class _Snapshot:
    """Opened tables, as a summary reads them."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    @property
    def version(self) -> int:
        """The version's number."""
        return self._tables.version

    async def dataset(self, table: str) -> Dataset | None:
        """Return a table."""
        return self._tables.datasets.get(table)


async def _count(
    url: str, sources: Sources, environ: Mapping[str, str]
) -> tuple[RunAttempts, _Counted]:
    attempts = await open_attempts(url, sources, environ)
    if not isinstance(attempts, RunAttempts):
        raise BadConfig(
            f"{url}: is a published dataset, and its card is its report; name the run that it was made of"
        )
    snapshot = _Snapshot(attempts.tables)
    verdicts: Sequence[Verdict] = await asyncio.to_thread(
        readers.read_verdicts, await snapshot.dataset("verdicts")
    )
    ids = {one.episode_id for one in attempts.heads}
    episodes = [row for row in await read_episodes(snapshot) if row["episode_id"] in ids]
    works = await WorkLog(attempts.stored.store).read()
    summary = await summarise(snapshot, verdicts, attempts.rule, episodes=episodes, works=works)
    kinds = await read_task_kinds(snapshot)
    counted = count_attempts(episodes, kinds, by_episode(verdicts), attempts.rule)
    return attempts, _Counted(episodes, summary, counted, works)


def _rule_words(attempts: RunAttempts) -> str:
    scores = (f"{name} of at least {low:g}" for name, low in attempts.rule.min_scores.items())
    return ", ".join((*attempts.rule.passed, *scores)) or "nothing"


def _yields(heads: Iterable[Head], name: Callable[[Head], str]) -> Sequence[tuple[str, Yield]]:
    """Return the attempts by a name and status, the lowest yield first."""
    counts: defaultdict[str, Counter[AcceptanceStatus]] = defaultdict(Counter)
    for one in heads:
        counts[name(one)][one.status] += 1
    made = (
        (key, Yield(*(own[status] for status in AcceptanceStatus))) for key, own in counts.items()
    )
    return sorted(made, key=lambda one: (one[1].accepted / sum(one[1]), one[0]))


def _over_time(rows: Sequence[Row], works: Sequence[Work]) -> OverTime | None:
    used = [
        Used(
            row["started_at"],
            row["ended_at"],
            (
                float(row["n_steps"]),
                float(row["prompt_tokens"] + row["completion_tokens"]),
                float(row["engine_seconds"]),
            ),
        )
        for row in rows
    ]
    worked = ((one.began_at, one.began_at + timedelta(seconds=one.seconds)) for one in works)
    return over_time(used, worked)


def _explain_all(attempts: RunAttempts, heads: Sequence[Head]) -> Sequence[Failure]:
    ids = {one.episode_id for one in heads}
    verdicts = attempts.verdicts(ids)
    whole = {one.episode.episode_id: one for one in attempts.read(ids)}
    return [
        Failure(head, whole[id_], explain(whole[id_], verdicts[id_]))
        for head in heads
        for id_ in [head.episode_id]
    ]
