"""Kinds of tasks that end with an answer and change nothing: find, compare, extreme, count and join."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from itertools import combinations
from random import Random

from generators.policy.sentences.vary import said
from generators.sites.gates import CANARIES
from generators.sites.judging.answers import normalise, read_number
from generators.tasks.worlds.ground.list_filters import (
    can_filter,
    draw_filter,
    filtered_rows,
    in_words,
)
from generators.tasks.worlds.ground.row_conditions import whole_list
from generators.tasks.worlds.ground.task import Draft
from generators.tasks.worlds.ground.task_kind import task_kind
from generators.tasks.worlds.ground.world_rows import (
    MAX_TURNS,
    NUMBERS,
    Setting,
    is_plain,
    name_field,
    quote,
    rank,
    term,
)
from generators.tasks.worlds.references.facts import best_so_far, facts_of_rows
from generators.tasks.worlds.references.steps import (
    answer,
    click,
    find_listed,
    look,
    read,
    read_row,
    to_list,
    to_row,
)
from generators.worlds.state.database import Row
from generators.worlds.state.display import name_day
from generators.worlds.words.catalogue import catalogue
from schemas.tasks.expectation import Expectation, Matcher, Number, OneOf
from schemas.tasks.reference import Purpose
from schemas.worlds.field import DataField, Kind
from schemas.worlds.world import Entity, World

_FACTS = NUMBERS | {Kind.TEXT, Kind.CHOICE, Kind.TAGS, Kind.LINK}
_OWN_FACTS = _FACTS - {Kind.LINK}
_WORDS = {True: ("larger", "largest"), False: ("smaller", "smallest")}
_DAYS = {True: ("later", "latest"), False: ("earlier", "earliest")}
_FEWEST = 3
"""Minimum number of rows for a largest one, and for a count."""


@task_kind(
    "find",
    aside="one",
    words="""
    terse: {one} {title}: {field}?
    terse: {field} of {title}?
    terse: {title}, {field}: value?
    en: What is the {field} of the {one} {title}?
    en: [Look up|Find|Open] {title} [under|in] {view} and [tell me|answer with|give me] [what it has as|its] {field}.
    en: [Please|Kindly] [tell me|let me know|look up] [what {site} gives as|what stands under] {field} for the {one} {title}.
    en: Which {field} does the {one} {title} have [in {site}|according to {site}|under {view}]?
    en: [All that is missing|The only thing missing|What I still lack] is the {field} of {title}, [one of the {many}|one of the {many} in {site}|which is under {view}].
    en: [I would like to know|I wonder|It would help to know] which {field} [stands on the page of|is given for|belongs to] the {one} {title}.
    en: Somebody [asks|wants to know|has to know] about {title} [under|in] {view}: [its {field}, as the page shows it|what is its {field}].
    de: Was steht bei {one} {title} unter {field}?
    de: [Bitte suche|Bitte öffne] {title} unter {view} und [nenne mir|antworte mit] {field}.
    fr: Quelle est la valeur de {field} pour {one} {title} ?
    fr: [Cherche|Ouvre] {title} dans {view} et [donne-moi|réponds avec] {field}.
    es: ¿Qué pone en {field} para {one} {title}?
    es: [Busca|Abre] {title} en {view} y [dime|responde con] {field}.
    """,
)
def find(setting: Setting, random: Random) -> Draft | None:
    """Ask for one fact of a named row."""
    for view, entity in setting.places(random):
        facts = setting.facts(entity, _FACTS)
        named = setting.namable(view, entity)
        if not facts or not named:
            continue
        field, row = random.choice(facts), setting.pick(random, entity, named)
        reply = _reply(setting, entity, field, row)
        if reply is None:
            continue
        return Draft(
            {**setting.names(view, entity, row), "field": name_field(field)},
            Expectation(answer=_matcher(setting.world, field, row, reply)),
            (*read_row(setting, view, entity, row, (field,)), answer(reply)),
            "verbatim",
        )
    return None


@task_kind(
    "join",
    aside="one",
    words="""
    terse: {one} {title} > {link} > {field}?
    terse: {title}: {field} of its {link}?
    terse: {field}, {link} of {title}?
    en: What is the {field} of the {target} that the {one} {title} has as its {link}?
    en: [Please open|Open|Go to] the {one} {title}, [go on to|follow] its {link}, and [tell me|answer with|give me] the {field} [there|that stands there|on that page].
    en: The {one} {title} [names|only names] its {link}. [I need|Tell me|Find out] what that {target} has as {field}.
    en: [Whichever|Whatever] {target} the {one} {title} has as its {link}, [answer with|I need|tell me] its {field}.
    en: [Find|Look up] the {link} of {title} [under|in] {view}, and [then|after that] the {field} of that {target}; [the latter is|that is] what I need.
    en: I know the {one} {title}, [but not|and do not know] the {field} of its {link}. [Could you find out?|Please find it.|What is it?]
    de: Welchen Wert hat {field} bei {target}, auf den {one} {title} unter {link} verweist?
    de: [Öffne|Suche] {title} unter {view}, gehe weiter zu {link} und nenne mir von dort {field}.
    fr: {one} {title} renvoie par {link} à {target} : que vaut {field} sur cette page ?
    fr: Ouvre {title} dans {view}, suis {link} et [donne-moi|réponds avec] {field}.
    es: {one} {title} remite por {link} a {target}: ¿qué pone allí en {field}?
    es: Abre {title} en {view}, sigue {link} y [dime|responde con] {field}.
    """,
)
def join(setting: Setting, random: Random) -> Draft | None:
    """Ask for a fact of the row that a named row links to."""
    for view, entity in setting.places(random):
        links = setting.facts(entity, frozenset({Kind.LINK}))
        named = setting.namable(view, entity)
        if not links or not named:
            continue
        link, row = random.choice(links), setting.pick(random, entity, named)
        if row[link.name] is None or link.target is None:
            continue
        target = setting.world.entity(link.target)
        there = setting.row(target, row[link.name])
        field = random.choice(setting.facts(target, _OWN_FACTS) or [target.title])
        reply = _reply(setting, target, field, there)
        if field is target.title or reply is None:
            continue
        return Draft(
            {
                **setting.names(view, entity, row),
                "target": target.one,
                "link": name_field(link),
                "field": name_field(field),
            },
            Expectation(answer=_matcher(setting.world, field, there, reply)),
            (
                *to_row(setting, view, entity, row, reads=(link,)),
                click(setting.title(target, there), Purpose.ROW),
                *look(setting, target, (field,)),
                answer(reply),
            ),
            "verbatim",
        )
    return None


@task_kind(
    "compare",
    words="""
    terse: {word} {field}: {first} or {second}?
    terse: {first} or {second}: {word} {field}?
    en: Which {one} has the {word} {field}, {first} or {second}?
    en: [Please compare|Compare] two {many}, {first} and {second}, and [tell me|answer with|give me] the {name} of one or the other: the one with the {word} {field}.
    en: Is {field} {word} for {first} or for {second}? [Reply|Answer] with the {name} [alone|and nothing else].
    en: [Between|Of] {first} and {second} I [would take|want|need] the one with the {word} {field}. [Which one or the other is it?|Choose one or the other, and answer with its {name}.]
    en: [Somebody claims|{person2} claims] that {first} and {second} have the same {field}. [That is wrong;|They do not;] answer with one or the other, the one whose {field} is {word}.
    en: [Look at|Open|Check] {first} and [then|afterwards] {second} [under|in] {view}: one or the other has the {word} {field}. [Its {name}, please.|What is its {name}?]
    de: Wo ist {field} {word}, bei {first} oder bei {second}? Antworte mit {name}.
    fr: Pour lequel {field} a-t-il la valeur la {word}, {first} ou {second} ? Réponds avec {name}.
    es: ¿Cuál tiene el valor {word} de {field}, {first} o {second}? Responde con {name}.
    """,
)
def compare(setting: Setting, random: Random) -> Draft | None:
    """Ask which of two rows has the larger or smaller number, or the later or earlier day."""
    for view, entity in setting.places(random):
        fields = setting.facts(entity, NUMBERS)
        named = setting.namable(view, entity)
        if not fields or len(named) < _FEWEST:
            continue
        field, wants_large = random.choice(fields), random.random() < 1 / 2
        some = random.sample(named, min(len(named), 12))
        pairs = [
            pair
            for pair in combinations(some, 2)
            if None not in (values := [row[field.name] for row in pair]) and values[0] != values[1]
        ]
        if not pairs:
            continue
        one, other = min(
            pairs, key=lambda pair: abs(rank(pair[0][field.name]) - rank(pair[1][field.name]))
        )
        best = max if wants_large else min
        reply = setting.title(entity, best((one, other), key=lambda row: rank(row[field.name])))
        if not is_asked_for(reply):
            continue
        word = (_DAYS if field.kind is Kind.DATE else _WORDS)[wants_large][0]
        two = random.sample([quote(setting.title(entity, row)) for row in (one, other)], 2)
        told = [
            f"{setting.fact(entity, field, row)} for {quote(setting.title(entity, row))}"
            for row in (one, other)
        ]
        first, second = told
        why = said(
            "kinds.compare", field=field.label, first=first, second=second, word=word, reply=reply
        )
        return Draft(
            {
                **setting.names(view, entity),
                "word": term(word),
                "field": name_field(field),
                "first": two[0],
                "second": two[1],
            },
            Expectation(
                answer=reply,
                facts=tuple(setting.fact(entity, field, row) for row in (one, other)),
            ),
            (
                *(
                    step
                    for row in sorted((one, other), key=lambda row: int(row["id"] or 0))
                    for step in read_row(setting, view, entity, row, (field,))
                ),
                answer(reply, why),
            ),
            "computed",
        )
    return None


@task_kind(
    "extreme",
    aside="several",
    words="""
    terse: {name} of the {one} with the {word} {field} ({among})?
    terse: {among}: {name} of the {word} {field}?
    en: Which of the {among} has the {word} {field}? [Answer with|Give me|Reply with] its {name}.
    en: [Please find|Find|Look for], among the {among}, the {one} with the {word} {field} and [tell me|answer with|give me] its {name}.
    en: [For a summary of|For a note about] {view} I need [one line|one thing]: the {name} of the {one} whose {field} is the {word} of all the {among}.
    en: [Imagine|Picture] the {among} in a row, by {field}. [I only want to know|Tell me|What is] the {name} of the one at the end, with the {word}[.|, please.]
    en: [Go through|Check] the {among} [in {site}|under {view}] and [note|answer with|tell me] the {name} of that with the {word} {field}.
    en: One of the {among} [stands out|is unlike the others] by its {field}, the {word} of all: [I want|give me|tell me] its {name}.
    de: Bei welchem Eintrag von {among} ist {field} am {word}? [Antworte mit|Nenne mir] {name}.
    fr: Parmi {among}, pour lequel {field} a-t-il la valeur la {word} ? [Réponds avec|Donne-moi] {name}.
    es: De {among}, ¿cuál tiene el valor {word} de {field}? [Responde con|Dime] {name}.
    """,
)
def extreme(setting: Setting, random: Random) -> Draft | None:
    """Ask for the row with the largest or smallest value in a list, filtered if possible."""
    for view, entity in setting.places(random):
        columns = (*view.sorts, *view.columns)
        fields = [one for one in setting.facts(entity, NUMBERS) if one.name in columns]
        if not fields:
            continue
        field, wants_large = random.choice(fields), random.random() < 1 / 2
        filters = draw_filter(setting, random, view, entity)
        rows = filtered_rows(setting, entity, filters)
        can_sort = field.name in view.sorts
        turns = 0 if can_sort else (len(rows) - 1) // view.page_size
        best = _best(rows, field, wants_large=wants_large)
        if best is None or turns > MAX_TURNS:
            continue
        reply = setting.title(entity, best)
        if not is_asked_for(reply):
            continue
        word = (_DAYS if field.kind is Kind.DATE else _WORDS)[wants_large][1]
        sort = field if can_sort else None
        value = setting.fact(entity, field, best)
        why = said(
            "kinds.extreme_read" if sort is None else "kinds.extreme_sorted",
            count=str(len(rows)),
            reply=reply,
            word=word,
            field=field.label,
            value=value,
        )
        return Draft(
            {
                **setting.names(view, entity),
                "among": in_words(entity, filters),
                "word": term(word),
                "field": name_field(field),
            },
            Expectation(answer=reply, read=None if can_sort else whole_list(setting, view, entity)),
            (
                *to_list(setting, view, filters, sort=sort, descending=wants_large),
                find_listed(setting, reply)
                if can_sort
                else read(
                    setting, best_so_far(setting, entity, rows, field, wants_large=wants_large)
                ),
                answer(reply, why),
            ),
            "computed",
            near=len(rows) - 1,
        )
    return None


@task_kind(
    "count",
    words="""
    terse: Number of {among}?
    terse: {among}: how many?
    en: How many {among} are there[?| in {site}?| under {view}?]
    en: [Please count|Count] the {among} [for me|] and [answer with|tell me|give me] the number.
    en: [The weekly report|The summary|The overview] of {site} [needs|lacks] a figure under {view}: [how many {among} there are|the number of {among}].
    en: I [would like|want|need] to know [whether there are many {among}; tell me how many exactly|how many {among} we have].
    en: [Go through|Look through] {view} and count: [how many are|what is the number of] {among}?
    en: [If somebody asks|When {person2} asks] how many {among} we have, what do I say? [A number is enough|Just the number], please.
    de: Wie viele {among} gibt es[?| unter {view}?| in {site}?]
    de: Bitte zähle {among} und antworte mit der Zahl.
    fr: Combien y a-t-il de {among} [?|dans {view} ?]
    fr: Compte {among} et réponds avec le nombre.
    es: ¿Cuántos {among} hay[?| en {view}?]
    es: Cuenta {among} y responde con el número.
    """,
)
def count(setting: Setting, random: Random) -> Draft | None:
    """Ask how many rows have one or two given values; the list is read to its end."""
    for view, entity in setting.places(random):
        names = list(dict.fromkeys((*view.filters, *view.columns)))
        fields = [
            one for one in setting.facts(entity, frozenset({Kind.CHOICE})) if one.name in names
        ]
        if not fields:
            continue
        told = random.sample(fields, random.randint(1, min(2, len(fields))))
        wanted = {field.name: random.choice(field.choices) for field in told}
        filters = {name: choice for name, choice in wanted.items() if name in view.filters}
        listed = filtered_rows(setting, entity, filters)
        turns = (len(listed) - 1) // view.page_size
        counted = filtered_rows(setting, entity, wanted)
        number = len(counted)
        if number < _FEWEST or turns > MAX_TURNS or not can_filter(setting, entity, filters):
            continue
        return Draft(
            {**setting.names(view, entity), "among": in_words(entity, wanted)},
            Expectation(
                answer=Number(number=number),
                facts=tuple(setting.title(entity, row) for row in counted),
                read=whole_list(setting, view, entity),
            ),
            (
                *to_list(setting, view, filters),
                read(setting, facts_of_rows(setting, entity, counted)),
                answer(str(number), said("kinds.counted", reply=str(number))),
            ),
            "computed",
            near=len(setting.rows_of(entity)) - number,
        )
    return None


def is_asked_for(reply: str) -> bool:
    """Return whether an answer can be quoted and is not one that guessers often give."""
    return is_plain(reply) and normalise(reply) not in {normalise(each) for each in CANARIES}


def _reply(setting: Setting, entity: Entity, field: DataField, row: Row) -> str | None:
    """Return the answer that states a fact of a row; None: the fact is unsuitable."""
    value = row[field.name]
    if value is None:
        return None
    if field.kind is Kind.MONEY and isinstance(value, int):
        return setting.fact(entity, field, row) if value not in {0, 100} else None
    reply = setting.fact(entity, field, row)
    return reply if is_asked_for(reply) else None


def _matcher(world: World, field: DataField, row: Row, reply: str) -> Matcher:
    value = row[field.name]
    if field.kind is Kind.MONEY and isinstance(value, int):
        number = value / 100
        is_read = read_number(reply) == Decimal(value) / 100
        return Number(number=number) if is_read else OneOf(one_of=(reply, number))
    if field.kind is Kind.INTEGER and isinstance(value, int):
        return Number(number=value)
    if field.kind is Kind.DATE:
        day = date.fromisoformat(str(value))
        month = catalogue(world.language).among("dates.months")[day.month - 1]
        return OneOf(
            one_of=(
                reply,
                day.isoformat(),
                name_day(world, day),
                f"{day.day} {month} {day.year}",
                f"{month} {day.day}, {day.year}",
            )
        )
    return reply


def _best(rows: Sequence[Row], field: DataField, *, wants_large: bool) -> Row | None:
    """Return the only row with the largest or smallest value; None: a tie, or too few rows."""
    if len(rows) < _FEWEST or any(row[field.name] is None for row in rows):
        return None
    ordered = sorted(rows, key=lambda row: rank(row[field.name]), reverse=wants_large)
    return ordered[0] if ordered[0][field.name] != ordered[1][field.name] else None
