"""The sections of a configuration: every key with its default and its range.

A section is a record; its defaults make a run that works. What the keys are merged from, and which
of them decide what is made, is `schemas.config`'s matter.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field, JsonValue

from schemas.base import Record
from schemas.task import MAX_SEED

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


ASKING = frozenset({PolicyName.MODEL, PolicyName.SURFER})
"""The policies that ask an engine."""

VIEWPORT = (500, 400)
"""Holds every MiniWoB++ page."""

MODEL_VIEWPORT = (1_024, 1_024)
"""On Holotron's tile grid: 2×2 tiles of 512 px and a thumbnail, 1,280 tokens, nothing rescaled."""


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
    """A Ray cluster. Reserved and refused: this version runs on one machine."""


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
    """`miniwob`, or a task file; `apps` is reserved and refused: there is no such site yet."""
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


class LogprobsMode(StrEnum):
    """What a log-probability is of: the server is set to it, and does not say."""

    RAW = "raw"
    """The model's own distribution."""
    PROCESSED = "processed"
    """The distribution that was drawn from, temperature and the like applied."""


class RoleSection(Record):
    """Who plays one role of a policy that has several."""

    urls: tuple[str, ...] = ()
    """Endpoints that already run; empty: the run's engine."""
    model: str | None = None
    """The model's name; None: the only one served."""
    dialect: str | None = None
    """How it is spoken to; None: as the policy."""
    temperature: float = Field(default=0.0, ge=0, le=2)
    """Of its sampling."""
    max_tokens: int = Field(default=512, ge=16, le=1_000_000)
    """Its longest reply, tokens."""


class PolicySection(Record):
    """Who acts."""

    name: PolicyName = PolicyName.TEACHER
    """Which policy."""
    share: float = Field(default=1.0, gt=0, le=1_000_000)
    """How much of the episodes it gets, beside the other policies' shares."""
    dialect: str | None = None
    """How the model is spoken to; None: the policy's own default."""
    dialect_options: dict[str, JsonValue] = Field(default_factory=dict)
    """Parts of the dialect that differ from its defaults, by name."""
    temperature: float = Field(default=0.0, ge=0, le=2)
    """Of the model's sampling."""
    top_p: float | None = Field(default=None, gt=0, le=1)
    """Nucleus of the model's sampling; None: the server's default."""
    max_tokens: int = Field(default=1_024, ge=16, le=1_000_000)
    """The longest reply, tokens."""
    context_tokens: int | None = Field(default=None, ge=256)
    """The longest prompt, tokens; None: what the engine says it can hold, less the reply."""
    logprobs: LogprobsMode | None = None
    """Keep the log-probability of every token of a reply, and how the server is set to give them."""
    keep_images: int = Field(default=1, ge=1, le=100)
    """Pictures kept in the prompt after an eviction."""
    slack_images: int = Field(default=2, ge=0, le=100)
    """Pictures let in beyond that before the next eviction."""
    script: str | None = None
    """For `scripted`: a JSON file of actions by template; None for all others."""
    localizer: RoleSection | None = None
    """For `surfer`: who turns words into points; None: the policy's engine and sampling."""
    validator: RoleSection | None = None
    """For `surfer`: who looks at the answer; None: the policy's engine and sampling."""


class PriceSection(Record):
    """What an engine charges, dollars for a million tokens."""

    prompt: float = Field(ge=0)
    """Of the prompt, not served from a cache."""
    completion: float = Field(ge=0)
    """Of the reply."""
    cached: float | None = Field(default=None, ge=0)
    """Of the prompt, served from a cache; None: as any other."""


class EngineSection(Record):
    """What serves the model."""

    kind: EngineKind = EngineKind.NONE
    """See `EngineKind`."""
    urls: tuple[str, ...] = ()
    """Endpoints that already run."""
    model: str | None = None
    """The model's name; None without an engine."""
    command: tuple[str, ...] | None = Field(default=None, min_length=1)
    """Starts vLLM, before its arguments; None: `.venv-engine/bin/vllm`, else `vllm` on PATH."""
    usd_per_hour: float | None = Field(default=None, ge=0)
    """What the engine costs by the hour, all endpoints together; None: not priced by the hour."""
    usd_per_million: PriceSection | None = None
    """What it charges by tokens; None: not priced by tokens."""
    requests: int = Field(default=256, ge=1, le=65_536)
    """Requests on their way to one endpoint at the same time, at most."""
    patience_seconds: float = Field(default=1_800.0, gt=0)
    """How long a reply is waited for, every time it is asked for again included."""
    args: tuple[str, ...] = ()
    """Extra server flags."""


class BrowserSection(Record):
    """How many sessions, and what they look like."""

    sessions: int = Field(default=8, ge=1, le=1_024)
    """At once, in each browser process."""
    viewport: (
        tuple[Annotated[int, Field(ge=100, le=8_192)], Annotated[int, Field(ge=100, le=8_192)]]
        | None
    ) = None
    """Width and height, CSS px; None: 500×400, or 1024×1024 where a model looks at it."""
    device_scale_factor: float = Field(default=1.0, gt=0, le=4)
    """Picture px per CSS px."""
    processes: int = Field(default=1, ge=1, le=256)
    """Browser processes for rollouts, each with as many sessions; replays have one of their own."""


class LimitsSection(Record):
    """Where an episode ends at the latest; the order of the checks is `generators.rollout.limits`'."""

    live_episodes: int | None = Field(default=None, ge=1)
    """The most that are made at once; None: the sessions decide. Replays ask no engine: the sessions
    alone bound them."""
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
    """The least raw reward that `outcome` passes, where a template has no threshold of its own.

    A template whose score is continuous has one, and it holds instead, whether it is lower or higher.
    It counts when an episode is judged: `verify` applies another one to what is stored.
    """
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


class Gate(StrEnum):
    """How people get at a repository whose files must be asked for."""

    AUTO = "auto"
    """They agree to its terms, and have it."""
    MANUAL = "manual"
    """They ask, and its owner decides."""


class PublishSection(Record):
    """Where the dataset goes when the run ends, and on what terms."""

    to: tuple[str, ...] = ()
    """Destinations: folders, `s3://…`, `hf://datasets/ORG/NAME`."""
    include_rejected: bool = False
    """Publish rejected episodes too, labelled."""
    private: bool = True
    """Only into a private repository; one that is made is private. False: a new one is public."""
    gated: Gate | None = None
    """How people get at a repository on the Hub; None: as it is."""
    license: str | None = Field(default=None, pattern=r"^[a-z0-9][a-z0-9.+-]*$", max_length=64)
    """The dataset's, by the Hub's name for it, as `cc-by-4.0`; None: none is stated."""


class ScaleSection(Record):
    """What spreads the work."""

    runner: Runner = Runner.LOCAL
    """See `Runner`."""
    workers: int = Field(default=1, ge=1, le=10_000)
    """Workers of the runner; more than one is refused where there is no runner."""
