"""`stepmill engine rehearse`: the whole path of a configuration's engine, walked before money is spent; one page.

It starts the server that the configuration names, or asks the one that runs, and stops what it started.
"""

import argparse
import os
import shutil
import subprocess
from contextlib import AsyncExitStack

from flows import signals
from flows.job.config_loader import Sources, check_policy_names, load
from flows.resources.engines import open_engine
from flows.terminal import ExitCode, log_to_stderr, print_lines, print_note, print_result
from generators.endpoint_check.capacity_plan import Workload
from generators.endpoint_check.endpoint import CheckedEndpoint
from generators.endpoint_check.rehearsal import Rehearsal, check_files, check_memory
from generators.endpoint_check.result import CheckResult, is_fit
from generators.engine.vllm.command import flag_value
from generators.policy.model.setup import dialect_of
from schemas.configuration.config import RunConfig
from schemas.configuration.sections import PolicySection
from schemas.errors import BadConfig

USUAL_SHARE = 0.9
"""Of a card's memory, what vLLM has where nothing is said (`--gpu-memory-utilization`)."""


def run(args: argparse.Namespace) -> int:
    """Run the command and return its exit code.

    Raises:
        BadConfig: no policy of the configuration asks an engine.
    """
    config = load(Sources(config=args.config, settings=tuple(args.settings)), os.environ)
    check_policy_names(config)
    section = next((one for one in config.mix if config.asks_engine(one)), None)
    if section is None:
        raise BadConfig("no policy asks an engine; set policy.name to 'model', and engine.kind")
    log_to_stderr()
    lines, rehearsal = signals.run(_rehearse(config, section, as_json=args.json))
    good = is_fit(lines)
    if args.json:
        estimate = rehearsal and rehearsal.estimate
        print_result(
            {
                "fit": good,
                "lines": [line.model_dump(mode="json") for line in lines],
                "rates": [rate.model_dump(mode="json") for rate in rehearsal.rates]
                if rehearsal
                else [],
                "estimate": estimate and estimate.model_dump(mode="json"),
            }
        )
    return ExitCode.DONE if good else ExitCode.SHORT


async def _rehearse(
    config: RunConfig, section: PolicySection, *, as_json: bool
) -> tuple[list[CheckResult], Rehearsal | None]:
    lines: list[CheckResult] = []

    def say(line: CheckResult) -> None:
        lines.append(line)
        if not as_json:
            print_lines([f"{line.name:<12} {line.fitness.value:<6} {line.found}"])
            if line.remedy:
                print_lines([f"{'':<12} {'':<6} → {line.remedy}"])

    files, folder = check_files(config.engine)
    say(files)
    if folder is not None:
        share = flag_value(config.engine.args, "--gpu-memory-utilization")
        say(check_memory(folder, card_memories(), float(share) if share else USUAL_SHARE))
    if not is_fit(lines):
        return lines, None
    async with AsyncExitStack() as stack:
        engine = await stack.enter_async_context(open_engine(config))
        endpoint = CheckedEndpoint(engine, dialect_of(section))
        work = Workload(keep_images=section.keep_images, slack_images=section.slack_images)
        rehearsal = Rehearsal(endpoint, config.engine, work)
        async for line in rehearsal.run(print_note):
            say(line)
    return lines, rehearsal


def card_memories() -> list[float]:
    """Return the memory of each card of this machine, GiB; empty where none is known."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    asked = [program, "--query-gpu=memory.total", "--format=csv,noheader,nounits"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)  # noqa: S603 - found on PATH
    return [float(line) / 1_024 for line in done.stdout.split() if line.replace(".", "").isdigit()]
