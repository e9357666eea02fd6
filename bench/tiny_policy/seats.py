"""The tiny policy's client of the step door: it plays an episode of a task, and tells what was said and earned."""

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from websockets.asyncio.client import ClientConnection, connect

from bench.tiny_policy.policy import Reply
from bench.tiny_policy.texts import choice_of, choices_of, page_text

CLIENT_FAULTS = (None, "policy")
"""What may have failed in an episode whose reward is the policy's own: nothing, or what it did."""

Write = Callable[[Sequence[int]], Reply]
"""Writes a reply under the tokens before it."""


class TaskName(NamedTuple):
    """A task of MiniWoB++."""

    kind: str
    """Its template."""
    seed: int
    """What its page is drawn from."""


class Played(NamedTuple):
    """An episode, as a trainer wants it."""

    task: TaskName
    """Its task."""
    prompt: list[int]
    """The tokens of the first page."""
    rest: list[int]
    """The tokens that follow: replies, and the pages between them."""
    said: list[int]
    """1 for each of these that the policy wrote, else 0."""
    logprobs: list[float]
    """Of each of these, 0 where the policy did not write it."""
    reward: float | None
    """1 if the site says that the task is done, else 0; None where something else failed than the policy."""


class Door:
    """The step door of a server, and how many episodes are played there at a time."""

    def __init__(self, url: str, token: str, *, seats: int) -> None:
        self._url = url.replace("http", "ws", 1) + "/ws"
        self._headers = {"Authorization": f"Bearer {token}"}
        self._seats = seats

    def play(
        self, tasks: Sequence[TaskName], encode: Callable[[str], list[int]], write: Write
    ) -> list[Played]:
        """Play tasks, and return their episodes in the order of the tasks."""
        return asyncio.run(self._play_all(tasks, encode, write))

    async def _play_all(
        self, tasks: Sequence[TaskName], encode: Callable[[str], list[int]], write: Write
    ) -> list[Played]:
        free = asyncio.Semaphore(self._seats)

        async def one(task: TaskName) -> Played:
            async with free, connect(self._url, additional_headers=self._headers) as socket:
                return await _play(socket, task, encode, write)

        async with asyncio.TaskGroup() as group:
            playing = [group.create_task(one(task)) for task in tasks]
        return [one.result() for one in playing]


async def _play(
    socket: ClientConnection, task: TaskName, encode: Callable[[str], list[int]], write: Write
) -> Played:
    asked = {"name": task.kind, "seed": task.seed, "elements": True, "picture": False}
    seen = await _ask(socket, "reset", {**asked, "policy": "tiny"})
    played = Played(task, [], [], [], [], None)
    while not seen["done"]:
        page = seen["observation"]
        choices = choices_of(page["elements"])
        if played.prompt:
            _add(played, encode("\n" + page_text(choices, None)), said=0)
        else:
            played.prompt.extend(encode(page_text(choices, page["instruction"])))
        reply = write(played.prompt + played.rest)
        _add(played, reply.tokens, said=1, logprobs=reply.logprobs)
        choice = choice_of(reply.text, choices)
        action: dict[str, Any] = {"type": "answer", "text": reply.text}
        if choice is not None:
            action = {"type": "click", "x": choice.x, "y": choice.y}
        seen = await _ask(socket, "step", {**action, "step": page["step"]})
    return played._replace(reward=_reward_of(seen))


def _add(
    played: Played, tokens: Sequence[int], *, said: int, logprobs: Sequence[float] | None = None
) -> None:
    played.rest.extend(tokens)
    played.said.extend([said] * len(tokens))
    played.logprobs.extend([0.0] * len(tokens) if logprobs is None else logprobs)


def _reward_of(seen: dict[str, Any]) -> float | None:
    if seen["metadata"]["failure_kind"] not in CLIENT_FAULTS:
        return None
    return float((seen["reward"] or 0.0) >= 1)


async def _ask(socket: ClientConnection, kind: str, data: dict[str, Any]) -> dict[str, Any]:
    await socket.send(json.dumps({"type": kind, "data": data}))
    answer: dict[str, Any] = json.loads(await socket.recv())
    if answer["type"] == "error":
        raise RuntimeError(f"{kind} {data} was refused: {answer['data']}")
    told: dict[str, Any] = answer["data"]
    return told
