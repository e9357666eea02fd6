"""Every key of a configuration: the tables that have it, its unit, and the modules that read it.

Tables and keys are those of `schemas.configuration.sections` and of the dialects' settings, and which of them are
a run's identity is asked of `schemas.configuration.config`. Only units and modules are listed here: a number
without a unit or a key without a module stops `make docs`, and tests hold the modules against the
code.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import NamedTuple

from pydantic import BaseModel

from generators.policy.dialects.registry import DIALECTS, make_dialect, options_to_try
from generators.policy.dialects.stored import TOOLS
from generators.verify.registry import VERIFIER_NAMES
from schemas.base import Record
from schemas.configuration.browser_section import BrowserSection
from schemas.configuration.config import RunConfig, identity
from schemas.configuration.picture_sizes import VIEWPORT
from schemas.configuration.sections import (
    PolicyName,
    PolicySection,
    RoleSection,
    TasksSection,
)
from storage.publish.card.columns import kind_in

OPTIONS = "policy.dialect_options"
"""The table whose keys depend on the dialect."""

_PRICES = "engine.usd_per_million"


def _all(table: str, keys: str) -> tuple[str, ...]:
    """Return keys of one table, given as words, with the table's name."""
    return tuple(f"{table}.{key}" for key in keys.split())


READ_IN: Mapping[str, tuple[str, ...]] = {
    "flows/job/run_limits.py": _all("limits", "dollars hours accepted"),
    "flows/job/open_job.py": ("publish.to", "limits.drain_seconds"),
    "schemas/episodes/viewport.py": _all(
        "browser", "viewport viewports device_scale_factor picture_side margin"
    ),
    "generators/browser/process/enclosure.py": _all("browser", "sandbox user"),
    "flows/resources/engines.py": (
        *_all("engine", "kind urls model requests patience_seconds wedged_seconds"),
        *("run.seed", "policy.localizer.urls", "policy.localizer.model", "limits.live_episodes"),
        *("browser.sessions", "browser.processes"),
    ),
    "flows/job/plan.py": ("run.seed", "tasks.attempts", "tasks.unit_size", "policy.share"),
    "flows/resources/resources.py": (
        "sites",
        *("run.url", "browser.sessions", "browser.processes", "storage.private"),
        *("verify.verifiers", "verify.rejected_too"),
    ),
    "flows/serving/tokens.py": ("seats.clients", "seats.clients.token_env"),
    "flows/serving/app.py": ("seats.doors",),
    "flows/cli/serve.py": ("run.url", *_all("seats", "host port"), "limits.drain_seconds"),
    "flows/serving/task_desk.py": ("seats.splits", "run.seed"),
    "flows/serving/seating.py": (
        *_all("seats", "lease_seconds return_seconds wait_seconds max_waiting"),
        "seats.clients.seats",
    ),
    "flows/serving/step_door.py": _all("seats", "silence_seconds max_waiting"),
    "flows/serving/tools.py": _all("seats", "silence_seconds max_waiting"),
    "flows/serving/opening.py": ("seats.commit_seconds", "tasks.unit_size"),
    "flows/serving/run_door.py": ("seats.engines",),
    "flows/serving/stream.py": ("seats.max_staleness",),
    "generators/engine/vllm/supervisor.py": ("engine.wedged_seconds",),
    "generators/engine/vllm/command.py": _all("engine", "model command args revision"),
    "generators/engine/vllm/gpus.py": _all("engine", "kind args command gpus replicas"),
    "generators/engine/client/pricing.py": (
        *_all(_PRICES, "prompt completion cached"),
        *_all("engine", "usd_per_hour usd_per_million"),
    ),
    "generators/policy/dialects/holo.py": _all(OPTIONS, "page_line max_pixels"),
    "generators/policy/dialects/holo3.py": _all(OPTIONS, "max_pixels reconstructed"),
    "generators/policy/dialects/holotron3.py": _all(OPTIONS, "reconstructed"),
    "generators/policy/dialects/holotron.py": _all(OPTIONS, "note_key thought_key")
    + _all(OPTIONS, "call_key name_key observation_tag output_tag error_tag done leave_out tiles"),
    "generators/policy/dialects/shared/json_dialect.py": _all(
        OPTIONS, "convention placeholder page_line"
    )
    + _all(OPTIONS, "schema_in_prompt more_instructions thinking thinking_key text_limit")
    + _all(OPTIONS, "reasoning_effort"),
    "generators/policy/dialects/shared/tools.py": _all(OPTIONS, "extended leave_out"),
    "generators/policy/dialects/shared/agent_loop.py": _all(OPTIONS, "page_line"),
    "generators/policy/dialects/shared/function_dialect.py": _all(
        OPTIONS, "page_line extended leave_out"
    ),
    "generators/policy/dialects/shared/prompted_text.py": _all(
        OPTIONS, "convention placeholder page_line more_instructions max_pixels"
    ),
    "generators/policy/dialects/shared/text_dialect.py": _all(OPTIONS, "convention"),
    "generators/policy/factory.py": _all("policy", "name script"),
    "generators/policy/registry.py": _all("policy", "name options script"),
    "generators/policy/model/setup.py": _all("policy", "dialect dialect_options temperature top_p")
    + _all("policy", "max_tokens context_tokens logprobs keep_images slack_images")
    + _all("policy", "localizer validator")
    + _all("policy.localizer", "dialect temperature max_tokens"),
    "generators/rollout/limits.py": _all("limits", "steps seconds tokens stuck_steps"),
    "generators/tasks/task_plan.py": _all("tasks", "source sources include exclude sample faults"),
    "schemas/verdicts/acceptance.py": _all("accept", "passed min_reward min_scores reviews"),
    "schemas/configuration/config.py": ("policies", "tasks.seeds"),
    "storage/maintenance/compact.py": ("storage.shard_mb",),
    "storage/lake/lake.py": ("storage.shard_mb",),
    "storage/publish/destinations/hub/destination.py": _all("publish", "private gated"),
    "storage/publish/collection/append.py": ("publish.fall_points",),
    "storage/publish/publish.py": (
        *("publish.include_rejected", "publish.license", "storage.shard_mb"),
        *_all("publish", "training_rows best_of"),
    ),
    "flows/job/publish_job.py": (
        *_all("publish", "append training_rows dialect"),
        "select.where",
    ),
    "storage/publish/plan/choice.py": _all(
        "select", "where max_per_task max_per_template max_per_family shares"
    ),
    "storage/objects/s3/bucket_client.py": _all("storage", "endpoint_url region"),
}
"""The keys that each module reads, which is where they take effect."""

READ_NOWHERE = ("run.name",)
"""Keys that no module reads: they are kept in `run.json`."""

UNITS: Mapping[str, tuple[str, ...]] = {
    "": (
        *_all("policy", "share temperature top_p localizer.temperature"),
        *("run.seed", "tasks.seeds", "tasks.faults", "accept.min_reward", "accept.min_scores"),
        *("browser.margin", "browser.user", "select.shares"),
        "seats.port",
    ),
    "actions": _all("limits", "steps stuck_steps"),
    "attempts": ("tasks.attempts", "publish.best_of"),
    "characters": (f"{OPTIONS}.text_limit",),
    "CSS pixels": ("browser.viewport", "browser.viewports"),
    "episodes": (
        *("tasks.unit_size", "limits.live_episodes", "limits.accepted"),
        *_all("select", "max_per_task max_per_template max_per_family"),
    ),
    "MiB": ("storage.shard_mb",),
    "percentage points": ("publish.fall_points",),
    "pixels": (f"{OPTIONS}.max_pixels", "browser.picture_side"),
    "pixels per CSS pixel": ("browser.device_scale_factor",),
    "processes": ("browser.processes",),
    "requests": ("engine.requests",),
    "screenshots": _all("policy", "keep_images slack_images"),
    "seconds": (
        *_all("engine", "patience_seconds wedged_seconds"),
        *_all("limits", "seconds drain_seconds"),
        *_all("seats", "lease_seconds silence_seconds return_seconds wait_seconds commit_seconds"),
    ),
    "seats": ("seats.clients.seats",),
    "clients": ("seats.max_waiting",),
    "versions": ("seats.max_staleness",),
    "sessions": ("browser.sessions",),
    "tiles": (f"{OPTIONS}.tiles",),
    "tasks": ("tasks.sample",),
    "tokens": (*_all("policy", "max_tokens context_tokens localizer.max_tokens"), "limits.tokens"),
    "GPUs": ("engine.gpus",),
    "servers": ("engine.replicas",),
    "US dollars": ("limits.dollars",),
    "hours": ("limits.hours",),
    "US dollars per hour": ("engine.usd_per_hour",),
    "US dollars per million tokens": _all(_PRICES, "prompt completion cached"),
}
"""Every number by what it counts; those under the empty text have no unit."""


_ASKED = tuple(name for name in DIALECTS if make_dialect(name, options_to_try(name)).drives_engine)

CHOICES: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("policy.dialect", "policy.localizer.dialect", "publish.dialect"), _ASKED),
    **dict.fromkeys(
        ("verify.verifiers", "verify.rejected_too", "accept.passed", "accept.min_scores"),
        VERIFIER_NAMES,
    ),
    f"{OPTIONS}.leave_out": tuple(
        dict.fromkeys(tool.name for pair in TOOLS.values() for tools in pair for tool in tools)
    ),
}
"""The names that a key takes, where its type does not list them."""

MEMBERS: Mapping[str, type[StrEnum]] = {"policy.name": PolicyName}
"""The names of what ships, with a sentence each, where a plug-in may add others."""


class Key(NamedTuple):
    """A key of one table, or of several tables with the same keys."""

    names: tuple[str, ...]
    """Dotted; the first one stands for all in the mappings above."""
    kind: type[BaseModel]
    """The record that it is a field of."""
    dialects: tuple[str, ...] = ()
    """The dialects that have it; empty: it is no dialect's."""

    @property
    def field(self) -> str:
        """Its name within its table."""
        return self.names[0].rpartition(".")[2]


@cache
def tables() -> Mapping[tuple[str, ...], tuple[Key, ...]]:
    """Return the keys of every table; tables with the same keys are together."""
    found: dict[type[Record], list[str]] = {}
    for name, kind in _nested(RunConfig):
        found.setdefault(kind, []).append(name)
    out = {
        tuple(names): tuple(
            Key(tuple(f"{name}.{field}" for name in names), kind) for field in kind.model_fields
        )
        for kind, names in found.items()
    }
    out["policy",] += (Key(("policies",), RunConfig),)
    out["tasks",] += (Key(("sites",), RunConfig),)
    out[OPTIONS,] = tuple(_options())
    order = list(RunConfig.model_fields)
    return dict(sorted(out.items(), key=lambda item: order.index(item[0][0].split(".")[0])))


def _nested(record: type[Record], prefix: str = "") -> Iterator[tuple[str, type[Record]]]:
    for name, info in record.model_fields.items():
        kind = kind_in(info.annotation, Record)
        if kind is not None and name not in {
            "policies",
            "sites",
        }:  # the keys of `policy`, of a file
            yield prefix + name, kind
            yield from _nested(kind, f"{prefix}{name}.")


def _options() -> Iterator[Key]:
    having: dict[str, list[str]] = {}
    for dialect, kind in DIALECTS.items():
        for field in kind.model_fields:
            having.setdefault(field, []).append(dialect)
    for field, dialects in having.items():
        yield Key((f"{OPTIONS}.{field}",), DIALECTS[dialects[0]], tuple(dialects))


def leaves(value: object, prefix: str = "") -> Iterator[str]:
    """Yield the dotted keys that nested tables set; those of `policies` as keys of `policy`."""
    if isinstance(value, Mapping) and value:
        for name, below in value.items():
            yield from leaves(below, f"{prefix}.{name}".removeprefix("."))
    elif isinstance(value, list) and value and isinstance(value[0], Mapping):
        for item in value:
            yield from leaves(item, "policy" if prefix == "policies" else prefix)
    else:
        yield prefix


@cache
def _identity() -> frozenset[str]:
    roles = PolicySection(localizer=RoleSection(), validator=RoleSection())
    sizes = (
        BrowserSection(),
        BrowserSection(viewport=VIEWPORT),
        BrowserSection(viewports=(VIEWPORT,)),
    )
    faulty = TasksSection(faults=1.0)
    found = [identity(RunConfig(policy=roles, browser=size, tasks=faulty)) for size in sizes]
    keys = {key for one in found for key in leaves(one)}
    # Without any, as in the runs of earlier versions, they are left out.
    return frozenset({"policies", "policy.options", "sites", *keys})


def in_identity(key: str) -> str:
    """Say whether a key is part of a run's identity; a table may be so in part."""
    if any(f"{key}.".startswith(f"{one}.") for one in _identity()):
        return "yes"
    return "in part" if any(one.startswith(f"{key}.") for one in _identity()) else "no"


def modules(name: str) -> str:
    """Return links to the modules that read a key.

    Raises:
        LookupError: none is listed.
    """
    found = [module for module, keys in READ_IN.items() if name in keys]
    if not found and name not in READ_NOWHERE:
        raise LookupError(f"docs/configuration_keys.py: READ_IN lists no module that reads {name}")
    return ", ".join(f"[`{module}`](../{module})" for module in found) or "`run.json` alone"


def unit(name: str, value: str) -> str:
    """Return what a key counts, given its value in words; empty if it counts nothing.

    Raises:
        LookupError: it is a number that is not listed.
    """
    found = [unit for unit, keys in UNITS.items() if name in keys]
    if not found and re.search("integer|number", value):
        raise LookupError(f"docs/configuration_keys.py: UNITS does not list the number {name}")
    return "".join(found)
