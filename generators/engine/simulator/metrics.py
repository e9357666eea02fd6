"""The simulator's counters, and the page that shows them under vLLM's names.

Every figure is true of the simulator: requests are counted when they end, tokens when they are read
or generated, times by the clock. Figures that it cannot know are left out.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

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


def metrics_page(
    counters: EngineCounters, cache: PrefixCache, pictures: ImageCache, *, model: str
) -> str:
    """Return the metrics page in Prometheus' text format."""
    labels, room = f'engine="0",model_name="{model}"', cache.blocks * BLOCK
    lines: list[str] = []
    for name, value, text in (
        ("num_requests_running", counters.running, "Requests it works on."),
        ("num_requests_waiting", counters.waiting, "Requests that wait for their turn."),
        ("kv_cache_usage_perc", min(1.0, counters.tokens_running / room), "Used part, 1 is full."),
    ):
        lines += (*_head(name, "gauge", text), f"vllm:{name}{{{labels}}} {float(value)}")
    for counter, count, text in (
        ("num_preemptions", 0, "Requests that had to make room."),
        ("prefix_cache_queries", cache.queries, "Tokens looked up in the prefix cache."),
        ("prefix_cache_hits", cache.hits, "Tokens found there."),
        ("mm_cache_queries", pictures.queries, "Pictures looked up."),
        ("mm_cache_hits", pictures.hits, "Pictures known already."),
        ("prompt_tokens", counters.prompt_tokens, "Tokens read."),
        ("prompt_tokens_cached", counters.cached_tokens, "Of these, taken from the cache."),
        ("generation_tokens", counters.generation_tokens, "Tokens said."),
    ):
        name = f"{counter}_total"
        lines += (*_head(name, "counter", text), f"vllm:{name}{{{labels}}} {float(count)}")
    lines += _head("request_success_total", "counter", "Requests by how they ended.")
    for reason in REASONS:
        ended = float(counters.ended[reason])
        lines.append(f'vllm:request_success_total{{{labels},finished_reason="{reason}"}} {ended}')
    lines += _head("cache_config_info", "gauge", "How the cache is set up.")
    lines.append(
        f'vllm:cache_config_info{{block_size="{BLOCK}",enable_prefix_caching="{cache.on}",'
        f'engine="0",num_gpu_blocks="{cache.blocks}"}} 1.0'
    )
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
