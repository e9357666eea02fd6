"""The simulator speaks every dialect: the dialect parses its made-up replies and its targets."""

import json

import pytest
from support.servers.engine_http import PNG, ask, chat, engine, picture, under, user

from generators.engine.client.response import read_completion
from generators.engine.simulator.options import Coordinates, SimulatorOptions
from generators.policy.dialects.coordinates import Convention, Frame
from generators.policy.dialects.protocol import Dialect
from generators.policy.dialects.registry import DIALECTS, make_dialect, options_to_try
from schemas.base import JsonObject
from schemas.episodes.action import Click

VIEWPORT = (1_288, 728)
SPOKEN = {
    Convention.PX: Coordinates.PX,
    Convention.RESIZED: Coordinates.PX,  # the client has resized already
    Convention.THOUSAND: Coordinates.THOUSAND,
    Convention.UNIT: Coordinates.UNIT,
}


def _frame(dialect: Dialect) -> Frame:
    width, height = VIEWPORT
    sent_width, sent_height = dialect.sent_size(*VIEWPORT)
    return Frame(
        viewport_width=width,
        viewport_height=height,
        picture_width=width,
        picture_height=height,
        sent_width=sent_width,
        sent_height=sent_height,
    )


def _body(dialect: Dialect, frame: Frame, instruction: str, url: str) -> JsonObject:
    system: JsonObject = {"role": "system", "content": dialect.system_prompt(frame)}
    schema = dialect.reply_schema(frame)
    fields: JsonObject = {} if schema is None else {"response_format": under(schema)}
    if functions := dialect.functions(frame):
        fields["tools"] = list(functions)
    return chat(system, user(dialect.task_message(instruction), url), **fields)


def _said(reply: JsonObject) -> str:
    """Return a reply as the client reads it, its calls as text."""
    return read_completion(json.dumps(reply).encode()).text


@pytest.mark.parametrize("name", list(DIALECTS))
async def test_what_it_makes_up_is_understood_in_every_dialect(name: str) -> None:
    dialect = make_dialect(name, options_to_try(name))
    frame = _frame(dialect)
    url = picture(frame.sent_width, frame.sent_height)
    async with engine(SimulatorOptions(coordinates=SPOKEN[dialect.convention])) as (_, client):
        texts = [
            _said(await ask(client, _body(dialect, frame, f"task {number}", url)))
            for number in range(25)
        ]

    understood = [dialect.parse(text, frame).action for text in texts]

    assert len({str(action) for action in understood}) > 5


@pytest.mark.parametrize("name", list(DIALECTS))
async def test_a_target_is_clicked_in_every_dialect(name: str) -> None:
    dialect = make_dialect(name, options_to_try(name))
    frame = _frame(dialect)
    across, down = 0.25, 0.6
    target = (across * frame.sent_width, down * frame.sent_height, "#c81e5a")
    url = picture(frame.sent_width, frame.sent_height, target=target, kind=PNG)
    async with engine(SimulatorOptions(coordinates=SPOKEN[dialect.convention])) as (_, client):
        reply = await ask(client, _body(dialect, frame, "Click the middle of #c81e5a.", url))

    action = dialect.parse(_said(reply), frame).action

    assert isinstance(action, Click)
    assert action.x == pytest.approx(across * VIEWPORT[0], abs=2)
    assert action.y == pytest.approx(down * VIEWPORT[1], abs=2)
