"""The sections of a configuration: every key with its default and its range.

A section is a record, and the defaults of all sections make a run that works.
`schemas.configuration.config` merges the layers of a configuration and lists the keys that decide a
run's episodes.
"""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, JsonValue, field_validator

from schemas.base import Record
from schemas.tasks.task import MAX_SEED

Seed = Annotated[int, Field(ge=0, le=MAX_SEED)]
"""A non-negative 63-bit integer."""


def _check_order(seeds: tuple[int, int]) -> tuple[int, int]:
    if seeds[0] > seeds[1]:
        raise ValueError("the first seed should not be larger than the last")
    return seeds


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
"""The default first and last seed of each template."""


class EngineKind(StrEnum):
    """The kinds of engines."""

    NONE = "none"
    """No engine, for policies that call no model."""
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
    """The run's place, name and seed."""

    url: str = Field(default="runs/run", min_length=1)
    """The run's folder, as `runs/demo`, `file:///data/demo` or `s3://bucket/demo`."""
    name: str = "stepmill"
    """The run's name for people; nothing depends on it."""
    seed: Seed = 0
    """The seed of every random draw: the policy of each attempt, and the policy's own choices."""


class TasksSection(Record):
    """The tasks, and the number of attempts at each."""

    source: str = Field(default="miniwob", min_length=1)
    """A site with templates, as `miniwob`, or a task file; `docs/tasks.md` says what files there are."""
    sources: tuple[Annotated[str, Field(min_length=1)], ...] | None = Field(
        default=None, min_length=1
    )
    """Several sources instead of `source`, as `["miniwob", "mine.jsonl"]`. A task that several of them
    hold is attempted once, with the labels of the first task file that states it. None: `source`
    alone."""
    include: tuple[str, ...] = ("*",)
    """Globs over the names of templates to attempt, as `["click-*", "enter-text"]`."""
    exclude: tuple[str, ...] = ()
    """Globs over the names of templates of `include` to leave out."""
    seeds: SeedRange | None = None
    """First and last seed of each template, inclusive and in order: `[0, 4]` makes five tasks of a
    template. A task file has seeds of its own, and this key is ignored. None: `[0, 4]`, or all seeds if
    `sample` draws among them."""
    sample: int | None = Field(default=None, ge=1, le=1_000_000)
    """Number of tasks to draw, evenly over sites, then over the templates of each site, then by seed;
    `run.seed` decides which. If there are fewer tasks, all are taken. None: all of them."""
    faults: float = Field(default=0.0, ge=0, le=1)
    """Share of the tasks of worlds on which the site has a fault, drawn by a task's seed: 0.0 and 1.0 give the same
    tasks without and with one. The fault is the task's `fault`, as `save_fails`."""
    attempts: int = Field(default=1, ge=1, le=10_000)
    """Attempts at each task."""
    unit_size: int = Field(default=16, ge=1, le=100_000)
    """Episodes in a unit, which is scheduled and committed as a whole. All attempts at a task are in
    one unit, so a unit is larger where `attempts` exceeds this."""


class LogprobsMode(StrEnum):
    """The distribution of a log-probability: the server is set to one, and does not report which."""

    RAW = "raw"
    """The model's own distribution."""
    PROCESSED = "processed"
    """The distribution sampled from, after temperature and similar settings."""


class RoleSection(Record):
    """The engine and sampling of one role of a policy with several roles."""

    urls: tuple[str, ...] = ()
    """Endpoints of this role's own engine, which already runs, as `["http://127.0.0.1:8001/v1"]`;
    empty: the run's engine."""
    model: str | None = None
    """The model's name at `urls`, refused without `urls`; None: the only one served there."""
    dialect: str | None = None
    """The dialect of the role's prompts; None: the policy's."""
    temperature: float = Field(default=0.0, ge=0, le=2)
    """Sampling temperature; 0: always the likeliest token."""
    max_tokens: int = Field(default=512, ge=16, le=1_000_000)
    """Maximum length of its reply, in tokens."""


class PolicySection(Record):
    """The policy that acts, and the sampling of its model."""

    name: str = Field(default=PolicyName.TEACHER.value, pattern=PART_NAME)
    """The policy that acts: one of these, or a plug-in's. `model` and `surfer` need an engine; a plug-in's
    policy gets one where `engine.kind` names one."""
    share: float = Field(default=1.0, gt=0, le=1_000_000)
    """Weight in the draw between `[[policies]]`: with shares 3.0 and 1.0 the first one gets about three
    quarters of the episodes. No effect with a single policy."""
    dialect: str | None = None
    """The dialect: how the model is prompted and its replies are parsed; None: `holotron`."""
    dialect_options: dict[str, JsonValue] = Field(default_factory=dict)
    """Options of the dialect that differ from its defaults, as `{ page_line = false }`. Each dialect has
    its own keys, and refuses all others."""
    temperature: float = Field(default=0.0, ge=0, le=2)
    """Sampling temperature of the model; 0: always the likeliest token."""
    top_p: float | None = Field(default=None, gt=0, le=1)
    """Nucleus sampling: samples from the likeliest tokens that together have this probability; None: the
    server's default."""
    max_tokens: int = Field(default=1_024, ge=16, le=1_000_000)
    """Maximum length of a reply, in tokens, thinking included."""
    context_tokens: int | None = Field(default=None, ge=256)
    """Maximum length of a prompt, in tokens; None: the engine's limit less `max_tokens`."""
    logprobs: LogprobsMode | None = None
    """Keeps the log-probability of every token of a reply; the value names the kind that the server
    returns, as set by vLLM's `--logprobs-mode`. None: keeps no log-probabilities."""
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
    """The prices of an engine by tokens."""

    prompt: float = Field(ge=0)
    """Price of prompt tokens that no cache served."""
    completion: float = Field(ge=0)
    """Price of completion tokens."""
    cached: float | None = Field(default=None, ge=0)
    """Price of prompt tokens that a cache served; None: the same as `prompt`."""


MAX_REPLICAS = 256
"""The maximum number of servers that a run starts."""


class EngineSection(Record):
    """The engine that serves the model, and its prices and limits."""

    kind: EngineKind = EngineKind.NONE
    """The kind of engine that serves the model; required by a policy that calls one."""
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
    """Price of one GPU by the hour; the engine costs it for each of the `gpus` of every endpoint. None: no
    hourly price. Refused beside `usd_per_million`."""
    usd_per_million: PriceSection | None = None
    """Prices of the engine by tokens, as `{ prompt = 0.5, completion = 1.5 }`; None: it has no price by
    tokens."""
    gpus: int | None = Field(default=None, ge=1, le=1_024)
    """Number of GPUs of one endpoint. None: for `vllm` the product of `--tensor-parallel-size`,
    `--pipeline-parallel-size` and `--data-parallel-size` in `args`, otherwise 1. An endpoint of a role counts as one."""
    replicas: int | Literal["gpus"] = 1
    """Number of vLLM servers that the run starts, from 1 to 256, each on `gpus` GPUs of this machine; `"gpus"`: as
    many as there are GPUs for. With 1 the server takes the GPUs that it finds. Only `vllm` has replicas."""
    requests: int = Field(default=256, ge=1, le=65_536)
    """Maximum number of requests in flight to one endpoint."""
    patience_seconds: float = Field(default=1_800.0, gt=0)
    """Maximum wait for one reply, all retries included. After it the episode fails if the server replies to
    other requests; if it does not, it gets no more requests, and without another server the run stops."""
    wedged_seconds: float = Field(default=300.0, gt=0)
    """How long a vLLM may have requests and compute no token, by its own counters, before it is treated as dead,
    whatever its health check says: one that the run started is started again, a borrowed one is left, and its
    requests are asked again. A prompt counts when all of it is computed, so this must be longer than the longest
    prompt takes; three times as long before the first token since a start. Other servers are never judged so."""
    revision: str | None = Field(default=None, pattern=r"^[0-9a-f]{40}$")
    """The commit of the model's repository on the Hub that vLLM loads, weights and code. None: the newest
    one; with `--trust-remote-code` in `args` that is code which has not been reviewed."""
    args: tuple[str, ...] = ()
    """Flags for a server that the run starts, as `["--max-model-len", "32768"]`: those of
    `vllm serve`, or of `python -m generators.engine.simulator`."""

    @field_validator("replicas", mode="before")
    @classmethod
    def _check_replicas(cls, value: object) -> object:
        number = value if isinstance(value, int) and not isinstance(value, bool) else 0
        if value != "gpus" and not 1 <= number <= MAX_REPLICAS:
            raise ValueError(f'should be a number from 1 to {MAX_REPLICAS}, or "gpus"')
        return value


class LimitsSection(Record):
    """The limits of an episode, and of a run as a whole; `generators/rollout/limits.py` orders the former."""

    live_episodes: int | None = Field(default=None, ge=1)
    """Maximum number of concurrent rollouts; None: the number of sessions. Of an engine's episodes a governor
    finds how many may really live at a time, up to this number. Replays ask no engine, so only the number of
    sessions limits them."""
    steps: int = Field(default=30, ge=1, le=10_000)
    """Maximum number of actions in an episode; a task's own limit may be lower."""
    seconds: float = Field(default=300.0, gt=0)
    """Wall-clock seconds of one try of an episode, from before its page is opened; waiting for a dead engine or for
    a turn in the browser is not counted. A page that is busy a second later fails the episode."""
    tokens: int | None = Field(default=None, ge=1)
    """Maximum number of tokens in an episode, prompts and replies of all calls together; None: no limit."""
    stuck_steps: int = Field(default=4, ge=2)
    """Number of identical actions in a row on the same screenshot that ends the episode."""
    drain_seconds: float = Field(default=30.0, ge=0)
    """Maximum time of a run that is interrupted, or has reached a limit of its own, to finish the episodes in
    flight."""
    dollars: float | None = Field(default=None, gt=0)
    """Maximum cost of the whole run, of earlier commands too; a run that reaches it begins nothing new. Refused
    without a price in `[engine]`. None: no limit."""
    hours: float | None = Field(default=None, gt=0)
    """Maximum time at work on the whole run, of earlier commands too; a run that reaches it begins nothing new.
    None: no limit."""
    accepted: int | None = Field(default=None, ge=1)
    """Number of accepted episodes of the whole run at which it begins nothing new, copies of others included.
    None: no limit."""


class VerifySection(Record):
    """The verifiers that examine an episode."""

    verifiers: tuple[str, ...] = ("structure", "steps", "outcome", "novelty", "replay", "seen")
    """The verifiers that examine every episode, in order; a later one examines only episodes that
    no earlier one failed and that the rule of `[accept]` does not reject already."""
    rejected_too: tuple[str, ...] = ()
    """The verifiers of `verifiers` that examine rejected episodes as well, unless `structure` failed them,
    as `["replay"]`, so that published failures have been replayed like successes."""


class ReviewRule(StrEnum):
    """What reviews do to an episode that the verifiers accept; none makes good what a verifier failed."""

    OBEY = "obey"
    """One that a reviewer rejects is rejected, and one that reviewers disagree on is unjudged."""
    IGNORE = "ignore"
    """Nothing."""
    REQUIRE = "require"
    """As `obey`, and one that no reviewer accepts is unjudged."""


class AcceptSection(Record):
    """The rule by which an episode becomes a trajectory."""

    passed: tuple[str, ...] = ("structure", "outcome", "novelty", "replay", "seen")
    """The verifiers that must have passed an episode; each should be in `verify.verifiers` too."""
    min_reward: float = 1.0
    """The lowest raw reward that is accepted, for templates without a threshold of their own, if `passed`
    names `outcome`. A template with a continuous score has its own threshold, which applies instead, lower
    or higher; commands report this if the key is changed. It applies when verdicts are read, so that one
    table has one threshold. Episodes that only a lower one accepts may lack the verdicts of later
    verifiers: they are `unjudged` until the next `generate` or `verify` with that threshold asks for
    them."""
    min_scores: dict[str, Annotated[float, Field(ge=0, le=1)]] = Field(default_factory=dict)
    """The lowest accepted score by verifier, as `{ replay = 0.9 }`; an episode without that score is not
    accepted."""
    reviews: ReviewRule = ReviewRule.OBEY
    """What people's reviews do. `obey`: an episode that a reviewer rejects is rejected, and one that reviewers
    disagree on is not judged. `require`: so is one that no reviewer accepted. `ignore`: nothing. No review accepts
    what a verifier failed."""


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
    """How readers get access to a gated repository."""

    AUTO = "auto"
    """Access is granted at once to people who agree to its terms."""
    MANUAL = "manual"
    """The owner decides on each request."""


class RowKind(StrEnum):
    """The kinds of training rows."""

    SFT = "sft"
    """The reply."""
    PREFERENCE = "preference"
    """One reply rather than another, after the same prompt."""
    KTO = "kto"
    """Whether the reply is wanted."""
    STEP_LABELS = "step_labels"
    """The effect of the reply on the task."""
    GROUNDING = "grounding"
    """The place in the picture of the thing that an expression refers to."""


class PublishSection(Record):
    """The destinations and terms of the dataset that is published when the run ends."""

    to: tuple[str, ...] = ()
    """Where to publish: any of a folder, `s3://bucket/prefix`, `hf://datasets/ORG/NAME` and `hf://buckets/OWNER/NAME`,
    as `["demo-dataset", "hf://datasets/my-org/demo"]`; empty: nowhere."""
    append: bool = False
    """Adds the run to the collection at each destination, which may be empty: a dataset over many runs, with a
    version for each. False: a destination holds the dataset of this run alone."""
    fall_points: float = Field(default=10.0, gt=0, le=100)
    """Warns of a night of a collection whose yield is so many percentage points below the median of the seven nights
    before it, or whose accepted episodes an hour are so many percent below theirs; with fewer than three nights before
    it, of none."""
    include_rejected: bool = False
    """Publishes rejected episodes too, each labelled with the reasons."""
    training_rows: tuple[RowKind, ...] = tuple(RowKind)
    """Training rows that are published beside the tables, a config for each kind. Each row holds all
    pictures of its prompt, so `sft`, `kto` and `step_labels` each take a multiple of what `steps` takes;
    empty: none."""
    best_of: int | None = Field(default=None, ge=1)
    """Of the accepted attempts at a task, so many give rows of `sft`: the shortest. None: all do."""
    dialect: str | None = None
    """The dialect of training rows; None: that of the first policy that calls an engine, else
    `holotron`."""
    private: bool = True
    """On the Hub, publishes into a private repository or bucket alone, and makes a new one private. False: a
    new one is public."""
    gated: Gate | None = None
    """How readers get access to a repository on the Hub; None: as the repository is set. A bucket has no such thing,
    and is refused with any other value."""
    license: str | None = Field(default=None, pattern=r"^[a-z0-9][a-z0-9.+-]*$", max_length=64)
    """Licence of the dataset by the Hub's identifier, as `cc-by-4.0`, in lower case; None: no licence is
    stated."""
