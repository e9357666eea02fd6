"""The words of a client, read as a decision: an action of ours, or a reply in a model family's dialect.

A message is `{"action": {"type": "click", "x": 10, "y": 20}}`, with `thought` and `note` where the client has them, or
`{"reply": "…", "dialect": "holotron"}`, whose points are in the dialect's own convention. It may say which `step` it
decides, and tell the `call` of its engine that led to it.
"""

from datetime import UTC, datetime
from functools import cache
from typing import Annotated

from pydantic import Field, JsonValue, TypeAdapter, ValidationError

from generators.policy.dialects.coordinates import frame_of
from generators.policy.dialects.protocol import Dialect, UnreadableReply
from generators.policy.dialects.registry import make_dialect
from generators.policy.protocol import Decision
from schemas.base import JsonObject, Record
from schemas.episodes.action import Action, NoAction
from schemas.episodes.call import Call
from schemas.episodes.episode import ThoughtSource
from schemas.episodes.viewport import Viewport
from schemas.errors import BadConfig, NotFound
from schemas.packed import Logprobs, TokenIds

MAX_TEXT = 200_000
"""The maximum number of characters of a reply, a thought or a note."""

_ACTION: TypeAdapter[Action] = TypeAdapter(Action)

_Text = Annotated[str, Field(max_length=MAX_TEXT)]


class BadMessage(ValueError):
    """A message of a client cannot be read; the text says what is wrong and what was expected."""


class ClientCall(Record):
    """A call of the client's own engine, as far as the client tells of it."""

    weights_version: str | None = Field(default=None, max_length=200)
    """The version of the weights that wrote the reply; None: not told."""
    model: str | None = Field(default=None, max_length=200)
    """The model's name; None: not told."""
    prompt_token_ids: TokenIds | None = None
    """The ids of the prompt's tokens; None: not told."""
    completion_token_ids: TokenIds | None = None
    """The ids of the reply's tokens; None: not told."""
    completion_logprobs: Logprobs | None = None
    """The logarithm of each of these tokens' probability; None: not told."""
    finish_reason: str | None = Field(default=None, max_length=100)
    """Why the engine stopped; None: not told."""


class StepMessage(Record):
    """A client's message about one step."""

    step: int | None = Field(default=None, ge=0)
    """The number of the action, from 0; None: the next one, which cannot be repeated safely."""
    action: JsonValue = None
    """An action of ours; None where `reply` has it."""
    reply: _Text | None = None
    """A model's reply in the words of `dialect`; None where `action` has it."""
    dialect: str | None = Field(default=None, max_length=100)
    """The dialect of `reply`; None: that of the configuration."""
    thought: _Text | None = None
    """Why the client chose the action; None: not told."""
    note: _Text | None = None
    """What it wrote down for later; None: nothing."""
    call: ClientCall | None = None
    """The call of its engine that led to the action; None: not told."""


_OTHERS = {"step", "reply", "dialect", "thought", "note", "call"}


def read_message(data: object) -> StepMessage:
    """Return a client's message; an action may stand in it by itself, without the word `action`.

    Raises:
        BadMessage: it is none.
    """
    if not isinstance(data, dict):
        raise BadMessage(f"expected an object with an action, got {type(data).__name__}")
    told = {str(key): value for key, value in data.items() if key != "metadata"}
    if "type" in told and "action" not in told:
        rest = {key: told.pop(key) for key in tuple(told) if key in _OTHERS}
        told = {**rest, "action": told}
    try:
        message = StepMessage.model_validate(told)
    except ValidationError as error:
        raise BadMessage(mistakes_in(error)[0]) from None
    if (message.action is None) == (message.reply is None):
        raise BadMessage('expected either "action" or "reply", and one of them only')
    return message


def decision_of(message: StepMessage, viewport: Viewport, dialect: str | None) -> Decision:
    """Return the decision that a message states; `dialect` is that of replies that name none.

    Raises:
        BadMessage: the action is none, or the reply cannot be read.
    """
    if message.reply is not None:
        return _decision_of_reply(message, viewport, message.dialect or dialect)
    try:
        action = _ACTION.validate_python(message.action)
    except ValidationError as error:
        raise BadMessage(mistakes_in(error)[0]) from None
    if isinstance(action, NoAction):
        raise BadMessage("the action 'none' is that of the last row; no client takes it")
    return Decision(
        action=action,
        thought=message.thought,
        thought_source=ThoughtSource.POLICY if message.thought else None,
        note=message.note,
    )


def _decision_of_reply(message: StepMessage, viewport: Viewport, name: str | None) -> Decision:
    dialect = _dialect(name)
    reply = message.reply or ""
    frame = frame_of(viewport, dialect.sent_size(*viewport.picture))
    try:
        parsed = dialect.parse(reply, frame)
    except UnreadableReply as error:
        raise BadMessage(f"the reply is none of the dialect '{dialect.name}': {error}") from None
    thought = message.thought or parsed.thought
    return Decision(
        action=parsed.action,
        thought=thought,
        thought_source=ThoughtSource.POLICY if thought else None,
        note=message.note or parsed.note,
        raw_reply=reply,
    )


def _dialect(name: str | None) -> Dialect:
    try:
        return make_dialect(name)
    except (NotFound, BadConfig) as error:
        raise BadMessage(str(error)) from None


def call_of(message: StepMessage, *, step: int, number: int) -> Call | None:
    """Return the row of the client's call for the action `step`, the `number`th of its episode; None: it tells none."""
    told = message.call
    if told is None:
        return None
    ids, logprobs = told.completion_token_ids, told.completion_logprobs
    if ids is not None and logprobs is not None and len(ids) != len(logprobs):
        raise BadMessage(f"call: {len(ids)} token ids and {len(logprobs)} log-probabilities")
    return Call(
        step=step,
        call=number,
        role="policy",
        model=told.model,
        weights_version=told.weights_version,
        reply=message.reply,
        finish_reason=told.finish_reason,
        prompt_tokens=None if told.prompt_token_ids is None else len(told.prompt_token_ids),
        completion_tokens=None if ids is None else len(ids),
        prompt_token_ids=told.prompt_token_ids,
        completion_token_ids=ids,
        completion_logprobs=logprobs,
        at=datetime.now(UTC),
    )


def action_schema() -> JsonObject:
    """Return the JSON schema of a client's message about a step."""
    schema: JsonObject = StepMessage.model_json_schema()
    actions = _ACTION.json_schema(ref_template="#/$defs/{model}")
    defs = {**schema.pop("$defs", {}), **actions.pop("$defs", {})}  # type: ignore[dict-item]
    schema["properties"]["action"] = {**actions, "default": None}  # type: ignore[index,call-overload]
    return {**schema, "$defs": defs}


@cache
def action_tools() -> tuple[JsonObject, ...]:
    """Return the actions as MCP tools: a name, a sentence, and the schema of the arguments."""
    defs = _ACTION.json_schema(ref_template="#/$defs/{model}")["$defs"]
    tools: list[JsonObject] = []
    for schema in defs.values():
        properties = dict(schema.get("properties", {}))
        name = properties.pop("type", {}).get("const")
        if name is not None and name != "none":
            required = [key for key in schema.get("required", []) if key != "type"]
            tools.append(
                {
                    "name": name,
                    "description": schema.get("description", ""),
                    "inputSchema": {
                        "type": "object",
                        "properties": properties,
                        "required": required,
                        "$defs": defs,
                    },
                }
            )
    return tuple(tools)


def mistakes_in(error: ValidationError) -> list[str]:
    """Return what is wrong with a client's words, a sentence for each mistake, with its place."""
    places = [
        (".".join(map(str, one["loc"])), one["msg"]) for one in error.errors(include_url=False)
    ]
    return [f"{where}: {what}" if where else what for where, what in places]
