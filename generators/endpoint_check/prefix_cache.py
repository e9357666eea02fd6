"""Which prefixes an endpoint really serves from its cache: measured, not asked.

Three things that runs do all the time: a prompt grows by a turn, episodes share their system
prompt alone, old pictures leave a prompt. Servers differ in each, by version and by model: some
keep states only at the ends of large blocks, some only once two prompts have parted at a place. So
prompts are as long as a run's, begin with something new, and what is shared is asked for twice.
What the cache served is read from a reply's usage, or else from the metrics before and after it,
which other clients of the server would disturb.
"""

from collections.abc import Sequence

from generators.endpoint_check.endpoint import CheckedEndpoint
from generators.endpoint_check.probe_images import filler_page
from generators.endpoint_check.prompts import append_page, sent_size, start_conversation
from generators.endpoint_check.result import CheckResult, Fitness
from generators.engine.protocol import Reply
from generators.policy.dialects.protocol import Dialect, Rationale
from generators.policy.model.context_window import ContextWindow
from schemas.action import Click
from schemas.base import Record

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
    """What a cache did for one prompt."""

    shared: int | None
    """Tokens that it begins with and that were sent before; None: not known."""
    cached: int | None
    """Tokens that the cache served; None: the server does not say."""
    whole: int | None
    """Tokens of the prompt; None: the server does not say."""


async def check_prefix_cache(subject: CheckedEndpoint) -> list[CheckResult]:
    """Say what the cache serves of a grown, of a related and of an evicted prompt.

    Raises:
        RolloutFailure: the endpoint gave no reply.
        RequestRefused: the prompts are too long for the server.
    """
    if not subject.max_images:
        return [
            CheckResult(
                name="cache", fitness=Fitness.POOR, found="not measured: it takes no pictures"
            )
        ]
    talk = _Conversations(subject)
    first, other, third = (talk.conversation(n) for n in range(3))
    await talk.ask(first, "cold")
    grown = await talk.ask(first, "grown") if subject.max_images > 1 else None
    await talk.ask(other, "related")
    related = await talk.ask(third, "related again")
    evicted = await talk.ask(first, "evicted")
    found = (grown, related, evicted)
    return [
        _result(name, served, remedy)
        for name, served, remedy in zip(_NAMES, found, _REMEDIES, strict=True)
        if served is not None
    ]


class _Conversations:
    """Conversations that share a system prompt nobody has sent before."""

    def __init__(self, subject: CheckedEndpoint) -> None:
        self._subject = subject
        self._slack = min(subject.max_images, 2) - 1
        self._sent: list[tuple[int, ...]] = []
        self._steps: dict[int, int] = {}

    def conversation(self, number: int) -> ContextWindow:
        return start_conversation(
            self._subject,
            f"Find the price of article {number}{self._subject.unique_prefix} and answer it.",
            keep=1,
            slack=self._slack,
            salt=f"{self._subject.unique_prefix}\n",
        )

    async def ask(self, window: ContextWindow, name: str) -> CacheResult:
        """Show another page, ask, and say what the cache served of it."""
        subject = self._subject
        step = self._steps.get(id(window), 0)
        self._steps[id(window)] = step + 1
        picture = filler_page(sent_size(subject), seed=f"{subject.unique_prefix}-{name}", step=step)
        if step:
            window.append_reply(_sample_reply(subject.dialect, subject))
        append_page(subject, window, picture, step=step)
        before = await self._hits()
        reply = await subject.ask(window.messages, tokens=8)
        served = CacheResult(
            shared=self._shared_tokens(reply.prompt_token_ids),
            cached=await self._cached_tokens(reply, before),
            whole=reply.prompt_tokens,
        )
        if reply.prompt_token_ids is not None:
            self._sent.append(reply.prompt_token_ids)
        return served

    async def _hits(self) -> float | None:
        metrics = await self._subject.metrics()
        return metrics.prefix_hits if metrics else None

    async def _cached_tokens(self, reply: Reply, before: float | None) -> int | None:
        if reply.cached_tokens is not None:
            return reply.cached_tokens
        after = await self._hits()
        return None if before is None or after is None else round(after - before)

    def _shared_tokens(self, ids: Sequence[int] | None) -> int | None:
        if ids is None:
            return None
        return max((_common(sent, ids) for sent in self._sent), default=0)


def _sample_reply(dialect: Dialect, subject: CheckedEndpoint) -> str:
    return dialect.format_action(
        Click(x=40, y=40), subject.frame, Rationale(thought="I look further.")
    )


def _common(first: Sequence[int], second: Sequence[int]) -> int:
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
    of = served.shared or served.whole
    found = f"{served.cached} of {of or '?'} {'shared' if served.shared else 'prompt'} tokens"
    good = served.cached > 0 and (of is None or served.cached >= ENOUGH * of)
    if good:
        return CheckResult(name=name, fitness=Fitness.FIT, found=found)
    return CheckResult(name=name, fitness=Fitness.POOR, found=found, remedy=remedy)
