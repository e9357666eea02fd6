"""Asks an engine for other goals of tasks, and keeps those that mean the same and give nothing away.

A thread of its own judges the goals: worlds are drawn for it, which takes longer than many a reply.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from generators.engine.protocol import Engine, EnginePrompt
from generators.tasks.rephrase.gate import gate_for, with_goal
from generators.tasks.rephrase.prompt import SAMPLING, goal_prompt, read_reply
from schemas.errors import RolloutFailure
from schemas.tasks.task import Task

AT_ONCE = 8
"""Requests on their way at once."""

_AHEAD = 2 * AT_ONCE
"""Tasks begun at once: while some are asked, others wait for their turn, or for the judge."""


class Rephrasing(NamedTuple):
    """What became of one task."""

    task: Task
    """The task, with the new goal if it is kept."""
    goal: str
    """What the model wrote; empty: nothing, or it was not asked."""
    refused: str | None
    """Why the new goal is not kept; None: it is."""
    is_answered: bool = True
    """Whether the engine gave a reply."""


async def rephrase_goals(
    engine: Engine, tasks: Sequence[Task], *, report: Callable[[Task, Rephrasing], None]
) -> list[Rephrasing]:
    """Return what became of each task, in their order; `report` gets each as soon as it is known, with the task."""
    begun, turns = asyncio.Semaphore(_AHEAD), asyncio.Semaphore(AT_ONCE)
    with ThreadPoolExecutor(1, "judge of goals") as judge:

        async def one(task: Task) -> Rephrasing:
            async with begun:
                done = await _rephrase(engine, task, turns, judge)
            report(task, done)
            return done

        async with asyncio.TaskGroup() as group:
            asked = [group.create_task(one(task)) for task in tasks]
    return [each.result() for each in asked]


async def _rephrase(
    engine: Engine, task: Task, turns: asyncio.Semaphore, judge: ThreadPoolExecutor
) -> Rephrasing:
    loop = asyncio.get_running_loop()
    prompt = await loop.run_in_executor(judge, _prompt, task)
    if prompt is None:
        return Rephrasing(
            task, "", "it is no task of a world, so nothing tells what its goal means"
        )
    try:
        async with turns:
            reply = await engine.reply(prompt, SAMPLING, session=task.task_id)
    except RolloutFailure as error:
        return Rephrasing(task, "", f"the engine gave no reply: {error}", is_answered=False)
    goal = read_reply(reply.text)
    why = await loop.run_in_executor(judge, _why_not, task, goal)
    if why is not None:
        return Rephrasing(task, goal, why)
    return Rephrasing(with_goal(task, goal, by=reply.model or engine.card.model), goal, None)


def _prompt(task: Task) -> EnginePrompt | None:
    """Return the question for another goal of a task; None: nothing tells what its goal means."""
    gate = gate_for(task)
    if gate is None or task.expect is None:
        return None
    return goal_prompt(gate.world, task.instruction, gate.resolver.read(task.instruction))


def _why_not(task: Task, goal: str) -> str | None:
    gate = gate_for(task)
    return None if gate is None else gate.why_not(task, goal)
