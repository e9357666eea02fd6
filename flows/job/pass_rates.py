"""The success rates of a run: pass@1 and pass@k by policy and kind of task; the comparison of two runs.

An attempt passes if its site reported success under the run's thresholds, regardless of other verifiers:
a copy of another attempt is a success too. An attempt that failed outside the policy, or that no site
judged, does not count. The unit of counting is the task: each task gives one number, and figures and
intervals are over tasks (see `schemas.proportion`).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from flows.job.summary import UNKNOWN, TaskKind
from schemas.base import Record
from schemas.configuration.sections import AcceptSection
from schemas.errors import FailureKind
from schemas.proportion import Estimate, difference, mean_of_tasks, pass_at
from schemas.tables.tables import Row
from schemas.verdicts.acceptance import latest_verdicts, success
from schemas.verdicts.verdict import Verdict


class TaskAttempts(NamedTuple):
    """The attempts of one policy at one task."""

    task_id: str
    """The task."""
    kind: TaskKind
    """Its site and template."""
    policy: str
    """The policy."""
    attempts: int
    """Attempts that count."""
    passed: int
    """The number of these that passed."""


class PassRate(Record):
    """How often a policy solved the tasks of a template."""

    site: str | None
    """The template's site; None: all of them."""
    template: str | None
    """The template; None: all of them."""
    policy: str
    """The policy."""
    tasks: int
    """Tasks with an attempt that counts."""
    attempts: int
    """Attempts that count."""
    pass_1: Estimate
    """The mean over tasks of the share of attempts that passed, with its interval."""
    k: int
    """The k of pass@k."""
    tasks_k: int
    """Tasks with at least `k` attempts that count."""
    pass_k: Estimate | None
    """The mean of pass@k over these tasks, with its interval; None without such tasks."""


class Comparison(Record):
    """How often one run solved the tasks of a template, and another."""

    site: str | None
    """The template's site; None: all of them."""
    template: str | None
    """The template; None: all of them."""
    shared: tuple[str, ...]
    """Tasks that both attempted, by id: if there are any, only these are compared."""
    only_first: tuple[str, ...]
    """Tasks that the first run alone attempted."""
    only_second: tuple[str, ...]
    """Tasks that the second run alone attempted."""
    first: Estimate | None
    """Pass@1 of the first run; None if it attempted none of the template."""
    second: Estimate | None
    """Pass@1 of the second run; None if it attempted none of the template."""
    difference: Estimate | None
    """The second rate minus the first, with its interval; None if one of them is None."""


def count_attempts(
    episodes: Iterable[Row],
    kinds: Mapping[str, TaskKind],
    verdicts: Mapping[str, Sequence[Verdict]],
    rule: AcceptSection,
) -> tuple[TaskAttempts, ...]:
    """Return the attempts that count, by task and policy.

    `kinds` are the tasks' sites and templates by task, `verdicts` the verdicts by episode.
    """
    passed: defaultdict[tuple[str, str], list[bool]] = defaultdict(list)
    for row in episodes:
        outcome = success(rule, latest_verdicts(verdicts.get(row["episode_id"], ())))
        if outcome is not None and row["failure_kind"] in (None, FailureKind.POLICY.value):
            passed[row["task_id"], row["policy"]].append(outcome)
    return tuple(
        TaskAttempts(task_id, kinds.get(task_id, UNKNOWN), policy, len(found), sum(found))
        for (task_id, policy), found in sorted(passed.items())
    )


def pass_rates(counted: Sequence[TaskAttempts], *, k: int | None = None) -> tuple[PassRate, ...]:
    """Return the figures of each policy over all its tasks, then by site and template, the lowest first.

    `k` is that of pass@k; None: the largest number of attempts that a policy made at a task.
    """
    most: dict[str, int] = {}
    for one in counted:
        most[one.policy] = max(most.get(one.policy, 0), one.attempts)
    groups: defaultdict[tuple[str, TaskKind | None], list[TaskAttempts]] = defaultdict(list)
    for one in counted:
        groups[one.policy, None].append(one)
        groups[one.policy, one.kind].append(one)
    rates = [
        _rate(policy, kind, tasks, k=k or most[policy]) for (policy, kind), tasks in groups.items()
    ]
    return tuple(sorted(rates, key=_all_then_worst))


def _all_then_worst(rate: PassRate) -> tuple[bool, float, str, str, str]:
    named = rate.template or "", rate.policy, rate.site or ""
    return rate.template is not None, rate.pass_1.value, *named


def _rate(policy: str, kind: TaskKind | None, tasks: Sequence[TaskAttempts], *, k: int) -> PassRate:
    at_k = [
        pass_at(k, attempts=one.attempts, passed=one.passed) for one in tasks if one.attempts >= k
    ]
    return PassRate(
        site=kind and kind.site,
        template=kind and kind.template,
        policy=policy,
        tasks=len(tasks),
        attempts=sum(one.attempts for one in tasks),
        pass_1=mean_of_tasks([one.passed / one.attempts for one in tasks]),
        k=k,
        tasks_k=len(at_k),
        pass_k=mean_of_tasks(at_k) if at_k else None,
    )


def compare_runs(
    first: Sequence[TaskAttempts], second: Sequence[TaskAttempts]
) -> tuple[Comparison, ...]:
    """Return the figures of two runs, all policies together, over all and then by site and template."""
    runs = [_shares_by_kind(run) for run in (first, second)]
    kinds = {kind for run in runs for kind in run if kind is not None}
    return tuple(
        _compare(kind, *(run.get(kind, {}) for run in runs)) for kind in (None, *sorted(kinds))
    )


def _shares_by_kind(counted: Iterable[TaskAttempts]) -> dict[TaskKind | None, dict[str, float]]:
    """Return the share of attempts that passed by kind and task; those of all under None."""
    sums: dict[str, tuple[TaskKind, int, int]] = {}
    for one in counted:
        _, attempts, passed = sums.get(one.task_id, (one.kind, 0, 0))
        sums[one.task_id] = one.kind, attempts + one.attempts, passed + one.passed
    out: defaultdict[TaskKind | None, dict[str, float]] = defaultdict(dict)
    for task_id, (kind, attempts, passed) in sums.items():
        for key in (None, kind):
            out[key][task_id] = passed / attempts
    return out


def _compare(
    kind: TaskKind | None, first: Mapping[str, float], second: Mapping[str, float]
) -> Comparison:
    shared = sorted(first.keys() & second.keys())
    one, other = ([run[id_] for id_ in shared or sorted(run)] for run in (first, second))
    both = one and other
    return Comparison(
        site=kind and kind.site,
        template=kind and kind.template,
        shared=tuple(shared),
        only_first=tuple(sorted(first.keys() - second.keys())),
        only_second=tuple(sorted(second.keys() - first.keys())),
        first=mean_of_tasks(one) if one else None,
        second=mean_of_tasks(other) if other else None,
        difference=difference(one, other, paired=bool(shared)) if both else None,
    )
