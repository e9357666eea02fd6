"""By which tool's name a dialect tells what came of a call."""

import json

import pytest
from support.episodes.factories import make_step
from support.inputs.dialect_variants import framed, variant

from schemas.episodes.action import (
    Action,
    Button,
    Click,
    Direction,
    Scroll,
    Tab,
    TabOperation,
    TypeText,
    Wait,
)


@pytest.mark.parametrize("name", ["holotron", "holo3", "holo4", "holotron3", "holotron4"])
@pytest.mark.parametrize(
    "action",
    [
        Click(x=1, y=1),
        Click(x=1, y=1, count=2),
        Click(x=1, y=1, button=Button.RIGHT),
        TypeText(text="a"),
        TypeText(text="a", x=1_000, y=700, overwrite=True),
        Scroll(direction=Direction.DOWN, amount=100, x=1, y=1),
        Scroll(direction=Direction.DOWN, amount=130),
        Wait(ms=150),
        Tab(operation=TabOperation.CLOSE),
    ],
)
def test_a_result_is_told_as_that_of_the_tool_that_was_called(name: str, action: Action) -> None:
    dialect = variant(name)
    called = json.loads(dialect.format_action(action, framed(dialect)))["tool_call"]["tool_name"]

    assert f'tool="{called}"' in dialect.result_text(make_step(0, picture=1, action=action))
    assert f'tool="{called}"' in dialect.rejection_text(action, "it is covered")


def test_what_no_tool_says_is_told_as_what_comes_nearest() -> None:
    told = variant("holo3-published").rejection_text(Click(x=1, y=1, count=2), "no")

    assert told == '<error tool="click">\nno\n</error>'
