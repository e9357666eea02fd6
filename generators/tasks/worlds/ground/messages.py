"""Draws a whole message for a task from the bank (`generators/tasks/messages`), for what the task speaks of."""

import re
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import NamedTuple

from generators.tasks.messages.bank import EVERY, SLOT, Bank
from generators.tasks.worlds.ground.grammar import spread
from generators.tasks.worlds.ground.mentions import (
    ChangeSaid,
    DeletionSaid,
    FieldSaid,
    RowSaid,
    RowsSaid,
    Said,
    StepSaid,
    TermSaid,
    ValueSaid,
    ValuesSaid,
)
from schemas.worlds.field import Kind

_TRIES = 8
_OWN = 0.85
"""The share of messages for the very thing, where there are some, and not for all of its sort."""

LEAST = frozenset({"smallest", "earliest", "smaller", "earlier"})
"""How rows compare of which the least comes first."""

_BARE = re.compile(r"\{(row|first|second|third|other)\}")


class Message(NamedTuple):
    """A message to be filled."""

    text: str
    """Its sentences, spread."""
    words: Mapping[str, Said]
    """What fills its placeholders."""


def draw_message(
    known: Bank, kind: str, words: Mapping[str, Said], random: Random
) -> Message | None:
    """Return a message of a kind that fits what a task speaks of; None: there is none."""
    table, keys = known.kinds.get(kind, {}), [*keys_of(words)]
    own = [text for key in keys for text in table.get(key, ())]
    every = [*table.get(EVERY, ())]
    for _ in range(_TRIES if own or every else 0):
        some = own if own and (not every or random.random() < _OWN) else every
        filled = _fill(known, random.choice(some), words, random)
        if filled is not None:
            text = spread(filled.text, random)
            return filled._replace(text=_BARE.sub(_title_alone(filled.words), text))
    return None


def _title_alone(words: Mapping[str, Said]) -> Callable[[re.Match[str]], str]:
    """Return what has rows in a message by their titles alone."""

    def alone(found: re.Match[str]) -> str:
        is_row = isinstance(words[found[1]], RowSaid)
        return f"{{{found[1]}:bare}}" if is_row else found[0]

    return alone


def _fill(known: Bank, text: str, words: Mapping[str, Said], random: Random) -> Message | None:
    """Return a message with its slots filled; None: nothing fills one of them."""
    told = {**words, **_values(words)}
    for name in SLOT.findall(text):
        match name:
            case "news":
                said = _news(known, words, random)
            case "top":
                said = _top(known, words, random)
            case _:
                said = _act(known, words, random)
        if said is None:
            return None
        text = text.replace(f"{{{name}}}", said.text, 1)
        told |= said.words
    lacks = {one for one in re.findall(r"\{(\w+)", text) if one not in told}
    return None if lacks else Message(text, told)


def _values(words: Mapping[str, Said]) -> dict[str, Said]:
    """Return the one value that a task sets, or by which it means rows."""
    match words.get("stated"), words.get("among"):
        case ValuesSaid(entity=entity, values=values), _ if (
            len(values) == 1 and "among" not in words
        ):
            ((name, value),) = values.items()
            return {"value": ValueSaid(entity, entity.field(name), value)}
        case _, RowsSaid(tests=(test,)) if "value" not in words:
            return {"value": test}
        case _:
            return {}


def _news(known: Bank, words: Mapping[str, Said], random: Random) -> Message | None:
    """Return what a row is said to have new, one or two things."""
    stated = words.get("stated")
    if not isinstance(stated, ValuesSaid) or _is_renamed(stated):
        return None
    told, filled = list[str](), dict[str, Said]()
    for number, (name, value) in enumerate(stated.values.items()):
        said = ValueSaid(stated.entity, stated.entity.field(name), value)
        some = [one for key in reversed([*_keys_of_value(said)]) for one in known.now.get(key, ())]
        if not some:
            return None
        told.append(random.choice(some).replace("{value}", f"{{new{number}}}"))
        filled[f"new{number}"] = said
    return Message(" and ".join(told), filled)


def _is_renamed(said: ValuesSaid) -> bool:
    """Return whether a row gets another title and something else, which would be read as part of the title."""
    return len(said.values) > 1 and said.entity.title.name in said.values


def _top(known: Bank, words: Mapping[str, Said], random: Random) -> Message | None:
    """Return the adjective for the first by a field."""
    field, among = words.get("field"), words.get("among")
    if not isinstance(field, FieldSaid) or not isinstance(among, RowsSaid):
        return None
    both = known.tops.get(f"{among.entity.name}.{field.fields[0].name}", ((), ()))
    some = both[field.word in LEAST]
    return Message(random.choice(some), {}) if some else None


def _act(known: Bank, words: Mapping[str, Said], random: Random) -> Message | None:
    """Return the whole message for an act on a row."""
    match words.get("what"):
        case StepSaid() as step:
            kind, told = "move", {"row": words["row"], "do": step}
        case DeletionSaid():
            kind, told = "delete", {"row": words["row"]}
        case ChangeSaid(values=values):
            kind = "edit" if len(values.values) == 1 else "edit-two"
            told = {"row": words["row"], "stated": values}
        case _:
            return None
    names = {name: words[name] for name in ("one", "many") if name in words}
    found = draw_message(known, kind, {**names, **told}, random)
    is_ended = found is None or found.text[-1] in ".?!"
    return found if found is None or is_ended else found._replace(text=f"{found.text}.")


def keys_of(words: Mapping[str, Said]) -> Iterator[str]:
    """Yield the keys of messages for what a task speaks of: of its step, value, field and entity, in this order."""
    entity = next(
        (
            one.entity.name
            for one in (words.get(name) for name in ("row", "first", "among", "stated"))
            if isinstance(one, (RowSaid, RowsSaid, ValuesSaid))
        ),
        "",
    )
    if isinstance(way := words.get("way"), TermSaid):
        yield f"{EVERY}={way.name}"
    if isinstance(step := words.get("do"), StepSaid):
        yield f"{entity}.{step.step.name}"
    match words.get("stated"), words.get("among"):
        case ValuesSaid(values=values) as stated, _ if len(values) == 1 and "among" not in words:
            ((name, value),) = values.items()
            yield from _keys_of_value(ValueSaid(stated.entity, stated.entity.field(name), value))
        case _, RowsSaid(tests=(ValueSaid(over="") as test,)) if "field" not in words:
            yield from _keys_of_value(test)
        case _:
            pass
    if isinstance(field := words.get("field"), FieldSaid):
        link = words.get("link")
        name = (link if isinstance(link, FieldSaid) else field).fields[0].name
        if field.word:
            yield f"{entity}.{name}{'<' if field.word in LEAST else '>'}"
        yield f"{entity}.{name}"
    yield entity


def _keys_of_value(said: ValueSaid) -> Iterator[str]:
    """Yield the keys of a value: of yes or no alone, of others that of their field."""
    key = f"{said.entity.name}.{said.field.name}"
    if said.field.kind is Kind.FLAG:
        yield f"{key}={'yes' if said.value else 'no'}"
    else:
        yield key
