"""Roles in worlds: the role of who is signed in, and what is reserved to another one."""

from collections.abc import Iterator, Sequence
from random import Random

from generators.worlds.drawing.draft import WorldDraft
from generators.worlds.state.permissions import act_label
from schemas.worlds.field import DataField, Kind
from schemas.worlds.patterns import Shape
from schemas.worlds.permissions import Act, Permissions, Requests, Reserved
from schemas.worlds.world import Entity, View, World

_RESERVING, _LEADING, _ASKING, _LIMITED, _HIDDEN = 0.4, 0.25, 0.85, 0.5, 0.5
"""The shares: of worlds that reserve something, of these in which who is signed in may do it and in which others can
ask for it, and of what is reserved above a limit alone and without a button."""

_SHARES = (0.3, 0.4, 0.5, 0.6)
"""Where a limit is in the width of its field."""

_REQUESTS = (
    ("Permission", "Permissions"),
    ("Approval", "Approvals"),
    ("Inquiry", "Inquiries"),
    ("Petition", "Petitions"),
)
_ASKS = ("Ask a {leader}", "Ask the {leader}", "Send to a {leader}", "Request from a {leader}")
_ACTS = ("What", "Asked for", "Permission for", "To be allowed")
_LINKS = ("Concerns", "On which", "It is about")
_AUTHORS = ("Asked by", "Who asks", "Sent by")
_DAYS = ("Asked on", "Sent on", "On the day")
_FEWEST, _MOST = 4, 12
_ROUND = 2


def draw_roles(
    draft: WorldDraft, users: Sequence[str], leaders: Sequence[str], random: Random
) -> None:
    """Give a world the role of who is signed in, and what it reserves to another, if it does.

    Args:
        draft: the world.
        users: what the role may be called.
        leaders: what the role may be called that may do everything.
        random: what they are drawn from.
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
    """Return what is reserved; None: nothing can be."""
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
    """Return what others ask with, and the entity and the view of what was asked for; None: they cannot ask."""
    words = draft.draw_pair(_REQUESTS, random)
    if words is None or random.random() >= _ASKING:
        return None
    asked = Requests(
        entity="permission_request",
        act="asked_for",
        link="concerns",
        author="asked_by",
        day="asked_on",
        ask=random.choice(_ASKS).format(leader=permissions.leader),
    )
    entity = draft.entity(permissions.entity)
    labels = [act_label(draft, entity, rule) for rule in permissions.reserved]
    made = _request_entity(asked, words, entity, labels, random)
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
    """Yield what may be reserved on an entity's rows, each kind of act once."""
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
    """Return something that is reserved, with a chance of `limited` above a limit alone."""
    hidden = random.random() < _HIDDEN
    if not numbers or random.random() >= limited:
        return Reserved(act=act, step=step, hidden=hidden)
    field = random.choice(numbers)
    limit = field.min + round((field.max - field.min) * random.choice(_SHARES))
    digits = max(len(str(limit)) - _ROUND, 2 if field.kind is Kind.MONEY else 0)
    limit = max(field.min, limit - limit % 10**digits)
    return Reserved(act=act, step=step, above=field.name, limit=limit, hidden=hidden)


def _request_entity(
    asked: Requests,
    words: tuple[str, str],
    target: Entity,
    labels: Sequence[str],
    random: Random,
) -> Entity:
    one, many = words
    first, *others = (
        DataField(name="number", label="Number", kind=Kind.TEXT, content=f"{one} {{number}}"),
        DataField(
            name=asked.act,
            label=random.choice(_ACTS),
            kind=Kind.CHOICE,
            choices=tuple(dict.fromkeys(labels)),
        ),
        DataField(name=asked.link, label=random.choice(_LINKS), kind=Kind.LINK, target=target.name),
        DataField(
            name=asked.author,
            label=random.choice(_AUTHORS),
            kind=Kind.TEXT,
            content="{first_name} {last_name}",
        ),
        DataField(name=asked.day, label=random.choice(_DAYS), kind=Kind.DATE, min=-40, max=0),
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
