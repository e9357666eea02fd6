"""The `verifiers` format: the graph of messages, tokens and masks, and the record around it.

The library wants an older client than the engine's, so it is not installed here: the parts of its
record that a trainer reads are written down once more, stricter than it reads them. The library
itself reads exports in `tests/e2e/exports/test_export_verifiers.py`.
"""

from collections import Counter
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, JsonValue
from support.episodes.factories import make_episode
from support.episodes.recorded_calls import FIRST, SECOND, asked, episode_of, said, user
from support.runs.exports import told_of

from schemas.episodes.episode import Episode, StopReason
from storage.export.protocol import File, Line
from storage.export.registry import Pictures
from storage.export.verifiers import Verifiers


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Message(Strict):
    role: Literal["system", "user", "assistant", "tool"]
    content: str | list[dict[str, Any]] | None
    tool_calls: list[dict[str, str]] | None = None
    tool_call_id: str | None = None
    name: str | None = None


class Node(Strict):
    parent: int | None
    tools: list[dict[str, Any]] = []
    semantic_parents: list[Any]
    message: Message
    sampled: bool
    timestamp: float
    token_ids: list[int]
    mask: list[bool]
    is_content: list[bool]
    logprobs: list[float]


class Usage(Strict):
    prompt_tokens: int
    completion_tokens: int
    cached_input_tokens: int | None
    cost: float | None


class ModelCall(Strict):
    node: int
    model: str | None
    sampling: dict[str, Any]
    endpoint: str
    finish_reason: Literal["stop", "length", "tool_calls"] | None
    usage: Usage | None
    time: dict[Literal["start", "end"], float]


class Trace(Strict):
    version: Literal[1]
    id: str
    verifiers: dict[Literal["version", "commit"], str | None]
    task: dict[Literal["type", "data", "key"], Any]
    agent: dict[Literal["config", "name", "trainable"], Any]
    tools: list[dict[str, Any]]
    nodes: list[Node]
    calls: list[ModelCall]
    mm_token_type_id_map: dict[str, int]
    rewards: dict[str, dict[Literal["score", "weight"], float]]
    metrics: dict[str, float | None]
    info: dict[str, Any]
    extra_usage: list[Usage]
    is_completed: bool
    ok: bool
    stop_condition: str
    is_timeout: bool
    errors: list[dict[Literal["type", "message"], str]]
    timing: dict[str, Any]

    def path(self, node: int) -> list[Node]:
        """Return the nodes from the root to one."""
        found = [self.nodes[node]]
        while (parent := found[0].parent) is not None:
            found.insert(0, self.nodes[parent])
        return found

    def tokens(self, node: int) -> list[int]:
        """Return the tokens along the path to a node."""
        return [token for item in self.path(node) for token in item.token_ids]

    @property
    def leaves(self) -> list[int]:
        """Every branch's last node."""
        inner = {node.parent for node in self.nodes}
        return [number for number in range(len(self.nodes)) if number not in inner]


def traced(episode: Episode, pictures: Pictures = Pictures.FILES) -> tuple[Trace, list[str]]:
    """Return an episode's trace, and the files beside it."""
    pieces = list(Verifiers(pictures=pictures).pieces(told_of(episode), Counter()))
    [line] = [piece for piece in pieces if isinstance(piece, Line)]
    return Trace.model_validate(line.record), [p.path for p in pieces if isinstance(p, File)]


def test_a_conversation_that_only_grows_is_one_branch_with_each_message_once() -> None:
    trace, files = traced(episode_of(FIRST, SECOND))
    [leaf] = trace.leaves

    assert [node.message.role for node in trace.path(leaf)] == [
        *("system", "user", "assistant", "user", "assistant")
    ]
    assert len(trace.nodes) == 5
    assert trace.nodes[0].message.content == "You see a page."
    assert trace.tokens(leaf) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert [token for n in trace.path(leaf) for token in n.mask] == [
        *(False, False, False, True, True, False, False, True)
    ]
    assert [n.logprobs for n in trace.nodes if n.sampled] == [[-0.5, -0.5], [-0.5]]
    assert [call.node for call in trace.calls] == [2, 4]
    assert trace.agent["trainable"] is True
    assert sorted(files) == [f"images/{trace.id}/{step}.jpg" for step in (0, 1)]


def test_a_prompt_that_was_rewritten_is_a_branch_that_shares_its_beginning() -> None:
    evicted: JsonValue = {"role": "user", "content": [{"type": "text", "text": "Step 0: [gone]"}]}
    third = asked([evicted, said("a"), user(1)], "c", [1, 9, 9, 4, 5, 6, 7], [8])
    trace, _ = traced(episode_of(FIRST, third))
    first, second = trace.leaves

    assert trace.path(first)[0] is trace.path(second)[0]
    assert trace.tokens(first) == [1, 2, 3, 4, 5]
    assert trace.tokens(second) == [1, 9, 9, 4, 5, 6, 7, 8]
    assert sum(sum(node.mask) for node in trace.nodes) == 3


def test_tokens_that_a_template_wrote_otherwise_are_a_branch_too() -> None:
    other = asked([user(0), said("a"), user(1)], "b", [1, 2, 3, 44, 55, 6], [8])
    trace, _ = traced(episode_of(FIRST, other))
    [first, second] = [call.node for call in trace.calls]

    assert trace.tokens(first) == [1, 2, 3, 4, 5]
    assert trace.tokens(second) == [1, 2, 3, 44, 55, 6, 8]
    assert [node.sampled for node in trace.path(second)] == [False, False, False, False, True]


def test_a_repair_turn_is_a_branch_of_its_own() -> None:
    asking: JsonValue = {"role": "user", "content": [{"type": "text", "text": "Again."}]}
    repair = asked([user(0), said("a"), asking], "b", [1, 2, 3, 4, 5, 6], [7], role="repair")
    after = asked([user(0), said("b"), user(1)], "c", [1, 2, 3, 7, 8], [9])
    trace, _ = traced(episode_of(FIRST, repair, after))

    assert len(trace.leaves) == 2
    for call, wanted in zip(trace.calls, ([1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6, 7]), strict=False):
        assert trace.tokens(call.node) == wanted
    assert trace.tokens(trace.calls[2].node) == [1, 2, 3, 7, 8, 9]


def test_an_engine_that_gives_no_tokens_leaves_messages_that_do_not_train() -> None:
    calls = (asked([user(0)], "a"), asked([user(0), said("a"), user(1)], "b"))
    trace, _ = traced(episode_of(*calls))

    assert trace.agent["trainable"] is False
    assert [len(node.token_ids) + len(node.mask) + len(node.logprobs) for node in trace.nodes] == [
        *(0, 0, 0, 0, 0)
    ]
    assert [node.sampled for node in trace.nodes] == [False, False, True, False, True]


def test_usage_is_told_without_what_a_cache_served_and_other_roles_apart() -> None:
    trace, _ = traced(episode_of(FIRST, asked([user(0)], "no", role="validator")))
    [call] = trace.calls

    assert call.usage is not None
    assert (call.usage.prompt_tokens, call.usage.cached_input_tokens) == (6, 4)
    assert call.time["end"] - call.time["start"] == pytest.approx(1.5)
    assert len(trace.extra_usage) == 1


def test_an_episode_without_an_engine_is_a_conversation_with_tool_calls() -> None:
    trace, files = traced(make_episode())
    roles = [node.message.role for node in trace.nodes]
    [call] = trace.nodes[1].message.tool_calls or []

    assert roles == ["user", "assistant", "tool", "assistant", "tool"]
    assert not any(node.sampled for node in trace.nodes)
    assert trace.calls == []
    assert (trace.agent["trainable"], trace.agent["name"]) == (False, "teacher")
    assert (call["name"], call["id"]) == ("click", trace.nodes[2].message.tool_call_id)
    assert {tool["name"] for tool in trace.tools} >= {"click", "answer"}
    assert trace.nodes[0].tools == trace.tools
    assert len(files) == 3


def test_pictures_can_be_in_the_line() -> None:
    trace, files = traced(make_episode(), Pictures.DATA)
    content = trace.nodes[0].message.content
    assert isinstance(content, list)

    assert content[1]["image_url"]["url"].startswith("data:image/jpeg;base64,")
    assert files == []


def test_no_reward_is_missing_and_a_failure_is_an_error() -> None:
    won, _ = traced(make_episode())
    failed = make_episode(stop_reason=StopReason.FAILED).model_copy(
        update={"failure_kind": "browser", "failure_message": "it died"}
    )
    broken, _ = traced(failed)

    assert won.rewards == {"site": {"score": 1.0, "weight": 1.0}}
    assert (won.ok, won.stop_condition) == (True, "finished")
    assert broken.rewards == {}
    assert (broken.ok, broken.errors) == (False, [{"type": "browser", "message": "it died"}])


def test_what_stands_for_a_picture_is_told_with_its_range() -> None:
    first = asked([user(0)], "a", [1, *[9] * 20, 2], [4], image_tokens=20)
    second = asked([user(0), said("a"), user(1)], "b", [1, 2, 3], [8])
    trace, _ = traced(episode_of(first, second))

    assert trace.mm_token_type_id_map == {"9": 1}
    assert trace.info["pictures"] == [
        [{"step": 0, "offset": 1, "length": 20}],
        [
            {"step": 0, "offset": None, "length": None},
            {"step": 1, "offset": None, "length": None},
        ],
    ]


def test_who_failed_for_a_reason_outside_the_policy_is_told() -> None:
    told = [traced(episode_of(FIRST, trainable=known))[0] for known in (True, False)]

    assert [trace.info["trainable"] for trace in told] == [True, False]
