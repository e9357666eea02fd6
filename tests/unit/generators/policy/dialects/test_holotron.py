"""What Holotron's dialect says in so many words, and what it says of replies it cannot read."""

import json

import pytest
from support.episodes.factories import make_step
from support.inputs.dialect_variants import framed, variant

from generators.policy.dialects.holotron import holotron
from generators.policy.dialects.protocol import Rationale, UnreadableReply
from generators.policy.dialects.registry import make_dialect
from generators.policy.dialects.settings import HolotronSettings
from generators.policy.dialects.shared.json_dialect import JsonDialect
from schemas.episodes.action import (
    Click,
    Tab,
    TabOperation,
)
from schemas.errors import BadConfig

TILES = {
    (1_280, 720): 768,
    (1_280, 640): 768,
    (1_366, 768): 2_304,
    (1_920, 1_080): 2_304,
    (1_024, 768): 3_328,
    (800, 600): 3_328,
    (1_280, 1_024): 3_328,
    (1_280, 800): 1_792,
    (1_440, 900): 1_792,
    (1_536, 1_024): 1_792,
    (1_024, 1_024): 1_280,
    (1_000, 1_000): 1_280,
    (1_204, 1_204): 2_560,
    (1_200, 1_200): 2_560,
    (1_024, 512): 768,
    (2_048, 1_024): 2_304,
    (512, 512): 256,
}
"""Tokens of screenshots as vLLM's own functions give them."""


@pytest.mark.parametrize(("size", "tokens"), TILES.items())
def test_holotrons_tokens_are_those_of_the_server(size: tuple[int, int], tokens: int) -> None:
    dialect = variant("holotron")

    assert dialect.image_tokens(*size) == tokens
    assert dialect.sent_size(*size) == size


def test_fewer_tiles_are_reckoned_as_the_server_is_set() -> None:
    dialect = make_dialect("holotron", {"tiles": 6})

    assert dialect.image_tokens(1_024, 768) == 1_792
    assert dialect.image_tokens(1_366, 768) == 768


def test_a_screenshot_larger_than_any_grid_is_scaled_to_its_grid() -> None:
    assert variant("holotron").sent_size(2_560, 1_440) == (2_048, 1_024)


@pytest.mark.parametrize(
    ("name", "size", "sent", "tokens"),
    [
        ("holo1_5", (1_280, 720), (1_288, 728), 46 * 26),
        ("holo1_5", (1_920, 1_080), (1_316, 728), 47 * 26),
        ("holo1", (1_280, 720), (1_288, 728), 46 * 26),
        ("holo2", (1_280, 720), (1_280, 704), 40 * 22),
        ("holo2", (1_920, 1_080), (1_920, 1_088), 60 * 34),
        ("holo2", (100, 100), (256, 256), 64),
        ("claude", (1_280, 720), (1_280, 720), 1_229),
        ("claude", (3_136, 784), (1_568, 392), 820),
    ],
)
def test_pictures_are_resized_as_the_family_was_trained(
    name: str, size: tuple[int, int], sent: tuple[int, int], tokens: int
) -> None:
    dialect = variant(name)

    assert dialect.sent_size(*size) == sent
    assert dialect.image_tokens(*size) == tokens


def test_holotron_answers_with_one_flat_object() -> None:
    dialect = variant("holotron")
    said = dialect.format_action(
        Click(x=640, y=360),
        framed(dialect),
        Rationale(thought="I click it.", element="the OK button"),
    )

    assert json.loads(said) == {
        "note": None,
        "thought": "I click it.",
        "tool_call": {
            "tool_name": "click",
            "element": "the OK button",
            "x": 500,
            "y": 500,
            "button": "left",
            "count": 1,
        },
    }


def test_holotron_reads_the_shorter_click_of_its_relatives() -> None:
    dialect = variant("holotron")
    reply = (
        '{"thought": "t", "tool_call": {"tool_name": "click", "element": "b", "x": 932, "y": 880}}'
    )

    understood = dialect.parse(reply, framed(dialect))

    assert understood.action == Click(x=932 * 1.28, y=880 * 0.72)
    assert '"button": "left", "count": 1' in understood.canonical_reply


def test_holotrons_tools_are_listed_by_name() -> None:
    assert [tool.name for tool in holotron(HolotronSettings()).tools] == [
        *("click", "write", "select_option", "scroll", "move_mouse", "drag"),
        *("press_keys", "key_down", "key_up", "goto", "go_back", "go_forward", "refresh"),
        *("switch_tab", "open_tab", "close_tab", "answer_dialog", "drop_file"),
        *("wait", "restart", "answer"),
    ]


def test_holotrons_turns_are_those_of_its_relatives() -> None:
    dialect = variant("holotron")
    step = make_step(0, picture=1, action=Click(x=1, y=2))

    before, after = dialect.observation_text(0, step.page)
    tab = step.model_copy(update={"action": Tab(operation=TabOperation.CLOSE)})

    assert before.startswith("<observation>\nURL: http://miniwob.localhost/")
    assert after == "\n</observation>"
    assert dialect.result_text(step) == '<tool_output tool="click">\ndone\n</tool_output>'
    failed = tab.model_copy(update={"action_error": "there is one tab only"})
    assert (
        dialect.result_text(failed) == '<error tool="close_tab">\nthere is one tab only\n</error>'
    )
    assert dialect.image_placeholder == "[Image omitted by context cleaning]"
    assert dialect.task_message("Click OK.") == "Task: Click OK."
    assert "<output_format>\n```json\n{" in dialect.system_prompt(framed(dialect))


def test_every_part_of_holotrons_contract_is_a_setting() -> None:
    dialect = make_dialect(
        "holotron",
        {
            "convention": "0-1",
            "note_key": "memory",
            "thought_key": "reasoning",
            "call_key": "call",
            "name_key": "name",
            "observation_tag": "screen",
            "output_tag": "output",
            "error_tag": "failure",
            "placeholder": "[gone]",
            "done": "ok",
            "page_line": False,
            "schema_in_prompt": False,
            "more_instructions": "/no_think",
            "leave_out": ["restart"],
        },
    )
    frame = framed(dialect)
    step = make_step(0, picture=1, action=Click(x=1, y=2))
    system = dialect.system_prompt(frame)

    said = json.loads(dialect.format_action(Click(x=640, y=360), frame))

    assert list(said) == ["memory", "reasoning", "call"]
    assert (said["call"]["name"], said["call"]["x"]) == ("click", 0.5)
    assert dialect.observation_text(0, step.page) == ("<screen>\n", "\n</screen>")
    assert dialect.result_text(step) == '<output tool="click">\nok\n</output>'
    assert dialect.image_placeholder == "[gone]"
    assert system.endswith("/no_think")
    assert "output_format" not in system
    assert "restart" not in system
    assert "from 0 to 1" in system


@pytest.mark.parametrize(
    ("name", "options", "fields"),
    [
        ("holotron", {}, {}),
        ("holotron", {"thinking": False}, {"chat_template_kwargs": {"enable_thinking": False}}),
        ("holo2", {"thinking": True}, {"chat_template_kwargs": {"thinking": True}}),
        (
            "holo2",
            {"thinking": True, "thinking_key": "reason"},
            {"chat_template_kwargs": {"reason": True}},
        ),
    ],
)
def test_thinking_is_asked_of_the_servers_chat_template(
    name: str, options: dict[str, object], fields: dict[str, object]
) -> None:
    dialect = make_dialect(name, json.loads(json.dumps(options)))
    assert isinstance(dialect, JsonDialect)

    assert dialect.request_fields == fields


@pytest.mark.parametrize(
    ("name", "options", "naming"),
    [
        ("holotrom", {}, "did you mean 'holotron'"),
        ("holotron", {"note_kye": "n"}, "did you mean 'note_key'"),
        ("holotron", {"note_key": "thought"}, "three names"),
        ("holotron", {"name_key": "element"}, "a tool's argument"),
        ("holotron", {"note_key": "a b"}, "note_key"),
        ("holotron", {"convention": "miles"}, "convention"),
        ("holotron", {"leave_out": ["clock"]}, "no tool 'clock'"),
        ("holotron", {"tiles": 13}, "tiles"),
        ("holotron", {"text_limit": 0}, "text_limit"),
        ("holo2", {"tiles": 3}, "no option 'tiles'"),
        ("claude", {"extended": True}, "no option 'extended'"),
        ("holo1_5", {"extended": "perhaps"}, "extended"),
    ],
)
def test_an_option_that_makes_no_sense_is_refused(
    name: str, options: dict[str, object], naming: str
) -> None:
    with pytest.raises(BadConfig, match=r"policy\.dialect") as caught:
        make_dialect(name, json.loads(json.dumps(options)))

    assert naming in str(caught.value)


def test_no_tool_at_all_is_refused() -> None:
    every = [tool.name for tool in holotron(HolotronSettings()).tools]

    with pytest.raises(BadConfig, match="a tool must be left"):
        make_dialect("holotron", {"leave_out": [*every]})


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        ('{"tool_name": "clik", "x": 1}', "there is no tool 'clik'; use one of click, write"),
        ('{"tool_name": "click", "element": "b", "x": 1}', "click: 'y' is missing"),
        (
            '{"tool_name": "click", "element": "b", "x": 1001, "y": 2}',
            "click: 'x' must lie from 0 to 1000, but is 1001",
        ),
        (
            '{"tool_name": "click", "element": "b", "x": "5", "y": 2}',
            "click: 'x' must be a whole number, but is '5'",
        ),
        (
            '{"tool_name": "click", "element": "b", "x": 5.5, "y": 2}',
            "click: 'x' must be a whole number without decimals, but is '5.5'",
        ),
        (
            '{"tool_name": "click", "element": "b", "x": true, "y": 2}',
            "click: 'x' must be a whole number, but is 'True'",
        ),
        (
            '{"tool_name": "click", "element": "b", "x": 5, "y": 2, "button": "Left"}',
            "click: 'button' must be one of left, middle, right, but is 'Left'",
        ),
        (
            '{"tool_name": "click", "element": "b", "x": 5, "y": 2, "z": 1}',
            "'click' has no 'z'; it takes element, x, y, button, count",
        ),
        (
            '{"tool_name": "write", "content": "a", "element": "b", "x": 5, "y": null}',
            "write: x and y come together or not at all",
        ),
        (
            '{"tool_name": "write", "content": "\\u0007", "element": "b"}',
            "write: 'content' holds U+0007, which nobody can type; leave that character out",
        ),
        (
            '{"tool_name": "press_keys", "keys": ["Hyper"]}',
            "press_keys: 'keys' has 'Hyper', which is no key; use Enter, Tab or a",
        ),
        ('{"tool_name": "goto", "url": ""}', "goto: 'url' must not be empty"),
        ('"click"', "'tool_call' must be an object with 'tool_name' in it"),
    ],
)
def test_what_is_wrong_with_a_call_is_said_so_that_it_can_be_mended(
    call: str, problem: str
) -> None:
    dialect = variant("holotron")

    with pytest.raises(UnreadableReply) as caught:
        dialect.parse(f'{{"note": null, "thought": "t", "tool_call": {call}}}', framed(dialect))

    assert str(caught.value).startswith(problem)


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("I click it.", "the reply holds no JSON object"),
        ('{"thought": "t"}', "the reply has no 'tool_call'"),
        ('{"thought": "t", "tool_call": {', "the reply is broken JSON"),
        (
            '{"tool_call": {"tool_name": "refresh"}} {"tool_call": {"tool_name": "restart"}}',
            "the reply holds 2 different answers; give exactly one",
        ),
        ('{"tool_call": {"tool_name": "refresh"}, "plan": 1}', "there is no field 'plan'"),
        ('{"tool_call": {"tool_name": "refresh"}, "note": 1}', "'note' must be a text"),
    ],
)
def test_what_is_wrong_with_a_reply_is_said(reply: str, problem: str) -> None:
    dialect = variant("holotron")

    with pytest.raises(UnreadableReply) as caught:
        dialect.parse(reply, framed(dialect))

    assert str(caught.value).startswith(problem)
