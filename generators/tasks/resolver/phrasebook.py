"""Whole messages of people, said in plain words that the other frames read.

A message of the bank is known by its fixed words, as an idiom is; what stands in its gaps is read as in any other goal.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product

from generators.tasks.messages.bank import EVERY, bank
from generators.tasks.resolver.idioms import Idiom, idioms, names_in
from generators.tasks.resolver.words import Words
from generators.worlds.state.display import Titles
from schemas.worlds.field import DataField, Kind
from schemas.worlds.world import Entity, World

_ROWS = frozenset({"row", "first", "second", "third", "other"})
_VALUES = frozenset({"value", "after"})
_FIELDS = ("field:any", "field:the", "field", "field:label")
"""The gaps with the name of a field."""

_WAYS = {
    "total": "total",
    "mean": "average",
    "span": "difference between the highest and the lowest value",
}
"""The ways to make one of several numbers, in plain words."""

_CHOICE = "conditional"
"""The kind whose first and second are values."""

_SPACE = re.compile(r"[ \t]+")
_RANKS = frozenset({">", "<"})
"""The ends of keys of messages that ask for the most or the least by a field."""


class Phrasebook:
    """The messages that a world's people may write."""

    def __init__(self, world: World, titles: Titles, words: Words) -> None:
        self._world, self._plain = world, words.plain
        self._bank = bank(world.language.value, world.family)
        self._titles = {
            title.casefold(): (world.entity(name), title)
            for name, some in titles.items()
            for title in some.values()
        }
        self._idioms = idioms(world.language.value, world.family)

    def plainly(self, goal: str) -> list[str]:
        """Return what a goal says in plain words, in each way that a message allows."""
        text = _SPACE.sub(" ", goal).strip()
        return list(dict.fromkeys(self._say(text, ())))

    def _say(self, text: str, kinds: Sequence[str]) -> Iterator[str]:
        small = text.casefold()
        for known in self._idioms.messages:
            if known.anchor not in small or (kinds and known.kind not in kinds):
                continue
            found = known.match(text)
            if found is not None and _has(self._world, known.key):
                yield from self._fill(known, found)

    def _fill(self, known: Idiom, found: re.Match[str]) -> Iterator[str]:
        entity, field, end = self._subject(known.key)
        told: dict[str, list[str]] = {}
        for number, slot in enumerate(known.slots, 1):
            told[slot] = self._in_gap(known.kind, slot, found[number].strip(), entity)
        if "news" in told:
            told["news"] = self._news(told["news"][0], self._spoken_of(told, entity))
        if "among:one" in told:
            told["among"] = [self._several(one) for one in told["among:one"]]
        told = {**self._by_key(entity, field, end), **told}
        if "top" in told:
            told["ranked"] = self._ranks(told)
        for form in _FIELDS:
            told |= {"label": told[form]} if form in told else {}
        for sentence in self._plain.get(known.kind, ()):
            names = [one for one, _ in names_in(sentence)]
            if all(told.get(name) for name in names):
                for each in product(*(told[name] for name in names)):
                    out = sentence
                    for name, part in zip(names, each, strict=True):
                        out = out.replace(f"{{{name}}}", part)
                    yield out
                break

    def _by_key(
        self, entity: Entity | None, field: DataField | None, end: str
    ) -> dict[str, list[str]]:
        """Return what the key of a message says."""
        out = dict[str, list[str]]()
        if entity is None and end in _WAYS:
            out["way"] = [_WAYS[end]]
        if entity is not None:
            out |= {"one": [entity.one], "many": [entity.many]}
        if entity is not None and field is not None:
            out["label"] = [f'"{field.label}"']
            if end in _RANKS:
                out["ranked"] = [_order_by(field, is_most=end == ">")]
            if field.kind is Kind.FLAG and end in {"yes", "no"}:
                flags = self._world.words
                value = flags.yes if end == "yes" else flags.no
                out["news"] = [f'"{field.label}" to "{value}"']
                out["among"] = [f'{entity.many} where "{field.label}" is "{value}"']
            elif end and end not in _RANKS:
                out["after"] = [f'"{end}"']
        return out

    def _in_gap(self, kind: str, slot: str, text: str, entity: Entity | None) -> list[str]:
        """Return what stands in a gap, in plain words; none: it is nothing that fits there."""
        name = slot.partition(":")[0]
        is_value = name in _VALUES or (kind == _CHOICE and name in {"first", "second"})
        if name in _ROWS and slot == name and not is_value:
            return self._row(text, entity)
        if is_value:
            return [_quote(text)]
        match name:
            case "deed":
                return [*self._say(text, ("move", "delete", "edit", "edit-two"))]
            case "among":
                return [self._by_owner(text)]
            case "stated" if "\n" in text:
                return [", ".join(map(_line, filter(None, text.split("\n"))))]
            case _:
                return [text]

    def _by_owner(self, text: str) -> str:
        """Return rows that are said by whose they are, as `Ann Lee's orders`, with the field that says so."""
        owner, apart, rest = text.partition("'s ")
        known = self._titles.get(owner.casefold()) if apart else None
        for entity in self._world.entities if known is not None else ():
            links = [one for one in entity.fields if known and one.target == known[0].name]
            noun = re.search(
                rf"\b(?:{re.escape(entity.many)}|{re.escape(entity.one)})\b", rest, re.IGNORECASE
            )
            if noun is not None and len(links) == 1 and known is not None:
                return f'{rest} where "{links[0].label}" is "{known[1]}"'
        return text

    def _several(self, text: str) -> str:
        """Return rows of which one is said, in the plural."""
        for entity in sorted(self._world.entities, key=lambda one: -len(one.one)):
            told, count = re.subn(
                rf"\b{re.escape(entity.one)}\b", entity.many, text, count=1, flags=re.IGNORECASE
            )
            if count:
                return told
        return text

    def _row(self, text: str, entity: Entity | None) -> list[str]:
        """Return a row by its title, or by the part of it that no other title has."""
        bare = text.strip("\"'").casefold()
        known = self._titles.get(bare)
        if known is None:
            noun = "" if entity is None else f"{entity.one} ".casefold()
            part = bare.removeprefix(noun)
            some = [
                one
                for title, one in self._titles.items()
                if title.endswith((f" {part}", f"-{part}"))
            ]
            some = [one for one in some if entity is None or one[0] is entity]
            known = some[0] if len(some) == 1 else None
        if known is not None:
            return [f'the {known[0].one} "{known[1]}"']
        return [text if entity is None else f"the {entity.one} {text}"]

    def _spoken_of(self, told: Mapping[str, Sequence[str]], entity: Entity | None) -> set[str]:
        """Return the entities of which a message may say something new."""
        if entity is not None:
            return {entity.name}
        names = ("target",) if "target" in told else ("row", "one", "among")
        text = " ".join(one for name in names for one in told.get(name, ())).casefold()
        return {
            one.name
            for one in self._world.entities
            if one.one.casefold() in text or one.many.casefold() in text
        } or {one.name for one in self._world.entities}

    def _news(self, text: str, entities: Collection[str]) -> list[str]:
        """Return one or two things that are new, as fields with values."""
        told = list[str]()
        parts = [found.span() for found in re.finditer(r" and ", text)]
        for start, end in parts:
            told += [
                f"{one} and {other}"
                for one in self._new(text[:start], entities)
                for other in self._new(text[end:], entities)
                if one.partition(" to ")[0] != other.partition(" to ")[0]
            ]
        return told or [*self._new(text, entities)]

    def _new(self, text: str, entities: Collection[str]) -> Iterator[str]:
        for known in self._idioms.now:
            key = known.key
            is_of = key.partition(".")[0] in entities and _has(self._world, key)
            found = known.match(text) if is_of else None
            if found is None:
                continue
            _, field, end = self._subject(key)
            if field is None:
                continue
            words = self._world.words
            flag = {"yes": words.yes, "no": words.no}.get(end, "")
            value = f'"{flag}"' if flag else _quote(found[1].strip())
            yield f'"{field.label}" to {value}'

    def _ranks(self, told: Mapping[str, Sequence[str]]) -> list[str]:
        """Return by which fields of the rows an adjective says which comes first, and from which end."""
        top = told["top"][0].casefold()
        rows = " ".join(one for name, some in told.items() if name[:5] == "among" for one in some)
        labels = [one.strip("\"'").casefold() for one in told.get("field:label", ())]
        out = list[str]()
        for key, both in self._bank.tops.items():
            entity, field, _ = self._subject(key) if _has(self._world, key) else (None, None, "")
            if entity is None or field is None or (labels and field.label.casefold() not in labels):
                continue
            nouns = (entity.one.casefold(), entity.many.casefold())
            if any(noun in rows.casefold() for noun in nouns):
                ends = (number for number, some in enumerate(both) if top in some)
                out += [_order_by(field, is_most=number == 0) for number in ends]
        return out

    def _subject(self, key: str) -> tuple[Entity | None, DataField | None, str]:
        """Return the entity, the field and what is beside them in a key: the word of a flag, or where a step leads."""
        if key.startswith(EVERY):
            return None, None, key.partition("=")[2]
        name, _, rest = key.partition(".")
        entity = self._world.entity(name)
        if rest[-1:] in _RANKS:
            return entity, entity.field(rest[:-1]), rest[-1:]
        what, _, end = rest.partition("=")
        flow = self._world.workflow(name)
        step = next((one for one in flow.transitions if one.name == what), None) if flow else None
        if flow is not None and (step is not None or not what):
            return entity, entity.field(flow.field), step.after if step is not None else ""
        return entity, entity.field(what) if what else None, end


def _order_by(field: DataField, *, is_most: bool) -> str:
    """Return how rows compare by a field, in plain words."""
    words = ("latest", "earliest") if field.kind is Kind.DATE else ("highest", "lowest")
    return f'{words[not is_most]} "{field.label}"'


def _has(world: World, key: str) -> bool:
    """Return whether a world has what a key names."""
    if key.startswith(EVERY):
        return True
    name, _, rest = key.partition(".")
    entity = next((one for one in world.entities if one.name == name), None)
    if entity is None:
        return False
    what = rest.partition("=")[0].rstrip("><")
    flow = world.workflow(name)
    steps = {one.name for one in flow.transitions} if flow is not None else set[str]()
    return not what or what in steps or any(one.name == what for one in entity.fields)


def _line(text: str) -> str:
    """Return a line of a list, as `Name: Ann Lee`, with its label in quotation marks."""
    label, parts, value = text.partition(": ")
    return f'"{label.strip()}": {value.strip()}' if parts else text.strip()


def _quote(text: str) -> str:
    """Return a value in quotation marks."""
    bare = text.strip("\"'") if text[:1] in "\"'" and text[-1:] == text[:1] else text
    return f'"{bare}"' if '"' not in bare else text
