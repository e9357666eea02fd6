"""The capabilities and reports of an endpoint: context, pictures, usage, token ids, times, metrics."""

from generators.endpoint_check.endpoint import CheckedEndpoint, RequestRefused, user
from generators.endpoint_check.probe_images import filler_page, target_board
from generators.endpoint_check.result import CheckResult, Fitness
from generators.engine.client.metrics import EngineMetrics
from generators.engine.vllm.command import USAGE_FLAGS
from generators.policy.model.context_window import text_tokens
from generators.policy.model.setup import RESERVED_TOKENS
from schemas.configuration.sections import PolicySection

MAX_IMAGES = 8
"""Largest number of pictures that are tried in one prompt."""

_COUNTED_SIZE = (64, 64)
"""Size of the pictures that are counted, px."""
_USAGE_SIZE = (320, 240)
"""Size of the picture whose tokens should be reported, px."""
_DEFAULTS = PolicySection()

_NEEDED_FIGURES = {
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
"""The figures that an operator watches: the name of each, and the fields of which one is enough."""


async def check_context(endpoint: CheckedEndpoint) -> list[CheckResult]:
    """Check that the context holds a prompt of the dialect and its reply."""
    context, dialect, frame = endpoint.card.context_tokens, endpoint.dialect, endpoint.frame
    picture = dialect.image_tokens(frame.sent_width, frame.sent_height)
    needed = (
        text_tokens(dialect.system_prompt(frame)) + RESERVED_TOKENS + _DEFAULTS.max_tokens + picture
    )
    good = needed + (_DEFAULTS.keep_images + _DEFAULTS.slack_images - 1) * picture
    remedy = f"serve at least {good} (vLLM: --max-model-len), or lower policy.max_tokens"
    if context is None:
        found = "it does not say"
        remedy = f"see that it is at least {good}, and set policy.context_tokens"
        fitness = Fitness.POOR
    else:
        found = f"{context} tokens; a prompt and its reply need {needed}, better {good}"
        fitness = (
            Fitness.UNFIT if context < needed else Fitness.POOR if context < good else Fitness.FIT
        )
    return [
        CheckResult(
            name="context",
            fitness=fitness,
            found=found,
            remedy="" if fitness is Fitness.FIT else remedy,
        )
    ]


async def check_images(endpoint: CheckedEndpoint) -> list[CheckResult]:
    """Check that the model sees, and how many pictures a prompt may hold; the endpoint keeps the number.

    Raises:
        RolloutFailure: the endpoint gave no reply.
        RequestRefused: the server refuses text alone.
    """
    question = "What is on the pictures?"
    text_only = (await endpoint.ask([user(question)], tokens=4)).prompt_tokens
    refusal = ""
    for count in range(1, MAX_IMAGES + 1):
        pictures = [
            filler_page(_COUNTED_SIZE, seed=f"{endpoint.unique_prefix}-{n}") for n in range(count)
        ]
        try:
            reply = await endpoint.ask([user(*pictures, question)], tokens=4)
        except RequestRefused as error:
            refusal = str(error)
            break
        if text_only is not None and reply.prompt_tokens == text_only:
            refusal = "a picture makes the prompt no longer: it is dropped in silence"
            break
        endpoint.max_images = count
    return [_image_result(endpoint.max_images, refusal)]


def _image_result(count: int, refusal: str) -> CheckResult:
    wanted = _DEFAULTS.keep_images + _DEFAULTS.slack_images
    if not count:
        return CheckResult(
            name="pictures",
            fitness=Fitness.UNFIT,
            found=f"none: {refusal}",
            remedy="serve a model that sees, with its pictures allowed",
        )
    found = f"{count} in a prompt" if refusal else f"{count} in a prompt and perhaps more"
    if count >= wanted:
        return CheckResult(name="pictures", fitness=Fitness.FIT, found=found)
    return CheckResult(
        name="pictures",
        fitness=Fitness.UNFIT,
        found=f"{found}; {count + 1}: {refusal}",
        remedy=(
            f"allow {wanted} (vLLM: --limit-mm-per-prompt '{{\"image\": {wanted}}}'), or set "
            f"policy.keep_images = 1 and policy.slack_images = {count - 1}"
        ),
    )


async def check_reply(endpoint: CheckedEndpoint) -> list[CheckResult]:
    """Check that a plain reply comes with usage, token ids and log-probabilities.

    Raises:
        RolloutFailure: the endpoint gave no reply.
        RequestRefused: the server does not take such a request.
    """
    reply = await endpoint.ask([user("Say what a web browser is.")], tokens=16, logprobs=True)
    counts = reply.prompt_tokens, reply.completion_tokens
    return [
        _report_result(
            "usage",
            f"{counts[0]} prompt and {counts[1]} completion tokens",
            good=None not in counts,
            lacking="no token counts",
            remedy="tokens, their limit and their price stay unknown; no setting of ours mends it",
        ),
        _report_result(
            "token ids",
            "of prompt and reply",
            good=None not in (reply.completion_token_ids, reply.prompt_token_ids),
            lacking="none, or not of both prompt and reply",
            remedy="needed to train on the very tokens; vLLM gives them (return_token_ids)",
        ),
        _report_result(
            "logprobs",
            "one finite number for each token",
            good=reply.completion_logprobs is not None,
            lacking="none, or not one finite number for each token",
            remedy="needed to train on what was drawn; vLLM: --logprobs-mode processed_logprobs; "
            "where they are NaN, the weights or their precision are broken",
        ),
    ]


async def check_usage_details(endpoint: CheckedEndpoint) -> list[CheckResult]:
    """Check that a reply reports how its prompt's tokens divide, and how long it took.

    Raises:
        RolloutFailure: the endpoint gave no reply.
        RequestRefused: the server does not take such a request.
    """
    pictures = [target_board(_USAGE_SIZE)] if endpoint.max_images else []
    reply = await endpoint.ask([user(*pictures, "Say what you see.")], tokens=16)
    counts = {"cached tokens": reply.cached_tokens}
    if pictures:
        counts["picture tokens"] = reply.image_tokens
    missing = [words for words, count in counts.items() if count is None]
    return [
        _report_result(
            "token details",
            f"{reply.cached_tokens} tokens cached, {reply.image_tokens or 0} of pictures",
            good=not missing,
            lacking=f"without {' and '.join(missing)}",
            remedy=f"what a cache served stays unknown; vLLM: {USAGE_FLAGS[0]} (counts pictures from "
            "0.24 on); SGLang: --enable-cache-report",
        ),
        _report_result(
            "times",
            f"{reply.queue_ms or 0:.0f} ms in the queue, the first token after "
            f"{reply.ttft_ms or 0:.0f} ms",
            good=None not in (reply.queue_ms, reply.ttft_ms),
            lacking="none in the reply",
            remedy=f"whether a call waited or worked stays unknown; vLLM from 0.25 on: {USAGE_FLAGS[1]}",
        ),
    ]


async def check_metrics(endpoint: CheckedEndpoint) -> list[CheckResult]:
    """Check that the server reports its load, its cache and its latency."""
    metrics = await endpoint.metrics()
    missing = [] if metrics is None else missing_figures(metrics)
    return [
        _report_result(
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
        name
        for name, fields in _NEEDED_FIGURES.items()
        if all(getattr(metrics, field) is None for field in fields)
    ]


def _report_result(name: str, found: str, *, good: bool, lacking: str, remedy: str) -> CheckResult:
    if good:
        return CheckResult(name=name, fitness=Fitness.FIT, found=found)
    return CheckResult(name=name, fitness=Fitness.POOR, found=lacking, remedy=remedy)
