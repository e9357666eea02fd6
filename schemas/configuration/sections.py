"""The sections of a configuration: every key with its default and its range.

A section is a record, and the defaults of all sections make a run that works. `schemas.configuration.config` merges the
layers of a configuration and says which keys decide what a run makes.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field, JsonValue

from schemas.base import Record
from schemas.tasks.task import MAX_SEED

Seed = Annotated[int, Field(ge=0, le=MAX_SEED)]
"""A non-negative 63-bit integer."""


def _check_order(seeds: tuple[int, int]) -> tuple[int, int]:
    if seeds[0] > seeds[1]:
        raise ValueError("the first seed should not be larger than the last")
    return seeds


def _check_sides(sides: tuple[int, int]) -> tuple[int, int]:
    if sides[0] > sides[1]:
        raise ValueError("the least side should not be larger than the most")
    return sides


Side = Annotated[int, Field(ge=100, le=8_192)]
"""Of a viewport or a picture."""

SideRange = Annotated[tuple[Side, Side], AfterValidator(_check_sides)]
"""Least and most, inclusive."""

SeedRange = Annotated[tuple[Seed, Seed], AfterValidator(_check_order)]
"""First and last, inclusive."""


PART_NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"
"""A name of a policy or of any other part that may come from a plug-in."""


class PolicyName(StrEnum):
    """The policies that ship."""

    TEACHER = "teacher"
    """Reads the page's structure, and acts by pixels and keys: by a skill of MiniWoB++, or by the task's reference."""
    CLUMSY = "clumsy"
    """The teacher, with seeded mistakes."""
    REFERENCE = "reference"
    """Carries out each task's reference."""
    SCRIPTED = "scripted"
    """Reads a list of actions; without one it is an earlier name of `reference`."""
    MODEL = "model"
    """Asks the engine."""
    SURFER = "surfer"
    """Asks the engine as policy, localizer and validator."""


ENGINE_POLICIES = frozenset({PolicyName.MODEL, PolicyName.SURFER})
"""The policies that ask an engine."""

SEEDS = (0, 4)
"""First and last seed of each template, where all are attempted and none are named."""


class EngineKind(StrEnum):
    """What serves the model."""

    NONE = "none"
    """Nothing, for policies that ask no model."""
    OPENAI = "openai"
    """Any OpenAI-compatible server that already runs."""
    VLLM = "vllm"
    """A vLLM that the run starts and stops."""
    SIMULATOR = "simulator"
    """The small server that ships for tests and demos; `scripted` is its earlier name."""

    @classmethod
    def _missing_(cls, value: object) -> "EngineKind | None":
        return cls.SIMULATOR if value == "scripted" else None


class RunSection(Record):
    """Where the run is stored and what it is called."""

    url: str = Field(default="runs/run", min_length=1)
    """The run's folder, as `runs/demo`, `file:///data/demo` or `s3://bucket/demo`."""
    name: str = "stepmill"
    """The run's name for people; nothing depends on it."""
    seed: Seed = 0
    """Decides every random draw: which policy attempts what, and what it draws itself."""


class TasksSection(Record):
    """Which tasks, and how often each is attempted."""

    source: str = Field(default="miniwob", min_length=1)
    """A site with templates, as `miniwob`, or a task file; `docs/tasks.md` says what files there are."""
    sources: tuple[Annotated[str, Field(min_length=1)], ...] | None = Field(
        default=None, min_length=1
    )
    """Several sources instead of `source`, as `["miniwob", "mine.jsonl"]`. A task that several of them
    hold is attempted once, with the labels of the first task file that states it. None: `source`
    alone."""
    include: tuple[str, ...] = ("*",)
    """Globs over the names of templates, as `["click-*", "enter-text"]`: which ones to attempt."""
    exclude: tuple[str, ...] = ()
    """Globs over the names of templates: which ones of `include` to leave out."""
    seeds: SeedRange | None = None
    """First and last seed of each template, inclusive and in order: `[0, 4]` makes five tasks of a
    template. A task file has seeds of its own, and this key is ignored. None: `[0, 4]`, or every seed
    there is where `sample` draws among them."""
    sample: int | None = Field(default=None, ge=1, le=1_000_000)
    """Draws so many of these tasks, evenly over sites, then over the templates of each site, then by
    seed; `run.seed` decides which. Fewer where there are fewer. None: all of them."""
    attempts: int = Field(default=1, ge=1, le=10_000)
    """How often each task is attempted."""
    unit_size: int = Field(default=16, ge=1, le=100_000)
    """Episodes in a unit, which is scheduled and committed as a whole. All attempts at a task are in
    one unit, so a unit is larger where `attempts` exceeds this."""


class LogprobsMode(StrEnum):
    """The distribution of a log-probability: the server is set to one, and does not say to which."""

    RAW = "raw"
    """The model's own distribution."""
    PROCESSED = "processed"
    """The distribution that was drawn from, temperature and the like applied."""


class RoleSection(Record):
    """How a role of a policy with several roles is asked."""

    urls: tuple[str, ...] = ()
    """Endpoints of this role's own engine, which already runs, as `["http://127.0.0.1:8001/v1"]`;
    empty: the run's engine."""
    model: str | None = None
    """The model's name at `urls`, without which it is refused; None: the only one served there."""
    dialect: str | None = None
    """The dialect in which the role is asked; None: the policy's."""
    temperature: float = Field(default=0.0, ge=0, le=2)
    """Temperature of its sampling; 0: always the likeliest token."""
    max_tokens: int = Field(default=512, ge=16, le=1_000_000)
    """Its longest reply, in tokens."""


class PolicySection(Record):
    """Which policy acts, and how its model is asked."""

    name: str = Field(default=PolicyName.TEACHER.value, pattern=PART_NAME)
    """Which policy acts: one of these, or a plug-in's. `model` and `surfer` need an engine; a plug-in's
    policy gets one where `engine.kind` names one."""
    share: float = Field(default=1.0, gt=0, le=1_000_000)
    """Weight in the draw between `[[policies]]`: with shares 3.0 and 1.0 the first one gets about
    three quarters of the episodes. Without effect where there is one policy."""
    dialect: str | None = None
    """How the model is prompted and its replies are read; None: `holotron`."""
    dialect_options: dict[str, JsonValue] = Field(default_factory=dict)
    """What differs from the dialect's defaults, as `{ page_line = false }`. Each dialect has its own
    keys, and refuses all others."""
    temperature: float = Field(default=0.0, ge=0, le=2)
    """Temperature of the model's sampling; 0: always the likeliest token."""
    top_p: float | None = Field(default=None, gt=0, le=1)
    """Samples from the likeliest tokens that together have this probability; None: the server's
    default."""
    max_tokens: int = Field(default=1_024, ge=16, le=1_000_000)
    """The longest reply, in tokens, thinking included."""
    context_tokens: int | None = Field(default=None, ge=256)
    """The longest prompt, in tokens; None: the engine's limit less `max_tokens`."""
    logprobs: LogprobsMode | None = None
    """Keeps the log-probability of every token of a reply, and says which of two the server is set
    to give, as with vLLM's `--logprobs-mode`; None: none are kept."""
    keep_images: int = Field(default=1, ge=1, le=100)
    """Screenshots left in the prompt after an eviction, the newest ones."""
    slack_images: int = Field(default=2, ge=0, le=100)
    """Screenshots that may be added beyond `keep_images` before the next eviction. Evicting rarely
    lets the server's prefix cache serve most prompts."""
    options: dict[str, JsonValue] = Field(default_factory=dict)
    """For a policy of a plug-in: its own keys, as `{ patience = 3 }`; the policies that ship have none."""
    script: str | None = None
    """For `scripted`: the path of a JSON file, an object with a list of actions for each template,
    as `{"click-test": [{"type": "click", "x": 10, "y": 80}]}`; None: it carries out the `reference` of
    each task. Other policies read none."""
    localizer: RoleSection | None = None
    """For `surfer`: the role that finds the point which the policy describes in words, as
    `{ max_tokens = 64 }`; None: the policy's engine and sampling."""
    validator: RoleSection | None = None
    """For `surfer`: the role that checks an answer before it is given; None: the policy's engine and
    sampling."""


class PriceSection(Record):
    """What an engine charges by tokens."""

    prompt: float = Field(ge=0)
    """Price of a prompt's tokens that no cache served."""
    completion: float = Field(ge=0)
    """Price of a reply's tokens."""
    cached: float | None = Field(default=None, ge=0)
    """Price of a prompt's tokens that a cache served; None: the same as `prompt`."""


class EngineSection(Record):
    """What serves the model."""

    kind: EngineKind = EngineKind.NONE
    """What serves the model; a policy that asks one needs it."""
    urls: tuple[str, ...] = ()
    """Endpoints that already run, as `["http://127.0.0.1:8000/v1"]`: needed for `openai`, refused
    for all others."""
    model: str | None = None
    """The model's name or folder, as `Hcompany/Holotron-12B`: needed for `vllm`. None: for `openai`
    the only one served, for `simulator` a name of its own."""
    command: tuple[str, ...] | None = Field(default=None, min_length=1)
    """Starts vLLM, before its arguments, as `["env", "CUDA_VISIBLE_DEVICES=1", "vllm"]`; None:
    `.venv-engine/bin/vllm`, else `vllm` on PATH."""
    usd_per_hour: float | None = Field(default=None, ge=0)
    """What the engine costs by the hour, all endpoints together; None: it has no hourly price.
    Refused beside `usd_per_million`."""
    usd_per_million: PriceSection | None = None
    """What the engine charges by tokens, as `{ prompt = 0.5, completion = 1.5 }`; None: it has no
    price by tokens."""
    requests: int = Field(default=256, ge=1, le=65_536)
    """The most requests in flight to one endpoint."""
    patience_seconds: float = Field(default=1_800.0, gt=0)
    """How long to wait for one reply, however often the request is repeated. Then the episode fails if the server
    replies to others; if it does not, it is asked no more, and without another one the run stops."""
    revision: str | None = Field(default=None, pattern=r"^[0-9a-f]{40}$")
    """The commit of the model's repository on the Hub that vLLM loads, weights and code. None: the newest one, which
    is code that nobody has read where `args` have `--trust-remote-code`."""
    args: tuple[str, ...] = ()
    """Flags for a server that the run starts, as `["--max-model-len", "32768"]`: those of
    `vllm serve`, or of `python -m generators.engine.simulator`."""


class Sandbox(StrEnum):
    """Whether the browser's sandbox is wanted."""

    ON = "on"
    """On, wherever it starts; root's browser runs as another user."""
    OFF = "off"
    """Off, and the browser runs as the user who started the run, root too."""


UNPRIVILEGED_USER = 60_990
"""The number of the user that root's browser becomes: one that no distribution gives to anybody."""


class BrowserSection(Record):
    """How many sessions, and what they look like."""

    sessions: int = Field(default=8, ge=1, le=1_024)
    """Sessions open at the same time in each browser process."""
    viewport: tuple[Side, Side] | None = None
    """Width and height of the page. None: the task's own area, as 160×210 of MiniWoB++ and 1024×768 of worlds,
    with a `margin`; where pages have no area of their own `[500, 400]`, or `[1024, 1024]` where a model looks
    at them."""
    device_scale_factor: float | None = Field(default=None, gt=0, le=8)
    """Pixels of a screenshot for each CSS pixel of the page, in either direction. None: each task
    draws its own, within `picture_side`; 1 beside a `viewport`."""
    picture_side: SideRange | None = None
    """The longer side of a screenshot, least and most: each task draws its own, and its device
    scale factor, at least 1, follows from it; attempts at one task are shown the same. None: `[368, 480]`, or `[896, 1024]` where a model
    looks. Without effect beside a `viewport` or a `device_scale_factor`."""
    margin: float = Field(default=0.1, ge=0, le=1)
    """By which part of the task's area a viewport is higher at most: each task draws its own
    height, and so its shape. Without effect beside a `viewport`."""
    processes: int = Field(default=1, ge=1, le=256)
    """Browser processes for rollouts, each with as many sessions; replays have one of their own."""
    sandbox: Sandbox = Sandbox.ON
    """`on`: Chromium's sandbox is on wherever it can start, and a browser that root starts runs as `user`, or is refused.
    `off`: there is none, and pages run with the rights of the user who started the run."""
    user: int = Field(default=UNPRIVILEGED_USER, ge=1, le=2**32 - 2)
    """The number of the user that root's browser becomes; nobody else's files should be readable to it. Without effect
    where a run is not started by root."""


class LimitsSection(Record):
    """Where an episode ends at the latest; `generators/rollout/limits.py` says in which order."""

    live_episodes: int | None = Field(default=None, ge=1)
    """The most episodes that are rolled out at the same time; None: the number of sessions is the
    limit. Replays ask no engine, so only the number of sessions limits them."""
    steps: int = Field(default=30, ge=1, le=10_000)
    """The most actions in an episode; a task's own limit may be lower."""
    seconds: float = Field(default=300.0, gt=0)
    """Wall-clock seconds of one try of an episode, from before its page is opened; waiting for a dead engine or for
    a turn in the browser is not counted. A page that is busy a second later fails the episode."""
    tokens: int | None = Field(default=None, ge=1)
    """The most tokens of an episode, prompts and replies of all calls together; None: no limit."""
    stuck_steps: int = Field(default=4, ge=2)
    """How often in a row the same action on the same screenshot ends the episode."""
    drain_seconds: float = Field(default=30.0, ge=0)
    """How long an interrupted run may take to finish the episodes in flight."""


class VerifySection(Record):
    """Which verifiers examine an episode."""

    verifiers: tuple[str, ...] = ("structure", "steps", "outcome", "novelty", "replay", "seen")
    """The verifiers that examine every episode, in order; a later one examines only episodes that
    no earlier one failed and that the rule of `[accept]` does not reject already."""
    rejected_too: tuple[str, ...] = ()
    """Those of `verifiers` that examine rejected episodes as well, unless `structure` failed them, as
    `["replay"]`: then failures that are published have been executed again like successes."""


class AcceptSection(Record):
    """The rule by which an episode becomes a trajectory."""

    passed: tuple[str, ...] = ("structure", "outcome", "novelty", "replay", "seen")
    """The verifiers that must have passed an episode; each should be in `verify.verifiers` too."""
    min_reward: float = 1.0
    """The lowest raw reward that is accepted, where a template has no threshold of its own and `passed`
    names `outcome`.

    A template whose score is continuous has one, and it holds instead, whether it is lower or higher; a
    command says so where this key is changed. It applies when verdicts are read, so that one table has one
    threshold. Episodes that only a lower one accepts may lack the verdicts of later verifiers: they are
    `unjudged` until the next `generate` or `verify` with that threshold asks for them.
    """
    min_scores: dict[str, Annotated[float, Field(ge=0, le=1)]] = Field(default_factory=dict)
    """The lowest accepted score by verifier, as `{ replay = 0.9 }`; an episode without that score is not
    accepted."""


class StorageSection(Record):
    """How runs and datasets are stored."""

    endpoint_url: str | None = None
    """Address of an S3-compatible store, as `http://127.0.0.1:9000`; None: `AWS_ENDPOINT_URL` or
    the AWS files, else AWS."""
    region: str | None = None
    """Region of the bucket; None: `AWS_DEFAULT_REGION` or the AWS files, else `us-east-1`."""
    shard_mb: int = Field(default=256, ge=1, le=4_096)
    """The size at which a Parquet file is closed and the next one begun."""
    private: bool = True
    """Whether only the user may enter the folder of a run that a command creates; one that exists keeps its
    permissions, and datasets are published with the usual ones."""


class Gate(StrEnum):
    """How people get access to a gated repository."""

    AUTO = "auto"
    """Access is granted at once to people who agree to its terms."""
    MANUAL = "manual"
    """The owner decides on every request."""


class RowKind(StrEnum):
    """What a training row teaches."""

    SFT = "sft"
    """The reply."""
    PREFERENCE = "preference"
    """One reply rather than another, after the same prompt."""
    KTO = "kto"
    """Whether the reply is wanted."""
    STEP_LABELS = "step_labels"
    """What the reply did for the task."""
    GROUNDING = "grounding"
    """Where on the picture the thing is that words refer to."""


class PublishSection(Record):
    """Where the dataset goes when the run ends, and on what terms."""

    to: tuple[str, ...] = ()
    """Where to publish: any of a folder, `s3://bucket/prefix` and `hf://datasets/ORG/NAME`, as
    `["demo-dataset", "hf://datasets/my-org/demo"]`; empty: nowhere."""
    include_rejected: bool = False
    """Publishes rejected episodes too, each labelled with the reasons."""
    training_rows: tuple[RowKind, ...] = tuple(RowKind)
    """Training rows that are published beside the tables, a config for each kind. Each row holds all
    pictures of its prompt, so `sft`, `kto` and `step_labels` each take a multiple of what `steps` takes;
    empty: none."""
    dialect: str | None = None
    """Whose words training rows are in; None: the dialect of the first policy that asks an engine, else
    `holotron`."""
    private: bool = True
    """On the Hub, publishes into a private repository alone, and makes a new one private. False: a
    new one is public."""
    gated: Gate | None = None
    """How people get access to a repository on the Hub; None: as the repository is set."""
    license: str | None = Field(default=None, pattern=r"^[a-z0-9][a-z0-9.+-]*$", max_length=64)
    """Licence of the dataset by the Hub's name for it, as `cc-by-4.0`, in lower case; None: none is
    stated."""
