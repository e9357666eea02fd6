"""The words of clients, read as decisions."""

import pytest

from generators.policy.dialects.coordinates import frame_of
from generators.policy.dialects.registry import make_dialect
from generators.seats.actions import (
    MAX_TEXT,
    BadMessage,
    action_schema,
    action_tools,
    call_of,
    decision_of,
    read_message,
)
from schemas.episodes.action import Click
from schemas.episodes.viewport import Viewport

VIEWPORT = Viewport(width=400, height=300, scale=1.0)


def test_an_action_may_stand_by_itself_or_beside_what_the_client_tells() -> None:
    bare = read_message({"type": "click", "x": 1, "y": 2, "step": 3, "metadata": {}})
    told = read_message(
        {"action": {"type": "click", "x": 1, "y": 2}, "thought": "there", "step": 3}
    )
    for message in (bare, told):
        assert decision_of(message, VIEWPORT, None).action == Click(x=1, y=2)
        assert message.step == 3
    assert decision_of(told, VIEWPORT, None).thought == "there"


@pytest.mark.parametrize("name", ["holotron", "holo3", "qwen3_vl"])
def test_a_reply_is_read_in_its_dialects_convention(name: str) -> None:
    dialect = make_dialect(name)
    frame = frame_of(VIEWPORT, dialect.sent_size(*VIEWPORT.picture))
    reply = dialect.format_action(Click(x=200, y=150), frame)
    decision = decision_of(read_message({"reply": reply, "dialect": name}), VIEWPORT, None)
    assert decision == decision_of(read_message({"reply": reply}), VIEWPORT, name)
    assert isinstance(decision.action, Click)
    assert (decision.action.x, decision.action.y) == pytest.approx((200, 150), abs=1)
    assert decision.raw_reply == reply
    with pytest.raises(BadMessage, match=name):
        decision_of(read_message({"reply": "click there", "dialect": name}), VIEWPORT, None)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (None, "expected an object"),
        ([], "expected an object"),
        ({}, 'either "action" or "reply"'),
        ({"action": {"type": "click", "x": 1, "y": 2}, "reply": "x"}, 'either "action" or "reply"'),
        ({"type": "fly"}, "fly"),
        ({"type": "click", "x": "left", "y": 2}, "click.x"),
        ({"type": "click", "x": float("nan"), "y": 2}, "finite"),
        ({"type": "click", "x": 1}, "click.y"),
        ({"type": "none"}, "'none'"),
        ({"action": {"type": "click", "x": 1, "y": 2}, "sudo": 1}, "sudo"),
        ({"action": {"type": "click", "x": 1, "y": 2}, "step": -1}, "step"),
        ({"reply": "x" * (MAX_TEXT + 1)}, "reply"),
        ({"reply": "click", "dialect": "klingon"}, "klingon"),
        ({"type": "type", "text": "x" * 30_000}, "type.text"),
    ],
)
def test_what_is_no_action_is_refused_with_what_was_expected(data: object, words: str) -> None:
    with pytest.raises(BadMessage, match=words.replace(".", r"\.")):
        decision_of(read_message(data), VIEWPORT, None)


def test_the_clients_call_is_a_row_with_its_weights_and_tokens() -> None:
    message = read_message(
        {
            "type": "wait",
            "call": {
                "weights_version": "7",
                "prompt_token_ids": [1, 2, 3],
                "completion_token_ids": [4, 5],
                "completion_logprobs": [-0.5, -0.25],
            },
        }
    )
    call = call_of(message, step=2, number=1)
    assert call is not None
    assert (call.step, call.call, call.weights_version) == (2, 1, "7")
    assert (call.prompt_tokens, call.completion_tokens) == (3, 2)


def test_a_call_with_other_counts_of_tokens_and_probabilities_is_refused() -> None:
    told = {"completion_token_ids": [4, 5], "completion_logprobs": [-0.5]}
    message = read_message({"type": "wait", "call": told})
    with pytest.raises(BadMessage, match="2 token ids and 1"):
        call_of(message, step=0, number=0)


def test_every_action_but_that_of_the_last_row_is_a_tool() -> None:
    names = {tool["name"] for tool in action_tools()}
    assert {"click", "type", "scroll", "answer", "drag"} <= names
    assert "none" not in names
    assert "click" in str(action_schema())
