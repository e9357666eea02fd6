"""A conversation of texts becomes one of OpenAI's fields where a model calls tools by these, and only there."""

import json
from typing import Any

from generators.engine.call_text import read_calls, read_value, write_call, write_response
from generators.engine.client.native_calls import native_messages
from generators.engine.client.request_body import RequestBody, ServerQuirks
from generators.engine.protocol import EnginePrompt, Message, Picture, Role, Sampling
from schemas.base import JsonObject

PICTURE = Picture(jpeg=b"\xff\xd8picture", step=1, width=10, height=20)
CLICK: JsonObject = {
    "type": "function",
    "function": {
        "name": "click",
        "description": "click",
        "parameters": {
            "type": "object",
            "properties": {
                "element": {"type": "string"},
                "x": {"type": "integer"},
                "keys": {"type": "array", "items": {"type": "string"}},
                "own": {"type": "boolean"},
                "text": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            },
        },
    },
}
GIVEN: JsonObject = {"element": "007", "x": 7, "keys": ["a", "b"], "own": True, "text": "true"}


def said(role: Role, *parts: str | Picture) -> Message:
    return Message(role=role, parts=parts)


def conversation(result: str = write_response("done")) -> tuple[Message, ...]:
    return (
        said(Role.SYSTEM, "rules"),
        said(Role.USER, "task", PICTURE),
        said(Role.ASSISTANT, f"I see it.\n\n{write_call('click', GIVEN)}"),
        said(Role.USER, f"{result}<observation>\n", PICTURE, "\n</observation>"),
    )


def sent(messages: tuple[Message, ...]) -> list[Any]:
    prompt = EnginePrompt(messages=messages, tools=(CLICK,))
    body = RequestBody(prompt, Sampling(), model="m").encode(ServerQuirks())
    found = json.loads(body)
    assert found["tools"] == [CLICK]
    assert found["tool_choice"] == "required"
    return list(found["messages"])


def test_a_call_and_its_result_go_in_the_fields_that_are_made_for_them() -> None:
    _, _, call, result, seen = sent(conversation())

    [made] = call.pop("tool_calls")
    assert call == {"role": "assistant", "content": "I see it."}
    assert made["function"]["name"] == "click"
    assert json.loads(made["function"]["arguments"]) == GIVEN
    assert result == {"role": "tool", "tool_call_id": made["id"], "content": "done"}
    assert seen["role"] == "user"
    assert seen["content"][0] == {"type": "text", "text": "<observation>\n"}


def test_a_call_without_a_result_stays_a_text() -> None:
    *_, call, answer = sent(conversation(result="Your last reply could not be used.\n"))

    assert "tool_calls" not in call
    assert "<function=click>" in str(call["content"])
    assert answer["role"] == "user"


def test_a_result_whose_call_has_left_the_prompt_stays_a_text() -> None:
    first, *_, last = conversation()

    rows = sent((first, last))

    assert [row["role"] for row in rows] == ["system", "user"]


def test_a_result_alone_leaves_no_empty_message() -> None:
    messages = (*conversation()[:3], said(Role.USER, write_response("Error: no")))

    assert [row["role"] for row in sent(messages)] == ["system", "user", "assistant", "tool"]


def test_without_functions_every_message_stays_as_it_is() -> None:
    assert list(native_messages(conversation(), ())) == list(conversation())


def test_what_is_written_is_read_again() -> None:
    texts = ("", "\n", " a\n", "a\n\nb", "<b> & 'c'", "None")
    for text in texts:
        assert read_calls(write_call("write", {"content": text})) == [("write", {"content": text})]
    assert read_calls(write_call("open_tab", {"url": None})) == [("open_tab", {})]
    assert read_calls("<tool_call>\n<function=click>\nno end") == []


def test_values_have_the_type_that_their_tool_takes() -> None:
    assert read_value("7", is_text=True) == "7"
    assert [read_value(text, is_text=False) for text in ("7", "True", "None", "[1]", "a")] == [
        *(7, True, None, [1], "a"),
    ]
