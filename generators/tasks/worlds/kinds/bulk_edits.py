"""Kinds of tasks that change several rows: a part of a list, or named rows."""

from random import Random

from generators.tasks.worlds.ground.changes import (
    adds,
    can_put,
    changes,
    changes_of_part,
    clashes,
    draw_row,
    editable,
    form_fields,
    in_words,
    is_linked,
    removal_of_part,
    with_forms,
)
from generators.tasks.worlds.ground.new_values import new_value
from generators.tasks.worlds.ground.row_conditions import (
    choice_of,
    draw_part,
    is_near,
    make_part,
    turns,
)
from generators.tasks.worlds.ground.task import Draft
from generators.tasks.worlds.ground.task_kind import task_kind
from generators.tasks.worlds.ground.world_rows import (
    MAX_TURNS,
    NUMBERS,
    Setting,
    name_field,
    quote,
    term,
)
from generators.tasks.worlds.references.forms import fill_form, save_change
from generators.tasks.worlds.references.steps import (
    answer,
    read_page,
    read_row,
    remove,
    take_steps,
    to_form,
    to_part,
    to_row,
)
from generators.worlds.state.database import Row
from schemas.worlds.field import Kind

_EDITED, _GONE, _MOVED = range(3, 7), range(2, 6), range(2, 7)
_COPIED = NUMBERS | {Kind.TEXT, Kind.CHOICE, Kind.TAGS, Kind.LINK}
_SHARED = frozenset({Kind.CHOICE, Kind.DATE, Kind.FLAG, Kind.LINK, Kind.INTEGER})
_TRIES = 8
_TWO, _THREE = 2, 3


@task_kind(
    "edit-many",
    aside="several",
    words="""
    terse: All {among}: set {field} to {value}.
    terse: {field} {value} for all {among}.
    en: [Set|Change] the {field} of all {among} to {value}.
    en: [Please go through|Go through] {view} and give {value} as {field} to [each of the {among}|all of the {among}], and to no others.
    en: [A new rule|The new rule] for {view}: where {conditions}, {field} is {value}. [Apply it to|Bring it to] all {many}[.| that it concerns.]
    en: [Every one|Each] of the {among} [should get|is to get|needs] {value} as its {field}; [the others stay as they are|leave the rest].
    en: [From now on|As of today], {value} is the {field} of {among}. [Update|Please update] [them all|all of them].
    en: [It was decided|{person2} decided] that the {among} all have the {field} {value}. [See to it|Enter it for each].
    de: Setze bei allen {among} {field} auf {value}.
    de: Alle {among} sollen als {field} {value} haben; alle anderen bleiben, wie sie sind.
    fr: Mets {field} à {value} pour tous les {among}.
    es: Pon {field} en {value} para todos los {among}.
    """,
)
def edit_many(setting: Setting, random: Random) -> Draft | None:
    """Ask to set one value in all rows of a part of a list."""
    for view, entity in editable(setting, random):
        fields = [one for one in form_fields(setting, entity)[1:] if one.kind in _SHARED]
        if not fields:
            continue
        field, named = random.choice(fields), setting.namable(view, entity)
        value = new_value(setting, random, entity, field)
        part = draw_part(
            setting,
            random,
            view,
            sizes=_EDITED,
            conditions=random.choice((1, 2)),
            unlike=(field,),
            only=[row for row in named if row[field.name] != value],
        )
        if part is None or value is None:
            continue
        values: Row = {field.name: value}
        if clashes(setting, entity, *((row, values) for row in part.rows)):
            continue
        return Draft(
            {
                **setting.names(view, entity),
                "among": part.among,
                "conditions": part.words,
                "field": name_field(field),
                "value": quote(setting.show(entity, field, value)),
            },
            changes_of_part(setting, part, values),
            (
                *to_part(setting, part),
                *(
                    step
                    for row in part.rows
                    for step in (
                        *to_row(setting, view, entity, row, reads=()),
                        *save_change(setting, entity, row, values),
                    )
                ),
                answer(),
            ),
            near=part.near,
        )
    return None


@task_kind(
    "delete-several",
    aside="several",
    words="""
    terse: Delete all {among}.
    terse: All {among}: delete.
    en: [Delete|Remove] all {among}.
    en: [Please clear|Clear] {view} of [all|the] {among}; [leave the rest|the others stay].
    en: The {among} [are of no use any more|were entered by mistake]. {site} should have none of them, and all others as before.
    en: [Nobody needs|We do not need] the {among}. [Delete each of them|Remove them all], [and nothing else|and no others].
    en: [All|Everything] under {view} where {conditions} [should go|is to be deleted], and only that.
    en: [When you are done|In the end], {site} should not list any {among}; [please delete them|delete what there is].
    de: Lösche alle {among}, und sonst nichts.
    fr: Supprime tous les {among}, et rien d'autre.
    es: Elimina todos los {among}, y nada más.
    """,
)
def delete_several(setting: Setting, random: Random) -> Draft | None:
    """Ask to delete all rows of a part of a list; no other row links to them."""
    for view, entity in setting.places(random):
        if not entity.can_delete:
            continue
        named = [
            row for row in setting.namable(view, entity) if not is_linked(setting, entity, row)
        ]
        part = draw_part(
            setting,
            random,
            view,
            sizes=_GONE,
            conditions=random.choice((1, 2, 2)),
            only=named,
        )
        if part is None:
            continue
        return Draft(
            {**setting.names(view, entity), "among": part.among, "conditions": part.words},
            removal_of_part(setting, part),
            (
                *to_part(setting, part),
                *(
                    step
                    for row in part.rows
                    for step in (
                        *to_row(setting, view, entity, row, reads=()),
                        *remove(setting),
                    )
                ),
                answer(),
            ),
            near=part.near,
        )
    return None


@task_kind(
    "move-several",
    aside="several",
    words="""
    terse: All {among}: {field} to {after}.
    terse: To {after}: all {among}.
    en: [Bring|Move|Take] all {among} to the {field} {after}.
    en: [Please see to it|Make sure|See to it] that [each of the {among}|every one of the {among}] has {after} as its {field}.
    en: The {among} are [all due|all ready]: their {field} [should be|is to become] {after}. [Leave the other {many} alone|The other {many} stay as they are].
    en: [Go through|Look through] {view}: where {conditions}, {field} [is to be|should become] {after}.
    en: [By {day}|Today] I [want|expect] to find {after} as the {field} of [all|each of] the {among}.
    en: [It is time|{person2} says it is time] to take the {among} on to {after}, [each of them|all of them] and nothing else.
    de: Bringe alle {among} auf {field} {after}.
    fr: Fais passer tous les {among} à {field} {after}.
    es: Lleva todos los {among} a {field} {after}.
    """,
)
def move_several(setting: Setting, random: Random) -> Draft | None:
    """Ask that all rows of a part of a list, which are in one state, take one step of their workflow."""
    for view, entity in setting.places(random):
        flow = setting.world.workflow(entity.name)
        if flow is None or flow.field not in {*view.filters, *view.columns}:
            continue
        field, named = entity.field(flow.field), setting.namable(view, entity)
        for _ in range(_TRIES):
            step = random.choice(flow.transitions)
            before = random.choice(step.before)
            other = draw_part(setting, random, view, sizes=range(2, 10**6), unlike=(field,))
            if other is None or before == step.after:
                continue
            conditions = (choice_of(setting, view, field, before), *other.conditions)
            part = make_part(setting, view, entity, conditions)
            fits = len(part.rows) in _MOVED and all(row in named for row in part.rows)
            if not fits or not is_near(setting, part) or turns(setting, part) > MAX_TURNS:
                continue
            moved: Row = {field.name: step.after}
            return Draft(
                {
                    **setting.names(view, entity),
                    "among": part.among,
                    "conditions": part.words,
                    "field": name_field(field),
                    "after": quote(step.after),
                },
                changes_of_part(setting, part, moved),
                (
                    *to_part(setting, part),
                    *(
                        each
                        for row in part.rows
                        for each in (
                            *to_row(setting, view, entity, row, reads=()),
                            *take_steps(setting, step),
                        )
                    ),
                    answer(),
                ),
                near=part.near,
            )
    return None


@task_kind(
    "create-several",
    words="""
    terse: {number} new {many}. {each}.
    terse: Add {number} {many}: {each}.
    en: [Create|Add|Enter] {number} new {many}: {each}.
    en: [Please add|Please enter] these {number} {many} under {view}: {each}. [The rest stays as the form has it|Leave everything else alone].
    en: {site} lacks {number} {many}. [They have|This is known of them]: {each}.
    en: [I was told|{person2} says] that {number} {many} are still missing under {view}: {each}. [Please enter them|See to it].
    en: [There are|We have] {number} new {many} to record, one after another: {each}.
    en: [Could you|Would you] put {number} more {many} into {site}? {each}.
    de: Lege unter {view} an ({number} {many}): {each}.
    fr: Ajoute dans {view} ({number} {many}) : {each}.
    es: Añade en {view} ({number} {many}): {each}.
    """,
)
def create_several(setting: Setting, random: Random) -> Draft | None:
    """Ask for two or three new rows with their own values."""
    for view, entity in with_forms(setting, random):
        drawn = [draw_row(setting, random, entity) for _ in range(random.choice((2, 2, 3)))]
        rows = [row for row in drawn if row is not None]
        titles = {str(row[entity.title.name]).casefold() for row in rows}
        if len(rows) < len(drawn) or len(titles) < len(rows):
            continue
        return Draft(
            {
                **setting.names(view, entity),
                "number": term({2: "two", 3: "three"}[len(rows)]),
                "each": "; ".join(in_words(setting, entity, row) for row in rows),
            },
            adds(setting, entity, *rows),
            (
                *(
                    step
                    for row in rows
                    for step in (
                        *to_form(setting, view, entity),
                        *fill_form(setting, entity, row),
                    )
                ),
                answer(),
            ),
        )
    return None


@task_kind(
    "transfer",
    words="""
    terse: {field} of {title}: also for {first} and {second}.
    terse: {first}, {second}: {field} as in {title}.
    en: [Give|Set] {first} and {second} the same {field} as {title} has.
    en: [Please look up|Look up] the {field} of the {one} {title} and [enter it for|copy it to] {first} and {second}, two other {many}.
    en: [Two {many}|These two], {first} and {second}, [should have|are to have] the {field} of {title}. [Change both|Update them].
    en: What {title} has as {field} is [right for|true of] {first} and {second} as well. [Correct the two|Put it in there].
    en: [Under|In] {view}, the {field} of {first} and of {second} [should match|has to match] that of {title}; [see to it|please change them].
    en: [Copy|Take over] the {field} from {title}: the {many} {first} and {second} [need it too|lack it].
    de: {first} und {second} sollen bei {field} dasselbe haben wie {title}.
    fr: Pour {field}, donne à {first} et à {second} la même valeur qu'à {title}.
    es: En {field}, pon a {first} y a {second} lo mismo que tiene {title}.
    """,
)
def transfer(setting: Setting, random: Random) -> Draft | None:
    """Ask to copy a field's value from one named row to two others."""
    for view, entity in editable(setting, random):
        named = setting.namable(view, entity)
        fields = [one for one in form_fields(setting, entity)[1:] if one.kind in _COPIED]
        if not fields or len(named) < _THREE:
            continue
        field, like = random.choice(fields), setting.pick(random, entity, named)
        others = [row for row in named if row[field.name] != like[field.name]]
        if not can_put(setting, field, like[field.name]) or len(others) < _TWO:
            continue
        two, values = random.sample(others, 2), {field.name: like[field.name]}
        if clashes(setting, entity, *((row, values) for row in two)):
            continue
        return Draft(
            {
                **setting.names(view, entity, like),
                "field": name_field(field),
                "first": quote(setting.title(entity, two[0])),
                "second": quote(setting.title(entity, two[1])),
            },
            changes(entity, *((row, values) for row in two)),
            (
                *read_row(setting, view, entity, like, (field,)),
                *(
                    step
                    for row in two
                    for step in (
                        *to_row(setting, view, entity, row, reads=()),
                        *save_change(setting, entity, row, values),
                    )
                ),
                answer(),
            ),
        )
    return None


@task_kind(
    "swap",
    words="""
    terse: Swap {field}: {first}, {second}.
    terse: {first} and {second}: exchange {field}.
    en: [Swap|Exchange] the {field} of {first} and {second}.
    en: The {field} of two {many}, {first} and {second}, [got mixed up|was mixed up]: each has that of the other. [Undo this|Put it right].
    en: [Somebody|{person2}] confused {first} with {second} under {view}. [Give each|Please give each] the {field} that the other one has now.
    en: {first} should have the {field} of {second}, and {second} that of {first}. [Please change both|Correct it].
    en: [Undo a mistake|Put a mistake right] in {site}: the {many} {first} and {second} carry each other's {field}.
    en: [Could you|Would you] undo a mix-up? What {first} has as {field} belongs to {second}, and the other way round.
    de: Vertausche {field} von {first} und {second}.
    fr: Échange {field} entre {first} et {second}.
    es: Intercambia {field} entre {first} y {second}.
    """,
)
def swap(setting: Setting, random: Random) -> Draft | None:
    """Ask to undo a mix-up: two named rows have each other's value of a field."""
    for view, entity in editable(setting, random):
        named = setting.namable(view, entity)
        fields = [one for one in form_fields(setting, entity)[1:] if one.kind in _COPIED]
        told = [
            (field, row)
            for field in fields
            for row in named
            if can_put(setting, field, row[field.name])
        ]
        if not told:
            continue
        field, one = random.choice(told)
        others = [row for each, row in told if each is field and row[field.name] != one[field.name]]
        if not others:
            continue
        other = setting.pick(random, entity, others)
        pairs: list[tuple[Row, Row]] = [
            (one, {field.name: other[field.name]}),
            (other, {field.name: one[field.name]}),
        ]
        if clashes(setting, entity, *reversed(pairs)):
            continue
        return Draft(
            {
                **setting.names(view, entity),
                "field": name_field(field),
                "first": quote(setting.title(entity, one)),
                "second": quote(setting.title(entity, other)),
            },
            changes(entity, *pairs),
            (
                *read_row(setting, view, entity, one, (field,)),
                *read_page(setting, view, entity, other, field),
                *save_change(setting, entity, *pairs[1]),
                *to_row(setting, view, entity, one, reads=()),
                *save_change(setting, entity, *pairs[0]),
                answer(),
            ),
        )
    return None
