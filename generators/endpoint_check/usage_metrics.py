"""What an endpoint tells of a reply and of itself: usage, token ids, log-probabilities, metrics."""

from generators.endpoint_check.endpoint import CheckedEndpoint, user
from generators.endpoint_check.probe_images import target_board
from generators.endpoint_check.result import CheckResult, Fitness
from generators.engine.client.metrics import EngineMetrics
from generators.engine.protocol import Reply
from generators.engine.vllm.command import USAGE_FLAGS

_NEEDED = {
    "requests running": ("running",),
    "requests waiting": ("waiting",),
    "cache usage": ("kv_usage",),
    "preemptions": ("preemptions",),
    "prompt tokens": ("prompt_tokens",),
    "generation tokens": ("generation_tokens",),
    "prefix cache hits": ("prefix_hits", "prefix_hit_rate"),
    "time to first token": ("first_token",),
    "time in the queue": ("queue",),
}
"""What an operator watches: the name of a figure, and the fields of which one is enough."""

_SMALL = (320, 240)
"""Of a picture, px."""


async def check_reply(subject: CheckedEndpoint) -> list[CheckResult]:
    """Say what comes with a plain reply.

    Raises:
        RolloutFailure: the endpoint gave no reply.
        RequestRefused: the server does not take such a request.
    """
    reply = await subject.ask([user("Say what a web browser is.")], tokens=16, logprobs=True)
    counts = reply.prompt_tokens, reply.completion_tokens
    ids, numbers = reply.completion_token_ids, reply.completion_logprobs
    return [
        _result(
            "usage",
            f"{counts[0]} prompt and {counts[1]} completion tokens",
            good=None not in counts,
            lacking="no token counts",
            remedy="tokens, their limit and their price stay unknown; no setting of ours mends it",
        ),
        _result(
            "token ids",
            "of prompt and reply",
            good=ids is not None and reply.prompt_token_ids is not None,
            lacking="none, or not of both prompt and reply",
            remedy="needed to train on the very tokens; vLLM gives them (return_token_ids)",
        ),
        _result(
            "logprobs",
            "one finite number for each token",
            good=numbers is not None,
            lacking="none, or not one finite number for each token",
            remedy="needed to train on what was drawn; vLLM: --logprobs-mode processed_logprobs; "
            "where they are NaN, the weights or their precision are broken",
        ),
    ]


async def check_usage_details(subject: CheckedEndpoint) -> list[CheckResult]:
    """Say whether a reply tells how its prompt's tokens divide, and how long it took.

    Raises:
        RolloutFailure: the endpoint gave no reply.
        RequestRefused: the server does not take such a request.
    """
    pictures = [target_board(_SMALL)] if subject.max_images else []
    reply = await subject.ask([user(*pictures, "Say what you see.")], tokens=16)
    missing = _missing_details(reply, pictures=bool(pictures))
    return [
        _result(
            "token details",
            f"{reply.cached_tokens} tokens cached, {reply.image_tokens or 0} of pictures",
            good=not missing,
            lacking=f"without {' and '.join(missing)}",
            remedy=f"what a cache served stays unknown; vLLM: {USAGE_FLAGS[0]} (counts pictures from "
            "0.24 on); SGLang: --enable-cache-report",
        ),
        _result(
            "times",
            f"{reply.queue_ms or 0:.0f} ms in the queue, the first token after "
            f"{reply.ttft_ms or 0:.0f} ms",
            good=None not in (reply.queue_ms, reply.ttft_ms),
            lacking="none in the reply",
            remedy=f"whether a call waited or worked stays unknown; vLLM from 0.25 on: {USAGE_FLAGS[1]}",
        ),
    ]


def _missing_details(reply: Reply, *, pictures: bool) -> list[str]:
    """Return what is not told of the tokens of a prompt."""
    told = {"cached tokens": reply.cached_tokens}
    if pictures:
        told["picture tokens"] = reply.image_tokens
    return [words for words, count in told.items() if count is None]


async def check_metrics(subject: CheckedEndpoint) -> list[CheckResult]:
    """Check that the server reports its load, its cache and its latency."""
    metrics = await subject.metrics()
    missing = [] if metrics is None else missing_figures(metrics)
    return [
        _result(
            "metrics",
            "load, cache and latency",
            good=metrics is not None and not missing,
            lacking=f"without {', '.join(missing)}" if metrics else "no page at /metrics",
            remedy="the load and the cache of the server cannot be watched during a run; serve with metrics "
            "(vLLM: without --disable-log-stats; SGLang: --enable-metrics)",
        )
    ]


def missing_figures(metrics: EngineMetrics) -> list[str]:
    """Return the names of the figures that these metrics lack."""
    return [
        words
        for words, fields in _NEEDED.items()
        if all(getattr(metrics, field) is None for field in fields)
    ]


def _result(name: str, found: str, *, good: bool, lacking: str, remedy: str) -> CheckResult:
    if good:
        return CheckResult(name=name, fitness=Fitness.FIT, found=found)
    return CheckResult(name=name, fitness=Fitness.POOR, found=lacking, remedy=remedy)
