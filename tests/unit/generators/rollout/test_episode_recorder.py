"""Every column of a step and of an episode says what happened, and nothing else's."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from support.episodes.factories import CLOCK, make_calls, make_prompt, make_screenshot, make_task

from generators.browser.picture import read_picture
from generators.browser.protocol import ClockSpec
from generators.engine.stopwatch import Stopwatch
from generators.policy.protocol import Decision, PolicyCard
from generators.rollout.episode_recorder import (
    Attempt,
    Recorder,
    TryRecord,
    to_episode,
)
from generators.sites.protocol import Outcome, Visit
from schemas.base import sha256_hex
from schemas.episodes.action import Action, Answer, Click, Key, NoAction
from schemas.episodes.call import usage
from schemas.episodes.episode import (
    Episode,
    FailedTry,
    PolicyKind,
    Step,
    StopReason,
    ThoughtSource,
    steps_sha256,
)
from schemas.episodes.mistake import InjectedMistake
from schemas.episodes.observation import Effect, Element, Observation, PageState, Sight, Target
from schemas.errors import FailureKind, RolloutFailure
from schemas.ids import episode_id, group_id

WIDTH, HEIGHT = 200, 100
TASK = make_task(7, instruction="The task's own words.").model_copy(update={"parameters": {"a": 1}})
VISIT = Visit(
    start_url=TASK.start_url,
    allowed_origins=("http://miniwob.localhost",),
    clock=CLOCK,
    seed="7",
    parameters={"a": 1},
)
SPEC = VISIT.session_spec(viewport_width=WIDTH, viewport_height=HEIGHT)
PROMPT = make_prompt()
CARD = PolicyCard(
    name="a policy",
    kind=PolicyKind.MODEL,
    dialect="a dialect",
    model="a model",
    engine="an engine",
    engine_version="1.2",
    sampling={"temperature": 0.5},
    prompts=(PROMPT,),
)


def seen(number: int) -> Observation:
    return Observation(
        screenshot=make_screenshot(number),
        width=WIDTH + number,
        height=HEIGHT + number,
        page=PageState(url=f"http://a/{number}", title=str(number), scroll_x=1.0, scroll_y=2.0),
        elements=(
            Element(
                role="button",
                name=str(number),
                tag="b",
                text="",
                bbox=(0, 0, 1, 1),
                interactive=True,
                visible=1.0,
                covered=False,
            ),
        ),
        sights=(Sight(text=str(number), bbox=(0, 0, 1, 1)),),
        observe_ms=10.0 + number,
    )


DECISION = Decision(
    action=Click(x=50, y=80),
    thought="a thought",
    thought_source=ThoughtSource.POLICY,
    note="a note",
    raw_reply="a reply",
    parse_error="a parse error",
    injected_mistake=InjectedMistake.TYPO,
)
EFFECT = Effect(
    error="an error", result_text="a dialog", target=Target(tag="button", name="OK"), act_ms=33.0
)


def recorder() -> Recorder:
    return Recorder(Stopwatch(), viewport_width=WIDTH, viewport_height=HEIGHT)


def recorded(*actions: Action, truncated: bool = False) -> tuple[Step, ...]:
    """Return the steps of these actions on pages that differ."""
    made = recorder()
    for number, action in enumerate(actions):
        made.add_observation(seen(number))
        made.add_action(
            DECISION.model_copy(update={"action": action}),
            EFFECT,
            Outcome(reward=number / 4, done=False),
            think_ms=44.0,
        )
    made.add_observation(seen(len(actions)))
    return made.close(truncated=truncated)


def test_a_step_states_the_observation_the_decision_and_the_effect() -> None:
    made = recorder()
    before = made._stopwatch.now
    made.add_observation(seen(0))
    between = made._stopwatch.now
    made.add_action(DECISION, EFFECT, Outcome(reward=0.25, done=True), think_ms=44.0)
    made.add_observation(seen(1))
    first, last = made.close(truncated=False)

    picture = seen(0).screenshot.bytes
    assert before <= first.at <= between <= last.at
    assert first == Step(
        step=0,
        screenshot=seen(0).screenshot,
        screenshot_sha256=sha256_hex(picture),
        screenshot_phash=read_picture(picture).difference_hash,
        width=WIDTH,
        height=HEIGHT,
        page=seen(0).page,
        thought="a thought",
        thought_source=ThoughtSource.POLICY,
        note="a note",
        action=Click(x=50, y=80),
        x_norm=0.25,
        y_norm=0.8,
        target=Target(tag="button", name="OK"),
        raw_reply="a reply",
        parse_error="a parse error",
        injected_mistake=InjectedMistake.TYPO,
        action_error="an error",
        result_text="a dialog",
        state_changed=True,
        reward=0.25,
        terminated=True,
        observe_ms=10.0,
        think_ms=44.0,
        act_ms=33.0,
        at=first.at,
        elements=seen(0).elements,
        elements_left_out=0,
        sights=seen(0).sights,
    )
    picture = seen(1).screenshot.bytes
    assert last == Step(
        step=1,
        screenshot=seen(1).screenshot,
        screenshot_sha256=sha256_hex(picture),
        screenshot_phash=read_picture(picture).difference_hash,
        width=WIDTH + 1,
        height=HEIGHT + 1,
        page=seen(1).page,
        action=NoAction(),
        observe_ms=11.0,
        at=last.at,
        elements=seen(1).elements,
        elements_left_out=0,
        sights=seen(1).sights,
    )


def test_an_action_without_a_point_has_no_fractions() -> None:
    pressed, _ = recorded(Key(key="Enter"))

    assert (pressed.x_norm, pressed.y_norm) == (None, None)


def test_a_page_that_stays_as_it_was_has_not_changed() -> None:
    made = recorder()
    for _ in range(2):
        made.add_observation(seen(0))
        made.add_action(DECISION, EFFECT, Outcome(reward=0, done=False), think_ms=0.0)
    made.add_observation(seen(1))

    assert [step.state_changed for step in made.close(truncated=False)] == [False, True, None]


@pytest.mark.parametrize("truncated", [False, True])
def test_only_the_last_action_of_an_episode_that_was_cut_short_is_truncated(
    *, truncated: bool
) -> None:
    steps = recorded(Click(x=1, y=1), Click(x=2, y=1), truncated=truncated)

    assert [step.truncated for step in steps] == [False, truncated, False]


@pytest.mark.parametrize("truncated", [False, True])
def test_an_episode_without_an_action_has_its_one_picture(*, truncated: bool) -> None:
    (only,) = recorded(truncated=truncated)

    assert (only.step, only.truncated, isinstance(only.action, NoAction)) == (0, False, True)


def test_a_second_look_takes_the_place_of_the_first() -> None:
    made = recorder()
    for number in (3, 4):
        made.add_observation(seen(number))

    (only,) = made.close(truncated=False)

    assert only.page == seen(4).page


def test_the_rows_of_an_action_whose_page_broke_are_counted_as_they_will_be() -> None:
    made = recorder()
    assert (made.n_rows, made.close(truncated=True)) == (0, ())
    with pytest.raises(AssertionError, match="no observation yet"):
        _ = made.observation

    for number in range(2):
        made.add_observation(seen(number))
        assert made.n_rows == len(made.close(truncated=False)) == number + 1
        assert made.observation == seen(number)
        made.add_action(DECISION, EFFECT, Outcome(reward=None, done=False), think_ms=0.0)
        assert made.n_rows == len(made.close(truncated=False)) == number + 1
        assert [step.step for step in made.steps] == list(range(number + 1))
        assert made.steps[-1].state_changed is None, "nobody looked yet"


def episode_of(
    steps: Sequence[Step] = (),
    *,
    card: PolicyCard = CARD,
    failed_tries: Sequence[FailedTry] = (),
    **changes: Any,
) -> Episode:
    """Return the episode of a try with these results."""
    result = TryRecord(
        instruction="The page's words.", browser_version="120", steps=tuple(steps), **changes
    )
    return to_episode(
        Attempt(
            run_id="the run",
            unit_id="the unit",
            task=TASK,
            attempt=2,
            viewport_width=WIDTH,
            viewport_height=HEIGHT,
            device_scale_factor=1.5,
            code_version="the code",
        ),
        result,
        card=card,
        failed_tries=failed_tries,
        stopwatch=Stopwatch(),
    )


WHOLE: dict[str, Any] = {
    "visit": VISIT,
    "spec": SPEC,
    "before": Outcome(reward=0.125, done=False),
    "after": Outcome(reward=0.75, done=True),
    "stop": StopReason.FINISHED,
    "calls": tuple(
        call.model_copy(update={"prompt_tokens": 100 + call.call, "completion_tokens": 10})
        for call in make_calls(2, PROMPT)
    ),
}


def test_an_episode_states_its_attempt_its_try_and_its_policy() -> None:
    steps = recorded(Answer(text="first"), Answer(text="last"), Click(x=1, y=1))
    failed = FailedTry(failure_kind=FailureKind.BROWSER, failure_message="gone", n_steps=3)

    made = episode_of(steps, failed_tries=[failed], **WHOLE)

    assert made == Episode(
        run_id="the run",
        unit_id="the unit",
        attempt=2,
        viewport_width=WIDTH,
        viewport_height=HEIGHT,
        device_scale_factor=1.5,
        code_version="the code",
        episode_id=episode_id("the run", TASK.task_id, 2),
        task_id=TASK.task_id,
        group_id=group_id("the run", TASK.task_id),
        instruction="The page's words.",
        site="miniwob",
        start_url=TASK.start_url,
        policy="a policy",
        policy_kind=PolicyKind.MODEL,
        privileged=False,
        dialect="a dialect",
        model="a model",
        engine="an engine",
        engine_version="1.2",
        sampling={"temperature": 0.5},
        prompt_sha256=PROMPT.prompt_sha256,
        browser="chromium",
        browser_version="120",
        clock_ms=CLOCK.start_ms,
        seed=7,
        capsule={
            "template_id": TASK.template_id,
            "site_version": TASK.site_version,
            "visit": VISIT.model_dump(mode="json"),
            "session": SPEC.model_dump(mode="json"),
        },
        stop_reason=StopReason.FINISHED,
        answer="last",
        n_steps=3,
        reward=0.75,
        reward_before=0.125,
        done=True,
        tries=(failed,),
        trainable=True,
        **usage(WHOLE["calls"]).model_dump(),
        browser_seconds=(10.0 + 11.0 + 12.0 + 13.0 + 3 * 33.0) / 1_000,
        wall_seconds=(made.ended_at - made.started_at) / timedelta(seconds=1),
        started_at=made.started_at,
        ended_at=made.ended_at,
        content_sha256=steps_sha256(steps),
        steps=steps,
        calls=WHOLE["calls"],
        prompts=(PROMPT,),
    )
    assert made.wall_seconds > 0
    assert (made.prompt_tokens, made.completion_tokens) == (201, 20)


def test_an_episode_that_ended_before_its_first_action_has_the_outcome_before_it() -> None:
    made = episode_of(recorded(), **WHOLE | {"after": None})

    assert (made.reward, made.reward_before, made.done) == (0.125, 0.125, False)
    assert (made.n_steps, made.answer, made.tries) == (0, None, None)


def test_a_task_that_was_done_before_the_first_action_is_done() -> None:
    assert episode_of(before=Outcome(reward=1.0, done=True)).done


def test_an_attempt_whose_page_never_opened_states_no_more_than_it_knows() -> None:
    gone = RolloutFailure(FailureKind.BROWSER, "it went away")

    made = episode_of(failure=gone, card=PolicyCard(name="teacher", kind=PolicyKind.TEACHER))

    assert (made.reward, made.reward_before, made.done) == (None, None, False)
    assert (made.stop_reason, made.failure_kind, made.failure_message) == (
        StopReason.FAILED,
        "browser",
        "it went away",
    )
    assert (made.clock_ms, made.prompt_sha256, made.steps, made.prompts) == (0, None, (), ())
    assert made.capsule == {"template_id": TASK.template_id, "site_version": TASK.site_version}


@pytest.mark.parametrize("clock", [None, ClockSpec(start_ms=5)])
def test_the_clock_is_that_of_the_visit(clock: ClockSpec | None) -> None:
    made = episode_of(visit=VISIT.model_copy(update={"clock": clock}))

    assert made.clock_ms == (clock.start_ms if clock else 0)


@pytest.mark.parametrize("kind", FailureKind)
def test_a_failure_that_is_not_the_policys_leaves_nothing_to_learn_from(kind: FailureKind) -> None:
    made = episode_of(failure=RolloutFailure(kind, "it broke"))

    assert made.trainable == (kind is FailureKind.POLICY)
