"""Whether the model replies as a run needs it: under a schema, and with actions in the dialect.

A server may silently ignore a schema, so the check asks for words that no model would say by chance,
several times and with a temperature. A grammar may also let raw control characters into strings, which is
not JSON; this project's reader accepts them, others do not. Actions are requested with the dialect's own
prompt and a drawn page, and the replies are parsed as in a run.
"""

import asyncio
import json
import math

from generators.endpoint_check.endpoint import CheckedEndpoint, user
from generators.endpoint_check.probe_images import TARGETS, ProbeTarget, target_board, target_radius
from generators.endpoint_check.result import CheckResult, Fitness
from generators.engine.protocol import Reply
from generators.policy.dialects.protocol import UnreadableReply
from generators.policy.model.repair import COMPLETE_FINISH_REASONS, MISPLACED, is_misplaced
from schemas.base import JsonObject
from schemas.configuration.sections import PolicySection
from schemas.episodes.action import Action, target_point

SAMPLES = 4
"""Replies to each question under a schema."""

_WORDS = ("vlorpic", "quandish", "mebtual")
_MIN, _MAX = 40_321, 40_329
_PROBE_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "flavour": {"type": "string", "enum": list(_WORDS)},
        "crumbs": {"type": "integer", "minimum": _MIN, "maximum": _MAX},
    },
    "required": ["flavour", "crumbs"],
}
_TEXT_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
}

_CLICKED = TARGETS[2], TARGETS[5], TARGETS[8]
"""Far from the corner where all conventions agree."""
_MAX_MISSED = 1


async def check_structured_output(endpoint: CheckedEndpoint) -> list[CheckResult]:
    """Check that schemas are followed, and that strings are JSON's.

    Raises:
        RolloutFailure: the endpoint gave no reply.
        RequestRefused: the server does not take such a request.
    """
    plain = await _samples(endpoint, "Say in a sentence what a web browser is.", _PROBE_SCHEMA, 128)
    texts = await _samples(
        endpoint,
        "Write a small table with a tab between its cells, three lines.",
        _TEXT_SCHEMA,
        192,
    )
    return [_schema_result(endpoint, plain), _string_result(texts)]


async def _samples(
    endpoint: CheckedEndpoint, question: str, schema: JsonObject, tokens: int
) -> list[Reply]:
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(
                endpoint.ask(
                    [user(question)], tokens=tokens, schema=schema, temperature=1.0, seed=seed
                )
            )
            for seed in range(SAMPLES)
        ]
    return [task.result() for task in tasks]


def _schema_result(endpoint: CheckedEndpoint, replies: list[Reply]) -> CheckResult:
    good = sum(follows_probe_schema(reply.text) for reply in replies)
    if good == len(replies):
        way = "" if replies[0].structured else ", by the prompt alone"
        return CheckResult(
            name="structure", fitness=Fitness.FIT, found=f"{good} of {good} follow a schema{way}"
        )
    if any(map(is_misplaced, replies)):
        return CheckResult(
            name="structure",
            fitness=Fitness.UNFIT,
            found=f"{good} of {len(replies)} follow a schema",
            remedy=MISPLACED,
        )
    needed = endpoint.dialect.reply_schema(endpoint.frame) is not None
    ended = sum(reply.finish_reason == "stop" for reply in replies)
    return CheckResult(
        name="structure",
        fitness=Fitness.UNFIT if needed and good < ended else Fitness.POOR,
        found=f"{good} of {len(replies)} follow a schema; {ended} ended by themselves",
        remedy="serve with structured output (vLLM, SGLang and TensorRT-LLM have it, with xgrammar "
        "or guidance); without it, replies that cannot be read cost a repair turn or the episode",
    )


def follows_probe_schema(text: str) -> bool:
    """Return whether a reply follows the schema of made-up words."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    if not isinstance(value, dict) or set(value) != {"flavour", "crumbs"}:
        return False
    crumbs = value["crumbs"]
    return value["flavour"] in _WORDS and type(crumbs) is int and _MIN <= crumbs <= _MAX


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
    """Return whether a string of a JSON text, whole or not, holds an unescaped control character."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return error.msg.startswith("Invalid control character")
    except (ValueError, RecursionError):
        return False
    return False


async def check_actions(endpoint: CheckedEndpoint) -> list[CheckResult]:
    """Check that replies to the dialect's own prompt are actions, and where they act.

    Raises:
        RolloutFailure: the endpoint gave no reply.
        RequestRefused: the server does not take such a request.
    """
    if not endpoint.max_images:
        found = "not asked: it takes no pictures"
        return [CheckResult(name="action", fitness=Fitness.UNFIT, found=found)]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_act(endpoint, target)) for target in _CLICKED]
    return [_action_result(endpoint, [task.result() for task in tasks])]


async def _act(endpoint: CheckedEndpoint, target: ProbeTarget) -> Action | str:
    """Return the action of a reply, or why it is not one."""
    window = endpoint.start_conversation(f"Click the {target.words} ({target.colour}).", slack=0)
    endpoint.append_page(window, target_board(endpoint.sent_size), step=0)
    reply = await endpoint.ask(
        window.messages,
        tokens=PolicySection().max_tokens,
        schema=endpoint.dialect.reply_schema(endpoint.frame),
        functions=endpoint.dialect.functions(endpoint.frame),
    )
    if reply.finish_reason not in COMPLETE_FINISH_REASONS:
        return f"the reply ended early ({reply.finish_reason})"
    if is_misplaced(reply):
        return MISPLACED
    try:
        return endpoint.dialect.parse(reply.text, endpoint.frame).action
    except UnreadableReply as error:
        return str(error)


def _action_result(endpoint: CheckedEndpoint, results: list[Action | str]) -> CheckResult:
    errors = [result for result in results if isinstance(result, str)]
    actions = [
        (target, result)
        for target, result in zip(_CLICKED, results, strict=True)
        if not isinstance(result, str)
    ]
    if errors:
        return CheckResult(
            name="action",
            fitness=Fitness.POOR if actions else Fitness.UNFIT,
            found=f"{len(actions)} of {len(results)} replies could be read; {errors[0]}",
            remedy="see that the dialect is the model's own; see 'structure'",
        )
    hits = sum(_is_hit(endpoint, target, action) for target, action in actions)
    found = f"{len(results)} of {len(results)} replies read, {hits} of them clicks on their target"
    if hits >= len(results) - _MAX_MISSED:
        return CheckResult(name="action", fitness=Fitness.FIT, found=found)
    return CheckResult(name="action", fitness=Fitness.POOR, found=found, remedy="see 'coordinates'")


def _is_hit(endpoint: CheckedEndpoint, target: ProbeTarget, action: Action) -> bool:
    point, frame = target_point(action), endpoint.frame
    if point is None:
        return False
    size = frame.viewport_width, frame.viewport_height
    distance = math.hypot(point[0] - target.across * size[0], point[1] - target.down * size[1])
    return distance <= target_radius(size)
