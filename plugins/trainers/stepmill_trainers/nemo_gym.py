"""NeMo Gym's words and those of the run door, each made of the other; neither package is needed for it.

NeMo Gym hands an agent's `/run` a row of its dataset and wants the whole response and a reward back. A row names the
task beside its `responses_create_params`, as `{"task": {"name": "click-button", "seed": 3}}`. Each call of the episode
becomes a message with the ids and log-probabilities of its tokens. NeMo Gym wants a reward, and has no word for none: an
episode without one is refused, and not answered with 0.
"""

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]

SAMPLING = ("temperature", "top_p")
"""Sampling that both have under the same name."""


class NoReward(RuntimeError):
    """An episode has no reward that could be answered with; the text says why."""


def run_request(row: Mapping[str, Any], *, endpoint: str, model: str | None = None) -> Json:
    """Return the body for the run door that plays a row's task at a model server."""
    params = row.get("responses_create_params", {})
    sampling = {key: params[key] for key in SAMPLING if params.get(key) is not None}
    if params.get("max_output_tokens") is not None:
        sampling["max_tokens"] = params["max_output_tokens"]
    asked: Json = {"task": dict(row.get("task", {})), "endpoint": endpoint, "pictures": False}
    if sampling:
        asked["sampling"] = sampling
    return asked if model is None else asked | {"model": model}


def run_answer(row: Mapping[str, Any], episode: Mapping[str, Any]) -> Json:
    """Return what NeMo Gym's `/run` answers, of what the run door answered.

    Raises:
        NoReward: the site gave none, or something else than the policy failed.
    """
    if episode["reward"] is None:
        why = episode.get("failure_message") or "the site reported none"
        raise NoReward(f"no reward: {episode.get('failure_kind') or 'no failure'}: {why}")
    trace = episode.get("trace") or {"turns": []}
    response = {
        "id": episode["episode_id"],
        "created_at": 0,
        "model": next((turn["metadata"].get("model") for turn in trace["turns"]), None) or "",
        "object": "response",
        "output": [_message(episode["episode_id"], turn) for turn in trace["turns"]],
        "parallel_tool_calls": False,
        "tool_choice": "none",
        "tools": [],
    }
    told = {key: episode.get(key) for key in ("episode_id", "run_id", "stop_reason", "trainable")}
    return {
        **row,
        "response": response,
        "reward": float(episode["reward"]),
        "stepmill": told,
    }


def _message(episode_id: str, turn: Mapping[str, Any]) -> Json:
    (choice,) = turn["response"]["choices"]
    text: Json = {
        "type": "output_text",
        "text": choice["message"]["content"] or "",
        "annotations": [],
    }
    return {
        "id": f"{episode_id}-{turn['node_id']}",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [text],
        "prompt_token_ids": list(turn["prompt_token_ids"]),
        "generation_token_ids": list(turn["completion_token_ids"]),
        "generation_log_probs": list(turn["per_token_logps"]),
    }
