"""One run's configuration: every key with its default, its range and what it decides.

A configuration is a TOML file over these defaults. `resolve` puts layers of plain tables over
each other and validates the result once, so that every mistake is named with its key, its value
and the rule it breaks, before any work. `identity` is the part that decides *what* is made: a run
can only be resumed with the same identity; everything else may differ from one day to the next.
"""

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any

from pydantic import AfterValidator, Field, JsonValue, ValidationError

from schemas.base import Record
from schemas.errors import BadConfig
from schemas.task import MAX_SEED

Layer = Mapping[str, Any]
"""Nested plain tables, as TOML gives them."""

Seed = Annotated[int, Field(ge=0, le=MAX_SEED)]
"""A non-negative 63-bit integer."""


def _ordered(seeds: tuple[int, int]) -> tuple[int, int]:
    if seeds[0] > seeds[1]:
        raise ValueError("the first seed should not be larger than the last")
    return seeds


SeedRange = Annotated[tuple[Seed, Seed], AfterValidator(_ordered)]
"""First and last, inclusive."""


class PolicyName(StrEnum):
    """The policies there are."""

    TEACHER = "teacher"
    """Reads the page's structure and acts by pixels and keys."""
    CLUMSY = "clumsy"
    """The teacher, with seeded mistakes."""
    SCRIPTED = "scripted"
    """Reads a list of actions."""
    MODEL = "model"
    """Asks the engine."""
    SURFER = "surfer"
    """Asks the engine as policy, localizer and validator."""


class EngineKind(StrEnum):
    """Where the model is served."""

    NONE = "none"
    """Nowhere: no policy needs one."""
    OPENAI = "openai"
    """By any OpenAI-compatible server that already runs."""
    VLLM = "vllm"
    """By a vLLM that the run starts and stops."""
    SCRIPTED = "scripted"
    """By the small server that ships for tests and demos."""


class Runner(StrEnum):
    """What spreads units."""

    LOCAL = "local"
    """This process."""
    RAY = "ray"
    """A Ray cluster."""


class RunSection(Record):
    """Where the run lies and what it is called."""

    url: str = Field(default="runs/run", min_length=1)
    """A folder, `file://…` or `s3://bucket/prefix`."""
    name: str = "stepmill"
    """For people."""
    seed: Seed = 0
    """Decides every draw of the run."""


class TasksSection(Record):
    """Which tasks, and how often each is attempted."""

    source: str = Field(default="miniwob", min_length=1)
    """`miniwob`, `apps`, or a task file."""
    include: tuple[str, ...] = ("*",)
    """Globs over templates; a template is in if any matches."""
    exclude: tuple[str, ...] = ()
    """Globs over templates; a template is out if any matches."""
    seeds: SeedRange = (0, 4)
    """First and last seed of each template, inclusive; a task file has its own."""
    attempts: int = Field(default=1, ge=1, le=10_000)
    """Attempts at each task."""
    unit_size: int = Field(default=16, ge=1, le=100_000)
    """Episodes in a unit, at least one task's."""


class PolicySection(Record):
    """Who acts."""

    name: PolicyName = PolicyName.TEACHER
    """Which policy."""
    share: float = Field(default=1.0, gt=0, le=1_000_000)
    """How much of the episodes it gets, beside the other policies' shares."""
    dialect: str | None = None
    """How the model is spoken to; None: the policy's own default."""
    temperature: float = Field(default=0.0, ge=0, le=2)
    """Of the model's sampling."""
    keep_images: int = Field(default=1, ge=1, le=100)
    """Pictures kept in the prompt after an eviction."""
    slack_images: int = Field(default=2, ge=0, le=100)
    """Pictures let in beyond that before the next eviction."""
    script: str | None = None
    """For `scripted`: a JSON file of actions by template; None for all others."""


class EngineSection(Record):
    """What serves the model."""

    kind: EngineKind = EngineKind.NONE
    """See `EngineKind`."""
    urls: tuple[str, ...] = ()
    """Endpoints that already run."""
    model: str | None = None
    """The model's name; None without an engine."""
    usd_per_hour: float | None = Field(default=None, ge=0)
    """What the engine costs; None: not priced."""
    args: tuple[str, ...] = ()
    """Extra server flags."""


class BrowserSection(Record):
    """How many sessions, and what they look like."""

    sessions: int = Field(default=8, ge=1, le=1_024)
    """At once, in each process."""
    viewport: tuple[
        Annotated[int, Field(ge=100, le=8_192)], Annotated[int, Field(ge=100, le=8_192)]
    ] = (
        500,
        400,
    )
    """Width and height, CSS px."""
    device_scale_factor: float = Field(default=1.0, gt=0, le=4)
    """Picture px per CSS px."""
    processes: int = Field(default=1, ge=1, le=256)
    """Browser processes the sessions are spread over."""


class LimitsSection(Record):
    """Where an episode ends at the latest; the order of the checks is `generators.rollout.limits`'."""

    live_episodes: int | None = Field(default=None, ge=1)
    """The most at once, a ceiling over the sessions; None: the sessions decide."""
    steps: int = Field(default=30, ge=1, le=10_000)
    """Actions; a task's own limit may be lower."""
    seconds: float = Field(default=300.0, gt=0)
    """Wall seconds of one try."""
    tokens: int | None = Field(default=None, ge=1)
    """Prompt and completion; None: no limit."""
    stuck_steps: int = Field(default=4, ge=2)
    """The same action on the same picture this often in a row ends the episode."""
    drain_seconds: float = Field(default=30.0, ge=0)
    """How long an interrupted run may finish what is in flight."""


class VerifySection(Record):
    """Who looks at an episode."""

    verifiers: tuple[str, ...] = ("structure", "outcome", "replay")
    """In order; a later one sees only what no earlier one failed."""


class AcceptSection(Record):
    """The rule by which an episode becomes a trajectory."""

    passed: tuple[str, ...] = ("structure", "outcome", "replay")
    """Verifiers that must have passed it."""
    min_reward: float = 1.0
    """The least raw reward that `outcome` passes."""
    min_scores: dict[str, Annotated[float, Field(ge=0, le=1)]] = Field(default_factory=dict)
    """The least score by verifier."""


class StorageSection(Record):
    """How bytes at rest are written."""

    endpoint_url: str | None = None
    """Of an S3-compatible store; None: AWS."""
    region: str | None = None
    """Of the store; None: its default."""
    shard_mb: int = Field(default=256, ge=1, le=4_096)
    """The size a shard is closed at."""


class PublishSection(Record):
    """Where the dataset goes when the run ends."""

    to: tuple[str, ...] = ()
    """Destinations: folders, `s3://…`, `hf://datasets/ORG/NAME`."""
    include_rejected: bool = False
    """Publish rejected episodes too, labelled."""
    private: bool = True
    """Of a repository that is made."""


class ScaleSection(Record):
    """What spreads the work."""

    runner: Runner = Runner.LOCAL
    """See `Runner`."""
    workers: int = Field(default=1, ge=1, le=10_000)
    """Workers of the cluster."""


class RunConfig(Record):
    """Every key of a run, resolved."""

    run: RunSection = RunSection()
    tasks: TasksSection = TasksSection()
    policy: PolicySection = PolicySection()
    policies: tuple[PolicySection, ...] = ()
    """Mixes several, each with its `share`; replaces `policy` when it is not empty."""
    engine: EngineSection = EngineSection()
    browser: BrowserSection = BrowserSection()
    limits: LimitsSection = LimitsSection()
    verify: VerifySection = VerifySection()
    accept: AcceptSection = AcceptSection()
    storage: StorageSection = StorageSection()
    publish: PublishSection = PublishSection()
    scale: ScaleSection = ScaleSection()

    @property
    def mix(self) -> tuple[PolicySection, ...]:
        """The policies the run draws from: `policies`, or `policy` alone."""
        return self.policies or (self.policy,)


def resolve(layers: Sequence[tuple[str, Layer]]) -> RunConfig:
    """Return the configuration that `layers` give, later ones over earlier ones.

    Each layer comes with its name for messages. Tables are merged key by key, anything else
    (lists too) replaces what was there. A value has its key's type or is refused: nothing is
    read as a number or as true that only looks like it.

    Raises:
        BadConfig: naming the layer, the key, the value and the rule.
    """
    merged: dict[str, Any] = {}
    origin: dict[str, str] = {}
    for name, layer in layers:
        _merge(merged, layer, name=name, origin=origin, path=())
    try:
        # As JSON, because only there a list may stand for a tuple and yet "5" for no number.
        return RunConfig.model_validate_json(json.dumps(merged, default=str), strict=True)
    except ValidationError as error:
        raise BadConfig(_explain(error, origin)) from None


def _merge(
    base: dict[str, Any], layer: Layer, *, name: str, origin: dict[str, str], path: tuple[str, ...]
) -> None:
    for key, value in layer.items():
        here = (*path, key)
        if isinstance(value, Mapping):
            below = base.get(key)
            base[key] = dict(below) if isinstance(below, Mapping) else {}
            _merge(base[key], value, name=name, origin=origin, path=here)
        else:
            base[key] = value
        origin[".".join(here)] = name


def _explain(error: ValidationError, origin: Mapping[str, str]) -> str:
    """Return every mistake in a line: where, which key, what value, which rule."""
    lines: list[str] = []
    for item in error.errors():
        if item["type"] == "json_invalid":
            return "the configuration holds a text that is not valid Unicode"
        keys = tuple(str(part) for part in item["loc"])
        where = next(
            (origin[key] for n in range(len(keys), 0, -1) if (key := ".".join(keys[:n])) in origin),
            "the configuration",
        )
        dotted = ".".join(keys)
        if item["type"] == "extra_forbidden":
            lines.append(f"{where}: unknown key '{dotted}'; {_nearest(keys)}")
        elif item["type"] == "missing":
            lines.append(f"{where}: {dotted} is missing")
        else:
            rule = _RULES.get(item["type"]) or item["msg"].removeprefix("Value error, ")
            lines.append(f"{where}: {dotted} = {item['input']!r}: {rule}")
    return "\n".join(lines)


_RULES = {
    "model_type": "should be a table",
    "dict_type": "should be a table",
    "tuple_type": "should be a list",
    "too_long": "has too many items",
}
"""Pydantic's rules in TOML's words."""


def known_keys(record: type[Record] = RunConfig, prefix: str = "") -> Iterator[str]:
    """Yield every dotted key of a configuration."""
    for name, field in record.model_fields.items():
        kind = field.annotation
        yield prefix + name
        if isinstance(kind, type) and issubclass(kind, Record):
            yield from known_keys(kind, f"{prefix}{name}.")
        elif name == "policies":
            yield from known_keys(PolicySection, f"{prefix}{name}.")


def _nearest(keys: Sequence[str]) -> str:
    """Return advice for an unknown key: what it may have meant, else what there is."""
    named = [key for key in keys if not key.isdigit()]
    *tables, last = named
    table = "".join(f"{name}." for name in tables)
    siblings = [key for key in known_keys() if key.startswith(table)]
    for candidates in (siblings, list(known_keys())):
        by_last = {key.rpartition(".")[2]: key for key in reversed(candidates)}
        if near := difflib.get_close_matches(last, by_last, n=1, cutoff=0.6):
            return f"did you mean '{by_last[near[0]]}'?"
    own = [key.removeprefix(table) for key in siblings]
    return f"known here: {', '.join(key for key in own if '.' not in key)}"


_NOT_IDENTITY = {"limits": {"drain_seconds", "live_episodes"}}


def identity(config: RunConfig) -> dict[str, JsonValue]:
    """Return the keys that decide what a run makes, dotted, with their values.

    Only these may not differ when a run is resumed.
    """
    dump = config.model_dump(mode="json")
    out: dict[str, JsonValue] = {"run.seed": dump["run"]["seed"]}
    out |= {f"tasks.{key}": value for key, value in dump["tasks"].items()}
    out["policies"] = [section.model_dump(mode="json") for section in config.mix]
    out |= {f"engine.{key}": dump["engine"][key] for key in ("model", "args")}
    out |= {f"browser.{key}": dump["browser"][key] for key in ("viewport", "device_scale_factor")}
    out |= {
        f"limits.{key}": value
        for key, value in dump["limits"].items()
        if key not in _NOT_IDENTITY["limits"]
    }
    return out
