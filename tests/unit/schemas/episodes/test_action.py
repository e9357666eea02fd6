"""What an action's flat columns say, and which actions are none."""

import pytest
from pydantic import ValidationError

from schemas.episodes.action import (
    ACTION,
    Action,
    Answer,
    Drag,
    Goto,
    Hover,
    Key,
    NoAction,
    Scroll,
    Select,
    Tab,
    TabOperation,
    TypeText,
    Wait,
    action_columns,
    target_point,
)


@pytest.mark.parametrize(
    ("action", "columns"),
    [
        (Select(x=1, y=2, option="Peru"), {"x": 1.0, "y": 2.0, "text": "Peru"}),
        (Goto(url="http://a.localhost/"), {"text": "http://a.localhost/"}),
        (Wait(ms=20), {"amount": 20}),
        (Tab(operation=TabOperation.OPEN, index=3, url="u"), {"amount": 3, "text": "u"}),
        (Key(key="Control+a"), {"key": "Control+a"}),
        (Answer(text="42"), {"text": "42"}),
        (
            Drag(x=1, y=2, to_x=3, to_y=4),
            {"x": 1.0, "y": 2.0, "to_x": 3.0, "to_y": 4.0, "button": "left"},
        ),
        (TypeText(text="hi", overwrite=True), {"text": "hi"}),
        (NoAction(), {}),
    ],
)
def test_each_part_of_an_action_is_in_the_column_it_is_like(
    action: Action, columns: dict[str, object]
) -> None:
    assert action_columns(action).model_dump(exclude_none=True) == columns


def test_only_an_action_with_a_whole_point_has_one() -> None:
    assert target_point(Hover(x=0, y=7)) == (0.0, 7.0)
    assert target_point(TypeText(text="a")) is None
    assert target_point(Wait()) is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"type": "fly"},
        {"x": 1, "y": 2},
        {"type": "click", "x": 1},
        {"type": "click", "x": -1, "y": 2},
        {"type": "click", "x": 1, "y": 100_001},
        {"type": "click", "x": float("nan"), "y": 2},
        {"type": "click", "x": 1, "y": 2, "count": 4},
        {"type": "click", "x": 1, "y": 2, "selector": "#ok"},
        {"type": "type", "text": "a", "x": 1},
        {"type": "type", "text": "a" * 20_001},
        {"type": "scroll", "direction": "down", "amount": 0},
        {"type": "scroll", "direction": "down", "amount": 1, "y": 1},
        {"type": "scroll", "direction": "in", "amount": 1},
        {"type": "key", "key": ""},
        {"type": "goto", "url": ""},
        {"type": "tab", "operation": "switch", "index": -1},
        {"type": "wait", "ms": 0},
    ],
)
def test_what_no_hand_can_do_is_no_action(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        ACTION.validate_python(wrong)


def test_a_scroll_needs_its_direction() -> None:
    with pytest.raises(ValidationError, match="direction"):
        Scroll.model_validate({"amount": 3})
