"""An episode: the full record of one attempt at a task.

The rollout creates it when the attempt ends, for whatever reason. It is never edited; later judgements
are verdicts. Its steps, calls and prompts are rows of tables of their own. Every field is a column of
the same name unless its docstring says otherwise.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import ConfigDict, Field

from schemas.base import JsonObject, Moment, Record, canonical_json, sha256_hex
from schemas.columns import AsJson, Int32, OtherTable, Spread
from schemas.episodes.action import Action
from schemas.episodes.call import Call, Prompt
from schemas.episodes.mistake import InjectedMistake
from schemas.episodes.observation import Download, Element, PageState, Screenshot, Sight, Target
from schemas.episodes.state_delta import Delta
from schemas.errors import FailureKind

SCHEMA_VERSION = 1
"""Grows when a column changes its meaning, but not when a column is added."""


class StopReason(StrEnum):
    """Why an episode ended."""

    FINISHED = "finished"
    """The site reported that the task is done."""
    ANSWERED = "answered"
    """The policy gave its answer."""
    STEP_LIMIT = "step_limit"
    """The limit on actions was reached."""
    TIME_LIMIT = "time_limit"
    """The limit on seconds was reached."""
    TOKEN_LIMIT = "token_limit"  # noqa: S105 - no secret
    """The limit on tokens was reached."""
    STUCK = "stuck"
    """The same action on the same picture, too often."""
    BLOCKED = "blocked"
    """The site refuses to serve (a captcha, a block page). Reserved: the site that ships never does."""
    FAILED = "failed"
    """Something broke; `failure_kind` says what."""
    CANCELLED = "cancelled"
    """The run was asked to stop. Reserved: an attempt that is stopped leaves no episode and is made anew."""

    @property
    def truncates(self) -> bool:
        """The episode was ended from outside: by a limit, not by the site, the policy or a fault."""
        return self in {
            StopReason.STEP_LIMIT,
            StopReason.TIME_LIMIT,
            StopReason.TOKEN_LIMIT,
            StopReason.STUCK,
        }


class PolicyKind(StrEnum):
    """The kinds of policies."""

    TEACHER = "teacher"
    """Reads the page's structure, and acts by pixels and keys as all policies do."""
    CLUMSY = "clumsy"
    """The teacher with seeded mistakes. Earlier versions called it a teacher."""
    MODEL = "model"
    """Calls an engine."""
    SCRIPTED = "scripted"
    """Reads a list of actions."""
    PLUGIN = "plugin"
    """Comes from a plug-in and calls no engine of the run; `policy` is its name."""
    EXTERNAL = "external"
    """Is outside of this program, and decides through a seat; `policy` is the name that its client gave it."""


class Actor(StrEnum):
    """Who acted in a step."""

    AGENT = "agent"
    """The policy."""
    USER = "user"
    """A person that took over, or the task's own simulated user. Reserved: taking over is not supported
    yet, and no site has such a user."""


class ThoughtSource(StrEnum):
    """Where a thought came from."""

    POLICY = "policy"
    """A model wrote it."""
    TEMPLATE = "template"
    """A skill of the teacher states it."""
    REWRITTEN = "rewritten"
    """A model rewrote it afterwards. Reserved: exports alone have such thoughts, as no stored episode is edited."""


class Step(Record):
    """One step: the observation, the thought, the action and its effect."""

    step: Annotated[int, Int32] = Field(ge=0)
    """From 0, contiguous."""
    screenshot: Screenshot
    """The page before the action, as recorded; where it was sent resized, `calls` has the size."""
    screenshot_sha256: str
    """Of the picture's bytes."""
    screenshot_phash: str
    """256-bit difference hash, hex; near pictures have near hashes. Rows of earlier versions have 64."""
    width: Annotated[int, Int32]
    """Of the picture, in its own pixels."""
    height: Annotated[int, Int32]
    """Of the picture, in its own pixels."""
    page: Annotated[PageState, Spread("")]
    """The state of the page; its fields are columns."""
    actor: Actor = Actor.AGENT
    """Who acted."""
    thought: str | None = None
    """The policy's reasoning; None if it gave none."""
    thought_source: ThoughtSource | None = None
    """Where the thought came from; None without one."""
    note: str | None = None
    """What the policy wrote down for later; None if nothing."""
    action: Annotated[Action, AsJson()]
    """The action; `none` in the last row."""
    x_norm: float | None = None
    """`x` ÷ the viewport's width; None without a point."""
    y_norm: float | None = None
    """`y` ÷ the viewport's height; None without a point."""
    target: Annotated[Target | None, Spread("target_")] = None
    """The element under the pointer; its fields are columns with the prefix `target_`."""
    raw_reply: str | None = None
    """What the model wrote; None for policies without one."""
    parse_error: str | None = None
    """Why the reply could not be parsed; None if it could."""
    injected_mistake: InjectedMistake | None = None
    """The mistake that a clumsy policy made here on purpose; None where it made none, for any other policy,
    and where an earlier version recorded it."""
    action_error: str | None = None
    """Why the action could not be carried out, at most 2 kB; None if it was carried out."""
    result_text: str | None = None
    """What the page said in dialogs and gave to download, which the policy is shown beside the next picture, at
    most 2 kB; None: nothing."""
    downloads: Annotated[tuple[Download, ...] | None, AsJson()] = None
    """What the page gave to download; None: nothing, or an earlier version recorded it."""
    state_changed: bool | None = None
    """Whether the next observation differs; None if there is none."""
    delta: Annotated[Delta | None, AsJson()] = None
    """What the action added, changed and removed in the server's state; None in the last row, where the page is the
    judge, where it is too large for a row, and where an earlier version recorded it."""
    reward: float | None = None
    """The site's raw reward after the action; None if the site reported none."""
    terminated: bool = False
    """The site reported after this action that the task is done."""
    truncated: bool = False
    """The episode was ended from outside after this action."""
    observe_ms: float = 0.0
    """Taking the observation, wall ms."""
    think_ms: float = 0.0
    """The policy, wall ms."""
    act_ms: float = 0.0
    """The action, settling included, wall ms."""
    at: Moment
    """When the observation was taken, UTC."""
    elements: Annotated[tuple[Element, ...], OtherTable("observations")] = ()
    """The elements of the page; rows of `observations`."""
    elements_left_out: Annotated[int | None, Int32] = None
    """How many more elements the page had, for which `observations` has no room; None where an earlier version
    recorded it."""
    sights: Annotated[tuple[Sight, ...] | None, OtherTable("observations")] = None
    """What the picture shows; rows of `observations`. None where an earlier version recorded it."""


class ConnectionKind(StrEnum):
    """The protocol that a page began to speak on a refused connection."""

    HTTP = "http"
    """A request, or the opening of a WebSocket."""
    TLS = "tls"
    """The opening of an encrypted connection, as of `https:` and `wss:`."""
    OTHER = "other"
    """Anything else, or nothing."""


class BlockedRequests(Record):
    """Connections of an episode's pages to one host that its site does not serve; all were refused."""

    name: str
    """The host as the page named it, at most 100 characters, with its port if that is not 80."""
    kind: ConnectionKind
    """The protocol that the page began to speak."""
    count: int = Field(ge=1)
    """How often."""


class FailedTry(Record):
    """The record of a try that was followed by another one.

    Keys that a later version adds are ignored, as `from_row` ignores its columns.
    """

    model_config = ConfigDict(extra="ignore")

    failure_kind: FailureKind
    """What failed."""
    failure_message: str
    """How it failed, at most 2 kB."""
    n_steps: int = Field(ge=0)
    """Rows that its steps would have had."""


class Episode(Record):
    """One attempt at one task, from its first picture to its end."""

    episode_id: str
    """Hash of (run, task, attempt)."""
    run_id: str
    """The run it belongs to."""
    unit_id: str
    """The unit it was committed with."""
    task_id: str
    """The task attempted."""
    attempt: Annotated[int, Int32]
    """From 0."""
    group_id: str
    """The same for all attempts of one task in one run."""
    asked_group: str | None = None
    """The group that a client of seats asked for, after its name and a slash: attempts that it wants to belong together,
    as those of one update of its weights. None: it asked for none, or the attempt was planned."""
    asked_group_size: Annotated[int | None, Int32] = None
    """How many attempts it wants in that group; None where it does not say."""
    instruction: str
    """The goal in words, as the page states it, at most 20 kB."""
    site: str
    """The site that served the pages."""
    start_url: str
    """The URL where it started."""
    policy: str
    """The policy's name."""
    policy_kind: PolicyKind
    """What sort of policy."""
    privileged: bool | None = None
    """The policy was handed more than the observation: it read the page's structure. None where an
    earlier version recorded it."""
    dialect: str | None = None
    """The dialect in which the model was prompted; None without a model."""
    model: str | None = None
    """The model's name; None without a model."""
    model_revision: str | None = None
    """Its revision; None if unknown. Reserved: no supported server says it."""
    weights_version: str | None = None
    """The versions of the weights that wrote the replies, in the order of the calls, with `, ` between them: one, unless
    the engine got new ones meanwhile. None without a model, and where nobody says."""
    engine: str | None = None
    """vLLM or another; None without an engine."""
    engine_version: str | None = None
    """Its version; None if unknown."""
    sampling: JsonObject = Field(default_factory=dict)
    """Temperature and the like."""
    prompt_sha256: str | None = None
    """Hash of the system prompt, a row of `prompts`; None without one."""
    browser: str
    """The browser's product name."""
    browser_version: str
    """The browser's version; empty if none was started."""
    viewport_width: Annotated[int, Int32]
    """CSS px."""
    viewport_height: Annotated[int, Int32]
    """CSS px."""
    device_scale_factor: float
    """Picture px per CSS px."""
    clock_ms: int
    """What the page's clock showed at the start, Unix ms; 0 where time was real."""
    seed: int
    """The task's seed."""
    capsule: JsonObject = Field(default_factory=dict)
    """All that a replay needs beside the columns."""
    stop_reason: StopReason
    """Why it ended."""
    failure_kind: str | None = None
    """What failed; None if nothing did."""
    failure_message: str | None = None
    """How it failed, at most 2 kB; None if nothing did."""
    answer: str | None = None
    """The policy's answer; None if it gave none."""
    n_steps: Annotated[int, Int32]
    """Actions taken; `steps` has one row more."""
    reward: float | None = None
    """The raw reward that the site reported at the end; None if it reported none."""
    reward_before: float | None = None
    """The raw reward that the site reported before the first action; None if it reported none."""
    done: bool
    """The site reported that the task is done."""
    state_before_sha256: str | None = None
    """Hash of the server's state before the first action, without what the visit masks; None where the page
    is the judge, where the attempt broke, and where an earlier version recorded it."""
    state_after_sha256: str | None = None
    """The same after the last action."""
    delta: Annotated[Delta | None, AsJson()] = None
    """The rows that the attempt added to the server's state, changed in it and removed from it; None where
    the hashes are."""
    tries: Annotated[tuple[FailedTry, ...] | None, AsJson()] = None
    """The earlier tries, which failed because of the environment; None if there were none."""
    blocked: Annotated[tuple[BlockedRequests, ...] | None, AsJson()] = None
    """What pages of the last try asked of hosts that are not served, by name; None if there was nothing."""
    trainable: bool
    """False if the environment, the engine or this program failed, and not the policy."""
    prompt_tokens: int = 0
    """Over all calls."""
    completion_tokens: int = 0
    """Over all calls."""
    cached_tokens: int | None = None
    """None where the server does not say."""
    image_tokens: int | None = None
    """None where the server does not say."""
    engine_seconds: float = 0.0
    """Waiting for the engine, s."""
    browser_seconds: float = 0.0
    """Observing and acting, s."""
    wall_seconds: float = 0.0
    """From start to end, s."""
    cost_usd: float | None = None
    """None if it has no known price."""
    started_at: Moment
    """UTC."""
    ended_at: Moment
    """UTC."""
    content_sha256: str = ""
    """Over the step rows, pictures by their hash."""
    schema_version: Annotated[int, Int32] = SCHEMA_VERSION
    """The version of the columns' meaning."""
    code_version: str
    """The program's version and commit, and after a comma each plug-in that acted or, as a probe, judged,
    with its version."""
    steps: Annotated[tuple[Step, ...], OtherTable("steps")] = ()
    """Rows of `steps`."""
    calls: Annotated[tuple[Call, ...], OtherTable("calls")] = ()
    """Rows of `calls`."""
    prompts: Annotated[tuple[Prompt, ...], OtherTable("prompts")] = ()
    """Rows of `prompts`."""


_ADDED_TO_STEPS = ("injected_mistake", "downloads", "elements_left_out", "delta")
_ADDED_TO_PAGES = ("dialog", "tab", "tabs")
"""Columns of `steps` that earlier versions did not write."""


def steps_sha256(steps: tuple[Step, ...]) -> str:
    """Return the hash over `steps` that an episode carries as `content_sha256`.

    Pictures count by their `screenshot_sha256`, elements and sights not at all (they are in a
    table of their own), so the hash can be taken again from the rows of `steps` alone. A column that earlier
    versions did not write counts only where it is stated, so their hashes stay true.
    """
    rows = [
        step.model_dump(mode="json", exclude={"screenshot": True, "elements": True, "sights": True})
        for step in steps
    ]
    for row in rows:
        for part, names in ((row, _ADDED_TO_STEPS), (row["page"], _ADDED_TO_PAGES)):
            for name in names:
                if part[name] is None:
                    del part[name]
    return sha256_hex(canonical_json(rows).encode("utf-8", "surrogatepass"))


def browser_seconds(steps: tuple[Step, ...]) -> float:
    """Return the seconds that observing and acting took in `steps`."""
    return sum(step.observe_ms + step.act_ms for step in steps) / 1_000
