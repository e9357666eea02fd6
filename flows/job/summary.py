"""Counts the contents of a run from a sealed version of its tables.

Only narrow columns are read, never a picture. The same rule decides here as at publication, so the
summary and the published dataset agree.
"""

import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from pyarrow.dataset import Dataset
from pydantic import Field

from flows.job.engine_usage import CALL_COLUMNS, EngineUsage, dollars_by_episode, engine_usage
from flows.job.group_counts import EXAMPLES, GroupCount, commonest, merge_policies, worst_first
from flows.job.judging import by_episode
from schemas.base import Record
from schemas.configuration.sections import AcceptSection
from schemas.episodes.call import sum_known
from schemas.episodes.episode import BlockedRequests, ConnectionKind, StopReason
from schemas.errors import FailureKind
from schemas.tables.tables import Row
from schemas.verdicts.acceptance import (
    AcceptanceStatus,
    JudgedEpisode,
    RunJudgement,
    accept_all,
    deciding_reason,
    latest_verdicts,
)
from schemas.verdicts.review import standing_reviews
from schemas.verdicts.verdict import Verdict
from storage.lake import readers
from storage.lake.reviews import read_reviews
from storage.work_log import Work

_EPISODES = (
    "episode_id",
    "task_id",
    "policy",
    "stop_reason",
    "failure_kind",
    "failure_message",
    "n_steps",
    "blocked",
    "prompt_tokens",
    "completion_tokens",
    "engine_seconds",
    "browser_seconds",
    "started_at",
    "ended_at",
)


class TaskKind(NamedTuple):
    """The site and template of tasks: two sites may each have a template of one name."""

    site: str
    """The site that serves them."""
    template: str
    """Their template there."""


UNKNOWN = TaskKind("?", "?")
"""The kind of a task without a row."""


class OutsideFailures(Record):
    """Episodes that failed for reasons outside the policy, and the commonest reason."""

    episodes: int
    """How many failed so."""
    kind: FailureKind
    """The kind of the commonest reason."""
    reason: str
    """The commonest reason, as one of its episodes states it; reasons that differ in numbers alone are one."""
    times: int
    """How many failed for that reason."""


class Summary(Record):
    """The contents of a version of a run."""

    version: int
    """The last version that was sealed; 0 before the first."""
    tasks: int = 0
    """Tasks that were attempted."""
    episodes: int = 0
    """Accepted, rejected and unjudged."""
    accepted: int = 0
    """Episodes that meet the rule."""
    rejected: int = 0
    """Episodes that do not meet the rule."""
    unjudged: int = 0
    """Episodes that lack a required verdict."""
    rejected_by: dict[str, int] = Field(default_factory=dict)
    """Rejected episodes by the first verifier of the rule that they did not pass."""
    near_duplicates: int = 0
    """Accepted episodes that are near copies of another one."""
    failed: int = 0
    """Episodes that failed."""
    outside: OutsideFailures | None = None
    """The failures for reasons outside the policy among these; None without any."""
    steps: int = 0
    """Actions taken."""
    blocked: tuple[BlockedRequests, ...] = ()
    """Requests of pages to hosts that are not served, over all episodes, the most frequent first."""
    prompt_tokens: int = 0
    """Over all episodes."""
    completion_tokens: int = 0
    """Over all episodes."""
    engine_seconds: float = 0.0
    """Seconds of waiting for the engine, over all episodes."""
    browser_seconds: float = 0.0
    """Seconds of observing and acting, over all episodes."""
    stop_reasons: dict[str, int] = Field(default_factory=dict)
    """Episodes by the reason why they ended."""
    replayed: int = 0
    """Episodes that were replayed."""
    reproduced: int = 0
    """Replayed episodes that agreed."""
    replays: int = 0
    """Executions of replays; one that did not agree may have been tried again."""
    replays_agreed: int = 0
    """Executions that agreed."""
    engine: EngineUsage | None = None
    """The engine's usage; None if no policy asked an engine."""
    groups: tuple[GroupCount, ...] = ()
    """By site, template and policy, the lowest yield first."""

    @property
    def templates(self) -> tuple[GroupCount, ...]:
        """By site and template, all policies together, the lowest yield first."""
        return merge_policies(self.groups)


class _Snapshot(Protocol):
    @property
    def version(self) -> int: ...

    async def dataset(self, table: str) -> Dataset | None: ...


async def read_episodes(snapshot: _Snapshot) -> list[Row]:
    """Return the columns of each episode that a summary needs."""
    return await _rows(await snapshot.dataset("episodes"), _EPISODES)


async def read_task_kinds(snapshot: _Snapshot) -> dict[str, TaskKind]:
    """Return the kind of each task, by the task's id."""
    tasks = await _rows(await snapshot.dataset("tasks"), ("task_id", "site", "template_id"))
    return {task["task_id"]: TaskKind(task["site"], task["template_id"]) for task in tasks}


async def summarise(
    snapshot: _Snapshot,
    verdicts: Sequence[Verdict],
    rule: AcceptSection,
    *,
    episodes: Sequence[Row] | None = None,
    works: Sequence[Work] = (),
) -> Summary:
    """Return the contents of `snapshot`, judged by `rule` from its `verdicts`.

    `episodes` are its `read_episodes`, if the caller has them; None: they are read here. `works` are the run's
    work log.
    """
    if episodes is None:
        episodes = await read_episodes(snapshot)
    known = by_episode(verdicts)
    kinds = await read_task_kinds(snapshot)
    reviews = standing_reviews(await read_reviews(snapshot))
    judged = accept_all(rule, _judged_episodes(episodes, known), reviews)
    statuses = {id_: one.status for id_, one in judged.items()}
    rejected_by = Counter(
        deciding_reason(one.acceptance.rejected_because).partition(":")[0]
        for one in judged.values()
        if one.status is AcceptanceStatus.REJECTED
    )
    calls = await _rows(await snapshot.dataset("calls"), CALL_COLUMNS)
    counts = Counter(statuses.values())
    latest = (latest_verdicts(own) for own in known.values())
    replays = [found["replay"] for found in latest if "replay" in found]
    return Summary(
        version=snapshot.version,
        tasks=len({row["task_id"] for row in episodes}),
        episodes=len(episodes),
        **{one.value: counts[one] for one in AcceptanceStatus},
        rejected_by=dict(sorted(rejected_by.items())),
        near_duplicates=_count_near_duplicates(judged.values()),
        failed=_count_failed(episodes),
        outside=_outside_failures(episodes),
        steps=sum(row["n_steps"] for row in episodes),
        blocked=_sum_blocked(episodes),
        prompt_tokens=sum(row["prompt_tokens"] for row in episodes),
        completion_tokens=sum(row["completion_tokens"] for row in episodes),
        engine_seconds=sum(row["engine_seconds"] for row in episodes),
        browser_seconds=sum(row["browser_seconds"] for row in episodes),
        stop_reasons=dict(Counter(row["stop_reason"] for row in episodes).most_common()),
        replayed=len(replays),
        reproduced=sum(verdict.status.value == "passed" for verdict in replays),
        replays=sum(one.acceptance.replays or 0 for one in judged.values()),
        replays_agreed=sum(one.acceptance.replays_agreed or 0 for one in judged.values()),
        engine=engine_usage(calls, episodes, works, accepted=counts[AcceptanceStatus.ACCEPTED]),
        groups=_groups(
            episodes, kinds, statuses, _reasons(episodes, judged), dollars_by_episode(calls)
        ),
    )


def _judged_episodes(
    episodes: Sequence[Row], known: Mapping[str, Sequence[Verdict]]
) -> Iterator[JudgedEpisode]:
    for row in episodes:
        verdicts = tuple(known.get(row["episode_id"], ()))
        yield JudgedEpisode(row["episode_id"], row["task_id"], verdicts)


async def _rows(dataset: Dataset | None, columns: Iterable[str]) -> list[Row]:
    there = [name for name in columns if dataset is not None and name in dataset.schema.names]
    return await asyncio.to_thread(readers.rows, dataset, columns=there)


def _sum_blocked(rows: Sequence[Row]) -> tuple[BlockedRequests, ...]:
    counts = Counter[tuple[str, str]]()
    for row in rows:
        for one in json.loads(row.get("blocked") or "[]"):
            counts[one["name"], one["kind"]] += one["count"]
    return tuple(
        BlockedRequests(name=name, kind=ConnectionKind(kind), count=count)
        for (name, kind), count in sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    )


def _count_near_duplicates(judged: Iterable[RunJudgement]) -> int:
    return sum(
        one.status is AcceptanceStatus.ACCEPTED and one.acceptance.near_duplicate_of is not None
        for one in judged
    )


def _count_failed(rows: Sequence[Row]) -> int:
    return sum(row["stop_reason"] == StopReason.FAILED.value for row in rows)


def _outside_failures(rows: Sequence[Row]) -> OutsideFailures | None:
    """Return the failures outside the policy among rows of `episodes`; None without any."""
    outside = [row for row in rows if row["failure_kind"] not in (None, FailureKind.POLICY.value)]
    if not outside:
        return None
    by_kind = Counter[FailureKind](FailureKind(row["failure_kind"]) for row in outside)
    told = {
        kind: commonest(
            row.get("failure_message") or "no reason is known"
            for row in outside
            if row["failure_kind"] == kind.value
        )[0]
        for kind in by_kind
    }
    kind, (reason, times) = max(told.items(), key=lambda one: (one[1][1], one[0].value))
    return OutsideFailures(episodes=len(outside), kind=kind, reason=reason, times=times)


def _reasons(episodes: Sequence[Row], judged: Mapping[str, RunJudgement]) -> dict[str, str]:
    """Return why each episode failed or was rejected, by its id."""
    out = dict[str, str]()
    for row in episodes:
        id_ = row["episode_id"]
        if row["stop_reason"] == StopReason.FAILED.value:
            out[id_] = f"{row['failure_kind']}: {row.get('failure_message') or ''}"
        elif judged[id_].status is AcceptanceStatus.REJECTED:
            out[id_] = deciding_reason(judged[id_].acceptance.rejected_because)
    return out


def _groups(
    episodes: Sequence[Row],
    kinds: Mapping[str, TaskKind],
    statuses: dict[str, AcceptanceStatus],
    reasons: Mapping[str, str],
    dollars: Mapping[str, float],
) -> tuple[GroupCount, ...]:
    grouped: defaultdict[tuple[TaskKind, str], list[Row]] = defaultdict(list)
    for row in episodes:
        grouped[kinds.get(row["task_id"], UNKNOWN), row["policy"]].append(row)
    counts = []
    for (kind, policy), rows in grouped.items():
        unmet = sorted(row["episode_id"] for row in rows if row["episode_id"] in reasons)
        stands = Counter(statuses[row["episode_id"]] for row in rows)
        counts.append(
            GroupCount(
                site=kind.site,
                template=kind.template,
                policy=policy,
                episodes=len(rows),
                accepted=stands[AcceptanceStatus.ACCEPTED],
                rejected=stands[AcceptanceStatus.REJECTED],
                unjudged=stands[AcceptanceStatus.UNJUDGED],
                failed=_count_failed(rows),
                steps=sum(row["n_steps"] for row in rows),
                dollars=sum_known(dollars.get(row["episode_id"]) for row in rows),
                reasons=commonest(reasons[id_] for id_ in unmet),
                examples=tuple(unmet[:EXAMPLES]),
            )
        )
    return tuple(sorted(counts, key=worst_first))
