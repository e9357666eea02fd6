"""A seat as an environment of BrowserGym's kind, for agents that were written for one, as AgentLab's.

Observations have BrowserGym's keys, actions are in its words. The page's elements have ids, as those agents expect, but
each action is carried out and recorded at a point. What cannot be read is told in `last_action_error`, does nothing, and
counts as an action of the task's limit, so that no episode goes on for ever.
"""

import base64
import io
import time
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from stepmill_trainers.browser_actions import Page, read_calls
from stepmill_trainers.browser_tree import (
    axtree_of,
    document_of,
    properties_of,
    read_elements,
)
from stepmill_trainers.door import Json, Refused, SeatLike

try:
    import gymnasium
    import numpy as np
    from gymnasium import spaces
    from PIL import Image
except ImportError as error:
    raise ImportError(
        "an environment of BrowserGym's kind needs the extra 'browsergym'; "
        "install it: pip install 'stepmill-trainers[browsergym]'"
    ) from error

Observed = dict[str, Any]
"""An observation, by BrowserGym's keys."""

REFUSED = ("VALIDATION_ERROR", "EXECUTION_ERROR")
"""Codes of a message that did nothing: another one may follow."""


class Anything(spaces.Space[Any]):
    """Any value."""

    def contains(self, x: object) -> bool:  # noqa: ARG002 - any
        """Return true."""
        return True

    def sample(self, mask: object = None, probability: object = None) -> str:  # noqa: ARG002
        """Return an action that does nothing."""
        return "noop()"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Anything)

    __hash__ = spaces.Space.__hash__


class BrowserEnv(gymnasium.Env[Observed, str]):
    """One task after the other, as BrowserGym's `BrowserEnv` has them."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}  # type: ignore[misc]
    observation_space = Anything()
    action_space = Anything()

    def __init__(
        self,
        seat: SeatLike,
        *,
        task: Mapping[str, object] | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        """`seat` is closed by `close`. `task` is what every task has to fit, as `{"name": "click-button"}`."""
        self._seat, self._task, self._now = seat, dict(task or {}), now
        self._told: Json = {}
        self._metadata: Json = {}
        self._chat: list[Json] = []
        self._action, self._error, self._unread, self._is_over = "", "", 0, True
        self._begun, self._seed = now(), -1

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observed, Json]:
        """Take the next task.

        `seed` is the task's; None: the next one after that of the reset before. `options` are those of a reset at the step door: `name`, `split`, `kind`
        and others.

        Raises:
            Refused: there is no such task, or no seat now.
        """
        super().reset(seed=seed)
        asked: Json = {**self._task, **(options or {})}
        if seed is not None or not {"seed", "index"} & asked.keys():
            self._seed = self._seed + 1 if seed is None else seed
            asked["seed"] = self._seed
        self._take_in(self._seat.reset(**{**asked, "elements": True}))
        self._action, self._error, self._unread = "", "", 0
        self._begun = self._now()
        self._chat = [self._message("user", self._told["instruction"])]
        return self._observation(), {"task_info": dict(self._metadata)}

    def step(self, action: str) -> tuple[Observed, float, bool, bool, Json]:
        """Act; the calls of one reply are carried out until one fails or the episode is over.

        Raises:
            Refused: the episode is over, or the server ends.
        """
        info: Json = {"action_exec_start": self._now(), "action_exec_timeout": 0.0}
        self._action, self._error = action, ""
        result = self._act(action)
        told = result or {"done": False, "reward": None}
        info["action_exec_stop"] = self._now()
        is_over, reward = bool(told["done"]), told["reward"]
        is_cut = bool(self._metadata.get("truncated")) if is_over else self._is_out_of_tries()
        info |= {"task_info": dict(self._metadata), "reward": reward}
        info["failure_kind"] = self._metadata.get("failure_kind")
        return (
            self._observation(),
            0.0 if reward is None else float(reward),
            is_over and not is_cut,
            is_cut,
            info,
        )

    def close(self) -> None:
        """Give the seat back."""
        self._seat.close()

    def _act(self, reply: str) -> Json | None:
        """Carry out a reply; return the last result, None: nothing was done."""
        result: Json | None = None
        try:
            for action in read_calls(reply, self._page()):
                if action["type"] == "answer":
                    self._chat.append(self._message("assistant", action["text"]))
                result = self._seat.step({"action": action, "step": self._told["step"]})
                self._take_in(result)
                self._error = self._told.get("action_error") or ""
                if result["done"] or self._error:
                    break
        except ValueError as error:  # the reply is unreadable, or a seat in this process refuses it
            if self._is_over:
                raise
            self._error = f"{type(error).__name__}: {error}"
        except Refused as error:
            if self._is_over or error.code not in REFUSED:
                raise
            self._error = f"{error.code}: {error}"
        if self._error and result is None:
            self._unread += 1
        return result

    def _is_out_of_tries(self) -> bool:
        limit = self._metadata.get("max_steps")
        tries = int(self._told.get("step", 0)) + self._unread
        return self._unread > 0 and limit is not None and tries >= int(limit)

    def _take_in(self, result: Json) -> None:
        self._told, self._is_over = dict(result["observation"]), bool(result["done"])
        self._metadata = dict(result.get("metadata") or self._told.get("metadata") or {})

    def _scale(self) -> float:
        width = self._told.get("width")
        return 1.0 if not width else float(width) / float(self._told["viewport"][0])

    def _page(self) -> Page:
        elements = read_elements(self._told.get("elements", []))
        return Page(self._scale(), {one.bid: (one.x, one.y) for one in elements})

    def _message(self, role: str, message: str) -> Json:
        return {"role": role, "timestamp": self._now(), "message": message}

    def _observation(self) -> Observed:
        told = self._told
        goal, url, title = told["instruction"], told.get("url", ""), told.get("title", "")
        elements = read_elements(told.get("elements", []))
        titles = tuple(told.get("tabs") or (title,))
        active = titles.index(title) if title in titles else 0
        urls = tuple(url if index == active else "" for index in range(len(titles)))
        return {
            "chat_messages": tuple(dict(one) for one in self._chat),
            "goal": goal,
            "goal_object": ({"type": "text", "text": goal},),
            "open_pages_urls": urls,
            "open_pages_titles": titles,
            "active_page_index": np.asarray([active]),
            "url": url,
            "screenshot": _pixels(told.get("screenshot")),
            "dom_object": document_of(elements),
            "axtree_object": axtree_of(elements, title),
            "extra_element_properties": properties_of(elements, self._scale()),
            "focused_element_bid": "",
            "last_action": self._action,
            "last_action_error": self._error,
            "elapsed_time": np.asarray([self._now() - self._begun]),
        }


def _pixels(screenshot: str | None) -> Any:
    """Return the picture: height × width × 3; one black px where there is none."""
    if not screenshot:
        return np.zeros((1, 1, 3), np.uint8)
    with Image.open(io.BytesIO(base64.b64decode(screenshot))) as image:
        return np.array(image.convert("RGB"))
