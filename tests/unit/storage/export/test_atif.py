"""The `atif` format, held against the format's own package."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from atif import Step, Trajectory
from support.episodes.factories import make_episode, make_prompt
from support.runs.exports import exported, told_of
from support.runs.memory_run import small_run

from schemas.episodes.episode import Actor, Episode, StopReason
from storage.export.atif import TOOLS, VERSION, Atif, document
from storage.export.protocol import File


def validated(episode: Episode) -> Trajectory:
    """Return an episode's document as the package reads it, which refuses what it does not know."""
    return Trajectory.model_validate(document(told_of(episode)))


def asked() -> Episode:
    """Return an episode of a model with counted calls, one of them repaired."""
    episode = make_episode(prompt=make_prompt())
    steps = [
        step.model_copy(update={"raw_reply": f"click {step.step}", "action_error": error})
        for step, error in zip(episode.steps, ("covered", None, None), strict=True)
    ]
    calls = [
        call.model_copy(
            update={"prompt_tokens": 100, "completion_tokens": 3, "prompt_token_ids": (7, 8)}
        )
        for call in episode.calls
    ]
    repair = calls[1].model_copy(update={"role": "repair", "call": 2, "completion_tokens": 5})
    return episode.model_copy(update={"steps": tuple(steps), "calls": (*calls, repair)})


def agent_steps(trajectory: Trajectory) -> list[Step]:
    """Return what the agent did."""
    return [step for step in trajectory.steps if step.source == "agent"]


def test_every_document_of_an_export_is_valid_and_its_pictures_are_there(tmp_path: Path) -> None:
    report = exported(small_run().seal(), Atif(), tmp_path)
    paths = sorted(tmp_path.rglob("trajectory.json"))

    assert len(paths) == report.counts["documents"] == 10
    for path in paths:
        text: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        trajectory = Trajectory.model_validate(text)
        assert trajectory.schema_version == VERSION
        assert trajectory.trajectory_id == path.parent.name
        assert trajectory.has_multimodal_content()
        assert trajectory.model_dump(mode="json", exclude_unset=True) == text
        assert pictures(text) == sorted(f"images/{n}.jpg" for n in range(3))
        assert all((path.parent / name).is_file() for name in pictures(text))


def pictures(value: object) -> list[str]:
    """Return every path in a document."""
    if isinstance(value, dict):
        own = [value["path"]] if isinstance(value.get("path"), str) else []
        return sorted(own + [path for item in value.values() for path in pictures(item)])
    return (
        sorted(path for item in value for path in pictures(item)) if isinstance(value, list) else []
    )


def test_a_teacher_s_steps_are_actions_without_a_model() -> None:
    first, *_ = agent_steps(validated(make_episode()))

    assert first.message == "Step 0."
    assert (first.llm_call_count, first.reasoning_content, first.metrics) == (0, None, None)
    assert first.tool_calls is not None
    assert first.tool_calls[0].function_name == "click"
    assert first.tool_calls[0].arguments == {"x": 10.0, "y": 12.0, "button": "left", "count": 1}


def test_a_model_s_steps_carry_its_words_its_tokens_and_what_came_of_them() -> None:
    trajectory = validated(asked())
    first, second = agent_steps(trajectory)
    assert first.observation is not None
    assert first.metrics is not None
    assert second.metrics is not None

    assert trajectory.steps[0].message == "You see a page."
    assert (first.message, first.reasoning_content) == ("click 0", "Step 0.")
    assert isinstance(first.observation.results[0].content, list)
    assert first.observation.results[0].content[0].text == "covered"
    assert first.metrics.prompt_token_ids == [7, 8]
    assert first.metrics.logprobs == [-0.5, -0.25, -0.125]
    assert second.llm_call_count == 2
    assert (second.metrics.prompt_tokens, second.metrics.completion_tokens) == (200, 8)
    assert second.metrics.completion_token_ids is None


def test_the_reward_and_the_rule_stand_in_the_root_and_no_reward_is_not_zero() -> None:
    won, lost = (
        validated(make_episode(stop_reason=reason)).extra
        for reason in (StopReason.FINISHED, StopReason.STEP_LIMIT)
    )
    assert won is not None
    assert lost is not None

    assert (won["reward"], lost["reward"]) == (1.0, None)
    assert (won["accepted"], won["replay"], won["split"]) == (True, "reproduced", "train")


def test_an_episode_is_a_session_of_its_own_and_names_its_run() -> None:
    one = make_episode()
    other = one.model_copy(update={"episode_id": "0" * 32})
    found = [validated(episode) for episode in (one, other)]

    assert [trajectory.session_id for trajectory in found] == [one.episode_id, other.episode_id]
    assert [trajectory.extra and trajectory.extra["run_id"] for trajectory in found] == [
        one.run_id
    ] * 2


def total(trajectory: Trajectory) -> int | None:
    """Return the number of steps that a document says it has."""
    assert trajectory.final_metrics is not None
    return trajectory.final_metrics.total_steps


def test_a_total_that_is_not_the_number_of_steps_is_explained() -> None:
    trajectory = validated(asked())

    assert (total(trajectory), len(trajectory.steps)) == (2, 4)
    assert trajectory.notes is not None
    assert "total_steps is 2" in trajectory.notes
    assert "`steps` has 4" in trajectory.notes
    assert "calls" not in trajectory.notes


def test_calls_that_no_action_followed_are_explained() -> None:
    episode = asked()
    last = episode.calls[0].model_copy(update={"step": 2, "call": 3})
    trajectory = validated(episode.model_copy(update={"calls": (*episode.calls, last)}))

    assert trajectory.notes is not None
    assert "count 1 more calls" in trajectory.notes


def test_what_a_person_did_is_a_user_s_step() -> None:
    episode = make_episode()
    steps = [step.model_copy(update={"actor": Actor.USER}) for step in episode.steps]
    trajectory = validated(episode.model_copy(update={"steps": tuple(steps)}))

    assert agent_steps(trajectory) == []
    assert json.loads(str(trajectory.steps[1].message))["type"] == "click"


def test_an_episode_that_broke_before_its_first_look_is_a_document_too() -> None:
    episode = make_episode(n_steps=0, stop_reason=StopReason.FAILED)
    broken = episode.model_copy(update={"steps": ()})

    assert len(validated(broken).steps) == 1


def test_every_action_but_none_is_a_tool() -> None:
    names = [tool["function"]["name"] for tool in TOOLS if isinstance(tool["function"], dict)]

    assert len(names) == len(set(names)) == 19
    assert {"click", "type", "answer"} < set(names)
    assert "none" not in names


def test_pictures_are_the_recorded_ones() -> None:
    episode = make_episode()
    pieces = list(Atif().pieces(told_of(episode), Counter()))
    files = [piece for piece in pieces if isinstance(piece, File)]

    assert [file.data for file in files[:3]] == [s.screenshot.bytes for s in episode.steps]
    assert [file.path for file in files[:1]] == [f"train/{episode.episode_id}/images/0.jpg"]
