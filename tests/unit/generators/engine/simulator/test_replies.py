"""What the simulator replies: targets it sees, forms of model families, and queued texts."""

import json
import math
import re
from pathlib import Path

import pytest
from support.servers.engine_http import (
    JPEG,
    PNG,
    ask,
    chat,
    engine,
    get,
    inside,
    picture,
    post,
    text_of,
    under,
    user,
)

from generators.engine.simulator.coordinates import smart_resize
from generators.engine.simulator.options import Coordinates, SimulatorOptions
from schemas.base import JsonObject

POINT: JsonObject = {
    "type": "object",
    "properties": {"x": {"type": "number"}, "y": {"type": "number"}},
    "required": ["x", "y"],
}
SAY_POINT = re.compile(r"Click\(([\d.]+), ([\d.]+)\)")
SIZE = (640, 420)
CENTRE = (413, 97)
WHOLE = {
    Coordinates.PX: SIZE,
    Coordinates.RESIZED: smart_resize(*SIZE),
    Coordinates.THOUSAND: (1_000, 1_000),
    Coordinates.UNIT: (1, 1),
}


def _near(said: tuple[float, float], whole: tuple[float, float]) -> bool:
    """Say whether a point is the drawn target's centre, to a pixel and a half."""
    found = [part / side for part, side in zip(said, whole, strict=True)]
    return all(
        math.isclose(part * side, at + 0.5, abs_tol=1.5)
        for part, side, at in zip(found, SIZE, CENTRE, strict=True)
    )


@pytest.mark.parametrize("kind", [JPEG, PNG])
@pytest.mark.parametrize("coordinates", list(Coordinates))
async def test_a_target_is_named_where_it_was_drawn(coordinates: Coordinates, kind: str) -> None:
    drawn = picture(*SIZE, target=(*CENTRE, "#c81e5a"), kind=kind)
    message = user(picture(*SIZE), drawn, "Where is the middle of the #C81E5A disc?")
    async with engine(SimulatorOptions(coordinates=coordinates)) as (_, client):
        filled = json.loads(text_of(await ask(client, chat(message, response_format=under(POINT)))))
        prose = text_of(await ask(client, chat(message)))

    match = SAY_POINT.fullmatch(prose)
    assert match is not None
    assert _near((filled["x"], filled["y"]), WHOLE[coordinates])
    assert _near((float(match[1]), float(match[2])), WHOLE[coordinates])
    others = [whole for name, whole in WHOLE.items() if name is not coordinates]
    assert not any(_near((filled["x"], filled["y"]), whole) for whole in others)


async def test_several_targets_of_one_picture_are_told_apart_by_colour() -> None:
    async with engine(SimulatorOptions(coordinates=Coordinates.PX)) as (_, client):
        found = []
        for x, colour in ((60, "#c81e5a"), (250, "#1e5ac8")):
            drawn = picture(target=(x, 80, colour))
            reply = await ask(client, chat(user(drawn, f"Click {colour}"), guided_json=POINT))
            found.append(json.loads(text_of(reply))["x"])

    assert found == [pytest.approx(60, abs=1.5), pytest.approx(250, abs=1.5)]


async def test_a_colour_that_is_not_there_is_answered_as_anything_else() -> None:
    async with engine() as (_, client):
        body = chat(user(picture(), "Click #c81e5a"), guided_json=POINT)
        said = json.loads(text_of(await ask(client, body)))

    assert set(said) == {"x", "y"}


async def test_a_picture_is_decoded_only_where_something_is_looked_for_in_it() -> None:
    torn = picture(target=(100, 50, "#c81e5a"))[:-400]
    async with engine() as (_, client):
        await ask(client, chat(user(torn, "go on")))
        refused = await ask(client, chat(user(torn, "Click #c81e5a")), status=400)

    assert "Failed to load image" in str(inside(refused, "error", "message"))


async def test_a_target_leads_to_the_branch_that_can_name_it() -> None:
    wait: JsonObject = {"type": "object", "properties": {"wait": {"type": "integer"}}}
    drag = _action("drag_to", "x", "y")
    click = _action("click", "element", "x", "y")
    schema: JsonObject = {
        "type": "object",
        "properties": {
            "thought": {"type": "string"},
            "tool_call": {"anyOf": [{"$ref": "#/$defs/W"}, drag, click]},
        },
        "required": ["thought", "tool_call"],
        "$defs": {"W": wait},
    }
    message = user(picture(target=(100, 50, "#c81e5a")), "Click the middle of #c81e5a.")
    async with engine() as (_, client):
        said = json.loads(text_of(await ask(client, chat(message, guided_json=schema))))

    assert said["tool_call"]["tool_name"] == "click"
    assert said["tool_call"]["x"] == pytest.approx(100 / 320 * 1_000, abs=5)


def _action(name: str, *fields: str) -> JsonObject:
    number: JsonObject = {"type": "integer", "minimum": 0, "maximum": 1_000}
    return {
        "type": "object",
        "properties": {
            "tool_name": {"const": name},
            **{field: number if field in {"x", "y"} else {"type": "string"} for field in fields},
        },
        "required": ["tool_name", *fields],
        "additionalProperties": False,
    }


@pytest.mark.parametrize("coordinates", list(Coordinates))
async def test_made_up_points_lie_inside_the_picture(coordinates: Coordinates) -> None:
    across, down = WHOLE[coordinates]
    async with engine(SimulatorOptions(coordinates=coordinates)) as (_, client):
        for number in range(20):
            body = chat(user(picture(*SIZE), f"go {number}"), guided_json=POINT)
            said = json.loads(text_of(await ask(client, body)))
            assert 0 <= said["x"] <= across
            assert 0 <= said["y"] <= down


async def test_a_prompt_with_tool_call_tags_is_answered_in_them() -> None:
    system: JsonObject = {"role": "system", "content": 'Reply <tool_call>{"name":…}</tool_call>'}
    target = user(picture(target=(100, 50, "#c81e5a")), "Click #c81e5a")
    async with engine(SimulatorOptions(coordinates=Coordinates.PX)) as (_, client):
        text = text_of(await ask(client, chat(system, target)))
        others = {
            text_of(await ask(client, chat(system, user(picture(), str(n))))) for n in range(12)
        }

    call = json.loads(text.removeprefix("<tool_call>\n").removesuffix("\n</tool_call>"))
    assert call["name"] == "computer_use"
    assert call["arguments"]["action"] == "left_click"
    assert call["arguments"]["coordinate"] == [
        pytest.approx(100, abs=1.5),
        pytest.approx(50, abs=1.5),
    ]
    assert len(others) > 3


async def test_a_prompt_in_ui_tars_words_is_answered_in_them() -> None:
    system: JsonObject = {
        "role": "system",
        "content": "Thought: ...\nAction: ...\nclick(point='<point>x1 y1</point>')",
    }
    old: JsonObject = {
        "role": "system",
        "content": "Action: click(start_box='<|box_start|>(x1,y1)<|box_end|>')",
    }
    target = user(picture(target=(100, 50, "#c81e5a")), "Click #c81e5a")
    async with engine(SimulatorOptions(coordinates=Coordinates.PX)) as (_, client):
        new_form = text_of(await ask(client, chat(system, target)))
        old_form = text_of(await ask(client, chat(old, target)))

    assert re.search(r"^Thought: .+\nAction: click\(point='<point>\d+ \d+</point>'\)$", new_form)
    assert re.search(r"click\(start_box='<\|box_start\|>\(\d+,\d+\)<\|box_end\|>'\)$", old_form)


async def test_tools_are_called_with_arguments_of_their_schema() -> None:
    tool: JsonObject = {
        "type": "function",
        "function": {"name": "click", "parameters": _action("click", "x", "y")},
    }
    body = chat(user(picture(), "go on"), tools=[tool])
    async with engine() as (_, client):
        reply = await ask(client, body)
        none = await ask(client, {**body, "tool_choice": "none"})
        text = await (
            await client.post("/v1/chat/completions", json={**body, "stream": True})
        ).text()

    call = inside(reply, "choices", 0, "message", "tool_calls", 0, "function")
    assert isinstance(call, dict)
    assert call["name"] == "click"
    assert set(json.loads(str(call["arguments"]))) == {"tool_name", "x", "y"}
    assert inside(reply, "choices", 0, "finish_reason") == "tool_calls"
    assert inside(none, "choices", 0, "finish_reason") == "stop"
    assert '"tool_calls":[{' in text


async def test_a_schema_in_the_system_prompt_is_followed_where_no_other_is_asked_for() -> None:
    system: JsonObject = {
        "role": "system",
        "content": f"Reply as\n```json\n{json.dumps(_action('click', 'x', 'y'))}\n```\n",
    }
    async with engine() as (_, client):
        said = json.loads(text_of(await ask(client, chat(system, user("go on")))))

    assert said["tool_name"] == "click"


PUPPET = SimulatorOptions(puppet=True)


async def test_a_puppet_says_each_text_once_in_order_whatever_the_schema() -> None:
    body = chat(user("go on"), response_format=under(POINT))
    async with engine(PUPPET) as (_, client):
        for text in ("one", "two «東京»"):
            await client.put("/puppet/s-1", json={"text": text})
        told = [text_of(await ask(client, body, session="s-1")) for _ in range(3)]
        other = text_of(await ask(client, body, session="s-2"))

    assert told[:2] == ["one", "two «東京»"]
    assert set(json.loads(told[2])) == {"x", "y"}
    assert set(json.loads(other)) == {"x", "y"}


@pytest.mark.parametrize("kind", ["http-500", "cut", "truncated", "empty", "invalid-utf8"])
async def test_a_text_that_was_not_said_as_it_is_waits_for_the_next_request(kind: str) -> None:
    body = chat(user("go on"))
    async with engine(PUPPET) as (_, client):
        await client.put("/puppet/s-1", json={"text": "the text of the puppet"})
        await post(client, "/fault", {"kind": kind})
        response = await client.post(
            "/v1/chat/completions", json=body, headers={"x-session-id": "s-1"}
        )
        response.close()
        again = text_of(await ask(client, body, session="s-1"))
        log = await get(client, "/requests?last=2")

    assert again == "the text of the puppet"
    assert log["waiting_texts"] == 0
    assert [inside(log, "last", n, "puppet") for n in (0, 1)] == [True, False]


async def test_a_puppets_texts_can_be_dropped() -> None:
    async with engine(PUPPET) as (_, client):
        await client.put("/puppet/s-1", json={"text": "one"})
        await client.delete("/puppet/s-1")
        text = text_of(await ask(client, chat(user("go on")), session="s-1"))

    assert text != "one"


async def test_an_engine_that_is_no_puppet_takes_no_texts() -> None:
    async with engine() as (_, client):
        refused = await client.put("/puppet/s-1", json={"text": "one"})

    assert refused.status == 404


async def test_a_text_that_is_no_unicode_is_refused() -> None:
    async with engine(PUPPET) as (_, client):
        refused = await client.put("/puppet/s-1", data=b'{"text": "\\ud800"}')

    assert refused.status == 400


def test_it_knows_nothing_of_clients_and_policies() -> None:
    folder = Path(__file__).parents[5] / "generators" / "engine" / "simulator"
    imports = re.compile(r"^(?:from|import) ((?:generators|flows|storage)\S*)", re.MULTILINE)
    found = {
        name for path in folder.glob("*.py") for name in imports.findall(path.read_text("utf-8"))
    }

    assert {name for name in found if not name.startswith("generators.engine.simulator")} == set()
