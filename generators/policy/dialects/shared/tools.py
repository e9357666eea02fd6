"""Tools: a model family's names of actions, with arguments in the family's order.

The arguments of a tool are a pydantic model. Its fields have the names of the action's fields, and
the family's names as aliases. A tool expresses an action only if it can express all of it: a part
that it has no argument for must have its default, or the value that the tool fixes. So formatting
and parsing are two sides of one model.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError
from pydantic.fields import FieldInfo
from typing_extensions import override

from generators.policy.dialects.coordinates import Convention, Frame
from generators.policy.dialects.protocol import InexpressibleAction, Rationale, UnreadableReply
from generators.policy.dialects.settings import FunctionSettings, HoloSettings, Holotron3Settings
from generators.policy.dialects.shared.arguments import (
    ArgumentType,
    Choice,
    Integer,
    Scale,
    Text,
    quote,
)
from generators.policy.dialects.shared.json_schema import nullable, object_schema
from generators.policy.dialects.shared.sanitize import replace_control_chars
from schemas.base import JsonObject
from schemas.episodes.action import ACTION, Action, Direction, target_point
from schemas.errors import BadConfig

Element = Annotated[str, Text(repairs=True)]
"""A description of the target, for readers; it has no effect."""

NOTCH = 100
"""Px of the model's display by which one click of the wheel scrolls, for families that count clicks."""

_ANYWHERE = Scale(
    frame=Frame(
        viewport_width=10**6,
        viewport_height=10**6,
        picture_width=10**6,
        picture_height=10**6,
        sent_width=10**6,
        sent_height=10**6,
    ),
    convention=Convention.PX,
)
"""A picture that has every point: by it the tool of an action is known without its own picture."""

_NOTES = frozenset({"element"})
"""Arguments that belong to no field of an action."""


class ToolArguments(BaseModel):
    """The checked arguments of one call; a tool of this class takes none."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the family's names of the arguments, in order."""
        return tuple(_alias(name, info) for name, info in cls.model_fields.items())

    @classmethod
    def schemas(cls, scale: Scale) -> dict[str, JsonObject]:
        """Return the JSON schema of each argument."""
        named = {}
        for name, info in cls.model_fields.items():
            schema = _type_of(info).schema(scale)
            may_be_null = not info.is_required() and info.default is None
            named[_alias(name, info)] = nullable(schema) if may_be_null else schema
        return named

    def to_json(self) -> JsonObject:
        """Return the arguments as the model writes them, all of them, in order."""
        return dict(zip(self.names(), (value for _, value in self), strict=True))

    @property
    def named_element(self) -> str | None:
        """The description of the target that the call gives; None: it gives none."""
        named = self.to_json().get("element")
        return named if isinstance(named, str) and named else None

    def action_fields(self, scale: Scale) -> JsonObject:
        """Return the fields of the action."""
        return {
            name: _type_of(type(self).model_fields[name]).to_action(value, scale)
            for name, value in self
            if name not in _NOTES and value is not None
        }

    @classmethod
    def take(cls, fields: JsonObject, scale: Scale, *, element: str) -> Self:
        """Remove the fields that have an argument from `fields`, and return the arguments.

        Raises:
            InexpressibleAction: a value is out of its argument's range.
        """
        values: JsonObject = {}
        for name, info in cls.model_fields.items():
            value = element if name in _NOTES else fields.pop(name)
            if value is not None or info.is_required():
                value = _type_of(info).from_action(value, scale)
            values[_alias(name, info)] = value
        return cls.model_validate(values, context=scale)


def _alias(name: str, info: FieldInfo) -> str:
    return info.alias or name


def _type_of(info: FieldInfo) -> ArgumentType:
    return next(kind for kind in info.metadata if isinstance(kind, ArgumentType))


class PageScroll(ToolArguments):
    """Scrolling without an amount: by a page, as the key for it does, 7/8 of the viewport."""

    direction: Annotated[str, Choice(tuple(Direction))]

    @override
    def action_fields(self, scale: Scale) -> JsonObject:
        return {"direction": self.direction, "amount": page_px(self.direction, scale)}

    @override
    @classmethod
    def take(cls, fields: JsonObject, scale: Scale, *, element: str) -> Self:
        direction = str(fields.pop("direction"))
        if fields.pop("amount") != page_px(direction, scale):
            raise InexpressibleAction("it scrolls by exactly one page")
        return cls.model_validate({"direction": direction}, context=scale)


def page_px(direction: str, scale: Scale) -> int:
    """Return how many CSS px a page is in a direction: what the key for it scrolls."""
    upright = direction in (Direction.UP, Direction.DOWN)
    size = scale.frame.viewport_height if upright else scale.frame.viewport_width
    return max(1, size * 7 // 8)


class WaitWholeSeconds(ToolArguments):
    """Waiting by whole seconds, up to ten, as H Company's published `wait` takes them."""

    seconds: Annotated[int, Integer(0, 10)]

    @override
    def action_fields(self, scale: Scale) -> JsonObject:
        return {"ms": max(1, self.seconds * 1_000)}

    @override
    @classmethod
    def take(cls, fields: JsonObject, scale: Scale, *, element: str) -> Self:
        seconds, milliseconds = divmod(_ms(fields), 1_000)
        if milliseconds:
            raise InexpressibleAction("it waits by whole seconds")
        return super().take({"seconds": seconds}, scale, element=element)


class WaitExactly(ToolArguments):
    """Waiting to the millisecond, up to ten minutes."""

    seconds: Annotated[int, Integer(0, 600)]
    milliseconds: Annotated[int, Integer(0, 999)] = 0

    @override
    def action_fields(self, scale: Scale) -> JsonObject:
        return {"ms": max(1, self.seconds * 1_000 + self.milliseconds)}

    @override
    @classmethod
    def take(cls, fields: JsonObject, scale: Scale, *, element: str) -> Self:
        seconds, milliseconds = divmod(_ms(fields), 1_000)
        split: JsonObject = {"seconds": seconds, "milliseconds": milliseconds}
        return super().take(split, scale, element=element)


def _ms(fields: JsonObject) -> int:
    total = fields.pop("ms")
    assert isinstance(total, int)  # noqa: S101 - a wait's own field
    return total


@dataclass(frozen=True)
class Tool:
    """One tool: its name, its arguments, and its action."""

    name: str
    """The name in the family's prompt and replies."""
    description: str
    """For the system prompt."""
    action: str
    """The action's `type`."""
    arguments: type[ToolArguments] = ToolArguments
    """The class of its arguments."""
    fixed: Mapping[str, JsonValue] = field(default_factory=dict)
    """Fields of the action that always have these values."""

    def schema(self, name_key: str, scale: Scale) -> JsonObject:
        """Return the JSON schema of a call."""
        name: JsonObject = {"type": "string", "enum": [self.name]}
        return object_schema({name_key: name, **self.arguments.schemas(scale)})

    def signature(self) -> str:
        """Return the tool as the system prompt lists it."""
        return f"{self.name}({', '.join(self.arguments.names())})"

    def parse(self, given: JsonObject, scale: Scale) -> ToolArguments:
        """Return the arguments that a model gave, checked.

        Raises:
            UnreadableReply: one is missing, unknown or invalid.
        """
        known = self.arguments.names()
        for name in given:
            if name not in known:
                takes = ", ".join(known) or "nothing"
                raise UnreadableReply(f"'{self.name}' has no {quote(name)}; it takes {takes}")
        try:
            return self.arguments.model_validate(given, context=scale)
        except ValidationError as error:
            first = error.errors()[0]
            problem = first.get("ctx", {}).get("error", "is missing")
            raise UnreadableReply(f"{self.name}: '{first['loc'][0]}' {problem}") from error

    def to_action(self, arguments: ToolArguments, scale: Scale) -> Action:
        """Return the action that checked arguments mean.

        Raises:
            UnreadableReply: they contradict each other.
        """
        fields = {"type": self.action, **self.fixed, **arguments.action_fields(scale)}
        try:
            return ACTION.validate_python(fields)
        except ValidationError as error:
            reason = error.errors()[0]["msg"].removeprefix(f"Value error, {self.action}: ")
            raise UnreadableReply(f"{self.name}: {reason}") from error

    def from_action(self, action: Action, scale: Scale, *, element: str) -> ToolArguments | None:
        """Return the arguments for `action`; None if the tool cannot express all of it.

        Raises:
            InexpressibleAction: a value is out of its argument's range.
        """
        if action.type != self.action:
            return None
        fields: JsonObject = action.model_dump(mode="json", exclude={"type"})
        arguments = self.arguments.take(fields, scale, element=element)
        defaults = {name: info.default for name, info in type(action).model_fields.items()}
        if any(value != self.fixed.get(name, defaults[name]) for name, value in fields.items()):
            return None
        return arguments


def find_tool(tools: tuple[Tool, ...], name: JsonValue) -> Tool:
    """Return the tool of that name.

    Raises:
        UnreadableReply: no tool has it; the error lists the tools.
    """
    for tool in tools:
        if tool.name == name:
            return tool
    raise UnreadableReply(
        f"there is no tool {quote(name)}; use one of {', '.join(tool.name for tool in tools)}"
    )


def tools_left(tools: tuple[Tool, ...], leave_out: tuple[str, ...]) -> tuple[Tool, ...]:
    """Return the tools without those that a configuration leaves out.

    Raises:
        BadConfig: there is no such tool, or none is left.
    """
    known = [tool.name for tool in tools]
    for name in leave_out:
        if name not in known:
            raise BadConfig(
                f"policy.dialect_options.leave_out: there is no tool '{name}'; "
                f"there are {', '.join(known)}"
            )
    kept = tuple(tool for tool in tools if tool.name not in leave_out)
    if not kept:
        raise BadConfig("policy.dialect_options.leave_out: a tool must be left")
    return kept


def offered_tools(
    published: tuple[Tool, ...],
    added: tuple[Tool, ...],
    settings: HoloSettings | Holotron3Settings | FunctionSettings,
) -> tuple[Tool, ...]:
    """Return a family's tools as it was published and, unless `extended` is switched off, those added to them.

    Raises:
        BadConfig: a tool left out does not exist, or none is left.
    """
    tools = (*published, *added) if settings.extended else published
    return tools_left(tools, settings.leave_out)


def target_words(action: Action, rationale: Rationale) -> str:
    """Return the description of an action's target: the rationale's, or one for a caller that gives none."""
    if named := replace_control_chars(rationale.element or ""):
        return named
    if target_point(action) is not None:
        return "the element at this point"
    return "the page" if action.type == "scroll" else "the focused element"


def choose_tool(
    tools: tuple[Tool, ...], action: Action, scale: Scale, *, element: str
) -> tuple[Tool, ToolArguments]:
    """Return the first tool that can express all of `action`, and its arguments.

    Raises:
        InexpressibleAction: none can; the text says why.
    """
    why = f"no tool does '{action.type}'"
    for tool in tools:
        try:
            arguments = tool.from_action(action, scale, element=element)
        except InexpressibleAction as error:
            why = f"{tool.name}: {error}"
            continue
        if arguments is not None:
            return tool, arguments
        if tool.action == action.type:
            why = f"{tool.name} cannot express all of this '{action.type}'"
    raise InexpressibleAction(why)


def tool_name(tools: tuple[Tool, ...], action: Action) -> str:
    """Return the name under which the result of an action is reported to the model: that of the tool by which it was called."""
    try:
        return choose_tool(tools, action, _ANYWHERE, element="")[0].name
    except InexpressibleAction:
        fields = action.model_dump(mode="json")
        named = (tool for tool in tools if tool.action == action.type)
        fits = (one for one in named if all(fields[k] == v for k, v in one.fixed.items()))
        return next((tool.name for tool in fits), action.type)
