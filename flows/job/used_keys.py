"""The keys of a configuration that each command uses.

A configuration file or the environment may hold a whole run's keys, and a command takes those that it
needs. A key given with `--set` is meant for this command, so a key without effect is refused by name:
`publish RUN --set tasks.include=…` publishes every task, and the user must not believe otherwise.
"""

from collections.abc import Iterator, Mapping, Sequence

from flows.job.config_loader import Sources, layers
from schemas.configuration.config import Layer, config_keys
from schemas.errors import BadConfig
from storage.export.registry import RENDERED

_BUCKET = ("storage.endpoint_url", "storage.region")
"""The keys that say how a bucket is reached."""

_RULE = ("accept",)
"""The acceptance rule, for commands that read verdicts."""

_LARGEST = (
    "browser.viewport",
    "browser.viewports",
    "browser.device_scale_factor",
    "browser.picture_side",
)
"""The keys that say how large pictures are at most."""

_PICTURES = (*_LARGEST, "browser.margin")
"""The keys that say how large pages and pictures are."""

_ACTING = ("policy.name", "policies")
"""The keys that decide how large pictures are where nothing is set."""

_WORDS = ("policy", "policies")
"""The keys that decide the prompts that a model would have got."""

_SERVED = ("engine.model", "engine.revision", "engine.command", "engine.args")
"""The keys that choose the program that serves a model, and the code that it executes."""

_EXPORT = (*_BUCKET, *_RULE, "select", "publish.include_rejected")

USED_KEYS: Mapping[str, tuple[str, ...] | None] = {
    "generate": None,
    "serve": None,
    "verify": (
        "storage",
        "sites",
        "verify",
        "accept",
        "browser.sessions",
        "browser.processes",
        "limits.drain_seconds",
    ),
    "publish": (
        "storage",
        *_RULE,
        "select",
        "publish.append",
        "publish.fall_points",
        "publish.include_rejected",
        "publish.private",
        "publish.gated",
        "publish.license",
        "publish.training_rows",
        "publish.dialect",
        *_WORDS,
    ),
    "withdraw": (*_BUCKET, "publish.private", "publish.gated"),
    "review": (*_BUCKET, *_RULE),
    "export": _EXPORT,
    **{f"export --format {name}": (*_EXPORT, *_WORDS) for name in RENDERED},
    "audit": (*_BUCKET, "publish.to", "publish.private"),
    "compact": ("storage",),
    "show": (*_BUCKET, *_RULE),
    "report": (*_BUCKET, *_RULE),
    "diff": (*_BUCKET, *_RULE),
    "stream": (*_BUCKET, "seats.max_staleness"),
    "tasks export": (*_BUCKET, *_RULE),
    "tasks show": ("sites", "tasks.source", "tasks.sources", *_PICTURES, *_ACTING),
    "tasks check": (
        "run.seed",
        "sites",
        "tasks.source",
        "tasks.sources",
        "tasks.include",
        "tasks.exclude",
        "tasks.seeds",
        "tasks.sample",
        "tasks.faults",
        "tasks.attempts",
        "policy",
        "policies",
        "engine",
        "browser.sessions",
        *_PICTURES,
        "limits.steps",
        "limits.seconds",
        "limits.tokens",
        "limits.stuck_steps",
        "accept.min_reward",
    ),
    "tasks record": (
        *("run.seed", "sites", "tasks.source", "browser.processes", *_PICTURES),
        *("limits.steps", "limits.seconds", "accept.min_reward"),
    ),
    "sites check": ("run.seed", "sites", "tasks", *_PICTURES, *_ACTING, "limits"),
    "engine serve": (*_SERVED, "engine.wedged_seconds", *_LARGEST, *_WORDS),
    "engine plan": (*_LARGEST, *_ACTING),
    "engine rehearse": ("run.seed", "engine", *_LARGEST, *_WORDS, "limits"),
    "doctor": _SERVED,
}
"""The keys by command, a table's name for all keys of the table; None: every key there is."""


def check_settings(command: str, settings: Sequence[str]) -> None:
    """Refuse keys of `--set` that the command does not use.

    A key that does not exist is left to `flows.job.config_loader.load`, which names the nearest
    one.

    Raises:
        BadConfig: naming the setting, the key, what the command uses and which commands use it.
    """
    used = USED_KEYS[command]
    if used is None:
        return
    known = set(config_keys())
    lines = [
        f"{name}: '{command}' does not use {key}{_other_commands(key)}; it uses {', '.join(used)}"
        for name, layer in layers(Sources(settings=tuple(settings)), {})
        for key in _leaves(layer)
        if _is_known(key, known) and not _is_covered(used, key)
    ]
    if lines:
        raise BadConfig(
            *(f"{line}; a whole run's keys may stand in a file: --config FILE" for line in lines)
        )


def _leaves(layer: Layer, prefix: str = "") -> Iterator[str]:
    """Yield the dotted keys that have a value in a layer."""
    for name, value in layer.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield prefix + name


def _is_known(key: str, known: set[str]) -> bool:
    """Return whether the key exists, or is inside a table that may hold any names."""
    return key in known or _is_covered([one for one in known if "." in one], key)


def _is_covered(used: Sequence[str], key: str) -> bool:
    """Return whether `key`, a part of it or the table it is in is used."""
    return any(key == one or key.startswith(f"{one}.") or one.startswith(f"{key}.") for one in used)


def _other_commands(key: str) -> str:
    """Return which commands use `key`, in brackets."""
    names = [name for name, used in USED_KEYS.items() if used is None or _is_covered(used, key)]
    return f" ({', '.join(names)} {'do' if len(names) > 1 else 'does'})"
