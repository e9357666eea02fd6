"""`stepmill generate --dry-run`: the resolved configuration and the plan; nothing is started."""

import asyncio
import os
from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from flows.cli.parser import Arguments
from flows.job.config_loader import Sources, load
from flows.job.plan import count_by_policy, split_tasks
from flows.job.validate import ValidConfig, validate
from flows.terminal import ExitCode, log_to_stderr, print_lines, print_result
from schemas.base import JsonObject, canonical_json
from schemas.errors import NotFound
from schemas.redaction import redact_values
from storage.objects.urls import open_store
from storage.run_file import check_identity, open_run


def run(args: Arguments) -> int:
    """Run the command and return its exit code."""
    log_to_stderr()
    sources = Sources(config=args.config, settings=tuple(args.settings), run=args.run)
    prepared = validate(load(sources, os.environ))
    plan = _plan(prepared, begun=asyncio.run(_is_begun(prepared)))
    config = prepared.config.model_dump(mode="json")
    config["browser"]["picture_side"] = list(prepared.config.picture_side)
    config = {section: redact_values(table) for section, table in config.items()}
    if args.json:
        print_result({"config": config, "plan": plan})
        return ExitCode.DONE
    print_lines(_toml(config))
    print_lines([""])
    for name, value in plan.items():
        print_lines([f"# {name}: {value if isinstance(value, str) else canonical_json(value)}"])
    return ExitCode.DONE


async def _is_begun(prepared: ValidConfig) -> bool:
    """Print whether the run exists already.

    Raises:
        OtherRun: another run exists there.
    """
    config = prepared.config
    store = open_store(config.run.url, config.storage)
    try:
        existing = await open_run(store)
    except NotFound:
        return False
    check_identity(existing, config, store.url)
    return True


def _plan(prepared: ValidConfig, *, begun: bool) -> JsonObject:
    config, tasks = prepared.config, prepared.tasks
    policies: dict[str, JsonValue] = dict(count_by_policy(config, tasks))
    return {
        "run": config.run.url,
        "begun": begun,
        "templates": len({task.template_id for task in tasks}),
        "tasks": len(tasks),
        "episodes": len(tasks) * config.tasks.attempts,
        "units": sum(1 for _ in split_tasks(config, tasks)),
        "policies": policies,
    }


def _toml(tables: Mapping[str, JsonValue]) -> Iterator[str]:
    """Yield a configuration as TOML; unset keys, which TOML cannot express, as comments."""
    for section, value in tables.items():
        if isinstance(value, dict):
            yield f"[{section}]"
            yield from _keys(value)
            yield ""
        elif isinstance(value, list):
            for item in value:
                yield f"[[{section}]]"
                yield from _keys(item if isinstance(item, dict) else {})
                yield ""


def _keys(table: Mapping[str, JsonValue]) -> Iterator[str]:
    for key, value in table.items():
        yield f"# {key} is not set" if value is None else f"{key} = {_value(value)}"


def _value(value: JsonValue) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    return canonical_json(value)
