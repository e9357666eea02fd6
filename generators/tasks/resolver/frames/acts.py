"""What is done to rows that a goal means: they get values, take a step of their workflow, or are removed."""

from collections.abc import Iterator, Sequence

from generators.tasks.resolver.attempt import Attempt, Used, refuse
from generators.tasks.resolver.place import id_of
from generators.tasks.resolver.reading import Change, Reading, Reason, Refusal
from generators.tasks.resolver.scene import Scene
from generators.tasks.resolver.selection import Fielded
from generators.tasks.resolver.words import Cue
from generators.worlds.state.database import Row, Value
from schemas.worlds.world import Entity, Transition, Workflow


def set_values(
    scene: Scene, entity: Entity, asked: Sequence[tuple[Row, Sequence[Fielded]]], used: Used
) -> Attempt:
    """Return the attempt that sets values of rows."""
    changes = list[Change]()
    for row, settings in asked:
        values = _values(scene, entity, row, settings)
        if isinstance(values, Refusal):
            return Attempt(used, values)
        if not values and len(asked) == 1:
            return refuse(used, Reason.NOTHING_TO_DO, "what is asked is so already")
        if values:
            told = tuple(sorted(values.items()))
            changes.append(Change(entity=entity.name, row=id_of(row), values=told))
    if not changes:
        return refuse(used, Reason.NOTHING_TO_DO, "what is asked is so already")
    changed = tuple(sorted(changes, key=lambda one: one.row))
    rows = tuple(one.row for one in changed)
    return Attempt(used, Reading(entity=entity.name, rows=rows, changed=changed))


def _values(
    scene: Scene, entity: Entity, row: Row, settings: Sequence[Fielded]
) -> dict[str, Value] | Refusal:
    """Return the new values of a row, without what it has already; a field may be said to be the one, then the other."""
    values = dict[str, Value]()
    for pair, field in settings:
        told = scene.place.values(entity, field, pair.item)
        if not told:
            about = f"{field.label} is given no whole day: {pair.item.text}"
            return Refusal(reason=Reason.UNCLEAR_DAY, about=about)
        if row[field.name] in told:
            continue
        if len(told) > 1 or values.get(field.name, told[0]) != told[0]:
            return Refusal(reason=Reason.TWO_VALUES, about=f"{field.label} is given several values")
        values[field.name] = told[0]
    return values


def take_steps(scene: Scene, entity: Entity, rows: Sequence[Row], used: Used) -> Iterator[Attempt]:
    """Yield the steps of a workflow that a goal has words for, as `ship`, for rows that can take them."""
    flow = scene.place.world.workflow(entity.name)
    names = {*scene.deeds(entity.name)}
    steps = [one for one in flow.transitions if one.name in names] if flow is not None else []
    if flow is None or not steps:
        return
    state = flow.field
    able = [step for step in steps if all(_leads(flow, row[state], step) for row in rows)]
    for step in able:
        changed = tuple(
            Change(entity=entity.name, row=id_of(row), values=((state, step.after),))
            for row in rows
        )
        ids = tuple(one.row for one in changed)
        yield Attempt(used, Reading(entity=entity.name, rows=ids, changed=changed))
    if not able:
        yield refuse(used, Reason.NOTHING_TO_DO, f"{steps[0].label} is no step of it now")


def _after(step: Transition) -> Value:
    return step.after


def _leads(flow: Workflow, state: Value, step: Transition) -> bool:
    """Return whether steps lead from a state to one of which a step leads to another."""
    reached: set[Value] = set()
    found: set[Value] = {state}
    while found:
        reached |= found
        steps = (one for one in flow.transitions if not found.isdisjoint(one.before))
        found = {end for end in map(_after, steps) if end not in reached}
    return state != step.after and not reached.isdisjoint(step.before)


def remove(scene: Scene, entity: Entity, rows: Sequence[Row], used: Used) -> Attempt:
    """Return the attempt that removes rows; `it` cannot be several."""
    pronoun = scene.with_cues(Cue.IT)
    if len(rows) > 1 and pronoun and any(scene.is_after(one, Cue.DELETE) for one in pronoun):
        names = [scene.place.name(entity.name, row) for row in rows]
        return refuse(used, Reason.PRONOUN, "it may be any of several rows", names)
    ids = tuple(sorted(id_of(row) for row in rows))
    gone = tuple(Change(entity=entity.name, row=one) for one in ids)
    return Attempt(used, Reading(entity=entity.name, rows=ids, removed=gone))
