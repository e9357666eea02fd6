"""Replies of model families that answer in a form of their own where no schema is asked for.

Which family is meant is read from the system prompt, since that is where a client says it.
"""

import json
import re
from random import Random

from generators.engine.simulator.coordinates import ImagePoint
from generators.engine.simulator.reply_targets import ReplyTargets
from schemas.base import JsonObject

_FENCED = re.compile(r"```json\s*(.*?)```", re.DOTALL)
_SCHEMA_KEYS = ("properties", "anyOf", "oneOf", "$ref")
_NOWHERE = ImagePoint(0, 0)


def find_schema(text: str) -> JsonObject | None:
    """Return the JSON schema that a prompt holds in a fenced block; None if it holds none."""
    for block in _FENCED.findall(text):
        lines = (line.removeprefix("# ") for line in block.splitlines())
        try:
            found = json.loads("\n".join(lines))
        except ValueError:
            continue
        if isinstance(found, dict) and any(key in found for key in _SCHEMA_KEYS):
            return found
    return None


def free_text(prompt: str, rng: Random, targets: ReplyTargets) -> str:
    """Return a reply in the form that the text of a prompt calls for."""
    point = targets.draw_point(rng) or _NOWHERE
    if "<tool_call>" in prompt:
        arguments = _computer_use(prompt, rng, targets, point)
        call = json.dumps({"name": "computer_use", "arguments": arguments}, ensure_ascii=False)
        return f"<tool_call>\n{call}\n</tool_call>"
    if "computer tool" in prompt:
        return f"I go on with the task.\n{json.dumps(_claude(rng, targets, point), ensure_ascii=False)}"
    if "PyAutoGUI" in prompt:
        code = _pyautogui(rng, targets, point)
        return f"## Thought:\nI go on.\n\n## Action:\nGo on.\n\n## Code:\n{code}"
    if "Action:" in prompt and "click(" in prompt:
        return f"Thought: I go on with the task.\nAction: {_ui_tars(prompt, rng, targets, point)}"
    return _plain(prompt, targets, point)


def _plain(prompt: str, targets: ReplyTargets, point: ImagePoint) -> str:
    if targets.address is not None:
        return f"Goto({targets.address})"
    if "Click(x, y)" in prompt or targets.point is not None:
        return f"Click({point.x:g}, {point.y:g})"
    return "I see a page, and I would look at it more closely."


def _computer_use(prompt: str, rng: Random, targets: ReplyTargets, point: ImagePoint) -> JsonObject:
    """Return the arguments of a call, of an action that the prompt lists, if it lists any."""
    at: JsonObject = {"coordinate": [point.x, point.y]}
    only: list[JsonObject] = [
        {"action": "key", "keys": ["enter"]},
        {"action": "scroll", "pixels": -200, **at},
        {"action": "wait", "time": 1},
    ]
    while True:
        made = _input(rng, targets, at, only)
        if "<tools>" not in prompt or f'"{made["action"]}"' in prompt:
            return made


def _pyautogui(rng: Random, targets: ReplyTargets, point: ImagePoint) -> str:
    at = f"x={point.x}, y={point.y}"
    if targets.address is not None:
        return f"browser.goto(url={targets.address!r})"
    if targets.point is not None:
        return f"pyautogui.click({at})"
    return rng.choice(
        [
            f"pyautogui.click({at})",
            f"pyautogui.click({at})\npyautogui.write(message='naïve 東京')",
            "pyautogui.press(keys=['enter'])",
            f"pyautogui.scroll(-2, {at})",
            "pyautogui.sleep(1)",
        ]
    )


def _claude(rng: Random, targets: ReplyTargets, point: ImagePoint) -> JsonObject:
    at: JsonObject = {"coordinate": [point.x, point.y]}
    only: list[JsonObject] = [
        {"action": "key", "text": "Return"},
        {"action": "scroll", "scroll_direction": "down", "scroll_amount": 2, **at},
        {"action": "wait", "duration": 1},
    ]
    return _input(rng, targets, at, only)


def _input(
    rng: Random, targets: ReplyTargets, at: JsonObject, only: list[JsonObject]
) -> JsonObject:
    """Return the input of a computer tool: the requested one, or that of both or one family."""
    if targets.address is not None:
        return {"action": "type", "text": targets.address}
    if targets.point is not None:
        return {"action": "left_click", **at}
    shared: list[JsonObject] = [
        {"action": "left_click", **at},
        {"action": "double_click", **at},
        {"action": "mouse_move", **at},
        {"action": "type", "text": "naïve 東京"},
    ]
    return rng.choice(shared + only)


def _ui_tars(prompt: str, rng: Random, targets: ReplyTargets, point: ImagePoint) -> str:
    at = f"{point.x:g} {point.y:g}"
    where = f"point='<point>{at}</point>'"
    if "start_box" in prompt:
        where = f"start_box='<|box_start|>({at.replace(' ', ',')})<|box_end|>'"
    if targets.address is not None:
        return f"type(content='{targets.address}\\n')"
    if targets.point is not None:
        return f"click({where})"
    return rng.choice(
        [
            f"click({where})",
            f"left_double({where})",
            f"scroll({where}, direction='down')",
            "type(content='naïve 東京')",
            "hotkey(key='enter')",
            "wait()",
        ]
    )


def tool_arguments_name(tool: JsonObject) -> tuple[str, JsonObject]:
    """Return the name of a function tool and the schema of its arguments."""
    function = tool.get("function")
    if not isinstance(function, dict):
        return "", {}
    parameters = function.get("parameters")
    return str(function.get("name", "")), parameters if isinstance(parameters, dict) else {}
