"""Kinds of tasks that follow links and rules: chain and repair; and impossible twins of other kinds."""

from collections.abc import Callable, Iterator, Mapping
from random import Random

from generators.policy.sentences.vary import sentence
from generators.tasks.worlds.ground.changes import (
    changes,
    clashes,
    draw_change,
    editable,
    form_fields,
)
from generators.tasks.worlds.ground.mentions import (
    FieldSaid,
    NounSaid,
    PathSaid,
    RowSaid,
    ValueSaid,
    ValuesSaid,
    instead_of,
    row_of,
)
from generators.tasks.worlds.ground.new_values import is_near_title, new_value
from generators.tasks.worlds.ground.row_conditions import whole_list
from generators.tasks.worlds.ground.task import IMPOSSIBLE, Draft
from generators.tasks.worlds.ground.task_kind import task_kind
from generators.tasks.worlds.ground.world_rows import (
    MAX_TURNS,
    Setting,
    is_plain,
)
from generators.tasks.worlds.kinds.answers import find, join
from generators.tasks.worlds.kinds.edits import conditional, delete, edit, move
from generators.tasks.worlds.references.facts import facts_of, keep
from generators.tasks.worlds.references.forms import save_change
from generators.tasks.worlds.references.steps import (
    OPENS_ROW,
    Steps,
    answer,
    because,
    click,
    look,
    read,
    search,
    to_row,
    to_view,
)
from generators.worlds.state.database import Row
from schemas.tasks.expectation import MAX_FACTS, Expectation
from schemas.tasks.reference import Purpose
from schemas.worlds.field import DataField, Kind
from schemas.worlds.world import View

_LINK = frozenset({Kind.LINK})
_CHECKED = 3


@task_kind("chain", aside="one")
def chain(setting: Setting, random: Random) -> Draft | None:
    """Ask to change the row that one or two links lead to from a named row."""
    found = list(_chains(setting, random))
    longest = max((len(links) for _, links, _ in found), default=0)
    for view, links, row in found:
        if len(links) < longest:
            continue
        entity, there = setting.world.entity(view.entity), row
        steps, at = to_row(setting, view, entity, row, reads=links[:1]), entity
        for number, link in enumerate(links):
            at = setting.world.entity(link.target or "")
            there = setting.row(at, there[link.name])
            opened = click(setting.title(at, there), Purpose.ROW)
            steps += (opened, *look(setting, at, links[number + 1 :][:1]))
        values = draw_change(setting, random, at, there, 1)
        if not values or not at.can_edit or at.title.name in values:  # another name is another row
            continue
        return Draft(
            {
                **(names := setting.names(view, entity, row)),
                "path": PathSaid(links, row_of(names)),
                "target": NounSaid(at.one),
                "stated": ValuesSaid(at, values),
            },
            changes(at, (there, values)),
            (*steps, *save_change(setting, at, there, values), answer()),
        )
    return None


def _chains(setting: Setting, random: Random) -> Iterator[tuple[View, tuple[DataField, ...], Row]]:
    """Yield rows with one or two links that lead to another row."""
    for view, entity in setting.places(random):
        named = setting.namable(view, entity)
        links = setting.facts(entity, _LINK)
        if not named or not links:
            continue
        row, link = setting.pick(random, entity, named), random.choice(links)
        if row[link.name] is None:
            continue
        target = setting.world.entity(link.target or "")
        there = setting.row(target, row[link.name])
        further = [one for one in setting.facts(target, _LINK) if there[one.name] is not None]
        if further:
            yield view, (link, random.choice(further)), row
        else:
            yield view, (link,), row


@task_kind("repair")
def repair(setting: Setting, random: Random) -> Draft | None:
    """Ask to check three named rows by a rule about a linked row, and to correct those that break it."""
    for view, entity in editable(setting, random):
        links = setting.facts(entity, _LINK)
        fields = [one for one in form_fields(setting, entity)[1:] if one.kind is Kind.CHOICE]
        if not links or not fields:
            continue
        link, field = random.choice(links), random.choice(fields)
        target = setting.world.entity(link.target or "")
        grounds = setting.facts(target, frozenset({Kind.CHOICE}))
        named = [row for row in setting.namable(view, entity) if row[link.name] is not None]
        if not grounds or len(named) < _CHECKED:
            continue
        ground = random.choice(grounds)
        when = random.choice(ground.choices)
        value = new_value(setting, random, entity, field)
        bound = [row for row in named if setting.row(target, row[link.name])[ground.name] == when]
        wrong = [row for row in bound if row[field.name] != value]
        right = [row for row in named if row not in wrong]
        count = random.choice((1, 1, 2))
        if value is None or len(wrong) < count or len(right) < _CHECKED - count:
            continue
        checked = [*random.sample(wrong, count), *random.sample(right, _CHECKED - count)]
        random.shuffle(checked)
        values: Row = {field.name: value}
        if clashes(setting, entity, *((row, values) for row in checked if row in wrong)):
            continue
        return Draft(
            {
                **setting.names(view, entity),
                "link": FieldSaid((link,)),
                "target": NounSaid(target.one),
                "ground": FieldSaid((ground,)),
                "when": ValueSaid(target, ground, when, via=link),
                "field": FieldSaid((field,)),
                "value": ValueSaid(entity, field, value),
                "first": RowSaid(entity, setting.title(entity, checked[0]), checked[0], view),
                "second": RowSaid(entity, setting.title(entity, checked[1]), checked[1], view),
                "third": RowSaid(entity, setting.title(entity, checked[2]), checked[2], view),
            },
            changes(entity, *((row, values) for row in checked if row in wrong)),
            (
                *(
                    step
                    for row in checked
                    for step in _check_row(
                        setting, view, row, (link, ground, field), values if row in wrong else None
                    )
                ),
                answer(),
            ),
        )
    return None


def _check_row(
    setting: Setting,
    view: View,
    row: Row,
    fields: tuple[DataField, DataField, DataField],
    values: Row | None,
) -> Steps:
    """Return the steps that check a row by a linked row and set `values`; None: the row is already correct."""
    entity, (link, ground, field) = setting.world.entity(view.entity), fields
    target = setting.world.entity(link.target or "")
    there = setting.row(target, row[link.name])
    steps = (
        *keep(
            to_row(setting, view, entity, row, reads=(field, link)),
            facts_of(setting, entity, row, (field,)),
        ),
        click(setting.title(target, there), Purpose.ROW),
        *keep(look(setting, target, (ground,)), facts_of(setting, target, there, (ground,))),
    )
    if values is None:
        return steps
    back, title = to_row(setting, view, entity, row, reads=()), setting.title(entity, row)
    why = sentence(
        "kinds.rule",
        ground=ground.label,
        there=str(there[ground.name]),
        title=title,
        field=field.label,
        value=str(values[field.name]),
    )
    opens = next(at for at, step in enumerate(back) if step.purpose in OPENS_ROW)
    return (
        *steps,
        *back[:opens],
        *because(why, back[opens:]),
        *save_change(setting, entity, row, values),
    )


@task_kind("impossible")
def impossible(setting: Setting, random: Random) -> Draft | None:
    """Ask for an impossible task in the words of a possible kind: the row does not exist, or has no such link."""
    if random.random() < 1 / 4 and (draft := _loose_link(setting, random)) is not None:
        return draft
    kind = random.choice(sorted(_TWINS))
    draft = _TWINS[kind](setting, random)
    said = None if draft is None else draft.words.get("row")
    if draft is None or not isinstance(said, RowSaid) or said.view is None:
        return None
    view, entity = said.view, said.entity
    title = new_value(setting, random, entity, entity.title)
    count = len(setting.rows_of(entity))
    pages = 0 if view.searched else (count - 1) // view.page_size
    if not isinstance(title, str) or not is_plain(title) or pages > MAX_TURNS:
        return None
    if is_near_title(title, setting.titles(entity)):
        return None
    searched = search(setting, view, title) if view.searched else ()
    return Draft(
        instead_of(draft.words, RowSaid(entity, title, None, view)),
        Expectation(
            answer=IMPOSSIBLE,
            looked=tuple(setting.titles(entity))[:MAX_FACTS],
            read=whole_list(setting, view, entity),
        ),
        (*to_view(setting, view), *searched, read(setting), answer(IMPOSSIBLE)),
        like=kind,
    )


_TWINS: Mapping[str, Callable[[Setting, Random], Draft | None]] = {
    "find": find,
    "join": join,
    "edit": edit,
    "conditional": conditional,
    "move": move,
    "delete": delete,
}


def _loose_link(setting: Setting, random: Random) -> Draft | None:
    """Ask for a fact of a linked row where the link is empty."""
    for view, entity in setting.places(random):
        loose = [
            (row, link)
            for link in setting.facts(entity, _LINK)
            for row in setting.namable(view, entity)
            if row[link.name] is None
        ]
        if not loose:
            continue
        row, link = random.choice(loose)
        target = setting.world.entity(link.target or "")
        facts = setting.facts(target, frozenset({Kind.TEXT, Kind.CHOICE, Kind.DATE}))
        if not facts:
            continue
        return Draft(
            {
                **(names := setting.names(view, entity, row)),
                "target": NounSaid(target.one),
                "link": FieldSaid((link,), row_of(names)),
                "field": FieldSaid((random.choice(facts),), row_of(names), (link,)),
            },
            Expectation(answer=IMPOSSIBLE, looked=(setting.title(entity, row),)),
            (*to_row(setting, view, entity, row, reads=(link,)), answer(IMPOSSIBLE)),
            like="join",
        )
    return None
