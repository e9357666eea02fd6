"""Tools: what a family calls an action, with its arguments in the family's order.

A tool says an action only if it can say all of it: whatever of the action it has no argument for
must be at its default, or at what the tool fixes. So saying and reading are two sides of one
table, and what a family cannot say falls out of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue, ValidationError

from generators.policy.dialects.protocol import CannotSay, Unreadable
from generators.policy.dialects.shared import json_schema
from generators.policy.dialects.shared.arguments import Kind, Scale, Text, Whole, quoted
from schemas.action import ACTION, Action, Direction
from schemas.base import JsonObject

Arguments = dict[str, JsonValue]
"""What a model writes beside a tool's name."""


@dataclass(frozen=True)
class Argument:
    """An argument of a tool."""

    name: str
    """As the family calls it."""
    kind: Kind
    """What it can be."""
    holds: str | None = None
    """The action's field it stands for; None: words for the reader, of no effect."""
    optional: bool = False
    """It may be null."""
    default: JsonValue = None
    """What a reply without it means; None: it must be there, or is null where it may be."""

    def schema(self, scale: Scale) -> JsonObject:
        """Return its JSON schema."""
        whole = self.kind.schema(scale)
        return json_schema.nullable(whole) if self.optional else whole

    def check(self, given: Mapping[str, JsonValue], scale: Scale) -> JsonValue:
        """Return what a model wrote for it, in its canonical form.

        Raises:
            Unreadable: it is missing or is not what it must be.
        """
        if self.name not in given and self.default is None and not self.optional:
            raise Unreadable(f"'{self.name}' is missing")
        value = given.get(self.name, self.default)
        if value is None and self.optional:
            return None
        try:
            return self.kind.check(value, scale)
        except Unreadable as error:
            raise Unreadable(f"'{self.name}' {error}") from error


@dataclass(frozen=True)
class Tool:
    """One tool: its name, its arguments, and the action it stands for."""

    name: str
    """As the family calls it."""
    does: str
    """What it does, for the system prompt."""
    action: str
    """The action's `type`."""
    arguments: tuple[Argument, ...] = ()
    """In order."""
    fixed: Mapping[str, JsonValue] = field(default_factory=dict)
    """Fields of the action that are always so."""

    def schema(self, name_key: str, scale: Scale) -> JsonObject:
        """Return the JSON schema of a call."""
        named = {argument.name: argument.schema(scale) for argument in self.arguments}
        return json_schema.form({name_key: json_schema.choice((self.name,)), **named})

    def signature(self) -> str:
        """Return the tool as the system prompt lists it."""
        return f"{self.name}({', '.join(argument.name for argument in self.arguments)})"

    def check(self, given: Mapping[str, JsonValue], scale: Scale) -> Arguments:
        """Return all arguments in order, in their canonical form.

        Raises:
            Unreadable: one is missing, unknown, or is not what it must be.
        """
        known = [argument.name for argument in self.arguments]
        for name in given:
            if name not in known:
                takes = ", ".join(known) or "nothing"
                raise Unreadable(f"'{self.name}' has no {quoted(name)}; it takes {takes}")
        try:
            return {argument.name: argument.check(given, scale) for argument in self.arguments}
        except Unreadable as error:
            raise Unreadable(f"{self.name}: {error}") from error

    def read(self, checked: Arguments, scale: Scale) -> Action:
        """Return the action that checked arguments mean.

        Raises:
            Unreadable: they do not fit together.
        """
        fields: Arguments = {"type": self.action, **self.fixed, **self.fields(checked, scale)}
        try:
            return ACTION.validate_python(fields)
        except ValidationError as error:
            reason = error.errors()[0]["msg"].removeprefix(f"Value error, {self.action}: ")
            raise Unreadable(f"{self.name}: {reason}") from error

    def say(self, action: Action, scale: Scale, *, element: str) -> Arguments | None:
        """Return the arguments that mean `action`; None if the tool is for other actions.

        Raises:
            CannotSay: a part of it lies beyond what the tool's arguments can be.
        """
        if action.type != self.action:
            return None
        held: Arguments = action.model_dump(mode="json", exclude={"type"})
        said = self.words(held, scale)
        defaults = {name: info.default for name, info in type(action).model_fields.items()}
        if any(value != self.fixed.get(name, defaults[name]) for name, value in held.items()):
            return None
        return {
            argument.name: element if argument.holds is None else said[argument.name]
            for argument in self.arguments
        }

    def fields(self, checked: Arguments, scale: Scale) -> Arguments:
        """Return the action's fields that checked arguments stand for."""
        return {
            argument.holds: argument.kind.read(value, scale)
            for argument in self.arguments
            if argument.holds is not None and (value := checked[argument.name]) is not None
        }

    def words(self, held: Arguments, scale: Scale) -> Arguments:
        """Take the fields that there are arguments for out of `held`; return their arguments.

        Raises:
            CannotSay: one lies beyond what its argument can be.
        """
        said: Arguments = {}
        for argument in self.arguments:
            if argument.holds is None:
                continue
            value = held.pop(argument.holds)
            if value is None and argument.optional:
                said[argument.name] = None
            else:
                said[argument.name] = argument.kind.say(value, scale)
        return said


@dataclass(frozen=True)
class PageScroll(Tool):
    """Scrolling without an amount: by a page, as the key for it does, 7/8 of the viewport."""

    def fields(self, checked: Arguments, scale: Scale) -> Arguments:
        """Return the direction, and how far a page is in it."""
        direction = checked["direction"]
        return {"direction": direction, "amount": page_of(str(direction), scale)}

    def words(self, held: Arguments, scale: Scale) -> Arguments:
        """Return the direction, if the amount is a page.

        Raises:
            CannotSay: it is not.
        """
        direction = str(held.pop("direction"))
        if held.pop("amount") != page_of(direction, scale):
            raise CannotSay("it scrolls by a page and by nothing else")
        return {"direction": direction}


def page_of(direction: str, scale: Scale) -> int:
    """Return how many CSS px a page is in a direction: what the key for it scrolls."""
    upright = direction in (Direction.UP, Direction.DOWN)
    size = scale.frame.viewport_height if upright else scale.frame.viewport_width
    return max(1, size * 7 // 8)


@dataclass(frozen=True)
class WaitSeconds(Tool):
    """Waiting by whole seconds, and by milliseconds besides where there is an argument for them."""

    def fields(self, checked: Arguments, scale: Scale) -> Arguments:
        """Return the milliseconds, at least one."""
        del scale
        seconds, ms = checked["seconds"], checked.get("milliseconds", 0)
        assert isinstance(seconds, int)  # noqa: S101 - checked before
        assert isinstance(ms, int)  # noqa: S101 - checked before
        return {"ms": max(1, seconds * 1_000 + ms)}

    def words(self, held: Arguments, scale: Scale) -> Arguments:
        """Return the seconds, and the milliseconds over.

        Raises:
            CannotSay: it is too long, or no whole number of seconds where it must be.
        """
        total = held.pop("ms")
        assert isinstance(total, int)  # noqa: S101 - an action's own field
        split: Arguments = {"seconds": total // 1_000, "milliseconds": total % 1_000}
        kinds = {argument.name: argument.kind for argument in self.arguments}
        if "milliseconds" not in kinds and split["milliseconds"]:
            raise CannotSay("it waits by whole seconds")
        return {name: kind.say(split[name], scale) for name, kind in kinds.items()}


ELEMENT = Argument("element", Text(mends=True))
"""What is acted on, in words."""

SECONDS = Argument("seconds", Whole(0, 10), "ms")
"""As H Company's published `wait` takes it."""


def find(tools: tuple[Tool, ...], name: JsonValue) -> Tool:
    """Return the tool of that name.

    Raises:
        Unreadable: there is none; the known ones are named.
    """
    for tool in tools:
        if tool.name == name:
            return tool
    raise Unreadable(
        f"there is no tool {quoted(name)}; use one of {', '.join(tool.name for tool in tools)}"
    )


def choose(
    tools: tuple[Tool, ...], action: Action, scale: Scale, *, element: str
) -> tuple[Tool, Arguments]:
    """Return the first tool that can say all of `action`, and its arguments.

    Raises:
        CannotSay: none can, and why.
    """
    why = f"it has no words for '{action.type}'"
    for tool in tools:
        try:
            said = tool.say(action, scale, element=element)
        except CannotSay as error:
            why = f"{tool.name}: {error}"
            continue
        if said is not None:
            return tool, said
        if tool.action == action.type:
            why = f"{tool.name} cannot say all of this '{action.type}'"
    raise CannotSay(why)


def called(tools: tuple[Tool, ...], action: Action) -> str:
    """Return the name of the tool that an action is told back under."""
    held = action.model_dump(mode="json")
    for tool in tools:
        if tool.action == action.type and all(held[k] == v for k, v in tool.fixed.items()):
            return tool.name
    return action.type
