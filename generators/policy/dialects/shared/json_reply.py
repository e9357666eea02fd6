"""Finds the JSON objects in a reply, which are one as a rule, and formats JSON for prompts.

Models wrap their object in code fences, reason before it, and add a sentence after it; all of that is
accepted. Two objects that differ, a repeated key and invalid JSON are refused.
"""

import json
import math
import re
from collections.abc import Iterator
from typing import Never

from pydantic import JsonValue

from generators.policy.dialects.protocol import UnreadableReply
from generators.policy.dialects.shared.sanitize import TAG_OPENING, one_line
from schemas.base import JsonObject

MAX_REPLY_CHARS = 2_000_000
"""The longest reply that is parsed, in characters."""

_MAX_STARTS = 50
"""Braces that are tried as the start of an object."""

_THINKING = re.compile(r"\A.*</think>|<think>.*?</think>|<think>.*\Z", re.DOTALL)


def strip_thinking(reply: str) -> str:
    """Return a reply without the thinking that a server left in it.

    Raises:
        UnreadableReply: it is empty, or too long to be an answer.
    """
    if len(reply) > MAX_REPLY_CHARS:
        raise UnreadableReply(f"the reply has {len(reply)} characters; give one short answer")
    text = reply.strip()
    if not text.startswith("{"):
        text = _THINKING.sub("", text).strip()
    if not text:
        raise UnreadableReply("the reply is empty")
    return text


def find_json_object(text: str, *, with_key: str) -> JsonObject:
    """Return the one JSON object in `text` that has `with_key`.

    Raises:
        UnreadableReply: the text has none, it is broken, or there are several that differ.
    """
    found = find_json_objects(text, with_key=with_key)
    if len(found) > 1:
        raise UnreadableReply(f"the reply holds {len(found)} different answers; give exactly one")
    return found[0]


def find_json_objects(text: str, *, with_key: str) -> list[JsonObject]:
    """Return the JSON objects in `text` that have `with_key`, each once, in order.

    Raises:
        UnreadableReply: the text has none, or it is broken.
    """
    seen = list(_values(text))
    found = list[JsonObject]()
    for value in seen:
        if isinstance(value, dict) and with_key in value and value not in found:
            found.append(value)
    if not found:
        problem = f"has no '{with_key}'" if seen else "holds no JSON object"
        broken = next((value for value in seen if isinstance(value, json.JSONDecodeError)), None)
        if broken is not None:
            problem = f"is broken JSON: {broken.msg} at character {broken.pos}"
        raise UnreadableReply(
            f"the reply {problem}; give one JSON object with '{with_key}' and no more"
        )
    return found


def _values(text: str) -> Iterator[JsonValue | json.JSONDecodeError]:
    """Yield the JSON value at each of the first braces of `text`, or the error of decoding it."""
    at = text.find("{")
    for _ in range(_MAX_STARTS):
        if at < 0:
            return
        value: JsonValue | json.JSONDecodeError
        try:
            value, end = _DECODER.raw_decode(text, at)
        except RecursionError as error:
            raise UnreadableReply("the reply is nested too deeply; give one flat object") from error
        except json.JSONDecodeError as error:
            value, end = error, at + 1
        except UnreadableReply:
            raise
        except ValueError as error:
            raise UnreadableReply("the reply has a number with too many digits") from error
        yield value
        at = text.find("{", end)


def _object(pairs: list[tuple[str, JsonValue]]) -> JsonObject:
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise UnreadableReply(
            f"'{one_line(twice, 40, switch_words=())}' is given twice in one object"
        )
    return made


def _no_number(word: str) -> Never:
    raise UnreadableReply(f"{word} is no number; give whole numbers")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise UnreadableReply("a number is too large; give whole numbers within their bounds")
    return value


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=_finite, parse_constant=_no_number, strict=False
)
"""Accepts raw line ends in texts, as models write them; refuses NaN, which JSON does not have."""


def json_line(value: JsonValue) -> str:
    """Return `value` as one line of JSON, its keys in their own order.

    Angle brackets that may begin a tag are escaped, so that the history cannot end a tag or a turn.
    """
    line = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return TAG_OPENING.sub(lambda _: "\\u003c", line)
