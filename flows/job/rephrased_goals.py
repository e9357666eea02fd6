"""Asks an engine for other goals of tasks, and keeps those that mean the same and give nothing away."""

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple

from generators.engine.protocol import Engine
from generators.tasks.rephrase.gate import gate_for, with_goal
from generators.tasks.rephrase.prompt import SAMPLING, goal_prompt, read_reply
from schemas.errors import RolloutFailure
from schemas.tasks.task import Task

AT_ONCE = 8
"""Requests on their way at once."""


class Rephrasing(NamedTuple):
    """What became of one task."""

    task: Task
    """The task, with the new goal if it is kept."""
    goal: str
    """What the model wrote; empty: nothing, or it was not asked."""
    refused: str | None
    """Why the new goal is not kept; None: it is."""


async def rephrase_goals(
    engine: Engine, tasks: Sequence[Task], *, report: Callable[[Rephrasing], None]
) -> list[Rephrasing]:
    """Return what became of each task, in their order; `report` gets each as soon as it is known."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(task: Task) -> Rephrasing:
        async with turns:
            done = await _rephrase(engine, task)
        report(done)
        return done

    async with asyncio.TaskGroup() as group:
        asked = [group.create_task(one(task)) for task in tasks]
    return [each.result() for each in asked]


async def _rephrase(engine: Engine, task: Task) -> Rephrasing:
    gate = gate_for(task)
    if gate is None or task.expect is None:
        return Rephrasing(
            task, "", "it is no task of a world, so nothing tells what its goal means"
        )
    prompt = goal_prompt(gate.world, task.instruction, gate.resolver.read(task.instruction))
    try:
        reply = await engine.reply(prompt, SAMPLING, session=task.task_id)
    except RolloutFailure as error:
        return Rephrasing(task, "", f"the engine gave no reply: {error}")
    goal = read_reply(reply.text)
    why = gate.why_not(task, goal)
    if why is not None:
        return Rephrasing(task, goal, why)
    return Rephrasing(with_goal(task, goal, by=reply.model or engine.card.model), goal, None)
