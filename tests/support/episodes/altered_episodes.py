"""Sound episodes of the recorder however they ended, and the lies that are told of them.

A lie changes one thing as a faulty recorder would: the hash over all steps is taken again.
"""

import io
import json
from collections.abc import Callable
from typing import Any

from PIL import Image
from support.browsers.scripted_rollouts import (
    LIMITS,
    RUNNING,
    WON,
    attempt_it,
    clicks,
    pages,
    scripted_task,
)
from support.browsers.scripted_session import Page, ScriptedSessions
from support.servers.stub_engine import SESSION, WrittenEngine, clicked

from generators.browser.picture import read_picture
from generators.engine.protocol import Reply
from generators.policy.model.policy import ModelPolicy
from generators.policy.model.setup import EngineSet, ModelConfigs
from generators.policy.model.surfer import SurferPolicy
from generators.policy.model.try_account import Account
from generators.policy.protocol import Decision, Policy, PolicyCard, PolicyInput
from generators.rollout.limits import make_limits
from generators.verify.structure import Structure
from schemas.base import JsonObject, sha256_hex
from schemas.configuration.browser_section import BrowserSection
from schemas.configuration.config import RunConfig
from schemas.configuration.sections import (
    EngineKind,
    EngineSection,
    LimitsSection,
    PolicyName,
    PolicySection,
    PriceSection,
)
from schemas.episodes.action import Answer, Click, NoAction
from schemas.episodes.call import prompt_hash
from schemas.episodes.episode import (
    Episode,
    PolicyKind,
    Step,
    StopReason,
    ThoughtSource,
    steps_sha256,
)
from schemas.episodes.observation import Screenshot
from schemas.errors import FailureKind, RolloutFailure
from schemas.packed import Logprobs, TokenIds
from schemas.tasks.task import Task
from schemas.verdicts.verdict import Finding

Lie = Callable[[Episode], Episode]

VIEWPORT = (100, 80)
"""Of every episode here, CSS px."""


class Thinker:
    """It clicks, and says why."""

    card = PolicyCard(name="thinker", kind=PolicyKind.SCRIPTED)

    async def act(self, turn: PolicyInput) -> Decision:
        return Decision(
            action=Click(x=5 + len(turn.history), y=5),
            thought="There.",
            thought_source=ThoughtSource.TEMPLATE,
        )


PRICED = EngineSection(
    kind=EngineKind.OPENAI,
    urls=("http://127.0.0.1:1/v1",),
    usd_per_million=PriceSection(prompt=2_000.0, completion=500.0),
)


def model_policy(
    *replies: str | Reply | RolloutFailure,
    name: PolicyName = PolicyName.MODEL,
    viewport: tuple[int, int] = VIEWPORT,
    **settings: object,
) -> Callable[[Account], Policy]:
    """Return what makes a model's policy, whose engine says `replies`; those of other roles too."""
    engine = WrittenEngine(bound=True)
    section = PolicySection.model_validate({"name": name, "logprobs": "raw", **settings})
    browser = BrowserSection().model_copy(update={"viewport": viewport})
    models = ModelConfigs(
        RunConfig(policies=(section,), engine=PRICED, browser=browser), EngineSet(engine)
    ).of(section)
    for reply in replies:
        role, _, text = reply.rpartition("|") if isinstance(reply, str) else ("", "", reply)
        said = text if isinstance(text, RolloutFailure) else counted(text)
        engine.says(said, session=f"{SESSION}/{role}" if role else SESSION)

    def make(account: Account) -> Policy:
        if models.roles is None:
            return ModelPolicy(models.model, account, budget=models.budget, session=SESSION)
        return SurferPolicy(
            models.model, models.roles, account, budget=models.budget, session=SESSION
        )

    return make


def counted(text: str | Reply) -> Reply:
    """Return a reply with everything that a server may count."""
    if isinstance(text, Reply):
        return text
    return Reply(
        text=text,
        finish_reason="stop",
        endpoint="http://written",
        model="written",
        prompt_tokens=100,
        completion_tokens=2,
        cached_tokens=50,
        image_tokens=20,
        completion_token_ids=TokenIds((1, 2)),
        completion_logprobs=Logprobs((-0.5, -0.25)),
        logprobs_mode="raw",
        queue_ms=0.0,
        ttft_ms=0.0,
        total_ms=0.0,
    )


async def won(task: Task | None = None) -> Episode:
    """Return an episode of two clicks that won."""
    sessions = ScriptedSessions(pages(RUNNING, RUNNING, WON))
    return await attempt_it(sessions, make_policy=lambda _: Thinker(), task=task)


async def replied(*replies: str | Reply | RolloutFailure, **settings: Any) -> Episode:
    """Return an episode of a model that won by its second action; else by two clicks."""
    sessions = ScriptedSessions(pages(RUNNING, RUNNING, WON))
    said = replies or (clicked(50, 100), clicked(60, 100))
    return await attempt_it(sessions, make_policy=model_policy(*said, **settings))


async def lost(stop: StopReason) -> Episode:
    """Return an episode that ended otherwise than by the site's word."""
    running = ScriptedSessions(pages(*[RUNNING] * 9))
    match stop:
        case StopReason.ANSWERED:
            return await attempt_it(running, [*clicks(1), Answer(text="42")])
        case StopReason.STEP_LIMIT:
            limits = make_limits(scripted_task(), LimitsSection(steps=2))
            return await attempt_it(running, clicks(9), limits=limits)
        case StopReason.STUCK:
            return await attempt_it(ScriptedSessions(pages(RUNNING)), [Click(x=1, y=1)] * 9)
        case StopReason.TIME_LIMIT:
            limits = LIMITS.model_copy(update={"seconds": 1e-9})
            return await attempt_it(running, clicks(1), limits=limits)
        case StopReason.TOKEN_LIMIT:
            limits = LIMITS.model_copy(update={"tokens": 200})
            policy = model_policy(*[clicked(50, 100)] * 9)
            return await attempt_it(running, make_policy=policy, limits=limits)
        case _:
            return await attempt_it(running, [NoAction()])


async def broken(kind: str) -> Episode:
    """Return an episode that its surroundings ended."""
    unseen = Page(colour=(0, 0, 0), value=RUNNING, breaks=FailureKind.PAGE)  # type: ignore[arg-type]
    scripts = {
        "the first look": [[unseen]],
        "the look after a click": [[*pages(RUNNING), unseen]],
        "the look after a win": [
            [*pages(RUNNING), Page(colour=(0, 0, 0), value=[1, True], breaks=FailureKind.PAGE)]
        ],
        "the outcome of a click": [pages(RUNNING, RUNNING, None)],
        "the goal": [pages(None)],
        "one try of two": [[*pages(RUNNING), unseen], pages(RUNNING, WON)],
    }
    return await attempt_it(ScriptedSessions(*scripts[kind]), clicks(2))


async def examined(episode: Episode, task: Task | None = None) -> Finding:
    """Return what `structure` finds."""
    return await Structure().examine(task or scripted_task(), episode)


def defects(finding: Finding) -> list[str]:
    """Return the defects that a finding lists."""
    found = finding.evidence.get("defects", [])
    assert isinstance(found, list)
    return [str(defect) for defect in found]


def changed(**changes: object) -> Lie:
    return lambda episode: episode.model_copy(update=changes)


def sealed(episode: Episode, steps: list[Step], **changes: object) -> Episode:
    rows = tuple(steps)
    update = {"steps": rows, "content_sha256": steps_sha256(rows), **changes}
    return episode.model_copy(update=update)


def step(number: int, **changes: object) -> Lie:
    """Return the lie that changes a row, as a recorder would tell it: with the hash over all rows."""

    def tell(episode: Episode) -> Episode:
        steps = list(episode.steps)
        steps[number] = steps[number].model_copy(update=changes)
        return sealed(episode, steps)

    return tell


def both(*lies: Lie) -> Lie:
    def tell(episode: Episode) -> Episode:
        for lie in lies:
            episode = lie(episode)
        return episode

    return tell


def call(number: int, **changes: object) -> Lie:
    def tell(episode: Episode) -> Episode:
        calls = list(episode.calls)
        calls[number] = calls[number].model_copy(update=changes)
        return episode.model_copy(update={"calls": tuple(calls)})

    return tell


def capsule(*path: str, value: Any = None, drop: bool = False) -> Lie:
    """Return the lie that sets, or drops, what is at `path` in the capsule."""

    def tell(episode: Episode) -> Episode:
        own: JsonObject = Episode.model_validate_json(episode.model_dump_json()).capsule
        *above, last = path
        within: Any = own
        for name in above:
            within = within[name]
        if drop:
            del within[last]
        else:
            within[last] = value
        return episode.model_copy(update={"capsule": own})

    return tell


def drawn(
    *,
    size: tuple[int, int] = (100, 80),
    row: tuple[int, int] = (100, 80),
    form: str = "JPEG",
    cut: int | None = None,
) -> Lie:
    """Return the lie that puts a picture of one colour, cut after `cut` bytes, into row 1."""
    out = io.BytesIO()
    Image.new("RGB", size, (20, 235, 90)).save(out, form)
    data = out.getvalue()[:cut]
    return step(
        1,
        screenshot=Screenshot(bytes=data, path="x.jpg"),
        screenshot_sha256=sha256_hex(data),
        screenshot_phash=read_picture(out.getvalue()).difference_hash,
        width=row[0],
        height=row[1],
    )


def reworded(**changes: Any) -> Lie:
    """Return the lie that alters a system prompt, and its hash wherever it is stated."""

    def tell(episode: Episode) -> Episode:
        old = episode.prompts[0]
        new = old.model_copy(update=changes)
        named = prompt_hash(new.text, new.tools)
        text = episode.model_dump_json().replace(old.prompt_sha256, named)
        told = Episode.model_validate_json(text)
        prompt = new.model_copy(update={"prompt_sha256": named})
        return told.model_copy(update={"prompts": (prompt, *told.prompts[1:])})

    return tell


def message(number: int, at: int, old: str, new: str) -> Lie:
    """Return the lie that alters the words of a message of a call."""

    def tell(episode: Episode) -> Episode:
        messages: Any = json.loads(json.dumps(episode.calls[number].messages))
        said = json.dumps(messages[at])
        assert old in said
        messages[at] = json.loads(said.replace(old, new))
        return call(number, messages=messages)(episode)

    return tell


POINTLESS = {"x_norm": None, "y_norm": None, "target": None}
BARE = {name: field.default for name, field in Step.model_fields.items() if not field.is_required()}
