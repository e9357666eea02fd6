"""`stepmill engine check`: everything a run will need of a live endpoint, a line each.

On a slow engine it takes minutes, so each line is printed as soon as it is known; the current question
goes to standard error. It changes nothing at the endpoint but the contents of its cache.
"""

import argparse
import os

from flows import signals
from flows.terminal import ExitCode, log_to_stderr, print_lines, print_note, print_result
from generators.endpoint_check.check import check_endpoint
from generators.endpoint_check.result import CheckResult, is_fit
from generators.engine.client.client import OpenAIEngine
from generators.engine.client.endpoint_keys import endpoint_keys
from generators.engine.client.retry_policy import RetryPolicy
from generators.policy.dialects.protocol import Dialect
from generators.policy.dialects.registry import options_to_try
from generators.policy.model.setup import dialect_of
from schemas.configuration.sections import PolicySection

PATIENCE_SECONDS = 600.0
"""The limit for one reply; a cold engine's first may take long."""

MAX_BROKEN = 3
"""The number of times that a question may break the server before the check gives up."""


def run(args: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    options = options_to_try(args.dialect)
    dialect = dialect_of(PolicySection(dialect=args.dialect, dialect_options=options))
    log_to_stderr()
    lines = signals.run(_check(args, dialect))
    good = is_fit(lines)
    if args.json:
        results = [line.model_dump(mode="json") for line in lines]
        print_result({"fit": good, "url": args.url, "dialect": dialect.name, "lines": results})
    return ExitCode.DONE if good else ExitCode.SHORT


async def _check(args: argparse.Namespace, dialect: Dialect) -> list[CheckResult]:
    """Ask all questions.

    Raises:
        NoEngine: the endpoint does not answer, or does not serve the model.
    """
    lines: list[CheckResult] = []
    engine = OpenAIEngine(
        (args.url,),
        model=args.model,
        keys=endpoint_keys((args.url,), os.environ, main=(args.url,)),
        timeout_seconds=PATIENCE_SECONDS,
        retry_policy=RetryPolicy(max_broken=MAX_BROKEN),
    )
    async with engine:
        async for line in check_endpoint(engine, dialect, report=print_note):
            lines.append(line)
            if not args.json:
                print_lines([f"{line.name:<15} {line.fitness.value:<6} {line.found}"])
                if line.remedy:
                    print_lines([f"{'':<15} {'':<6} → {line.remedy}"])
    return lines
