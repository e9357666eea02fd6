"""The message graph of a trace: each message once, with the tokens that it added.

A conversation is a path from a root. A call reuses the longest path whose messages are its own and
whose tokens begin its prompt, and adds nodes for the rest, so a prompt that an eviction or a chat
template rewrote is a branch. A server gives the tokens of a prompt as a whole and not message by
message, so the node of a reply has the tokens that the call added, masked, before the reply's own. The
tokens along any path are then exactly what the model saw.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from schemas.base import JsonObject, canonical_json


@dataclass(frozen=True, slots=True)
class Sampled:
    """A reply with its tokens; empty where the engine gave none."""

    message: JsonObject
    """The reply as a message."""
    prompt_ids: Sequence[int] = ()
    """The tokens of the whole prompt."""
    completion_ids: Sequence[int] = ()
    """The tokens of the reply."""
    logprobs: Sequence[float] = ()
    """One for each token of the reply."""


@dataclass(slots=True)
class _Node:
    parent: int | None
    message: JsonObject
    at: float
    sampled: bool
    token_ids: list[int]
    trained: int
    """The number of tokens at the end that the model sampled."""
    logprobs: list[float]


class Graph:
    """The nodes of one trace."""

    def __init__(self) -> None:
        self._nodes: list[_Node] = []
        self._index: dict[tuple[int | None, str], int] = {}

    @property
    def rows(self) -> list[JsonValue]:
        """The nodes in the form of a trace."""
        rows: list[JsonValue] = []
        for node in self._nodes:
            context = len(node.token_ids) - node.trained
            rows.append(
                {
                    "parent": node.parent,
                    "semantic_parents": [],
                    "message": node.message,
                    "sampled": node.sampled,
                    "timestamp": node.at,
                    "token_ids": [*node.token_ids],
                    "mask": [number >= context for number in range(len(node.token_ids))],
                    "is_content": [],
                    "logprobs": [*node.logprobs],
                }
            )
        return rows

    def path(self, messages: Sequence[JsonObject], *, at: float) -> int | None:
        """Add messages that no model sampled, and return the last one's node."""
        parent: int | None = None
        for message in messages:
            existing = self._index.get((parent, canonical_json(message)))
            parent = self._add(parent, message, at=at) if existing is None else existing
        return parent

    def call(self, messages: Sequence[JsonObject], reply: Sampled, *, at: float) -> int:
        """Add a call's prompt, as far as it is new, and its reply; return the reply's node."""
        parent: int | None = None
        offset, kept = 0, 0
        prompt = list(reply.prompt_ids)
        for message in messages:
            existing = self._index.get((parent, canonical_json(message)))
            if existing is None:
                break
            ids = self._nodes[existing].token_ids
            if prompt and prompt[offset : offset + len(ids)] != ids:
                break
            parent, offset, kept = existing, offset + len(ids), kept + 1
        for message in messages[kept:]:
            parent = self._add(parent, message, at=at)
        added = prompt[offset:] if prompt else []
        number = self._add(parent, reply.message, at=at)
        node = self._nodes[number]
        node.sampled = True
        node.token_ids = [*added, *reply.completion_ids]
        node.trained = len(reply.completion_ids)
        node.logprobs = list(reply.logprobs)
        return number

    def _add(self, parent: int | None, message: JsonObject, *, at: float) -> int:
        node = _Node(parent, message, at=at, sampled=False, token_ids=[], trained=0, logprobs=[])
        self._nodes.append(node)
        self._index[parent, canonical_json(message)] = len(self._nodes) - 1
        return len(self._nodes) - 1
