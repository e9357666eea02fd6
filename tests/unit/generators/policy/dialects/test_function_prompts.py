"""What families that call functions in a text are offered: nothing twice, and a rule that says how a task is ended."""

import pytest
from support.inputs.dialect_variants import framed, variant

from generators.policy.dialects import fara, qwen3_vl
from generators.policy.dialects.protocol import Rationale
from generators.policy.dialects.shared.tools import Tool
from schemas.episodes.action import (
    Action,
    Answer,
    Back,
    Click,
    Direction,
    Drag,
    Key,
    Scroll,
    Select,
    TypeText,
)

ENDS = "As soon as the screenshot shows that the task is done"
"""How the rule about the end begins."""


@pytest.mark.parametrize(
    ("name", "added"), [("qwen3_vl", qwen3_vl.BESIDE), ("gui_owl", qwen3_vl.BESIDE)]
)
def test_what_computer_use_does_is_offered_once(name: str, added: tuple[Tool, ...]) -> None:
    prompt = variant(name).system_prompt(framed(variant(name)))
    for tool in added:
        assert f'"name": "{tool.name}"' in prompt
    for twice in ("scroll", "press_keys"):
        assert f'"name": "{twice}"' not in prompt
    assert "click as no action of computer_use does" in prompt


def test_fara_is_offered_no_second_way_to_write() -> None:
    prompt = variant("fara").system_prompt(framed(variant("fara")))
    assert not {"write", "press_keys", "go_back"} & {tool.name for tool in fara.BESIDE}
    assert '"name": "write"' not in prompt
    assert '"name": "scroll"' in prompt  # its own scrolls by a page alone


@pytest.mark.parametrize("name", ["qwen3_vl", "gui_owl", "fara"])
@pytest.mark.parametrize(
    ("action", "called"),
    [
        (Click(x=1, y=1), "computer_use"),
        (Click(x=1, y=1, count=3, button="right"), "click"),  # type: ignore[arg-type]
        (Key(key="Control+a"), "computer_use"),
        (Select(x=1, y=1, option="b"), "select_option"),
        (Drag(x=1, y=1, to_x=2, to_y=2, button="right"), "drag"),  # type: ignore[arg-type]
    ],
)
def test_the_published_function_is_preferred(name: str, action: Action, called: str) -> None:
    dialect = variant(name)
    assert f'"name": "{called}"' in dialect.format_action(action, framed(dialect), Rationale())


@pytest.mark.parametrize(
    ("action", "called"),
    [
        (Scroll(direction=Direction.DOWN, amount=70, x=3, y=4), "computer_use"),
        (TypeText(text="a"), "computer_use"),
        (TypeText(text="a", x=1, y=1, overwrite=True, enter=True), "write"),
        (Back(), "go_back"),
    ],
)
def test_qwen_writes_into_a_field_by_a_function_of_its_own(action: Action, called: str) -> None:
    dialect = variant("qwen3_vl")
    assert f'"name": "{called}"' in dialect.format_action(action, framed(dialect), Rationale())


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("qwen3_vl", "call computer_use with answer"),
        ("qwen3_vl-published", "call computer_use with answer"),
        ("gui_owl", "call computer_use with answer"),
        ("fara", "call answer"),
        ("fara-published", "call computer_use with terminate"),
        ("opencua", "call browser.answer"),
        ("opencua-published", "call computer.terminate"),
    ],
)
def test_a_rule_says_how_a_task_is_ended(name: str, how: str) -> None:
    dialect = variant(name)
    *_, rule = dialect.system_prompt(framed(dialect)).splitlines()
    assert ENDS in rule
    assert how in rule


@pytest.mark.parametrize("name", ["holotron", "holotron3", "holo3", "holo3_1", "holo4"])
def test_other_families_have_such_a_rule_too(name: str) -> None:
    dialect = variant(name)
    assert ENDS in dialect.system_prompt(framed(dialect))


def test_an_answer_and_an_end_without_words_are_what_the_rule_says() -> None:
    dialect = variant("qwen3_vl")
    assert '"answer"' in dialect.format_action(Answer(text="4"), framed(dialect))
    assert '"terminate"' in dialect.format_action(Answer(), framed(dialect))
