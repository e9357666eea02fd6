"""What stands right at a bound of the `structure` verifier is sound, and what is right beyond it is not."""

import pytest
from support.browsers.scripted_rollouts import (
    LIMITS,
    RUNNING,
    attempt_it,
    clicks,
    pages,
    scripted_task,
)
from support.browsers.scripted_session import ScriptedSessions
from support.browsers.scripted_site import ScriptedSite
from support.episodes.altered_episodes import (
    POINTLESS,
    capsule,
    changed,
    defects,
    examined,
    lost,
    step,
    won,
)

from generators.policy.scripted import ScriptedPolicy
from generators.rollout.episode_recorder import Attempt
from generators.rollout.rollout import rollout
from schemas.episodes.action import Answer, Click
from schemas.episodes.episode import StopReason
from schemas.tasks.task import SPLITS, Task, task_id


def task_of(template_id: str, *, instruction: str | None = None) -> Task:
    """Return a task of a template, or, as a task file has them, one of an instruction."""
    base = scripted_task()
    return base.model_copy(
        update={
            "template_id": template_id,
            "instruction": instruction or "",
            "task_id": task_id(
                site=base.site,
                site_version=base.site_version,
                template_id=None if instruction else template_id,
                seed=base.seed,
                start_url=base.start_url,
                instruction=instruction,
                parameters=base.parameters,
            ),
        }
    )


@pytest.mark.parametrize("split", ["", *SPLITS])
async def test_a_task_asks_for_a_split_or_for_none(split: str) -> None:
    task = task_of("pages").model_copy(update={"split": split})

    assert defects(await examined(await won(task), task)) == []


async def test_a_tasks_id_may_be_that_of_its_instruction() -> None:
    task = task_of("pages", instruction="Do number 3.")

    assert defects(await examined(await won(task), task)) == []
    other = task.model_copy(update={"instruction": "Do it."})
    assert "the task's id is not the hash of its content" in defects(
        await examined(await won(task), other)
    )


async def test_a_picture_may_have_more_pixels_than_the_viewport() -> None:
    episode = await rollout(
        Attempt(
            run_id="run",
            unit_id="unit",
            task=scripted_task(),
            attempt=0,
            viewport_width=100,
            viewport_height=80,
            device_scale_factor=2.0,
            code_version="test",
        ),
        site=ScriptedSite(),
        sessions=ScriptedSessions(pages(RUNNING)),
        make_policy=lambda _: ScriptedPolicy(clicks(1)),
        limits=LIMITS,
    )

    assert {one.split(": ")[1] for one in defects(await examined(episode))} == {
        "the row says 100×80, the viewport is 200×160"
    }, "the stand-in draws at a scale of 1"


@pytest.mark.parametrize("number", [0, 1])
async def test_nothing_is_done_after_any_answer(number: int) -> None:
    episode = await lost(StopReason.STUCK)
    answered = step(number, action=Answer(text="x"), **POINTLESS)(episode)

    assert "something was done after the answer" in defects(await examined(answered))


@pytest.mark.parametrize(("most", "sound"), [(3, True), (2, True), (1, False)])
async def test_a_task_allows_so_many_actions_and_no_more(most: int, *, sound: bool) -> None:
    episode = await won()
    task = scripted_task(max_steps=most)

    assert (defects(await examined(episode, task)) == []) is sound


@pytest.mark.parametrize("clicked", [1, 2, 3])
async def test_the_action_that_broke_the_page_reported_nothing(clicked: int) -> None:
    values = [[number / 8, False] for number in range(clicked)]
    sessions = ScriptedSessions(pages(*values, None))

    episode = await attempt_it(sessions, clicks(5))

    assert episode.reward == (clicked - 1) / 8
    assert episode.n_steps == clicked
    assert defects(await examined(episode)) == []
    for other in (None, (clicked - 2) / 8, clicked / 8):
        lie = changed(reward=other)(episode)
        assert any("reward is" in one for one in defects(await examined(lie)))


@pytest.mark.parametrize(("repeated", "sound"), [(1, False), (2, True), (3, True)])
async def test_an_episode_is_stuck_from_two_equal_actions_on(repeated: int, *, sound: bool) -> None:
    limits = LIMITS.model_copy(update={"steps": repeated, "stuck_steps": repeated + 1})
    sessions = ScriptedSessions(pages(RUNNING))
    episode = await attempt_it(sessions, [Click(x=1, y=1)] * 9, limits=limits)
    assert episode.stop_reason is StopReason.STEP_LIMIT

    stuck = changed(stop_reason=StopReason.STUCK)(episode)

    assert (defects(await examined(stuck)) == []) is sound


async def test_what_was_done_before_the_repetition_is_free() -> None:
    limits = LIMITS.model_copy(update={"stuck_steps": 2})
    actions = [Click(x=9, y=9), *[Click(x=1, y=1)] * 9]
    episode = await attempt_it(ScriptedSessions(pages(RUNNING)), actions, limits=limits)

    assert (episode.stop_reason, episode.n_steps) == (StopReason.STUCK, 3)
    assert defects(await examined(episode)) == []


async def test_a_finding_says_what_could_not_be_compared_and_nothing_where_all_was() -> None:
    episode = await won()
    finding = await examined(episode)
    assert (finding.reason, finding.evidence) == ("3 sound rows", {})

    older = capsule("session", "allowed_paths", drop=True)(episode)
    finding = await examined(older)
    assert finding.evidence == {"missing": "session.allowed_paths"}
