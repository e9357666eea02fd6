"""Whether the model acts in the dialect: the real prompt, a drawn page, and its replies are read."""

import asyncio
import math

from generators.endpoint_check.endpoint import CheckedEndpoint
from generators.endpoint_check.probe_images import TARGETS, Target, target_board, target_radius
from generators.endpoint_check.prompts import append_page, sent_size, start_conversation
from generators.endpoint_check.result import CheckResult, Fitness
from generators.engine.protocol import Reply
from generators.policy.dialects.protocol import UnreadableReply
from generators.policy.model.repair import COMPLETE_FINISH_REASONS
from schemas.action import Action, target_point
from schemas.sections import PolicySection

NAME = "action"

_PROBED = TARGETS[2], TARGETS[5], TARGETS[8]
"""Far from the corner where all conventions agree."""

_MAX_MISSED = 1


async def check_actions(subject: CheckedEndpoint) -> list[CheckResult]:
    """Say whether replies to the dialect's own prompt are actions, and where they act.

    Raises:
        RolloutFailure: the endpoint gave no reply.
        RequestRefused: the server does not take such a request.
    """
    if not subject.max_images:
        return [
            CheckResult(name=NAME, fitness=Fitness.UNFIT, found="not asked: it takes no pictures")
        ]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_act(subject, target)) for target in _PROBED]
    return [_result(subject, [task.result() for task in tasks])]


async def _act(subject: CheckedEndpoint, target: Target) -> Action | str:
    """Return the action of a reply, or why it is none."""
    window = start_conversation(
        subject, f"Click the {target.words} ({target.colour}).", keep=1, slack=0
    )
    append_page(subject, window, target_board(sent_size(subject)), step=0)
    reply = await subject.ask(
        window.messages,
        tokens=PolicySection().max_tokens,
        schema=subject.dialect.reply_schema(subject.frame),
    )
    return _read(subject, reply)


def _read(subject: CheckedEndpoint, reply: Reply) -> Action | str:
    if reply.finish_reason not in COMPLETE_FINISH_REASONS:
        return f"the reply ended early ({reply.finish_reason})"
    try:
        return subject.dialect.parse(reply.text, subject.frame).action
    except UnreadableReply as error:
        return str(error)


def _result(subject: CheckedEndpoint, found: list[Action | str]) -> CheckResult:
    wrong = [one for one in found if isinstance(one, str)]
    right = [
        (target, one)
        for target, one in zip(_PROBED, found, strict=True)
        if not isinstance(one, str)
    ]
    if wrong:
        return CheckResult(
            name=NAME,
            fitness=Fitness.POOR if right else Fitness.UNFIT,
            found=f"{len(right)} of {len(found)} replies could be read; {wrong[0]}",
            remedy="see that the dialect is the model's own; see 'structure'",
        )
    hit = sum(_hits(subject, target, action) for target, action in right)
    told = f"{len(found)} of {len(found)} replies read, {hit} of them clicks on their target"
    if hit >= len(found) - _MAX_MISSED:
        return CheckResult(name=NAME, fitness=Fitness.FIT, found=told)
    return CheckResult(name=NAME, fitness=Fitness.POOR, found=told, remedy="see 'coordinates'")


def _hits(subject: CheckedEndpoint, target: Target, action: Action) -> bool:
    point, frame = target_point(action), subject.frame
    if point is None:
        return False
    size = frame.viewport_width, frame.viewport_height
    apart = math.hypot(point[0] - target.across * size[0], point[1] - target.down * size[1])
    return apart <= target_radius(size)
