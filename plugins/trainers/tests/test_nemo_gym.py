"""NeMo Gym's requests and answers are made of those of the run door, and no missing reward becomes 0."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.episodes.factories import make_task
from support.episodes.recorded_calls import FIRST, episode_of

from flows.serving.episode_answer import answer_of, trace_answer
from flows.serving.run_door import read_run
from stepmill_trainers.nemo_gym import NoReward, run_answer, run_request

GOLDEN = Path(__file__).parent / "nemo_gym_answer.json"
ROW: dict[str, Any] = {
    "responses_create_params": {"input": [], "temperature": 0.7, "max_output_tokens": 256},
    "task": {"name": "click-button", "seed": 3},
}


def told(**more: object) -> dict[str, Any]:
    """What the run door answers."""
    episode = episode_of(FIRST, **more)
    return {**answer_of(make_task(), episode), **trace_answer(episode, learnt=True, pictures=False)}


def test_a_row_is_a_request_that_the_run_door_reads() -> None:
    asked = run_request(ROW, endpoint="http://127.0.0.1:8000/v1", model="m")
    read = read_run(json.dumps(asked).encode())
    assert (read.task.name, read.task.seed, read.model) == ("click-button", 3, "m")
    assert (read.sampling.temperature, read.sampling.max_tokens) == (0.7, 256)


def test_what_a_row_leaves_out_is_left_out() -> None:
    asked = run_request({"responses_create_params": {"input": []}}, endpoint="http://a.test/v1")
    assert asked == {"task": {}, "endpoint": "http://a.test/v1", "pictures": False}


def test_an_answer_has_the_tokens_of_each_call() -> None:
    answer = run_answer(ROW, told(reward=1.0))
    (message,) = answer["response"]["output"]
    assert (message["prompt_token_ids"], message["generation_token_ids"]) == ([1, 2, 3], [4, 5])
    assert len(message["generation_log_probs"]) == 2
    assert answer["reward"] == 1.0
    assert answer["task"] == ROW["task"]


def test_an_answer_is_as_the_golden_one_that_nemo_gyms_schemas_read() -> None:
    """`make test-trainers` has NeMo Gym's own schemas read the file."""
    answer = run_answer(ROW, told(reward=1.0))
    assert json.loads(GOLDEN.read_text(encoding="utf-8")) == answer


@pytest.mark.parametrize(("kind", "reward"), [("browser", 1.0), (None, None)])
def test_an_episode_without_a_reward_is_refused(kind: str | None, reward: float | None) -> None:
    with pytest.raises(NoReward, match=kind or "the site reported none"):
        run_answer(ROW, told(reward=reward, failure_kind=kind))
