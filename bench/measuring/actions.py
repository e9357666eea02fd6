"""How often people's commonest actions occur in rows of worlds, and whether references need them.

An action is needed where the reference fails without the step that takes it. A search that Enter sends is named apart: the
row can be found by reading on, so that nothing fails without it.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from flows.checks.tasks import attempt_watched
from flows.checks.worlds import check_config
from flows.resources.browsers import Browsers
from generators.policy.reference import ReferencePolicy
from schemas.episodes.action import (
    ACTION,
    Action,
    Back,
    Button,
    Click,
    Drag,
    Hover,
    NoAction,
    Select,
    Tab,
    TypeText,
    Wait,
)
from schemas.tasks.reference import Do, ReferenceStep
from schemas.tasks.task import Task

ACTIONS: Mapping[str, frozenset[Do]] = {
    "hover": frozenset({Do.HOVER}),
    "back": frozenset({Do.BACK}),
    "wait": frozenset({Do.WAIT}),
    "tab": frozenset({Do.TAB}),
    "double click": frozenset({Do.DOUBLE_CLICK}),
    "right click": frozenset({Do.RIGHT_CLICK}),
    "drag": frozenset({Do.DRAG, Do.SLIDE}),
    "enter": frozenset({Do.ENTER}),
    "select": frozenset({Do.CHOOSE}),
}
"""The actions, with the steps of references that take them."""

SEARCH = "search by enter"
"""What an Enter in a search field is called."""

_DOUBLE = 2


MIN_SHARE, MIN_FAMILIES = 0.005, 3
"""The smallest share of all actions, and the fewest families, of each."""

Needs = dict[str, tuple[int, int]]
"""For each action how many references were tried without it, and how many failed."""


class Taken(NamedTuple):
    """An action of a row."""

    family: str
    """The family of its world."""
    action: Action
    """The action."""
    role: str | None
    """The role of its target; None: it has none."""


def name_of(action: Action, role: str | None) -> str | None:
    """Return what an action on a target of a role is called here; None: it is none of these."""
    plain = {Hover: "hover", Back: "back", Wait: "wait", Tab: "tab", Drag: "drag"}
    match action:
        case Click(button=Button.RIGHT):
            name: str | None = "right click"
        case Click(count=count):
            name = "double click" if count == _DOUBLE else None
        case TypeText(enter=True):
            name = SEARCH if role == "searchbox" else "enter"
        case Select():
            name = "select"
        case _:
            name = plain.get(type(action))
    return name


def taken_in(
    tasks: Iterable[Mapping[str, Any]],
    episodes: Iterable[Mapping[str, Any]],
    steps: Iterable[Mapping[str, Any]],
) -> list[Taken]:
    """Return the actions of a run's rows."""
    templates = {row["task_id"]: row["template_id"] for row in tasks}
    families = {row["episode_id"]: templates[row["task_id"]].partition("/")[0] for row in episodes}
    return [
        Taken(families[row["episode_id"]], ACTION.validate_json(row["action"]), row["target_role"])
        for row in steps
    ]


def shares(taken: Iterable[Taken]) -> dict[str, tuple[float, int]]:
    """Return each action's share of all actions, and the number of families that have it."""
    counts, families, total = Counter[str](), defaultdict[str, set[str]](set), 0
    for one in taken:
        if isinstance(one.action, NoAction):
            continue
        total += 1
        name = name_of(one.action, one.role)
        if name is not None:
            counts[name] += 1
            families[name].add(one.family)
    return {
        name: (round(counts[name] / max(1, total), 4), len(families[name]))
        for name in (*ACTIONS, SEARCH)
    }


def places_of(steps: Sequence[ReferenceStep], name: str) -> list[int]:
    """Return the places of the steps of a reference that take an action, without searches."""
    then = (*steps[1:], None)
    return [
        place
        for place, (step, after) in enumerate(zip(steps, then, strict=True))
        if step.do in ACTIONS[name] and not _searches(step, after)
    ]


def without(steps: Sequence[ReferenceStep], place: int) -> tuple[ReferenceStep, ...]:
    """Return a reference without one of its steps."""
    return (*steps[:place], *steps[place + 1 :])


def _searches(step: ReferenceStep, after: ReferenceStep | None) -> bool:
    """Return whether a step sends a search, which is followed by what is done to what it found, or the wait for that."""
    if step.do is not Do.ENTER or after is None:
        return False
    is_on_card = after.do is Do.CLICK and after.within is not None
    return after.do in {Do.FIND, Do.READ, Do.WAIT, Do.DRAG} or is_on_card


async def is_done(browsers: Browsers, task: Task, steps: Sequence[ReferenceStep]) -> bool:
    """Return whether a task is rewarded for steps in place of its reference."""
    config = check_config()
    episode, _ = await attempt_watched(config, browsers, task, lambda: ReferencePolicy(steps))
    return bool(episode.done and (episode.reward or 0.0) >= 1)


async def needs(browsers: Browsers, tasks: Sequence[Task], *, each: int, sessions: int) -> Needs:
    """Return for each action how many references were tried without one of its steps, and how many then failed.

    `each` are at most so many tasks of an action, in at most `sessions` at once.
    """
    free = asyncio.Semaphore(sessions)

    async def fails(task: Task, place: int) -> bool:
        async with free:
            return not await is_done(browsers, task, without(task.reference or (), place))

    out = Needs()
    for name in ACTIONS:
        found = [(task, places_of(task.reference or (), name)) for task in tasks]
        tried = [(task, places[0]) for task, places in found if places][:each]
        async with asyncio.TaskGroup() as group:
            failed = [group.create_task(fails(task, place)) for task, place in tried]
        out[name] = (len(tried), sum(one.result() for one in failed))
    return out


def judge_needs(
    shared: Mapping[str, tuple[float, int]], needed: Mapping[str, tuple[int, int]]
) -> dict[str, object]:
    """Return the figures of all actions, and whether each is common and needed wherever it was tried."""
    found = dict[str, dict[str, float]]()
    for name, (share, families) in shared.items():
        found[name] = {"share": share, "families": families}
        if name in needed:
            found[name] |= dict(zip(("tried", "failed_without"), needed[name], strict=True))
    return {
        "actions": found,
        "min_share": MIN_SHARE,
        "min_families": MIN_FAMILIES,
        "held": all(
            shared[name][0] >= MIN_SHARE
            and shared[name][1] >= MIN_FAMILIES
            and 0 < needed[name][0] == needed[name][1]
            for name in ACTIONS
        ),
    }
