"""Roles in worlds: the acts on a row that the signed-in user's role may not perform.

Each world shows the role beside the user's name. Some worlds reserve acts on one entity to another role, which may do
everything there.
"""

from typing import NamedTuple

from generators.worlds.state.database import Row
from generators.worlds.state.display import show_value, with_number
from generators.worlds.state.form_fields import new_row
from generators.worlds.words.catalogue import catalogue
from schemas.worlds.permissions import Act, Permissions, Requests, Reserved
from schemas.worlds.world import Entity, Transition, World


class Withheld(NamedTuple):
    """An act on a row that the signed-in user's role may not perform."""

    rule: Reserved
    """The rule."""
    label: str
    """The text of the act's button."""
    sentence: str
    """The allowed role and the reason, as a sentence."""
    ask: str
    """The text of the button that requests the act; empty: pages do not offer requests."""


def withheld(world: World, entity: Entity, row: Row) -> list[Withheld]:
    """Return the acts withheld on a row; steps of its workflow only if its state allows them."""
    permissions = world.permissions
    if permissions is None or permissions.entity != entity.name or permissions.leader == world.role:
        return []
    return [
        Withheld(
            rule,
            label,
            _sentence(world, permissions, entity, rule),
            _ask(world, permissions, label),
        )
        for rule in permissions.reserved
        if (label := _label(world, entity, rule, row)) and _is_above(rule, row)
    ]


def is_withheld(world: World, entity: Entity, row: Row, act: Act, step: str | None = None) -> bool:
    """Return whether an act on a row is withheld."""
    held = (one.rule for one in withheld(world, entity, row))
    return any(rule.act is act and rule.step == step for rule in held)


def new_request(world: World, asked: Requests, row: int, number: int, label: str) -> Row:
    """Return a new request concerning a row; `number` is its future id."""
    entity = world.entity(asked.entity)
    return {
        **new_row(world, entity),
        entity.title.name: with_number(world, entity.one, number),
        asked.act: label,
        asked.link: row,
        asked.author: world.user,
        asked.day: world.at.date().isoformat(),
    }


def act_label(world: World, entity: Entity, rule: Reserved) -> str:
    """Return the text of the button of a reserved act."""
    step = _step(world, entity, rule)
    words = {Act.EDIT: world.words.edit, Act.DELETE: world.words.delete}
    return words[rule.act] if step is None else step.label


def _label(world: World, entity: Entity, rule: Reserved, row: Row) -> str:
    """Return the text of the button of a reserved act; empty if the row's state does not allow the act."""
    step, flow = _step(world, entity, rule), world.workflow(entity.name)
    if step is not None and flow is not None and row[flow.field] not in step.before:
        return ""
    return act_label(world, entity, rule)


def _step(world: World, entity: Entity, rule: Reserved) -> Transition | None:
    flow = world.workflow(entity.name)
    steps = flow.transitions if flow is not None else ()
    return next((step for step in steps if step.name == rule.step), None)


def _is_above(rule: Reserved, row: Row) -> bool:
    return rule.above is None or int(row[rule.above] or 0) > rule.limit


def _ask(world: World, permissions: Permissions, label: str) -> str:
    if permissions.requests is None:
        return ""
    return catalogue(world.language).say("roles.ask_for", ask=permissions.requests.ask, act=label)


def _sentence(world: World, permissions: Permissions, entity: Entity, rule: Reserved) -> str:
    """Return the sentence that names the role allowed to perform an act."""
    words, because = catalogue(world.language), ""
    if rule.above is not None:
        field = entity.field(rule.above)
        limit = show_value(world, field, rule.limit)
        because = words.say("roles.because", field=field.label, limit=limit)
    given = {"leader": permissions.leader, "one": entity.one, "because": because}
    if rule.act is Act.STEP:
        given["step"] = act_label(world, entity, rule)
    return words.say(f"roles.{rule.act.value}", **given)
