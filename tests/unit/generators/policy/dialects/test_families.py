"""What the other families say in so many words, as it was published."""

import json

import pytest
from support.episodes.factories import make_step
from support.inputs.dialect_variants import framed, variant

from generators.policy.dialects.coordinates import Convention
from generators.policy.dialects.holo import ADDED, PUBLISHED
from generators.policy.dialects.protocol import InexpressibleAction, Rationale, UnreadableReply
from schemas.episodes.action import (
    Answer,
    Button,
    Click,
    Direction,
    Drag,
    Hover,
    Key,
    KeyDown,
    KeyUp,
    Scroll,
    Select,
    TypeText,
    Wait,
)


def test_the_same_object_twice_is_one_answer() -> None:
    dialect = variant("holotron")
    said = dialect.format_action(Answer(text="42"), framed(dialect))

    assert dialect.parse(f"{said}\n{said}", framed(dialect)).action == Answer(text="42")


def test_holo_prefers_its_published_actions() -> None:
    dialect = variant("holo1_5")
    frame = framed(dialect)

    def called(said: str) -> object:
        return json.loads(said)["action"]["action"]

    assert called(dialect.format_action(Click(x=1, y=1), frame)) == "click_element"
    assert called(dialect.format_action(Click(x=1, y=1, count=2), frame)) == "click_element_with"
    typed = TypeText(text="a", x=1, y=1, overwrite=True, enter=True)
    assert called(dialect.format_action(typed, frame)) == "write_element_abs"
    assert called(dialect.format_action(TypeText(text="a", x=1, y=1), frame)) == "write_text"
    assert called(dialect.format_action(Wait(ms=2_000), frame)) == "wait"
    assert called(dialect.format_action(Wait(ms=150), frame)) == "wait_exactly"
    page = Scroll(direction=Direction.DOWN, amount=630)
    assert called(dialect.format_action(page, frame)) == "scroll"
    assert (
        called(dialect.format_action(Scroll(direction=Direction.DOWN, amount=100), frame))
        == "scroll_by"
    )


@pytest.mark.parametrize("name", ["holo1_5-published", "holo2-published"])
def test_the_published_actions_alone_are_few(name: str) -> None:
    dialect = variant(name)
    frame = framed(dialect)
    for action in (
        Click(x=1, y=1, count=2),
        Click(x=1, y=1, button=Button.RIGHT),
        TypeText(text="a", x=1, y=1),
        TypeText(text="a"),
        Wait(ms=150),
        Scroll(direction=Direction.DOWN, amount=100),
        Select(x=1, y=1, option="b"),
    ):
        with pytest.raises(InexpressibleAction):
            dialect.format_action(action, frame)
    assert not any(tool.name in dialect.system_prompt(frame) for tool in ADDED)


def test_holos_added_names_are_none_of_the_published() -> None:
    names = [tool.name for tool in (*PUBLISHED, *ADDED)]

    assert len(names) == len(set(names))


def test_holo_speaks_of_the_picture_as_it_is_sent() -> None:
    dialect = variant("holo1_5")
    frame = framed(dialect)

    assert json.loads(dialect.format_action(Click(x=640, y=360), frame))["action"]["x"] == 644
    assert "1288 pixels wide and 728 high" in dialect.system_prompt(frame)
    step = make_step(4, picture=1, action=Click(x=1, y=2))
    assert dialect.observation_text(4, step.page)[0].startswith("<observation step=4>\n")
    assert dialect.task_message("Click OK.") == "<task>\nClick OK.\n</task>"
    assert dialect.result_text(step) == ""


def test_holo1_reads_words_and_json() -> None:
    dialect = variant("holo1")
    frame = framed(dialect)
    meant = Click(x=640, y=360)

    assert dialect.format_action(meant, frame) == "Click(644, 364)"
    for reply in ("Click(644, 364)", "It is there: Click(644,364).", "click( 644 , 364 )"):
        assert dialect.parse(reply, frame).action == meant
    for kind in ("click", "click_absolute"):
        assert dialect.parse(f'{{"action":"{kind}","x":644,"y":364}}', frame).action == meant


def test_ui_tars_is_read_as_it_writes() -> None:
    dialect = variant("ui_tars")
    frame = framed(dialect)

    clicked = dialect.parse(
        "Thought: There it is.\nAction: click(point='<point>644 364</point>')", frame
    )
    assert (clicked.action, clicked.thought) == (Click(x=640, y=360), "There it is.")
    typed = dialect.parse(r"Action: type(content='It\'s\n')", frame).action
    assert typed == TypeText(text="It's", enter=True)
    assert dialect.parse("Action: hotkey(key='ctrl c')", frame).action == Key(key="Control+c")
    assert dialect.parse("Action: wait()", frame).action == Wait(ms=5_000)
    assert dialect.parse("Action: finished(content='42')", frame).action == Answer(text="42")


def test_ui_tars_points_and_holds_keys_as_its_parser_does() -> None:
    dialect = variant("ui_tars")
    frame = framed(dialect)

    assert dialect.format_action(Hover(x=640, y=360), frame).endswith(
        "hover(point='<point>644 364</point>')"
    )
    for held in (KeyDown(key="Control"), KeyUp(key="Control")):
        said = dialect.format_action(held, frame)
        assert dialect.parse(said, frame).action == held
    assert dialect.parse("Action: press(key='ctrl')", frame).action == KeyDown(key="Control")
    assert dialect.parse("Action: release(key='ctrl')", frame).action == KeyUp(key="Control")
    with pytest.raises(InexpressibleAction):
        dialect.format_action(KeyDown(key="Control+a"), frame)


def test_ui_tars_scrolls_by_a_page_and_says_no_more() -> None:
    dialect = variant("ui_tars")
    frame = framed(dialect)

    said = dialect.format_action(Scroll(direction=Direction.DOWN, amount=84), frame)
    assert said.endswith("Action: scroll(direction='down')")
    assert dialect.parse(said, frame).action == Scroll(direction=Direction.DOWN, amount=630)
    with pytest.raises(InexpressibleAction):
        dialect.format_action(Scroll(direction=Direction.DOWN, amount=631), frame)


def test_ui_tars_reads_the_boxes_of_its_first_version() -> None:
    dialect = variant("ui_tars-thousand")
    frame = framed(dialect)

    for box in ("(500,500)", "(400,400,600,600)"):
        reply = f"Thought: t\nAction: click(start_box='{box}')"
        assert dialect.parse(reply, frame).action == Click(x=640, y=360)


def test_computer_use_is_a_call_in_tags() -> None:
    dialect = variant("computer_use")
    frame = framed(dialect)
    said = dialect.format_action(
        Click(x=640, y=360, count=2), frame, Rationale(thought="I open it.")
    )

    assert said == (
        "I open it.\n<tool_call>\n"
        '{"name": "computer_use", "arguments": '
        '{"action": "double_click", "coordinate": [500, 500]}}\n</tool_call>'
    )
    scrolled = '{"action": "scroll", "pixels": -300}'
    reply = json.dumps({"name": "computer_use", "arguments": scrolled})
    assert dialect.parse(reply, frame).action == Scroll(direction=Direction.DOWN, amount=300)
    ended = '{"name": "computer_use", "arguments": {"action": "terminate", "status": "success"}}'
    assert dialect.parse(ended, frame).action == Answer()


def test_a_drag_of_computer_use_is_two_calls() -> None:
    dialect = variant("computer_use")
    frame = framed(dialect)
    meant = Drag(x=640, y=360, to_x=960, to_y=540)
    said = dialect.format_action(meant, frame, Rationale(thought="I drag it."))

    assert said == (
        "I drag it.\n<tool_call>\n"
        '{"name": "computer_use", "arguments": {"action": "mouse_move", "coordinate": [500, 500]}}'
        "\n</tool_call>\n<tool_call>\n"
        '{"name": "computer_use", "arguments": '
        '{"action": "left_click_drag", "coordinate": [750, 750]}}\n</tool_call>'
    )
    assert dialect.parse(said, frame).action == meant
    with pytest.raises(InexpressibleAction):
        dialect.format_action(meant.model_copy(update={"button": Button.RIGHT}), frame)


@pytest.mark.parametrize(
    ("actions", "problem"),
    [
        (["left_click_drag"], "a drag needs a call of mouse_move before it"),
        (["left_click_drag", "mouse_move"], "the reply holds 2 calls that are no drag"),
        (["mouse_move", "left_click"], "the reply holds 2 calls that are no drag"),
        (["mouse_move", "left_click_drag", "left_click"], "the reply holds 3 calls"),
    ],
)
def test_other_calls_of_computer_use_stand_alone(actions: list[str], problem: str) -> None:
    dialect = variant("computer_use")
    calls = [
        {"name": "computer_use", "arguments": {"action": name, "coordinate": [5, 5]}}
        for name in actions
    ]
    with pytest.raises(UnreadableReply, match=problem):
        dialect.parse("\n".join(json.dumps(call) for call in calls), framed(dialect))


def test_claude_counts_clicks_of_the_wheel_on_its_display() -> None:
    dialect = variant("claude")
    frame = framed(dialect, 160, 210, scale=4.0)

    def clicks(amount: int) -> object:
        said = dialect.format_action(Scroll(direction=Direction.DOWN, amount=amount), frame)
        return json.loads(said)["scroll_amount"]

    # The display is four times the page, so a click of 100 px is 25 px of the page.
    assert [clicks(amount) for amount in (3, 25, 60, 70, 84, 250)] == [1, 1, 2, 3, 3, 10]
    with pytest.raises(InexpressibleAction):
        clicks(50_000)


def test_claude_is_the_input_of_its_tool() -> None:
    dialect = variant("claude")
    frame = framed(dialect)

    assert json.loads(dialect.format_action(Key(key="Control+Enter"), frame)) == {
        "action": "key",
        "text": "ctrl+Return",
    }
    drag = '{"action": "left_click_drag", "start_coordinate": [1, 2], "coordinate": [3, 4]}'
    assert dialect.parse(drag, frame).action == Drag(x=1, y=2, to_x=3, to_y=4)
    assert dialect.parse("It is 42.", frame).action == Answer(text="It is 42.")
    assert dialect.parse(dialect.format_action(Answer(), frame), frame).action == Answer()
    with pytest.raises(InexpressibleAction):
        dialect.format_action(Answer(text="Done."), frame)


def test_conventions_are_those_that_were_published() -> None:
    published = {
        name: variant(name).convention
        for name in ("holotron", "holo1", "holo1_5", "holo2", "ui_tars", "computer_use", "claude")
    }

    assert published == {
        "holotron": Convention.THOUSAND,
        "holo1": Convention.RESIZED,
        "holo1_5": Convention.RESIZED,
        "holo2": Convention.THOUSAND,
        "ui_tars": Convention.RESIZED,
        "computer_use": Convention.THOUSAND,
        "claude": Convention.RESIZED,
    }


def test_words_of_a_task_stay_as_they_are_but_for_what_could_begin_a_tag() -> None:
    dialect = variant("holotron")

    plain = 'Type "Tom & Jerry > 5 < 7" into the <field>.'
    assert dialect.task_message(plain) == 'Task: Type "Tom & Jerry > 5 < 7" into the &lt;field>.'
    said = dialect.format_action(TypeText(text="a <= b </tool_output>"), framed(dialect))
    assert "a <= b \\u003c/tool_output>" in said


@pytest.mark.parametrize(
    ("call", "action"),
    [
        ("type(content='it's')", TypeText(text="it's")),
        ('type(content="it\'s")', TypeText(text="it's")),
        ('type(content="say \\"no\\"")', TypeText(text='say "no"')),
        ("type(content='f(x)\ng(y)')", TypeText(text="f(x)\ng(y)")),
        ("type(content='f(x)\ng(y)')\nThat is all (I think).", TypeText(text="f(x)\ng(y)")),
        ("wait()\nI wait for the page.", Wait(ms=5_000)),
        ("hotkey(key='ctrl+a')", Key(key="Control+a")),
        ("hotkey(key='ctrl a')", Key(key="Control+a")),
        ("hotkey(key='ctrl +')", Key(key="Control++")),
        ("left_single(point='<point>0 0</point>')", Click(x=0, y=0)),
        (
            "select(start_point='<point>0 0</point>', end_point='<point>0 0</point>')",
            Drag(x=0, y=0, to_x=0, to_y=0),
        ),
    ],
)
def test_ui_tars_is_read_as_models_write_it(call: str, action: object) -> None:
    dialect = variant("ui_tars")

    parsed = dialect.parse(f"Thought: I see.\nAction: {call}", framed(dialect))

    assert parsed.action == action
    assert parsed.dropped is None
    assert dialect.parse(parsed.canonical_reply, framed(dialect)).action == action


@pytest.mark.parametrize(
    "call",
    ["type(content='open)", "type(content='a' b)", "type(content=a)", "click(point='1 2'", "wait("],
)
def test_a_call_of_ui_tars_that_is_no_call_is_refused(call: str) -> None:
    dialect = variant("ui_tars")

    with pytest.raises(UnreadableReply):
        dialect.parse(f"Thought: I see.\nAction: {call}", framed(dialect))


def test_of_two_actions_of_ui_tars_the_last_is_read_and_the_other_is_told() -> None:
    dialect = variant("ui_tars")
    said = "Thought: I see.\nAction: wait()\nAction: hotkey(key='enter')"

    parsed = dialect.parse(said, framed(dialect))

    assert parsed.action == Key(key="Enter")
    assert parsed.dropped == "the reply has 2 actions, and only the last is carried out"
    assert dialect.parse(parsed.canonical_reply, framed(dialect)).dropped is None


KEYS = {
    "KP_Enter": "Enter",
    "Return": "Enter",
    "pgdn": "PageDown",
    "Page_Down": "PageDown",
    "Next": "PageDown",
    "Prior": "PageUp",
    "super": "Meta",
    "Super_L": "Meta",
    "winleft": "Meta",
    "Control_R": "Control",
    "shiftleft": "Shift",
    "period": ".",
    "comma": ",",
    "minus": "-",
    "KP_Add": "+",
    "KP_5": "5",
    "num7": "7",
    "exclam": "!",
    "f5": "F5",
    "F12": "F12",
    "BackSpace": "Backspace",
}


@pytest.mark.parametrize("spelling", KEYS)
def test_every_dialect_knows_every_spelling_of_a_key(spelling: str) -> None:
    replies = {
        "holotron": json.dumps(
            {
                "note": None,
                "thought": "",
                "tool_call": {"tool_name": "press_keys", "keys": [spelling]},
            }
        ),
        "ui_tars": f"Thought: I see.\nAction: hotkey(key='{spelling}')",
        "claude": json.dumps({"action": "key", "text": spelling}),
        "computer_use": json.dumps(
            {"name": "computer_use", "arguments": {"action": "key", "keys": [spelling]}}
        ),
    }

    for name, reply in replies.items():
        dialect = variant(name)
        assert dialect.parse(reply, framed(dialect)).action == Key(key=KEYS[spelling]), name


@pytest.mark.parametrize("spelling", ["f13", "numlock", "launch_app", "kp_", "left_shift_lock", ""])
def test_what_no_keyboard_here_has_is_refused(spelling: str) -> None:
    dialect = variant("claude")

    with pytest.raises(UnreadableReply):
        dialect.parse(json.dumps({"action": "key", "text": spelling}), framed(dialect))
