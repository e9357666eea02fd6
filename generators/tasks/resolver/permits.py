"""What a reading comes to where the user's role may not do it: a request, if the goal and the pages offer one."""

from generators.tasks.resolver.reading import Change, Reading, Reason, Refusal
from generators.tasks.resolver.scene import Scene
from generators.tasks.resolver.words import Cue
from generators.worlds.state.database import Value
from generators.worlds.state.permissions import Withheld, withheld
from schemas.worlds.permissions import Act
from schemas.worlds.world import Entity


def permit(scene: Scene, read: Reading) -> Reading | Refusal:
    """Return a reading as it is, or the request for it if the goal says to ask where it is not allowed."""
    permissions = scene.place.world.permissions
    touched = [
        one
        for one in (*read.changed, *read.removed)
        if permissions is not None and one.entity == permissions.entity
    ]
    if permissions is None or len(touched) != 1 or not scene.with_cues(Cue.ASK):
        return read
    entity = scene.place.world.entity(permissions.entity)
    held = _find_withheld(scene, entity, touched[0])
    if held is None:
        return read
    asked = permissions.requests
    if asked is None:
        return Refusal(reason=Reason.NOT_ALLOWED, about=held.sentence)
    number = scene.place.next_id(asked.entity)
    values: dict[str, Value] = {asked.act: held.label, asked.link: touched[0].row}
    told = tuple(sorted(values.items()))
    added = (Change(entity=asked.entity, row=number, values=told),)
    return read.model_copy(update={"changed": (), "removed": (), "added": added})


def _find_withheld(scene: Scene, entity: Entity, change: Change) -> Withheld | None:
    """Return the reserved act that a change is; None: every role may do it."""
    row = scene.place.row(entity.name, change.row)
    flow = scene.place.world.workflow(entity.name)
    values = dict(change.values)
    for one in withheld(scene.place.world, entity, row):
        if one.rule.act is Act.DELETE and not values:
            return one
        if one.rule.act is Act.STEP and flow is not None:
            step = next(step for step in flow.transitions if step.name == one.rule.step)
            if values == {flow.field: step.after}:
                return one
        is_state = flow is not None and set(values) == {flow.field}
        if one.rule.act is Act.EDIT and values and not is_state:
            return one
    return None
