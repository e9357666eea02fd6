"""Measures which prefixes an endpoint really serves from its cache.

Three things happen all the time in a run: a prompt grows by a turn, episodes share only their system
prompt, old pictures leave a prompt. Servers differ in each, by version and by model: some keep states only
at the ends of large blocks, some only after two prompts have diverged at a place. So the prompts here are
as long as a run's and begin with a text that no cache has, and the shared part is sent twice. The number of
cached tokens comes from a reply's usage, or else from the metrics before and after it; other clients of the
server would disturb the latter.
"""

from collections.abc import Sequence

from generators.endpoint_check.endpoint import CheckedEndpoint
from generators.endpoint_check.probe_images import filler_page
from generators.endpoint_check.result import CheckResult, Fitness
from generators.policy.dialects.protocol import Rationale
from generators.policy.model.context_window import ContextWindow
from schemas.base import Record
from schemas.episodes.action import Click

ENOUGH = 0.5
"""Share of a shared prefix that a cache must serve to be of use; blocks are up to 1,312 tokens."""

_NAMES = ("cache, grown", "cache, system", "cache, evicted")
_REMEDIES = (
    (
        "serve with a prefix cache (vLLM: --enable-prefix-caching); without one, policy.slack_images = 0 "
        "is cheaper"
    ),
    (
        "every episode then pays for the system prompt; a newer server may keep states where prompts "
        "part"
    ),
    "each eviction then costs the whole prompt; more policy.slack_images make it rarer",
)


class CacheResult(Record):
    """The cache's result for one prompt."""

    shared: int | None
    """Tokens of its beginning that were sent before; None: unknown."""
    cached: int | None
    """Tokens that the cache served; None: the server does not say."""
    whole: int | None
    """Tokens of the prompt; None: the server does not say."""


async def check_prefix_cache(endpoint: CheckedEndpoint) -> list[CheckResult]:
    """Check what the cache serves of a grown, a related and an evicted prompt.

    Raises:
        RolloutFailure: the endpoint gave no reply.
        RequestRefused: the prompts are too long for the server.
    """
    if not endpoint.max_images:
        return [
            CheckResult(
                name="cache", fitness=Fitness.POOR, found="not measured: it takes no pictures"
            )
        ]
    conversations = _Conversations(endpoint)
    first, second, third = (conversations.start(n) for n in range(3))
    await conversations.ask(first, "cold")
    grown = await conversations.ask(first, "grown") if endpoint.max_images > 1 else None
    await conversations.ask(second, "related")
    related = await conversations.ask(third, "related again")
    evicted = await conversations.ask(first, "evicted")
    return [
        _result(name, served, remedy)
        for name, served, remedy in zip(_NAMES, (grown, related, evicted), _REMEDIES, strict=True)
        if served is not None
    ]


class _Conversations:
    """Conversations that share a system prompt which was never sent before."""

    def __init__(self, endpoint: CheckedEndpoint) -> None:
        self._endpoint = endpoint
        self._slack = min(endpoint.max_images, 2) - 1
        self._sent: list[Sequence[int]] = []
        self._steps: dict[int, int] = {}

    def start(self, number: int) -> ContextWindow:
        return self._endpoint.start_conversation(
            f"Find the price of article {number}{self._endpoint.unique_prefix} and answer it.",
            slack=self._slack,
            salt=f"{self._endpoint.unique_prefix}\n",
        )

    async def ask(self, window: ContextWindow, name: str) -> CacheResult:
        """Append a page, ask, and return the cache's share of the prompt."""
        endpoint = self._endpoint
        step = self._steps.get(id(window), 0)
        self._steps[id(window)] = step + 1
        picture = filler_page(
            endpoint.sent_size, seed=f"{endpoint.unique_prefix}-{name}", step=step
        )
        if step:
            rationale = Rationale(thought="I look further.")
            window.append_reply(
                endpoint.dialect.format_action(Click(x=40, y=40), endpoint.frame, rationale)
            )
        endpoint.append_page(window, picture, step=step)
        before = await self._hits()
        reply = await endpoint.ask(window.messages, tokens=8)
        cached, ids, shared = reply.cached_tokens, reply.prompt_token_ids, None
        if cached is None and before is not None and (after := await self._hits()) is not None:
            cached = round(after - before)
        if ids is not None:
            shared = max((_common_prefix(sent, ids) for sent in self._sent), default=0)
            self._sent.append(ids)
        return CacheResult(shared=shared, cached=cached, whole=reply.prompt_tokens)

    async def _hits(self) -> float | None:
        metrics = await self._endpoint.metrics()
        return metrics.prefix_hits if metrics else None


def _common_prefix(first: Sequence[int], second: Sequence[int]) -> int:
    """Return the length of two sequences' common prefix."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(first), len(second)))


def _result(name: str, served: CacheResult, remedy: str) -> CheckResult:
    if served.cached is None:
        return CheckResult(
            name=name,
            fitness=Fitness.POOR,
            found="not measured: neither usage nor metrics say what a cache served",
            remedy="vLLM: --enable-prompt-tokens-details",
        )
    total = served.shared or served.whole
    found = f"{served.cached} of {total or '?'} {'shared' if served.shared else 'prompt'} tokens"
    if served.cached > 0 and (total is None or served.cached >= ENOUGH * total):
        return CheckResult(name=name, fitness=Fitness.FIT, found=found)
    return CheckResult(name=name, fitness=Fitness.POOR, found=found, remedy=remedy)
