"""The figures of one level, from the answers that came within it and the metrics at its ends."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from generators.engine.client.metrics import EngineMetrics
from schemas.base import Record


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of one request."""

    ended: float
    """When, by the event loop's clock."""
    total: float
    """Seconds from the request to its end."""
    first: float | None = None
    """Seconds to the first token; None: there was none."""
    prompt_tokens: int | None = None
    """None: the server does not say."""
    completion_tokens: int | None = None
    """None: the server does not say."""
    cached_tokens: int | None = None
    """None: the server does not say."""
    text: str = ""
    """What was said."""
    error: str | None = None
    """Why there is no whole reply; None: there is one."""


class Spread(Record):
    """How long something took, ms."""

    p50: float
    p90: float
    p99: float


class Level(Record):
    """What so many sessions got out of an engine."""

    sessions: int
    """At once."""
    seconds: float
    """Measured."""
    requests: int
    """Whole replies."""
    requests_per_second: float
    """Of whole replies."""
    prompt_tokens_per_second: float | None
    """As the server counts them, cached ones included; None: it does not."""
    completion_tokens_per_second: float | None
    """As the server counts them; None: it does not."""
    total_tokens_per_second: float | None
    """Both."""
    prompt_tokens: float | None
    """Of a prompt, on average."""
    completion_tokens: float | None
    """Of a reply, on average."""
    ttft_ms: Spread | None
    """From a request to its first token; None without any."""
    latency_ms: Spread | None
    """From a request to its end; None without any."""
    prefix_hit_rate: float | None
    """Share of prompt tokens that the prefix cache served, by the server's metrics."""
    cached_share: float | None
    """The same by the usage of the replies."""
    preemptions: float | None
    """Requests thrown out of the batch."""
    errors: dict[str, int] = Field(default_factory=dict)
    """Requests without a whole reply, by reason."""
    client_cpu: float
    """Cores that the bench itself kept busy."""


def level(
    answers: Sequence[Answer],
    *,
    sessions: int,
    seconds: float,
    before: EngineMetrics | None,
    after: EngineMetrics | None,
    client_cpu: float,
) -> Level:
    """Return the figures of a level."""
    whole = [answer for answer in answers if answer.error is None]
    prompts = _sum([answer.prompt_tokens for answer in whole])
    completions = _sum([answer.completion_tokens for answer in whole])
    cached = _sum([answer.cached_tokens for answer in whole])
    both = None if prompts is None or completions is None else prompts + completions
    return Level(
        sessions=sessions,
        seconds=round(seconds, 2),
        requests=len(whole),
        requests_per_second=round(len(whole) / seconds, 3),
        prompt_tokens_per_second=_per(prompts, seconds, 1),
        completion_tokens_per_second=_per(completions, seconds, 1),
        total_tokens_per_second=_per(both, seconds, 1),
        prompt_tokens=_per(prompts, len(whole), 1),
        completion_tokens=_per(completions, len(whole), 1),
        ttft_ms=spread([answer.first for answer in whole if answer.first is not None]),
        latency_ms=spread([answer.total for answer in whole]),
        prefix_hit_rate=_hit_rate(before, after),
        cached_share=_per(cached, prompts, 4),
        preemptions=_grown(before, after, "preemptions"),
        errors=dict(Counter(answer.error for answer in answers if answer.error is not None)),
        client_cpu=round(client_cpu, 2),
    )


def spread(seconds: Sequence[float]) -> Spread | None:
    """Return how `seconds` are spread, in ms; None of none."""
    if not seconds:
        return None
    ordered = sorted(seconds)
    p50, p90, p99 = (
        round(ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1e3, 1)
        for share in (0.5, 0.9, 0.99)
    )
    return Spread(p50=p50, p90=p90, p99=p99)


def _sum(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None


def _per(count: float | None, whole: float | None, digits: int) -> float | None:
    return None if count is None or not whole else round(count / whole, digits)


def _grown(before: EngineMetrics | None, after: EngineMetrics | None, name: str) -> float | None:
    first, last = getattr(before, name, None), getattr(after, name, None)
    return None if first is None or last is None else float(last - first)


def _hit_rate(before: EngineMetrics | None, after: EngineMetrics | None) -> float | None:
    hits, queries = (_grown(before, after, f"prefix_{what}") for what in ("hits", "queries"))
    if hits is not None and queries:
        return round(hits / queries, 4)
    return None if after is None else after.prefix_hit_rate
