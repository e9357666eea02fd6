"""What a run used of its engine, as lines for people: its calls, the ledger of their tokens, waiting, and what it cost."""

from collections.abc import Iterator, Mapping

from flows.job.engine_usage import EngineUsage
from flows.job.progress import format_duration
from flows.job.token_ledger import TokenLedger
from generators.policy.model.repair import ROLE as REPAIR
from generators.policy.model.seen_prefixes import CACHE_REMEDY, MIN_SERVED, WATCHED_CALLS


def engine_lines(did: EngineUsage) -> Iterator[str]:
    """Yield the usage of the engine."""
    roles = ", ".join(f"{count:,} {role}" for role, count in did.roles.items())
    yield f"engine   {did.calls:,} calls ({roles}); {did.retries:,} asked again"
    yield (
        f"tokens   {did.prompt_tokens:,} prompt{_parts(_fates(did))}, "
        f"{did.completion_tokens:,} completion; {did.tokens_per_second:,.0f} a second"
    )
    yield from _ledger_lines(did)
    yield (
        f"waiting  on average {did.waiting_for_engine:.1f} sessions for the engine, "
        f"{did.waiting_for_browser:.1f} for the browser; engine busy {did.busy_percent:.0f} %"
    )
    if did.gpu_seconds_per_accepted is not None:
        dollars = "" if did.usd_per_accepted is None else f", {did.usd_per_accepted:.5f} dollars"
        yield f"cost     {did.gpu_seconds_per_accepted:.2f} engine seconds{dollars} a trajectory"
    yield from _run_cost(did)


def _ledger_lines(did: EngineUsage) -> Iterator[str]:
    """Yield how well the cache served, a step's tokens by their owner, and what was wasted."""
    if did.hit_efficiency is not None:
        remedy = did.calls >= WATCHED_CALLS and did.hit_efficiency < MIN_SERVED
        advice = f": {CACHE_REMEDY}" if remedy else ""
        yield f"cache    {100 * did.hit_efficiency:.1f} % of the tokens that it could serve{advice}"
    for number, (role, own) in enumerate(did.owners.items()):
        yield f"{'' if number else 'a step':9}{_of_a_step(role, own, did.steps)}"
    if did.pictures:
        yield f"pictures {did.pictures / did.calls:.1f} a prompt"
    wasted = list[str]()
    if did.wasted_tokens is not None:
        wasted.append(f"{did.wasted_tokens:,} tokens of lost replies")
    if (repair := did.owners.get(REPAIR)) is not None:
        tokens = repair.prompt_tokens + repair.completion_tokens
        wasted.append(f"{tokens:,} tokens of repair turns")
    if wasted:
        yield f"wasted   {', '.join(wasted)}"


def _fates(did: TokenLedger) -> dict[str, float | None]:
    """Return what became of prompt tokens, and the number of each."""
    return {"cached": did.cached_tokens, "new": did.new_tokens, "again": did.again_tokens}


def _of_a_step(role: str, own: TokenLedger, steps: int) -> str:
    """Return what an owner's calls took for each step, in tokens and dollars."""
    text = None if own.image_tokens is None else own.prompt_tokens - own.image_tokens
    prompt = {"prompt": own.prompt_tokens} if text is None else {"text": text}
    kinds = {**prompt, "pictures": own.image_tokens, "completion": own.completion_tokens}
    each = {kind: None if tokens is None else tokens / steps for kind, tokens in kinds.items()}
    total = (own.prompt_tokens + own.completion_tokens) / steps
    dollars = "" if own.cost_usd is None else f", {own.cost_usd / steps:.6f} dollars"
    return f"{total:,.0f} tokens of {role}{_parts(each)}{dollars}"


def _parts(counts: Mapping[str, float | None]) -> str:
    """Return the known counts in parentheses; empty without any."""
    known = ", ".join(f"{count:,.0f} {what}" for what, count in counts.items() if count is not None)
    return f" ({known})" if known else ""


def _run_cost(did: EngineUsage) -> Iterator[str]:
    """Yield what the whole run costs, and how long its own servers ran."""
    parts = list[str]()
    if did.total_usd is not None:
        calls = f" ({did.cost_usd:.5f} of them for its calls)" if did.cost_usd is not None else ""
        parts.append(f"{did.total_usd:.5f} dollars{calls}")
    if did.server_seconds is not None and did.server_gpu_seconds is not None:
        gpus = f", {did.server_gpu_seconds / 3_600:.3f} GPU hours"
        parts.append(f"its servers ran for {format_duration(did.server_seconds)}{gpus}")
    if did.work_seconds is not None:
        parts.append(f"worked on for {format_duration(did.work_seconds)}")
    if parts:
        yield f"run      {'; '.join(parts)}"
