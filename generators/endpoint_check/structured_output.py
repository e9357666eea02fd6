"""Whether an endpoint makes the model follow a schema, and what its strings hold then.

A server may ignore a schema in silence, so it is asked for something that no model would say by
chance, several times and with a temperature. A grammar may also let raw control characters into
strings, which is no JSON; our own reader takes them, others do not.
"""

import asyncio
import json

from generators.endpoint_check.endpoint import CheckedEndpoint, user
from generators.endpoint_check.result import CheckResult, Fitness
from generators.engine.protocol import Reply
from schemas.base import JsonObject

SAMPLES = 4
"""Replies to each question."""

_WORDS = ("vlorpic", "quandish", "mebtual")
_LEAST, _MOST = 40_321, 40_329
_PROBE_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "flavour": {"type": "string", "enum": list(_WORDS)},
        "crumbs": {"type": "integer", "minimum": _LEAST, "maximum": _MOST},
    },
    "required": ["flavour", "crumbs"],
}
_TEXT: JsonObject = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
}


async def check_structured_output(subject: CheckedEndpoint) -> list[CheckResult]:
    """Say whether schemas are followed, and whether strings are JSON's.

    Raises:
        RolloutFailure: the endpoint gave no reply.
        RequestRefused: the server does not take such a request.
    """
    plain = await _samples(subject, "Say in a sentence what a web browser is.", _PROBE_SCHEMA, 128)
    texts = await _samples(
        subject, "Write a small table with a tab between its cells, three lines.", _TEXT, 192
    )
    return [_schema_result(subject, plain), _string_result(texts)]


async def _samples(
    subject: CheckedEndpoint, question: str, schema: JsonObject, tokens: int
) -> list[Reply]:
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(
                subject.ask(
                    [user(question)], tokens=tokens, schema=schema, temperature=1.0, seed=seed
                )
            )
            for seed in range(SAMPLES)
        ]
    return [task.result() for task in tasks]


def _schema_result(subject: CheckedEndpoint, replies: list[Reply]) -> CheckResult:
    good = sum(follows_probe_schema(reply.text) for reply in replies)
    if good == len(replies):
        way = "" if replies[0].structured else ", by the prompt alone"
        return CheckResult(
            name="structure", fitness=Fitness.FIT, found=f"{good} of {good} follow a schema{way}"
        )
    needed = subject.dialect.reply_schema(subject.frame) is not None
    ended = sum(reply.finish_reason == "stop" for reply in replies)
    return CheckResult(
        name="structure",
        fitness=Fitness.UNFIT if needed and good < ended else Fitness.POOR,
        found=f"{good} of {len(replies)} follow a schema; {ended} ended by themselves",
        remedy="serve with structured output (vLLM, SGLang and TensorRT-LLM have it, with xgrammar "
        "or guidance); without it, replies that cannot be read cost a repair turn or the episode",
    )


def follows_probe_schema(text: str) -> bool:
    """Say whether a reply follows the strange schema."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    if not isinstance(value, dict) or set(value) != {"flavour", "crumbs"}:
        return False
    crumbs = value["crumbs"]
    return value["flavour"] in _WORDS and type(crumbs) is int and _LEAST <= crumbs <= _MOST


def _string_result(replies: list[Reply]) -> CheckResult:
    raw = sum(has_raw_control(reply.text) for reply in replies)
    if not raw:
        return CheckResult(name="strings", fitness=Fitness.FIT, found="no raw control characters")
    return CheckResult(
        name="strings",
        fitness=Fitness.POOR,
        found=f"raw control characters in {raw} of {len(replies)} replies",
        remedy="policy.dialect_options.text_limit bounds texts by a pattern; or vLLM: "
        '--structured-outputs-config \'{"backend": "guidance"}\'',
    )


def has_raw_control(text: str) -> bool:
    """Say whether a string of a JSON text, whole or not, holds a control character as it is."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return error.msg.startswith("Invalid control character")
    except (ValueError, RecursionError):
        return False
    return False
