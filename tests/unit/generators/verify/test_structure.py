"""Every column that follows from another is held against it, each by a finding of its own."""

import io
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from PIL import Image
from scripted_rollouts import LIMITS, RUNNING, WON, attempt_it, clicks, pages, scripted_task
from scripted_session import Page, ScriptedSessions

from generators.policy.model.usage import Account
from generators.policy.protocol import Decision, PolicyCard, PolicyInput
from generators.rollout.limits import make_limits
from generators.verify.structure import MAX_DEFECTS, Structure
from schemas.action import Answer, Click, Drag, Goto, NoAction, Tab, TabOperation, Wait
from schemas.base import JsonObject, sha256_hex
from schemas.call import Call, Prompt, prompt_hash
from schemas.episode import Episode, PolicyKind, Step, StopReason, ThoughtSource, steps_sha256
from schemas.errors import FailureKind
from schemas.observation import Element, Screenshot, Target
from schemas.sections import LimitsSection
from schemas.task import Task
from schemas.verdict import Finding, Status

Lie = Callable[[Episode], Episode]

PROMPT = Prompt(
    prompt_sha256=prompt_hash("You see a page.", None),
    dialect="plain",
    dialect_version="1",
    text="You see a page.",
)


class Caller:
    """A model's policy: it clicks, and makes one call for each click."""

    card = PolicyCard(name="caller", kind=PolicyKind.MODEL, prompts=(PROMPT,))

    def __init__(self, account: Account) -> None:
        self._account = account

    async def act(self, turn: PolicyInput) -> Decision:
        number = len(turn.history)
        call = Call(
            step=number,
            call=len(self._account.calls),
            role="policy",
            prompt_sha256=PROMPT.prompt_sha256,
            image_steps=(number,),
            reply=f"click {number}",
            prompt_tokens=100,
            completion_tokens=10,
            cached_tokens=50,
            image_tokens=20,
            total_ms=1.5,
            cost_usd=0.25,
            at=self._account.stopwatch.now,
        )
        self._account.calls.append(call)
        return Decision(
            action=Click(x=5 + number, y=5),
            thought="There.",
            thought_source=ThoughtSource.POLICY,
            raw_reply=call.reply,
        )


async def won(task: Task | None = None) -> Episode:
    """Return an episode of two clicks of a model that won."""
    sessions = ScriptedSessions(pages(RUNNING, RUNNING, WON))
    return await attempt_it(sessions, make_policy=Caller, task=task)


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
            return await attempt_it(running, make_policy=Caller, limits=limits)
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
    return await Structure().examine(task or scripted_task(), episode)


def defects(finding: Finding) -> list[str]:
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
        width=row[0],
        height=row[1],
    )


POINTLESS = {"x_norm": None, "y_norm": None, "target": None}
BARE = {name: field.default for name, field in Step.model_fields.items() if not field.is_required()}


def without_final_row(episode: Episode) -> Episode:
    *_, last, _ = steps = list(episode.steps)
    steps[-2:] = [last.model_copy(update={"state_changed": None})]
    return sealed(episode, steps)


def with_element(visible: float) -> Lie:
    element = Element(
        role="",
        name="",
        tag="b",
        text="",
        bbox=(0, 0, 1, 1),
        interactive=False,
        visible=0,
        covered=False,
    )
    return step(0, elements=(element.model_copy(update={"visible": visible}),))


def shifted(episode: Episode) -> Episode:
    early = episode.started_at - timedelta(days=1)
    return step(1, at=early)(episode)


LIES: dict[str, tuple[str, Lie]] = {
    "content_sha256": ("content_sha256 is not", changed(content_sha256="0" * 64)),
    "numbers": ("not numbered 0, 1, 2", step(2, step=5)),
    "n_steps": ("n_steps is 9", changed(n_steps=9)),
    "a row between": (
        "stands before the last",
        both(step(0, **BARE, action=NoAction()), changed(n_steps=1)),
    ),
    "no final row": ("final state is missing", without_final_row),
    "final thought": ("thought_source is stated", step(2, thought_source=ThoughtSource.POLICY)),
    "final reward": ("reward is stated", step(2, reward=1.0)),
    "final end": ("terminated is stated", step(2, terminated=True)),
    "final duration": ("act_ms is stated", step(2, act_ms=1e-7)),
    "final change": ("state_changed is stated", step(2, state_changed=False)),
    "picture's hash": ("picture's hash", step(1, screenshot_sha256="0" * 64)),
    "picture that is none": ("does not decode", drawn(cut=4)),
    "picture that is torn": ("does not decode", drawn(cut=700)),
    "picture's format": ("is a PNG", drawn(form="PNG")),
    "picture's size": ("picture is 50×40, the row", drawn(size=(50, 40))),
    "row's size": ("row says 50×40, the viewport", drawn(size=(50, 40), row=(50, 40))),
    "phash": ("screenshot_phash is not", step(1, screenshot_phash="f" * 16)),
    "state_changed": ("state_changed is False", step(1, state_changed=False)),
    "state_changed unknown": ("state_changed is None", step(0, state_changed=None)),
    "target's share": ("not between 0 and 1", step(0, target=Target(tag="b", visible=1.5))),
    "element's share": ("not between 0 and 1", with_element(-0.1)),
    "x_norm": ("x_norm and y_norm", step(0, x_norm=0.5)),
    "y_norm": ("x_norm and y_norm", step(0, y_norm=None)),
    "fraction without a point": (
        "x_norm and y_norm",
        step(0, action=Wait(), **POINTLESS | {"x_norm": 0.5}),
    ),
    "target without a point": (
        "has no point",
        step(0, action=Wait(), **POINTLESS | {"target": Target(tag="b")}),
    ),
    "thought without a source": ("come together", step(0, thought_source=None)),
    "source without a thought": ("come together", step(0, thought=None)),
    "click outside": (
        "(100, 5) is outside the viewport",
        step(0, action=Click(x=100, y=5), x_norm=1.0, y_norm=5 / 80),
    ),
    "drag's end outside": (
        "(5, 80) is outside the viewport",
        step(0, action=Drag(x=5, y=5, to_x=5, to_y=80)),
    ),
    "goto": ("is not allowed", step(0, action=Goto(url="http://b.example/"), **POINTLESS)),
    "tab": (
        "is not allowed",
        step(0, action=Tab(operation=TabOperation.OPEN, url="http://b.example/"), **POINTLESS),
    ),
    "goto elsewhere on the site": (
        "is not allowed",
        both(
            step(0, action=Goto(url="http://scripted.localhost/b"), **POINTLESS),
            capsule("visit", "allowed_paths", value=["/a"]),
            capsule("session", "allowed_paths", value=["/a"]),
        ),
    ),
    "task_id": ("task_id is 'x'", changed(task_id="x")),
    "episode_id": ("episode_id is 'x'", changed(episode_id="x")),
    "attempt": ("episode_id is", changed(attempt=1)),
    "group_id": ("group_id is 'x'", changed(group_id="x")),
    "site": ("site is 'x'", changed(site="x")),
    "start_url": ("start_url is 'x'", changed(start_url="x")),
    "seed": ("seed is 4", changed(seed=4)),
    "no instruction": ("no instruction", changed(instruction="")),
    "template in the capsule": ("template_id is 'x'", capsule("template_id", value="x")),
    "site version in the capsule": ("site_version is None", capsule("site_version", drop=True)),
    "no visit": ("visit is missing", both(capsule("visit", drop=True), changed(clock_ms=0))),
    "no session": ("session is missing", capsule("session", drop=True)),
    "clock_ms": ("clock_ms is 5", changed(clock_ms=5)),
    "visit's start": ("visit's start_url", capsule("visit", "start_url", value="http://x/")),
    "visit's seed": ("visit's seed is '4'", capsule("visit", "seed", value="4")),
    "visit's parameters": ("visit's parameters", capsule("visit", "parameters", value={"a": 1})),
    "session's width": ("viewport_width is 9", capsule("session", "viewport_width", value=9)),
    "session's height": ("viewport_height is 9", capsule("session", "viewport_height", value=9)),
    "session's scale": ("scale_factor is 2", capsule("session", "device_scale_factor", value=2.0)),
    "session's clock": ("session's clock", capsule("session", "clock", value=None)),
    "session's paths": ("allowed_paths", capsule("session", "allowed_paths", value=["/a"])),
    "session's origins": (
        "session's allowed_origins",
        capsule("session", "allowed_origins", value=["http://scripted.localhost", "http://b"]),
    ),
    "reward": ("reward is 0.5", changed(reward=0.5)),
    "step's reward": ("reward is 1.0", step(1, reward=-1.0)),
    "reward that is none": ("no finite number", changed(reward_before=float("inf"))),
    "done": ("done is False", changed(done=False)),
    "answer": ("answer is '42'", changed(answer="42")),
    "two ends": ("after the site said", step(0, terminated=True)),
    "an answer before": ("after the answer", step(0, action=Answer(text="x"), **POINTLESS)),
    "failed without a failure": (
        "stop_reason is failed, failure_kind None",
        changed(stop_reason=StopReason.FAILED),
    ),
    "failure without failed": (
        "stop_reason is finished, failure_kind policy",
        changed(failure_kind="policy", failure_message="x"),
    ),
    "message alone": ("stop_reason is finished, failure", changed(failure_message="x")),
    "trainable": ("trainable is False", changed(trainable=False)),
    "stopped by a limit": (
        "makes it finished",
        both(changed(stop_reason=StopReason.STEP_LIMIT), step(1, truncated=True)),
    ),
    "truncated at the end": ("truncated of step 1", step(1, truncated=True)),
    "truncated before": ("truncated of step 0", step(0, truncated=True)),
    "prompt_tokens": ("prompt_tokens is 1", changed(prompt_tokens=1)),
    "completion_tokens": ("completion_tokens is 1", changed(completion_tokens=1)),
    "cached_tokens": ("cached_tokens is None", changed(cached_tokens=None)),
    "image_tokens": ("image_tokens is 1", changed(image_tokens=1)),
    "engine_seconds": ("engine_seconds is 0.004", changed(engine_seconds=0.004)),
    "cost_usd": ("cost_usd is 0.6", changed(cost_usd=0.6)),
    "browser_seconds": ("browser_seconds is 7", changed(browser_seconds=7.0)),
    "no prompt": ("is not kept", changed(prompts=())),
    "another prompt": (
        "not the one that its hash names",
        changed(prompts=(PROMPT.model_copy(update={"text": "You see nothing."}),)),
    ),
    "calls' numbers": ("calls are not numbered", call(1, call=7)),
    "call of no step": ("is of step 3", both(call(1, step=3), step(1, raw_reply=None))),
    "call that looks ahead": ("not taken yet", call(0, image_steps=(0, 1))),
    "raw_reply": ("reply of none of its calls", step(0, raw_reply="click 1")),
    "negative duration": ("negative or not finite", step(0, think_ms=-1e-7)),
    "wall_seconds": ("wall_seconds is 99", changed(wall_seconds=99.0)),
    "times": ("do not follow each other", shifted),
    "long thinking": ("took longer than", step(1, think_ms=60_000.0)),
    "call before the start": (
        "before the start",
        lambda episode: call(0, at=episode.started_at - timedelta(days=1))(episode),
    ),
}
"""Each changes one thing of an episode that was won, and what names it."""

SOUND_ENDS = [
    StopReason.ANSWERED,
    StopReason.STEP_LIMIT,
    StopReason.STUCK,
    StopReason.TIME_LIMIT,
    StopReason.TOKEN_LIMIT,
    StopReason.FAILED,
]


@pytest.mark.parametrize("stop", SOUND_ENDS)
async def test_an_episode_is_sound_however_it_ended(stop: StopReason) -> None:
    episode = await lost(stop)

    assert episode.stop_reason is stop
    finding = await examined(episode)
    assert (finding.status, finding.evidence) == (Status.PASSED, {}), finding


@pytest.mark.parametrize(
    "kind",
    [
        *("the first look", "the look after a click", "the look after a win"),
        *("the outcome of a click", "the goal", "one try of two"),
    ],
)
async def test_an_episode_that_broke_is_sound(kind: str) -> None:
    finding = await examined(await broken(kind))

    assert finding.status is Status.PASSED, finding


async def test_an_episode_of_a_task_that_states_its_goal_is_sound_and_bound_to_it() -> None:
    task = scripted_task().model_copy(update={"instruction": "Do number 3."})
    episode = await won(task)

    assert (await examined(episode, task)).status is Status.PASSED
    assert defects(await examined(changed(instruction="Do it.")(episode), task)) == [
        "the instruction is not the task's"
    ]


@pytest.mark.parametrize(("named", "lie"), LIES.values(), ids=LIES.keys())
async def test_each_lie_is_named_by_one_finding_alone(named: str, lie: Lie) -> None:
    episode = await won()
    assert (await examined(episode)).status is Status.PASSED

    finding = await examined(lie(episode))

    assert finding.status is Status.FAILED
    [defect] = defects(finding)
    assert named in defect, finding


END_LIES: dict[str, tuple[StopReason, str, Lie]] = {
    "answered, not finished": (
        StopReason.ANSWERED,
        "makes it answered",
        changed(stop_reason=StopReason.FINISHED),
    ),
    "not answered": (
        StopReason.STEP_LIMIT,
        "did not end it so",
        both(changed(stop_reason=StopReason.ANSWERED), step(1, truncated=False)),
    ),
    "not finished": (
        StopReason.STEP_LIMIT,
        "did not end it so",
        both(changed(stop_reason=StopReason.FINISHED), step(1, truncated=False)),
    ),
    "not stuck": (
        StopReason.STEP_LIMIT,
        "not a repetition",
        changed(stop_reason=StopReason.STUCK),
    ),
    "no step, no limit": (
        StopReason.TIME_LIMIT,
        "nothing was done",
        changed(stop_reason=StopReason.STEP_LIMIT),
    ),
    "not truncated": (StopReason.STUCK, "truncated of step 2", step(2, truncated=False)),
    "answer that was given": (StopReason.ANSWERED, "answer is None", changed(answer=None)),
    "unknown failure": (
        StopReason.FAILED,
        "which is none",
        changed(failure_kind="gremlins", trainable=False),
    ),
    "policy's own failure": (StopReason.FAILED, "trainable is False", changed(trainable=False)),
    "environment's failure": (
        StopReason.FAILED,
        "trainable is True",
        changed(failure_kind="browser"),
    ),
}


@pytest.mark.parametrize(("stop", "named", "lie"), END_LIES.values(), ids=END_LIES.keys())
async def test_an_end_that_the_steps_do_not_show_is_named(
    stop: StopReason, named: str, lie: Lie
) -> None:
    finding = await examined(lie(await lost(stop)))

    [defect] = defects(finding)
    assert named in defect, finding


@pytest.mark.parametrize(
    ("named", "changes"),
    [
        ("2 actions, but the task allows 1", {"max_steps": 1}),
        ("split", {"split": "test"}),
        ("not the hash of its content", {"template_id": "others"}),
        ("not the hash of its content", {"parameters": {"a": 1}}),
    ],
)
async def test_the_task_is_held_against_its_own_id_and_template(
    named: str, changes: dict[str, Any]
) -> None:
    task = scripted_task().model_copy(update=changes)
    episode = capsule("template_id", value=task.template_id)(await won())
    episode = capsule("visit", "parameters", value=task.parameters)(episode)

    [defect] = defects(await examined(episode, task))
    assert named in defect


async def test_an_address_outside_the_allowed_origins_is_named() -> None:
    episode = await won()
    page = episode.steps[1].page.model_copy(update={"url": "http://elsewhere.example/"})

    [defect] = defects(await examined(step(1, page=page)(episode)))

    assert defect == "step 1: http://elsewhere.example/ is outside the allowed origins"


async def test_what_an_earlier_version_did_not_write_is_said_and_fails_nothing() -> None:
    episode = await won()
    for part in ("visit", "session"):
        episode = capsule(part, "allowed_paths", drop=True)(episode)

    finding = await examined(episode)

    assert finding.status is Status.PASSED
    assert "not state it: visit.allowed_paths, session.allowed_paths" in finding.reason


async def test_a_capsule_of_other_things_is_named_and_long_values_are_quoted_short() -> None:
    episode = changed(capsule={"visit": [], "session": "x"}, answer="a" * 10_000)(await won())

    finding = await examined(episode)

    assert "the capsule's visit is missing or cannot be read" in defects(finding)
    assert max(map(len, defects(finding))) < 300


async def test_many_defects_are_counted_and_some_are_listed() -> None:
    episode = await won()
    calls = tuple(episode.calls[0].model_copy(update={"step": 9}) for _ in range(50))

    finding = await examined(changed(calls=calls)(episode))

    assert len(defects(finding)) == MAX_DEFECTS
    assert " more" in finding.reason
