"""What a comparison knows of each episode: its task, its result under the rule, and a hash of its steps.

A run is judged here by its rule, as a publication would. A dataset has the results of its own rule in
`attempts`; where an earlier version published it without them, its `trajectories` are all that is known.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from sys import intern
from typing import Any

from schemas.configuration.sections import AcceptSection
from schemas.errors import Damaged, FailureKind
from schemas.tables.tables import Row
from schemas.verdicts.acceptance import (
    AcceptanceStatus,
    RunJudgement,
    accept_all,
    deciding_reason,
)
from storage.publish.plan.rows import Tables
from storage.publish.plan.verdict_reader import Judged, judged_episodes, read_standing_reviews
from storage.reading.row_files import RowFiles, stretches, table_files

_NEEDED = ("episode_id", "task_id", "policy", "attempt")
_EPISODES = (*_NEEDED, "failure_kind", "n_steps", "content_sha256")
_ATTEMPTS = (
    *_NEEDED,
    "site",
    "template_id",
    "status",
    "accepted",
    "deciding_reason",
    "rejected_because",
    "success",
    "failure_kind",
    "content_sha256",
)
UNKNOWN = "?"
"""The site or template of a task without a row."""


@dataclass(frozen=True, slots=True)
class EpisodeFacts:
    """One episode."""

    episode_id: str
    """Its id."""
    task_id: str
    """The task attempted."""
    site: str
    """The site that served its pages."""
    template: str
    """The task's template."""
    policy: str
    """The policy's name."""
    attempt: int
    """The number of the attempt."""
    status: AcceptanceStatus
    """Its result under the rule of its side."""
    reason: str | None
    """Why it was not accepted; None if it was, or nobody says."""
    success: bool | None
    """Whether the site reported success; None if no verifier judged it, or nobody says."""
    outside: bool
    """It failed for reasons outside the policy."""
    content_sha256: str | None
    """Hash over its steps; None if its side does not have them."""

    @property
    def place(self) -> tuple[str, str, int]:
        """Its task, policy and attempt, which episodes of two runs may share."""
        return self.task_id, self.policy, self.attempt


def facts_of_run(tables: Tables, rule: AcceptSection) -> list[EpisodeFacts]:
    """Return the facts of every episode of a version of a run, judged by `rule`."""
    rows = list(_rows(_files(tables, "episodes"), _EPISODES))
    owners = {row["episode_id"]: row["task_id"] for row in rows}
    kinds = {
        row["task_id"]: (intern(row["site"]), intern(row["template_id"]))
        for row in _rows(_files(tables, "tasks"), ("task_id", "site", "template_id"))
    }
    dropped = dict[str, Judged]()
    judged = judged_episodes(tables, owners, dict.fromkeys(owners, ""), to=dropped)
    results = accept_all(rule, judged, read_standing_reviews(tables, owners))
    return [
        _of_run(row, kinds.get(row["task_id"], (UNKNOWN, UNKNOWN)), results[row["episode_id"]])
        for row in rows
    ]


def _files(tables: Tables, name: str) -> RowFiles:
    return table_files(tables.datasets.get(name), name)


def _of_run(row: Row, kind: tuple[str, str], judgement: RunJudgement) -> EpisodeFacts:
    reasons = judgement.acceptance.rejected_because
    return EpisodeFacts(
        episode_id=row["episode_id"],
        task_id=row["task_id"],
        site=kind[0],
        template=kind[1],
        policy=intern(row["policy"]),
        attempt=row["attempt"],
        status=judgement.status,
        reason=intern(deciding_reason(reasons)) if reasons else None,
        success=judgement.success,
        outside=_is_outside(row),
        content_sha256=row["content_sha256"],
    )


def facts_of_dataset(configs: Mapping[str, RowFiles], address: str) -> list[EpisodeFacts]:
    """Return the facts of every attempt of a dataset, or of its trajectories if it names no attempts.

    Raises:
        Damaged: its rows lack a column without which no episode is known.
    """
    trajectories = configs.get("trajectories", ())
    hashes = {
        row["episode_id"]: row["content_sha256"]
        for row in _rows(trajectories, ("episode_id", "content_sha256"))
    }
    config = "attempts" if "attempts" in configs else "trajectories"
    files = configs.get(config, ())
    for file in files:
        lacks = [name for name in _NEEDED if name not in file.columns]
        if lacks:
            raise Damaged(f"{address}: {config} has no column {lacks[0]}, so nothing is compared")
    sites = _kinds(configs) if config == "trajectories" else {}
    return [
        _of_dataset(row | {"content_sha256": hashes.get(row["episode_id"])}, sites)
        for row in _rows(files, _ATTEMPTS)
    ]


def _kinds(configs: Mapping[str, RowFiles]) -> dict[str, str]:
    """Return the template of each task, for trajectories, whose rows do not name it."""
    rows = _rows(configs.get("tasks", ()), ("task_id", "template_id"))
    return {row["task_id"]: row["template_id"] or UNKNOWN for row in rows}


def _of_dataset(row: Mapping[str, Any], templates: Mapping[str, str]) -> EpisodeFacts:
    reasons = row["rejected_because"] or ()
    reason = row["deciding_reason"] or (deciding_reason(reasons) if reasons else None)
    accepted = AcceptanceStatus.ACCEPTED if row["accepted"] else AcceptanceStatus.REJECTED
    return EpisodeFacts(
        episode_id=row["episode_id"],
        task_id=row["task_id"],
        site=intern(row["site"] or UNKNOWN),
        template=intern(row["template_id"] or templates.get(row["task_id"], UNKNOWN)),
        policy=intern(row["policy"]),
        attempt=row["attempt"],
        status=accepted if row["status"] is None else AcceptanceStatus(row["status"]),
        reason=None if reason is None else intern(reason),
        success=row["success"],
        outside=_is_outside(row),
        content_sha256=row["content_sha256"],
    )


def _is_outside(row: Mapping[str, Any]) -> bool:
    return row["failure_kind"] not in (None, FailureKind.POLICY.value)


def _rows(files: RowFiles, columns: tuple[str, ...]) -> Iterator[Row]:
    """Yield the rows of some files with these columns, None where a file lacks one."""
    for stretch in stretches(files):
        known = [name for name in columns if name in stretch.columns]
        nothing: Row = dict.fromkeys(columns)
        for batch in stretch.read(known):
            yield from (nothing | row for row in batch.to_pylist())
