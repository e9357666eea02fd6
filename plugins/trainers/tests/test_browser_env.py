"""A seat as an environment of BrowserGym's kind, over a seat that is a script."""

import base64
import io
from typing import Any

import numpy as np
import pytest
from PIL import Image

from stepmill_trainers.browser_env import BrowserEnv
from stepmill_trainers.door import Refused

ELEMENTS = ['button "Yes" at 40,30', 'textbox "Name" = "Ada" at 80,60', "no element"]


def picture() -> str:
    file = io.BytesIO()
    Image.new("RGB", (320, 200), "white").save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode()


class ScriptedSeat:
    """A page of 160×100 CSS px that is won by a click on 40,30."""

    def __init__(self, max_steps: int | None = 5, refuses: str = "") -> None:
        self.asked: dict[str, Any] = {}
        self.messages: list[dict[str, Any]] = []
        self.closed = False
        self._max_steps, self._refuses = max_steps, refuses

    def reset(self, **asked: object) -> dict[str, Any]:
        self.asked, self.messages = asked, []
        return self._result()

    def step(self, message: dict[str, Any]) -> dict[str, Any]:
        if self._refuses:
            raise Refused({"code": self._refuses, "message": "no"})
        self.messages.append(message)
        action = message["action"]
        if action["type"] == "answer":
            return self._result(0.0, stop_reason="answered")
        if (action.get("x"), action.get("y")) == (40, 30):
            return self._result(1.0, stop_reason="finished")
        if action["type"] == "goto":
            return self._result(action_error="forbidden address")
        if action["type"] == "wait":
            return self._result(None, failure_kind="browser", truncated=True)
        return self._result()

    def close(self) -> None:
        self.closed = True

    def _result(
        self, *reward: float | None, action_error: str | None = None, **end: Any
    ) -> dict[str, Any]:
        observation = {
            "instruction": "Press Yes",
            "step": len(self.messages),
            "screenshot": picture(),
            "width": 320,
            "height": 200,
            "viewport": [160, 100],
            "url": "http://a.test/",
            "title": "A page",
            "tabs": ["Another", "A page"],
            "elements": ELEMENTS,
            "action_error": action_error,
        }
        about = {"task_id": "t", "max_steps": self._max_steps, **end}
        done = bool(reward)
        return {
            "observation": observation,
            "reward": reward[0] if reward else None,
            "done": done,
            "metadata": about,
        }


def test_an_observation_has_browsergyms_keys() -> None:
    env = BrowserEnv(ScriptedSeat(), now=lambda: 5.0)
    seen, info = env.reset(seed=3)
    assert seen["goal"] == "Press Yes"
    assert seen["goal_object"] == ({"type": "text", "text": "Press Yes"},)
    assert seen["chat_messages"][0]["role"] == "user"
    assert seen["screenshot"].shape == (200, 320, 3)
    assert seen["screenshot"].dtype == np.uint8
    assert seen["open_pages_titles"] == ("Another", "A page")
    assert seen["open_pages_urls"] == ("", "http://a.test/")
    assert seen["active_page_index"].tolist() == [1]
    assert seen["elapsed_time"].tolist() == [0.0]
    assert (seen["last_action"], seen["last_action_error"]) == ("", "")
    names = [node["name"]["value"] for node in seen["axtree_object"]["nodes"]]
    assert names == ["A page", "Yes", "Name"]
    assert seen["extra_element_properties"]["0"]["bbox"] == [79.5, 59.5, 1.0, 1.0]
    assert "Ada" in seen["dom_object"]["strings"]
    assert info["task_info"]["task_id"] == "t"


def test_the_task_is_asked_for_with_seed_and_options() -> None:
    seat = ScriptedSeat()
    env = BrowserEnv(seat, task={"name": "click-button"})
    env.reset(seed=3, options={"split": "validation"})
    assert seat.asked == {
        "name": "click-button",
        "split": "validation",
        "seed": 3,
        "elements": True,
    }
    env.reset(options={"index": 2})
    assert "seed" not in seat.asked
    env.reset()
    assert seat.asked["seed"] == 4


@pytest.mark.parametrize("reply", ["click('0')", "mouse_click(80, 60)"])
def test_an_element_and_a_point_of_the_picture_are_acted_on_in_css_px(reply: str) -> None:
    seat = ScriptedSeat()
    env = BrowserEnv(seat)
    env.reset(seed=1)
    seen, reward, is_done, is_cut, info = env.step(reply)
    assert (reward, is_done, is_cut) == (1.0, True, False)
    assert (info["reward"], info["failure_kind"]) == (1.0, None)
    assert seat.messages[0]["step"] == 0
    assert seen["last_action"] == reply


def test_calls_of_a_reply_end_with_the_first_that_fails() -> None:
    seat = ScriptedSeat()
    env = BrowserEnv(seat)
    env.reset(seed=1)
    seen, *_ = env.step("keyboard_press('a')\ngoto('http://evil.test')\nkeyboard_press('b')")
    assert [message["action"]["type"] for message in seat.messages] == ["key", "goto"]
    assert seen["last_action_error"] == "forbidden address"


def test_a_failure_has_no_reward() -> None:
    env = BrowserEnv(ScriptedSeat())
    env.reset(seed=1)
    _, reward, is_done, is_cut, info = env.step("noop()")
    assert (reward, is_done, is_cut) == (0.0, False, True)
    assert (info["reward"], info["failure_kind"]) == (None, "browser")


def test_replies_that_cannot_be_read_do_nothing_and_end_in_time() -> None:
    seat = ScriptedSeat(max_steps=3)
    env = BrowserEnv(seat)
    env.reset(seed=1)
    for end in (False, False, True):
        seen, reward, is_done, is_cut, _ = env.step("I think that")
        assert "UnreadableAction" in seen["last_action_error"]
        assert (reward, is_done, is_cut) == (0.0, False, end)
    assert seat.messages == []


def test_what_a_server_cannot_read_is_an_error_of_the_action() -> None:
    env = BrowserEnv(ScriptedSeat(refuses="VALIDATION_ERROR"))
    env.reset(seed=1)
    seen, *_ = env.step("keyboard_press('a')")
    assert seen["last_action_error"] == "VALIDATION_ERROR: no"


def test_a_server_that_ends_ends_the_environment_too() -> None:
    env = BrowserEnv(ScriptedSeat(refuses="SESSION_ERROR"))
    env.reset(seed=1)
    with pytest.raises(Refused):
        env.step("keyboard_press('a')")


def test_close_gives_the_seat_back() -> None:
    seat = ScriptedSeat()
    BrowserEnv(seat).close()
    assert seat.closed
