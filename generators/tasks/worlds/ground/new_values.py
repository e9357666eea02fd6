"""New values for fields of tasks: valid, different from the current values, and similar to those of other rows."""

import re
from collections.abc import Collection, Sequence
from datetime import timedelta
from random import Random

from generators.tasks.worlds.ground.world_rows import Setting, is_plain
from generators.worlds.state.database import Value
from generators.worlds.words.catalogue import catalogue
from schemas.worlds.field import TAG_PARTING, DataField, Kind, tags_of
from schemas.worlds.look import Amounts
from schemas.worlds.world import Entity

_STEPS = {False: 5, True: 100}
"""The step of amounts in hundredths, by whether the world's amounts are whole."""

_TRIES = 30
_MIN_DIGITS = 3
_FEW_TAGS = 3
"""Maximum number of tags for a field without tags."""


def notes(setting: Setting) -> Sequence[str]:
    """Return texts for fields of several lines, in the world's language."""
    return catalogue(setting.world.language).among("contents.notes")


def new_value(
    setting: Setting,
    random: Random,
    entity: Entity,
    field: DataField,
    *,
    unlike: Collection[Value] = (),
) -> Value:
    """Return a valid value for a field, outside `unlike`; None: no such value can be stated."""
    match field.kind:
        case Kind.TEXT:
            return _new_text(setting, random, entity, field, unlike=unlike)
        case Kind.LONG_TEXT:
            return _one(random, notes(setting), unlike)
        case Kind.INTEGER | Kind.MONEY | Kind.DATE:
            return _new_number(setting, random, field, unlike=unlike)
        case Kind.TAGS:
            return _new_tags(setting, random, field, unlike=unlike)
        case _:
            return _one(random, [value for value, _ in setting.options(field)], unlike)


def is_near_title(title: str, titles: Sequence[str]) -> bool:
    """Return whether somebody may mean another row by a title that no row has.

    That is so if one has all words of the other, if they have the same letters, or if they differ by two of them, of a
    code by one.
    """
    words, digits = {*title.casefold().split()}, sum(letter.isdigit() for letter in title)
    most = 1 if digits >= _MIN_DIGITS else 2
    for other in map(str.casefold, titles):
        told = {*other.split()}
        is_anagram = sorted(other) == sorted(title.casefold())
        if words <= told or told <= words or is_anagram or _edits(title.casefold(), other) <= most:
            return True
    return False


def _edits(one: str, other: str) -> int:
    """Return the number of letters to change, leave out or put in that make one text of another."""
    before = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        row = [at]
        for place, held in enumerate(other, 1):
            row.append(min(before[place] + 1, row[-1] + 1, before[place - 1] + (letter != held)))
        before = row
    return before[-1]


def _one(random: Random, among: Sequence[Value], unlike: Collection[Value]) -> Value:
    can = [value for value in among if value not in unlike]
    return random.choice(can) if can else None


def _new_tags(
    setting: Setting, random: Random, field: DataField, *, unlike: Collection[Value]
) -> Value:
    """Return the current tags with one added or removed; a few tags if there are no current ones."""
    known = [str(value) for value, _ in setting.options(field)]
    there = {tag for one in unlike for tag in tags_of(one)}
    for _ in range(_TRIES):
        some = there ^ {random.choice(known)} if there else {*random.choices(known, k=_FEW_TAGS)}
        value = TAG_PARTING.join(tag for tag in field.choices if tag in some)
        if value and value not in unlike:
            return value
    return None


def _new_number(
    setting: Setting, random: Random, field: DataField, *, unlike: Collection[Value]
) -> Value:
    for _ in range(_TRIES):
        number = random.randint(field.min, field.max)
        if field.kind is Kind.MONEY:
            number = max(
                field.min, number - number % _STEPS[setting.world.amounts is Amounts.WHOLE]
            )
        day = setting.world.at.date()
        value = (day + timedelta(days=number)).isoformat() if field.kind is Kind.DATE else number
        if value not in unlike:
            return value
    return None


def _new_text(
    setting: Setting,
    random: Random,
    entity: Entity,
    field: DataField,
    *,
    unlike: Collection[Value],
) -> Value:
    """Return a text similar to other rows' texts; a title is unique."""
    is_title = field is entity.title
    there = [str(row[field.name]) for row in setting.rows_of(entity) if row[field.name]]
    taken = {str(value).casefold() for value in (*unlike, *(there if is_title else ()))}
    for _ in range(_TRIES if there else 0):
        text = _vary(random, *random.choices(there, k=2), anew=is_title)
        if is_plain(text) and text.casefold() not in taken:
            return text
    return None


def _vary(random: Random, one: str, other: str, *, anew: bool) -> str:
    """Return a text with other digits; an e-mail address or a new text combines parts of two others."""
    if sum(letter.isdigit() for letter in one) >= _MIN_DIGITS:
        return re.sub(r"[1-9]", lambda _: random.choice("123456789"), one)
    if "@" in one:
        head, tail = one.partition("@")[0].split("."), other.split(".", 1)
        return ".".join((*head[:-1], tail[-1])) if "@" in tail[-1] else other
    if not anew:
        return one
    first, last = one.split(), other.split()
    if len(first) == len(last) > 1:  # else a name might lack a word that all others have
        return " ".join((*first[:-1], last[-1]))
    return f"{one} {random.randint(2, 9)}"
