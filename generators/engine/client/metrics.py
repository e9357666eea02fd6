"""A server's Prometheus metrics, in one form for every product.

Products name the same things differently and drop or rename them between versions, so every field
is None where the page lacks it. A line that cannot be read is skipped, so that half a page still
gives the metrics that are on it. Engines within one server (data-parallel ranks) are added up, but
for shares, of which the largest counts.
"""

import contextlib
import math
import re
from collections import defaultdict

from pydantic import Field

from generators.engine.client.metrics_page import read_samples
from generators.engine.client.progress import TokenCounts, token_counts
from generators.engine.client.transport import IncompleteResponse, ResponseTooLarge, Transport
from generators.engine.governor.signals import Memory
from schemas.base import Record

_CACHE = "vllm:cache_config_info"
_BLOCK = re.compile(r'(?:^|,)(?:mamba_)?block_size="([1-9][0-9]{0,6})"')
_FACTS = {
    "blocks": re.compile(r'(?:^|,)num_gpu_blocks="([1-9][0-9]{0,9})"'),
    "longest_at_once": re.compile(r'(?:^|,)kv_cache_max_concurrency="([0-9.]{1,20})"'),
    "caches_prefixes": re.compile(r'(?:^|,)enable_prefix_caching="(True|False)"'),
}
"""What `cache_config_info` says in its labels, as vLLM 0.26 to 0.33 write them."""
_LE = re.compile(r'(?:^|,)le="([^"]*)"')


class DurationHistogram(Record):
    """A histogram of durations since the server started."""

    count: float = Field(ge=0)
    """The number of durations."""
    seconds: float = Field(ge=0)
    """Their sum."""
    buckets: tuple[tuple[float, float], ...] = ()
    """(upper bound in seconds, how many up to it), rising, without the infinite one."""


class EngineMetrics(Record):
    """A server's metrics; counters since its start; None if the server does not report one."""

    running: float | None = None
    """Requests worked on now."""
    waiting: float | None = None
    """Requests that wait now."""
    kv_usage: float | None = None
    """Share of the cache in use now, 0 to 1."""
    preemptions: float | None = None
    """Requests thrown out of the batch, to be done again."""
    prompt_tokens: float | None = None
    """Tokens of all prompts."""
    cached_prompt_tokens: float | None = None
    """Tokens of all prompts that the cache served."""
    generation_tokens: float | None = None
    """Tokens of all replies."""
    prefix_queries: float | None = None
    """Tokens looked up in the prefix cache."""
    prefix_hits: float | None = None
    """Tokens found there."""
    prefix_hit_rate: float | None = None
    """Share of tokens found there, where a server says only that."""
    picture_queries: float | None = None
    """Pictures looked up in the cache of processed ones."""
    picture_hits: float | None = None
    """Pictures found there."""
    rejections: float | None = None
    """Requests that were turned away."""
    finished: float | None = None
    """Requests that ended, whatever the reason."""
    first_token: DurationHistogram | None = None
    """Time from the request to the first token."""
    between_tokens: DurationHistogram | None = None
    """Time from one token to the next."""
    block_tokens: int | None = None
    """Tokens of a block of the prefix cache; of a model with states, those after which a state is kept."""
    blocks: int | None = None
    """Blocks of its cache, those of one engine."""
    longest_at_once: float | None = None
    """How many of the longest sequences its cache has room for at once."""
    caches_prefixes: bool | None = None
    """Whether it keeps prefixes of prompts."""
    whole: DurationHistogram | None = None
    """Time from the request to its end."""
    queue: DurationHistogram | None = None
    """Time from the request to the beginning of the work on it."""
    prefill: DurationHistogram | None = None
    """The work on the prompt."""
    decode: DurationHistogram | None = None
    """The work on the reply."""

    def memory(self, context_tokens: int | None) -> Memory | None:
        """Return the memory for prompts; None: the server does not say how large it is.

        `context_tokens` is the longest sequence, from which follows what a sequence keeps beside its tokens; None: it
        is not known, and what is kept counts as nothing.
        """
        if not self.blocks or not self.block_tokens:
            return None
        beside = 0
        if context_tokens and self.longest_at_once:
            whole = self.blocks / self.longest_at_once - -(-context_tokens // self.block_tokens)
            # Two states of each sequence with a prefix cache, one without.
            beside = max(0, round(whole / (2 if self.caches_prefixes else 1)))
        return Memory(self.blocks, self.block_tokens, beside, self.caches_prefixes is not False)


_NUMBERS = {
    "running": (
        "vllm:num_requests_running",
        "sglang:num_running_reqs",
        "trtllm_num_requests_running",
        "llamacpp:requests_processing",
    ),
    "waiting": (
        "vllm:num_requests_waiting",
        "sglang:num_queue_reqs",
        "trtllm_num_requests_waiting",
        "llamacpp:requests_deferred",
    ),
    "kv_usage": ("vllm:kv_cache_usage_perc", "sglang:token_usage", "trtllm_kv_cache_utilization"),
    "preemptions": ("vllm:num_preemptions_total", "sglang:num_retracted_requests_total"),
    "prompt_tokens": (
        "vllm:prompt_tokens_total",
        "sglang:prompt_tokens_total",
        "llamacpp:prompt_tokens_total",
    ),
    "cached_prompt_tokens": ("vllm:prompt_tokens_cached_total", "sglang:cached_tokens_total"),
    "generation_tokens": (
        "vllm:generation_tokens_total",
        "sglang:generation_tokens_total",
        "llamacpp:tokens_predicted_total",
    ),
    "prefix_queries": ("vllm:prefix_cache_queries_total",),
    "prefix_hits": ("vllm:prefix_cache_hits_total",),
    "prefix_hit_rate": ("sglang:cache_hit_rate", "trtllm_kv_cache_hit_rate"),
    "picture_queries": ("vllm:mm_cache_queries_total",),
    "picture_hits": ("vllm:mm_cache_hits_total",),
    "rejections": ("vllm:admission_rejections_total",),
    "finished": ("vllm:request_success_total", "sglang:num_requests_total"),
}
_HISTOGRAMS = {
    "first_token": ("vllm:time_to_first_token_seconds", "sglang:time_to_first_token_seconds"),
    "between_tokens": (
        "vllm:inter_token_latency_seconds",
        "sglang:inter_token_latency_seconds",
    ),
    "whole": ("vllm:e2e_request_latency_seconds", "sglang:e2e_request_latency_seconds"),
    "queue": ("vllm:request_queue_time_seconds", "sglang:queue_time_seconds"),
    "prefill": ("vllm:request_prefill_time_seconds",),
    "decode": ("vllm:request_decode_time_seconds",),
}
_SHARES = frozenset({"kv_usage", "prefix_hit_rate"})

_Samples = dict[str, list[tuple[str, float]]]
"""Samples by name: (labels as they stand, value)."""


def parse_metrics(page: str) -> EngineMetrics:
    """Return the metrics of a Prometheus page, which may be cut off."""
    samples: _Samples = defaultdict(list)
    for name, labels, value in read_samples(page):
        samples[name].append((labels, value))
    numbers = {
        field: number
        for field, names in _NUMBERS.items()
        if (number := _number(samples, names, largest=field in _SHARES)) is not None
    }
    block = max(
        (int(size) for labels, _ in samples.get(_CACHE, ()) for size in _BLOCK.findall(labels)),
        default=None,
    )
    cache = ",".join(labels for labels, _ in samples.get(_CACHE, ())[:1])
    facts = {name: found[1] for name, rule in _FACTS.items() if (found := rule.search(cache))}
    histograms = {field: _histogram(samples, names) for field, names in _HISTOGRAMS.items()}
    return EngineMetrics.model_validate({**numbers, **histograms, **facts, "block_tokens": block})


async def read_metrics(url: str, *, seconds: float = 5.0) -> EngineMetrics | None:
    """Return the metrics of the server of the API at `url`; None if it has no such page.

    Raises:
        NoEngine: `url` is not an HTTP URL.
    """
    async with Transport(url) as transport:
        return await fetch_metrics(transport, seconds=seconds)


async def fetch_metrics(transport: Transport, *, seconds: float = 5.0) -> EngineMetrics | None:
    """Return the metrics of the server at the other end; None if it has no such page."""
    metrics = parse_metrics(await _fetch_page(transport, seconds=seconds))
    return None if metrics == EngineMetrics() else metrics


async def fetch_counts(transport: Transport, *, seconds: float) -> TokenCounts | None:
    """Return what vLLM at the other end has computed; None: it is another server, or does not say."""
    return token_counts(await _fetch_page(transport, seconds=seconds))


async def _fetch_page(transport: Transport, *, seconds: float) -> str:
    """Return a server's page of metrics, or its beginning; empty if there is none."""
    try:
        answer = await transport.get("/metrics", seconds=seconds)
    except IncompleteResponse as error:
        page = error.partial_body
    except ResponseTooLarge:
        return ""
    else:
        page = answer.body if answer.ok else b""
    return page.decode("utf-8", "replace")


def _number(samples: _Samples, names: tuple[str, ...], *, largest: bool) -> float | None:
    for name in names:
        if values := [value for _, value in samples.get(name, ())]:
            return max(values) if largest else sum(values)
    return None


def _histogram(samples: _Samples, names: tuple[str, ...]) -> DurationHistogram | None:
    """Return the histogram of the first name that has both a count and a sum; None: none has."""
    for name in names:
        count = _number(samples, (f"{name}_count",), largest=False)
        seconds = _number(samples, (f"{name}_sum",), largest=False)
        if count is None or seconds is None:
            continue
        totals: dict[float, float] = defaultdict(float)
        for labels, value in samples.get(f"{name}_bucket", ()):
            bound = _LE.search(labels)
            with contextlib.suppress(ValueError):
                totals[float(bound[1] if bound else "inf")] += value
        buckets = tuple(sorted(item for item in totals.items() if math.isfinite(item[0])))
        return DurationHistogram(count=count, seconds=seconds, buckets=buckets)
    return None
