"""Actions in BrowserGym's words become Stepmill's, and nothing in them is run."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepmill_trainers.browser_actions import MAX_CALLS, Page, UnreadableAction, read_calls

PAGE = Page(scale=2.0, points={"7": (30.0, 40.0), "8": (50.0, 60.0)})
AT_7 = {"x": 30.0, "y": 40.0}


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (
            "mouse_click(20, 35)",
            [{"type": "click", "x": 10, "y": 17.5, "button": "left", "count": 1}],
        ),
        (
            'mouse_dblclick(20, 35, button="right")',
            [{"type": "click", "x": 10, "y": 17.5, "button": "right", "count": 2}],
        ),
        ("mouse_move(20, 35)", [{"type": "hover", "x": 10, "y": 17.5}]),
        (
            "mouse_drag_and_drop(2, 4, 6, 8)",
            [{"type": "drag", "x": 1, "y": 2, "to_x": 3, "to_y": 4}],
        ),
        ('keyboard_type("Ada")', [{"type": "type", "text": "Ada", "overwrite": False}]),
        ("keyboard_insert_text('é')", [{"type": "type", "text": "é", "overwrite": False}]),
        ("keyboard_press('ControlOrMeta+a')", [{"type": "key", "key": "Control+a"}]),
        ("keyboard_down('Shift')", [{"type": "key_down", "key": "Shift"}]),
        ("keyboard_up('Shift')", [{"type": "key_up", "key": "Shift"}]),
        ("scroll(0, -200)", [{"type": "scroll", "direction": "up", "amount": 200}]),
        (
            "scroll_at(20, 35, 5, 7)",
            [
                {"type": "scroll", "direction": "right", "amount": 5, "x": 10, "y": 17.5},
                {"type": "scroll", "direction": "down", "amount": 7, "x": 10, "y": 17.5},
            ],
        ),
        ("click('7')", [{"type": "click", **AT_7, "button": "left", "count": 1}]),
        ("hover('7')", [{"type": "hover", **AT_7}]),
        ("fill('7', 'x')", [{"type": "type", "text": "x", "overwrite": True, **AT_7}]),
        ("select_option('7', ['Blue'])", [{"type": "select", **AT_7, "option": "Blue"}]),
        ("drag_and_drop('7', '8')", [{"type": "drag", **AT_7, "to_x": 50.0, "to_y": 60.0}]),
        ("go_back()\ngo_forward()", [{"type": "back"}, {"type": "forward"}]),
        ("tab_focus(1)", [{"type": "tab", "operation": "switch", "index": 1}]),
        ("noop()", [{"type": "wait", "ms": 1000}]),
        ("noop(20)", [{"type": "wait", "ms": 20}]),
        ("goto('http://shop.test/')", [{"type": "goto", "url": "http://shop.test/"}]),
        ("send_msg_to_user('42')", [{"type": "answer", "text": "42"}]),
        ("report_infeasible('no such field')", [{"type": "answer", "text": "impossible"}]),
    ],
)
def test_a_call_is_an_action(reply: str, expected: list[dict[str, Any]]) -> None:
    assert read_calls(reply, PAGE) == expected


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "click",
        "I click the button.",
        "click('9')",
        "mouse_click(1)",
        "mouse_click('1', 2)",
        "mouse_click(True, 2)",
        "mouse_click(1, 2, 3, 4)",
        "mouse_click(x=1, z=2)",
        "keyboard_type(7)",
        "select_option('7', ['a', 'b'])",
        "mouse_down(1, 2)",
        "page.goto('http://x.test')",
        "__import__('os').system('true')",
        "noop(open('/etc/passwd'))",
        "noop(*[1])",
        "noop(**{'wait_ms': 1})",
        "x = 1",
        "noop();" * (MAX_CALLS + 1),
        "(" * 5_000,
        "noop(" + "-" * 15_000 + "1)",
        "x" * 30_000,
        "noop('\0')",
    ],
)
def test_anything_else_is_refused(reply: str) -> None:
    with pytest.raises(UnreadableAction):
        read_calls(reply, PAGE)


@given(st.text(max_size=60))
def test_no_text_does_anything_but_give_actions_or_be_refused(reply: str) -> None:
    try:
        actions = read_calls(reply, PAGE)
    except UnreadableAction:
        return
    assert all("type" in action for action in actions)
