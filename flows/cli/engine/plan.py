"""`stepmill engine plan`: the cost of screenshots of each size to an engine, without starting one."""

import argparse
import os
from collections.abc import Iterator

from flows.job.config_loader import Sources, check_policy_names, load
from flows.terminal import ExitCode, print_lines, print_result, table
from generators.endpoint_check.capacity_plan import (
    CapacityPlan,
    PlanRow,
    PromptMemory,
    plan,
)
from generators.policy.dialects.registry import make_dialect, options_to_try
from schemas.episodes.viewport import largest_viewport

_HEAD = ("picture", "sent", "seen", "tokens", "legible", "tokens/step", "steps/s", "with a cache")


def run(args: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    sources = Sources(config=args.config, settings=tuple(args.settings))
    asking = "the defaults of a plan", {"policy": {"name": "model"}}
    config = load(sources, os.environ, asking)
    check_policy_names(config)
    dialect = make_dialect(args.dialect, options_to_try(args.dialect))
    capacity = plan(dialect, own=largest_viewport(config).picture)
    if args.json:
        print_result(capacity.model_dump(mode="json"))
    else:
        print_lines(_format_plan(capacity))
    return ExitCode.DONE


def _format_plan(capacity: CapacityPlan) -> Iterator[str]:
    yield from table(_HEAD, (_cells(row) for row in capacity.rows))
    work = capacity.workload
    yield ""
    yield "*: the largest picture of this configuration. =: seen pixel by pixel."
    yield "legible: seen px per px of the picture on the worse axis; below 1 small print is lost."
    yield (
        f"a step: {work.system_tokens} tokens of system prompt and task, {work.text_tokens} of text "
        f"for each earlier one, a reply of {work.reply_tokens}; pictures kept {work.keep_images}, slack "
        f"{work.slack_images}; episodes of {work.steps} steps"
    )
    yield f"steps/s of one GPU: {capacity.rate_source}"
    yield f"with a cache, at most: {capacity.cache_source}"
    yield from _format_memory(capacity.memory)


def _format_memory(memory: PromptMemory | None) -> Iterator[str]:
    if memory is None:
        yield "memory of a prompt: not known for this family, or it depends on the model's size"
        return
    attention = f"{memory.token_bytes / 1_024:g} KiB a token"
    if not memory.state_bytes:
        yield f"memory of a prompt: {attention}, found again to 16 tokens ({memory.source})"
        return
    yield (
        f"memory of a prompt: {attention}, and {memory.state_bytes / 2**20:.0f} MiB of states at 32 bits; a prefix "
        f"is found again at the ends of blocks of {memory.block_tokens} tokens alone, where a state is kept "
        f"({memory.source})"
    )


def _cells(row: PlanRow) -> tuple[str, ...]:
    marks = ("*" if row.default else "") + ("=" if row.on_grid else "")
    return (
        f"{row.width}×{row.height}{marks}",
        f"{row.sent_width}×{row.sent_height}",
        f"{row.seen_width}×{row.seen_height}",
        str(row.image_tokens),
        f"{row.legibility:.2f}",
        f"{row.tokens_per_step:.0f}",
        _rate(row.steps_per_second),
        _rate(row.cached_steps_per_second),
    )


def _rate(value: float | None) -> str:
    return "?" if value is None else f"{value:.2f}"
