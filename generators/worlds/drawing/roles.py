"""Roles in worlds: the signed-in user's role, and acts reserved to another role."""

from collections.abc import Iterator, Sequence
from random import Random

from generators.worlds.drawing.draft import WorldDraft
from generators.worlds.state.display import with_number
from generators.worlds.state.permissions import act_label
from generators.worlds.words.catalogue import catalogue
from schemas.worlds.field import DataField, Kind
from schemas.worlds.patterns import Shape
from schemas.worlds.permissions import Act, Permissions, Requests, Reserved
from schemas.worlds.world import Entity, View, World

_RESERVING, _LEADING, _ASKING, _LIMITED, _HIDDEN = 0.4, 0.25, 0.85, 0.5, 0.5
"""The shares: of worlds with reserved acts; of these, where the user is the leader, and where others can send
requests; of acts reserved only above a limit, and without a button."""

_SHARES = (0.3, 0.4, 0.5, 0.6)
"""Positions of a limit within its field's range."""

_FEWEST, _MOST = 4, 12
_ROUND = 2


def draw_roles(
    draft: WorldDraft, users: Sequence[str], leaders: Sequence[str], random: Random
) -> None:
    """Draw the role of a world's user, and by chance reserved acts.

    `users` are names for the restricted role, `leaders` those for the role without restrictions.
    """
    user, leader = draft.draw_words(users, random), draft.draw_words(leaders, random)
    draft.role = user
    permissions = _permissions(draft, leader, random) if random.random() < _RESERVING else None
    if permissions is None:
        return
    asked = _requests(draft, permissions, random)
    if asked is not None:
        requests, entity, view = asked
        permissions = permissions.model_copy(update={"requests": requests})
        draft.add_table(entity, view, draft.draw_place(random))
    draft.permissions = permissions
    draft.role = leader if random.random() < _LEADING else user


def _permissions(draft: WorldDraft, leader: str, random: Random) -> Permissions | None:
    """Return the reserved acts; None: no entity allows any."""
    settings = {view.entity for view in draft.views if view.shape is Shape.SETTINGS}
    places = [
        (entity, rules)
        for entity in draft.entities
        if draft.view_of(entity.name) is not None and entity.name not in settings
        if (rules := list(_rules(draft, entity, random)))
    ]
    if not places:
        return None
    entity, rules = random.choice(places)
    kept = tuple(random.sample(rules, random.randint(1, len(rules))))
    return Permissions(entity=entity.name, leader=leader, reserved=kept)


def _requests(
    draft: WorldDraft, permissions: Permissions, random: Random
) -> tuple[Requests, Entity, View] | None:
    """Return the request button, and the entity and view of requests; None: the world has no requests."""
    said = catalogue(draft.language)
    words = draft.draw_pair(said.groups("roles.requests"), random)
    if words is None or random.random() >= _ASKING:
        return None
    asked = Requests(
        entity="permission_request",
        act="asked_for",
        link="concerns",
        author="asked_by",
        day="asked_on",
        ask=random.choice(said.among("roles.ask")).format(leader=permissions.leader),
    )
    made = _request_entity(draft, asked, words, permissions, random)
    view = View(
        name="permission_requests",
        label=words[1],
        entity=made.name,
        columns=(made.title.name, asked.act, asked.link),
        searched=random.random() < _HIDDEN,
        filters=(asked.act,),
        sorts=(asked.day,),
    )
    return asked, made, view


def _rules(world: World, entity: Entity, random: Random) -> Iterator[Reserved]:
    """Yield acts that can be reserved on an entity's rows, each kind once."""
    numbers = [one for one in entity.fields if one.kind in {Kind.INTEGER, Kind.MONEY}]
    numbers = [one for one in numbers if one.required]
    flow = world.workflow(entity.name)
    if entity.can_delete:
        yield _rule(Act.DELETE, None, numbers, random, _LIMITED)
    if entity.can_edit and numbers:
        yield _rule(Act.EDIT, None, numbers, random, 1)
    if flow is not None:
        yield _rule(Act.STEP, random.choice(flow.transitions).name, numbers, random, _LIMITED)


def _rule(
    act: Act, step: str | None, numbers: Sequence[DataField], random: Random, limited: float
) -> Reserved:
    """Return a reserved act; with probability `limited` only above a limit."""
    hidden = random.random() < _HIDDEN
    if not numbers or random.random() >= limited:
        return Reserved(act=act, step=step, hidden=hidden)
    field = random.choice(numbers)
    limit = field.min + round((field.max - field.min) * random.choice(_SHARES))
    digits = max(len(str(limit)) - _ROUND, 2 if field.kind is Kind.MONEY else 0)
    limit = max(field.min, limit - limit % 10**digits)
    return Reserved(act=act, step=step, above=field.name, limit=limit, hidden=hidden)


def _request_entity(
    draft: WorldDraft,
    asked: Requests,
    names: tuple[str, ...],
    permissions: Permissions,
    random: Random,
) -> Entity:
    (one, many), words, target = names, catalogue(draft.language), permissions.entity
    entity = draft.entity(target)
    labels = [act_label(draft, entity, rule) for rule in permissions.reserved]
    first, *others = (
        DataField(
            name="number",
            label=words.say("roles.number"),
            kind=Kind.TEXT,
            content=with_number(draft, one, "{number}"),
        ),
        DataField(
            name=asked.act,
            label=random.choice(words.among("roles.act")),
            kind=Kind.CHOICE,
            choices=tuple(dict.fromkeys(labels)),
        ),
        DataField(
            name=asked.link,
            label=random.choice(words.among("roles.link")),
            kind=Kind.LINK,
            target=target,
        ),
        DataField(
            name=asked.author,
            label=random.choice(words.among("roles.author")),
            kind=Kind.TEXT,
            content="{first_name} {last_name}",
        ),
        DataField(
            name=asked.day,
            label=random.choice(words.among("roles.day")),
            kind=Kind.DATE,
            min=-40,
            max=0,
        ),
    )
    random.shuffle(others)
    return Entity(
        name=asked.entity,
        one=one,
        many=many,
        fields=(first, *others),
        rows=random.randint(_FEWEST, _MOST),
        can_add=False,
        can_edit=False,
        can_delete=False,
    )
