"""What a model is asked for another goal or thought, and what its reply says."""

import json
import re

from generators.engine.protocol import EnginePrompt, Message, Picture, Role, Sampling
from generators.tasks.resolver.reading import Change, Reading, Refusal
from schemas.worlds.world import World

GOAL_MARK, THOUGHT_MARK = "Goal:", "Thought:"
"""What stands before the text to rewrite, on a line of its own."""

_GOAL = """You rewrite goals of tasks for an agent that operates a website. You get a goal and what it comes to.
Write one other goal for the same task, as another person would say it to a colleague: in other words, in another
order, in one to three sentences. It must mean exactly the same. Keep every name, number, date and value letter by
letter, and keep quotation marks where they are. Add no fact, no name and no value that the goal does not have, and
do not answer it. Reply with the goal alone."""

_THOUGHT = """You rewrite thoughts of somebody who operates a website. You get the goal, the page before the action,
the thought and the action. Write the thought as another person would think it, in one or two sentences. Put in
quotation marks only what the page or the goal shows, letter by letter, and keep what the thought quotes. Say nothing
of what neither shows. Reply with the thought alone."""

_FRAMES = re.compile(r"^(?:(?:goal|thought|rewritten|answer)\s*:\s*)", re.IGNORECASE)

SAMPLING = Sampling(temperature=0.8, max_tokens=400)
"""How replies are drawn."""


def goal_prompt(world: World, goal: str, read: Reading | Refusal) -> EnginePrompt:
    """Return the question for another goal; `read` is what the goal comes to."""
    lines = [*_comes_to(world, read), "", f"{GOAL_MARK} {goal}"]
    return _prompt(_GOAL, "\n".join(lines))


def thought_prompt(goal: str, thought: str, action: str, picture: Picture) -> EnginePrompt:
    """Return the question for another thought, with the picture before the action."""
    lines = ("The task: " + goal, f"The action: {action}", "", f"{THOUGHT_MARK} {thought}")
    return _prompt(_THOUGHT, "\n".join(lines), picture)


def read_reply(text: str) -> str:
    """Return the goal or thought that a reply is, on one line: without quotation marks around it or a word before it."""
    bare = " ".join(text.split())
    if bare.startswith("{"):
        bare = _from_json(bare)
    bare = _FRAMES.sub("", bare).strip()
    inside = bare[1:-1]
    is_quoted = len(bare) > 1 and bare[0] == bare[-1] == '"' and '"' not in inside
    return inside.strip() if is_quoted else bare


def _from_json(text: str) -> str:
    try:
        told = json.loads(text)
    except ValueError:
        return text
    values = (
        [one for one in told.values() if isinstance(one, str)] if isinstance(told, dict) else []
    )
    return values[0] if len(values) == 1 else text


def _prompt(system: str, text: str, *pictures: Picture) -> EnginePrompt:
    return EnginePrompt(
        messages=(
            Message(role=Role.SYSTEM, parts=(system,)),
            Message(role=Role.USER, parts=(*pictures, text)),
        )
    )


def _comes_to(world: World, read: Reading | Refusal) -> list[str]:
    """Return what a goal comes to in lines, without what is to be found: no answer, and no row or value of its own."""
    if isinstance(read, Refusal):
        return ["It cannot be done, and the agent has to find that out."]
    if read.answer is not None:
        return ["It asks for an answer and changes nothing."]
    told = [
        *(f"A {_one(world, change)} is added: {_fields(world, change)}." for change in read.added),
        *(
            f"A {_one(world, change)} is changed: {_fields(world, change)}."
            for change in read.changed
        ),
        *(f"A {_one(world, change)} is removed." for change in read.removed),
    ]
    return [*dict.fromkeys(told)] or ["Things are ordered."]


def _one(world: World, change: Change) -> str:
    return world.entity(change.entity).one


def _fields(world: World, change: Change) -> str:
    entity = world.entity(change.entity)
    return ", ".join(entity.field(name).label for name, _ in change.values)
