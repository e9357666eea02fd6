"""Calls of functions as lines of Python, read without running any.

A line is a call of a named function with literal arguments; anything else is refused.
"""

import ast
from collections.abc import Sequence

from pydantic import Field, JsonValue

from generators.policy.dialects.protocol import UnreadableReply
from generators.policy.dialects.shared.arguments import quote
from generators.policy.dialects.shared.sanitize import (
    TAG_OPENING,
    break_words_in_reply,
    replace_control_chars,
)
from schemas.base import JsonObject, Record

MAX_CODE_CHARS = 100_000
"""The longest code that is read, in characters."""


class PythonCall(Record):
    """One call."""

    name: str
    """The function with its module, as `pyautogui.click`."""
    given: tuple[JsonValue, ...] = ()
    """Its arguments without a name."""
    named: JsonObject = Field(default_factory=dict)
    """Its arguments by name."""


def read_python_calls(code: str) -> list[PythonCall]:
    """Return the calls of a piece of code; lines that import are passed over.

    Raises:
        UnreadableReply: it is no Python, or holds anything but calls with literal arguments.
    """
    if len(code) > MAX_CODE_CHARS:
        raise UnreadableReply(f"the code has {len(code)} characters; give one short action")
    try:
        lines = ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UnreadableReply(f"the code is broken Python: {quote(str(error))}") from error
    return [_call(line) for line in lines if not isinstance(line, ast.Import | ast.ImportFrom)]


def write_python_calls(calls: Sequence[PythonCall], switch_words: Sequence[str]) -> str:
    """Return calls as lines of Python in which no word of `switch_words` is whole and no tag begins."""
    lines = "\n".join(map(_line, calls))
    plain = TAG_OPENING.sub(lambda _: "\\u003c", replace_control_chars(lines))
    return break_words_in_reply(plain, switch_words)


def _line(call: PythonCall) -> str:
    given = [*map(repr, call.given), *(f"{name}={value!r}" for name, value in call.named.items())]
    return f"{call.name}({', '.join(given)})"


def _call(line: ast.stmt) -> PythonCall:
    match line:
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(value=ast.Name(id=module), attr=name),
                args=args,
                keywords=keywords,
            )
        ):
            given = tuple(_literal(arg) for arg in args)
            named = {str(word.arg): _literal(word.value) for word in keywords}
            return PythonCall(name=f"{module}.{name}", given=given, named=named)
        case _:
            raise UnreadableReply(
                f"'{quote(ast.unparse(line))}' is no call of one of the functions"
            )


def _literal(node: ast.expr) -> JsonValue:
    try:
        value: object = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
        raise UnreadableReply("an argument is no plain text, number or list") from error
    if isinstance(value, tuple):
        value = list(value)
    if isinstance(value, list) and all(isinstance(part, str | int | float) for part in value):
        return value
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise UnreadableReply(f"an argument is no plain text, number or list: {quote(repr(value))}")
