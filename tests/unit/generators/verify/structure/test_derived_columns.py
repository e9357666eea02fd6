"""Every column that follows from another is held against it, each by a finding of its own."""

from datetime import timedelta
from typing import Any

import pytest
from support.browsers.scripted_rollouts import scripted_task
from support.episodes.altered_episodes import (
    POINTLESS,
    Lie,
    both,
    broken,
    capsule,
    changed,
    defects,
    examined,
    lost,
    step,
    won,
)

from schemas.episodes.action import Answer, Click
from schemas.episodes.episode import Episode, FailedTry, PolicyKind, StopReason, browser_seconds
from schemas.errors import FailureKind
from schemas.verdicts.verdict import Status


def shifted(episode: Episode) -> Episode:
    early = episode.started_at - timedelta(days=1)
    return step(1, at=early)(episode)


def recounted(episode: Episode) -> Episode:
    return episode.model_copy(update={"browser_seconds": browser_seconds(episode.steps)})


LIES: dict[str, tuple[str, Lie]] = {
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
    "browser_seconds": ("browser_seconds is 7", changed(browser_seconds=7.0)),
    "browser": ("browser is 'firefox'", changed(browser="firefox")),
    "schema_version": ("schema_version is 2", changed(schema_version=2)),
    "policy_kind": ("policy_kind is scripted, 'teacher'", changed(policy="teacher")),
    "a clumsy kind": (
        "policy_kind is clumsy, 'teacher'",
        changed(policy="teacher", policy_kind=PolicyKind.CLUMSY, privileged=True),
    ),
    "a clumsy one that is told as scripted": (
        "policy_kind is scripted, 'clumsy' is a clumsy",
        changed(policy="clumsy"),
    ),
    "a clumsy one without the structure": (
        "privileged is False, a clumsy is True",
        changed(policy_kind=PolicyKind.CLUMSY, privileged=False),
    ),
    "privileged": (
        "privileged is False, a teacher is True",
        changed(policy_kind=PolicyKind.TEACHER, privileged=False),
    ),
    "no browser": ("no browser_version", changed(browser_version="")),
    "a try that was the last": (
        "there is no other try",
        changed(tries=(FailedTry(failure_kind=FailureKind.POLICY, failure_message="", n_steps=1),)),
    ),
    "negative duration": ("negative or not finite", step(0, think_ms=-1e-7)),
    "wall_seconds": ("wall_seconds is 99", changed(wall_seconds=99.0)),
    "times": ("do not follow each other", shifted),
    "long thinking": ("before step 2 than there was time for", step(1, think_ms=60_000.0)),
    "long acting": (
        "before step 2 than there was time for",
        both(step(1, act_ms=60_000.0), recounted),
    ),
}
"""Each changes one thing of an episode that was won, and what names it."""


@pytest.mark.parametrize(("named", "lie"), LIES.values(), ids=LIES.keys())
async def test_each_lie_about_the_columns_is_named_by_one_finding_alone(
    named: str, lie: Lie
) -> None:
    episode = await won()
    assert (await examined(episode)).status is Status.PASSED

    finding = await examined(lie(episode))

    assert finding.status is Status.FAILED
    [defect] = defects(finding)
    assert named in defect, finding


async def test_an_episode_of_a_task_that_states_its_goal_is_sound_and_bound_to_it() -> None:
    task = scripted_task().model_copy(update={"instruction": "Do number 3."})
    episode = await won(task)

    assert (await examined(episode, task)).status is Status.PASSED
    assert defects(await examined(changed(instruction="Do it.")(episode), task)) == [
        "the instruction is not the task's"
    ]


@pytest.mark.parametrize("name", ["wall_seconds", "browser_seconds", "engine_seconds"])
@pytest.mark.parametrize("value", [-1.0, float("inf")])
async def test_a_duration_that_is_none_is_named_beside_what_it_contradicts(
    name: str, value: float
) -> None:
    found = defects(await examined(changed(**{name: value})(await won())))

    assert "a duration is negative or not finite" in found


async def test_all_the_time_that_there_was_may_have_been_used() -> None:
    episode = await broken("the outcome of a click")
    first, last = episode.steps[0], episode.steps[-1]
    assert isinstance(last.action, Click)
    looked = (first.at - episode.started_at) / timedelta(milliseconds=1)
    thought = (episode.ended_at - last.at) / timedelta(milliseconds=1)

    lie = both(
        step(0, observe_ms=looked + 0.5), step(-1, think_ms=thought + 0.5, act_ms=0.0), recounted
    )

    assert defects(await examined(lie(episode))) == []


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
        ("the split 'dev', which does not exist", {"split": "dev"}),
        ("the task's fault is dialog", {"fault": "dialog"}),
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


async def test_what_an_earlier_version_did_not_write_is_said_and_fails_nothing() -> None:
    episode = await won()
    for part in ("visit", "session"):
        episode = capsule(part, "allowed_paths", drop=True)(episode)
    episode = capsule("visit", "bare", drop=True)(episode)

    finding = await examined(episode)

    assert finding.status is Status.PASSED
    missing = "visit.allowed_paths, visit.bare, session.allowed_paths"
    assert f"not state it: {missing}" in finding.reason
    finding = await examined(changed(privileged=None)(episode))
    assert finding.evidence == {"missing": f"{missing}, privileged"}


async def test_a_capsule_of_other_things_is_named_and_long_values_are_quoted_short() -> None:
    episode = changed(capsule={"visit": [], "session": "x"}, answer="a" * 10_000)(await won())

    finding = await examined(episode)

    assert "the capsule's visit is missing or cannot be read" in defects(finding)
    assert max(map(len, defects(finding))) < 300


@pytest.mark.parametrize("part", ["visit", "session"])
async def test_what_is_kept_of_an_attempt_without_a_picture_can_be_read_too(part: str) -> None:
    episode = both(capsule(part, value="x"), changed(clock_ms=0))(await broken("the goal"))
    if part == "session":
        episode = changed(clock_ms=episode.capsule["visit"]["clock"]["start_ms"])(episode)  # type: ignore[index, call-overload]

    assert defects(await examined(episode)) == [
        f"the capsule's {part} is missing or cannot be read"
    ]


@pytest.mark.parametrize("kind", [PolicyKind.CLUMSY, PolicyKind.TEACHER])
async def test_a_clumsy_episode_is_of_its_own_kind_or_as_earlier_versions_wrote(
    kind: PolicyKind,
) -> None:
    told = changed(policy="clumsy", policy_kind=kind, privileged=True)(await won())

    assert (await examined(told)).status is Status.PASSED
