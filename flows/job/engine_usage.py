"""A run's usage of the engine: tokens and whose they are, cost, and the time that sessions waited for it.

The figures come from the rows of `calls` and the times of the episodes, never from a policy. A run's
*active* seconds are those in which at least one episode was in progress, so that a run that was resumed
a day later is not a day long; its *busy* seconds are those in which a reply was awaited. A figure that
the server does not report is None, never 0.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from flows.job.token_ledger import LEDGER_COLUMNS, TokenLedger, ledgers_by_owner, token_ledger
from schemas.episodes.call import sum_known
from schemas.tables.tables import Row
from storage.work_log import Work

CALL_COLUMNS = (*LEDGER_COLUMNS, "episode_id", "step", "engine", "retries", "total_ms", "at")
"""The columns of `calls` that are read."""

Span = tuple[datetime, datetime]
"""The beginning and the end of a stretch of time."""


class EngineUsage(TokenLedger):
    """The engine's usage over all calls of a run."""

    roles: dict[str, int]
    """Calls by their role."""
    owners: dict[str, TokenLedger]
    """The tokens of each role's calls."""
    steps: int
    """Steps that anything was asked for."""
    retries: int
    """Requests that were sent again because a reply did not arrive whole."""
    active_seconds: float
    """Seconds in which at least one episode was in progress."""
    busy_seconds: float
    """Seconds in which at least one reply was awaited, over all endpoints."""
    tokens_per_second: float
    """Prompt and completion tokens per active second."""
    busy_percent: float
    """Busy seconds as a share of active ones, on average over the endpoints, 0-100."""
    waiting_for_engine: float
    """Sessions that waited for a reply, on average over active seconds."""
    waiting_for_browser: float
    """Sessions that waited for their browser, on average over active seconds."""
    total_usd: float | None
    """Cost of the run: of its calls, of its own servers whenever they ran, and of what was cut off; None where nothing is
    priced."""
    usd_per_accepted: float | None
    """Cost of the run per trajectory; None where nothing is priced, or nothing was accepted."""
    gpu_seconds_per_accepted: float | None
    """Busy seconds per trajectory; None where nothing was accepted."""
    server_seconds: float | None
    """Seconds of the run's own servers, from their start to their end, over all commands; None: it started none."""
    server_gpu_seconds: float | None
    """The same, times the GPUs of these servers."""
    work_seconds: float | None
    """Seconds that commands worked on the run; None: an earlier version made all of it."""


def engine_usage(
    calls: Sequence[Row], episodes: Sequence[Row], works: Sequence[Work] = (), *, accepted: int
) -> EngineUsage | None:
    """Return the usage of a run's `calls`; None without calls.

    `episodes` need `started_at`, `ended_at` and `browser_seconds`. `works` are the run's work log.
    """
    if not calls:
        return None
    active = covered_seconds((row["started_at"], row["ended_at"]) for row in episodes)
    by_engine: defaultdict[str | None, list[Span]] = defaultdict(list)
    for row in calls:
        waited = timedelta(milliseconds=row["total_ms"] or 0.0)
        by_engine[row["engine"]].append((row["at"], row["at"] + waited))
    busy = sum(covered_seconds(spans) for spans in by_engine.values())
    awaited = sum(row["total_ms"] or 0.0 for row in calls) / 1_000
    tokens, owners = token_ledger(calls), ledgers_by_owner(calls)
    total = run_dollars(tokens.cost_usd, works)
    servers = [work for work in works if work.server_seconds is not None]
    seconds = max(active, 1e-6)
    return EngineUsage(
        **{name: getattr(tokens, name) for name in TokenLedger.model_fields},
        roles={role: ledger.calls for role, ledger in owners.items()},
        owners=owners,
        steps=len({(row["episode_id"], row["step"]) for row in calls}),
        retries=sum(row["retries"] for row in calls),
        active_seconds=active,
        busy_seconds=busy,
        tokens_per_second=(tokens.prompt_tokens + tokens.completion_tokens) / seconds,
        busy_percent=100.0 * busy / len(by_engine) / seconds,
        waiting_for_engine=awaited / seconds,
        waiting_for_browser=sum(row["browser_seconds"] for row in episodes) / seconds,
        total_usd=total,
        usd_per_accepted=total / accepted if total is not None and accepted else None,
        gpu_seconds_per_accepted=busy / accepted if accepted else None,
        server_seconds=sum(w.server_seconds or 0.0 for w in servers) if servers else None,
        server_gpu_seconds=(
            sum((w.server_seconds or 0.0) * w.server_gpus for w in servers) if servers else None
        ),
        work_seconds=sum(work.seconds for work in works) if works else None,
    )


def covered_seconds(spans: Iterable[Span]) -> float:
    """Return how many seconds at least one of `spans` covers."""
    total, end = timedelta(), None
    for start, stop in sorted(spans):
        if end is None or start > end:
            total += stop - start
        elif stop > end:
            total += stop - end
        end = stop if end is None else max(end, stop)
    return total.total_seconds()


def run_dollars(calls_usd: float | None, works: Iterable[Work]) -> float | None:
    """Return the cost of a run whose stored calls cost `calls_usd`; None where nothing is priced.

    The work log has what the calls cost and more, but for its last seconds before a kill and for commands of
    earlier versions; so the larger of the two counts.
    """
    known = (calls_usd, sum_known(work.dollars for work in works))
    return max((dollars for dollars in known if dollars is not None), default=None)


def dollars_by_episode(calls: Iterable[Row]) -> dict[str, float]:
    """Return the cost of each episode's calls, by its id; those without a price are left out."""
    out: defaultdict[str, float] = defaultdict(float)
    for row in calls:
        if row["cost_usd"] is not None:
            out[row["episode_id"]] += row["cost_usd"]
    return dict(out)
