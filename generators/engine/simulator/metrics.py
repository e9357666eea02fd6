"""The simulator's counters, and the page that shows them under vLLM's names.

Every figure is true of the simulator: requests are counted when they end, tokens when they are read
or generated, times by the clock. Figures that it cannot know are left out.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from generators.engine.simulator.batching.scheduler import Batcher
from generators.engine.simulator.pictures import ImageCache
from generators.engine.simulator.prefix_cache import BLOCK, PrefixCache

REASONS = ("stop", "length", "abort", "error")
"""How a request can end."""

BUCKETS = (0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Upper ends of the histograms' buckets, s."""


@dataclass
class Histogram:
    """How long something took, in buckets."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS) + 1))
    seconds: float = 0.0

    def observe(self, seconds: float) -> None:
        """Count one more."""
        self.counts[bisect_left(BUCKETS, seconds)] += 1
        self.seconds += seconds


@dataclass
class EngineCounters:
    """The work that was done and that is in progress."""

    running: int = 0
    waiting: int = 0
    tokens_running: int = 0
    """Tokens of the requests in progress."""
    prompt_tokens: int = 0
    generation_tokens: int = 0
    cached_tokens: int = 0
    ended: Counter[str] = field(default_factory=Counter)
    """Requests by how they ended."""
    e2e: Histogram = field(default_factory=Histogram)
    ttft: Histogram = field(default_factory=Histogram)
    queue: Histogram = field(default_factory=Histogram)


@dataclass(frozen=True, slots=True)
class CacheFigures:
    """The load and the cache, as a server's page shows them."""

    running: int
    waiting: int
    usage: float
    preemptions: int
    queries: int
    hits: int
    prompt_tokens: int
    cached_tokens: int
    generation_tokens: int
    cache: dict[str, object]
    """The labels of `cache_config_info`."""


def figures_of_cache(counters: EngineCounters, cache: PrefixCache) -> CacheFigures:
    """Return the figures of a simulator whose replies take a delay."""
    labels: dict[str, object] = {
        "block_size": BLOCK,
        "enable_prefix_caching": cache.on,
        "engine": 0,
        "num_gpu_blocks": cache.blocks,
    }
    return CacheFigures(
        counters.running,
        counters.waiting,
        min(1.0, counters.tokens_running / (cache.blocks * BLOCK)),
        0,
        cache.queries,
        cache.hits,
        counters.prompt_tokens,
        counters.cached_tokens,
        counters.generation_tokens,
        labels,
    )


def figures_of_clock(batcher: Batcher, context_tokens: int) -> CacheFigures:
    """Return the figures of a simulator with a server's clock, `context_tokens` its longest sequence."""
    preset, totals = batcher.preset, batcher.totals
    states = preset.state_blocks * (2 if preset.caches else 1)
    longest = -(-context_tokens // preset.block_tokens) + states
    labels: dict[str, object] = {
        "block_size": preset.block_tokens,
        "enable_prefix_caching": preset.caches,
        "engine": 0,
        "kv_cache_max_concurrency": preset.blocks / longest,
        "num_gpu_blocks": preset.blocks,
    }
    return CacheFigures(
        batcher.running,
        len(batcher.waiting),
        batcher.usage,
        totals.preemptions,
        totals.queries,
        totals.hits,
        totals.prompt_tokens,
        totals.cached_tokens,
        totals.generation_tokens,
        labels,
    )


def metrics_page(
    counters: EngineCounters, figures: CacheFigures, pictures: ImageCache, *, model: str
) -> str:
    """Return the metrics page in Prometheus' text format."""
    labels = f'engine="0",model_name="{model}"'
    lines: list[str] = []
    for name, value, text in (
        ("num_requests_running", figures.running, "Requests it works on."),
        ("num_requests_waiting", figures.waiting, "Requests that wait for their turn."),
        ("kv_cache_usage_perc", figures.usage, "Used part, 1 is full."),
    ):
        lines += (*_head(name, "gauge", text), f"vllm:{name}{{{labels}}} {float(value)}")
    for counter, count, text in (
        ("num_preemptions", figures.preemptions, "Requests that had to make room."),
        ("prefix_cache_queries", figures.queries, "Tokens looked up in the prefix cache."),
        ("prefix_cache_hits", figures.hits, "Tokens found there."),
        ("mm_cache_queries", pictures.queries, "Pictures looked up."),
        ("mm_cache_hits", pictures.hits, "Pictures known already."),
        ("prompt_tokens", figures.prompt_tokens, "Tokens read."),
        ("prompt_tokens_cached", figures.cached_tokens, "Of these, taken from the cache."),
        ("generation_tokens", figures.generation_tokens, "Tokens said."),
    ):
        name = f"{counter}_total"
        lines += (*_head(name, "counter", text), f"vllm:{name}{{{labels}}} {float(count)}")
    lines += _head("request_success_total", "counter", "Requests by how they ended.")
    for reason in REASONS:
        ended = float(counters.ended[reason])
        lines.append(f'vllm:request_success_total{{{labels},finished_reason="{reason}"}} {ended}')
    lines += _head("cache_config_info", "gauge", "How the cache is set up.")
    cache = ",".join(f'{name}="{value}"' for name, value in figures.cache.items())
    lines.append(f"vllm:cache_config_info{{{cache}}} 1.0")
    for name, histogram, text in (
        ("e2e_request_latency_seconds", counters.e2e, "From a request to its reply's end."),
        ("time_to_first_token_seconds", counters.ttft, "From a request to its first token."),
        ("request_queue_time_seconds", counters.queue, "Waiting for its turn."),
    ):
        lines += (*_head(name, "histogram", text), *_histogram_lines(name, labels, histogram))
    return "\n".join(lines) + "\n"


def _head(name: str, kind: str, text: str) -> Sequence[str]:
    return f"# HELP vllm:{name} {text}", f"# TYPE vllm:{name} {kind}"


def _histogram_lines(name: str, labels: str, histogram: Histogram) -> Iterator[str]:
    total = 0
    for edge, count in zip((*BUCKETS, float("inf")), histogram.counts, strict=True):
        total += count
        end = "+Inf" if edge == float("inf") else str(edge)
        yield f'vllm:{name}_bucket{{{labels},le="{end}"}} {float(total)}'
    yield f"vllm:{name}_count{{{labels}}} {float(total)}"
    yield f"vllm:{name}_sum{{{labels}}} {histogram.seconds}"
