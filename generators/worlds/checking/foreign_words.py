"""Finds words on a world's pages that are not of its language: those that none of its words explains.

What explains a word is a label of the specification, a value of a row as pages show it, or a text of the language's
catalogue, of which the parts around what is put in count. A page's texts are what it shows, and what it says to
readers of names and of empty fields.
"""

import re
from collections.abc import Iterator, Mapping
from string import Formatter

from generators.worlds.checking.html_reader import PageReader
from generators.worlds.state.database import Rows
from generators.worlds.state.display import EXAMPLE_DAY, show_day, show_value
from generators.worlds.words.catalogue import LABELS, Catalogue, catalogue
from schemas.worlds.field import HAVE_CHOICES, Kind, tags_of
from schemas.worlds.world import Entity, World

_LETTERS = re.compile(r"[^\W\d_]+")
_EDGE = r"[A-Za-zÀ-ɏ]"
"""A letter of a script that writes words apart."""

_SHORTEST = 2


class Explained:
    """The words that a world's pages may show."""

    def __init__(self, world: World, rows: Rows) -> None:
        """`rows` are the world's initial rows."""
        known = {*_labels(world), *_values(world, rows), *_texts(catalogue(world.language))}
        self._known = {" ".join(one.split()).casefold() for one in known}
        self._parts = sorted((one for one in self._known if _LETTERS.search(one)), key=_length)

    def foreign(self, pages: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
        """Yield page, text and word for each text with a word that nothing explains, each text once."""
        told = dict[str, str]()
        for page, html in pages.items():
            reader = PageReader(html)
            for text in (*(chunk.text for chunk in reader.chunks), *reader.names):
                if text not in told:
                    told[text] = self._rest(text)
                    if told[text]:
                        yield page, text, told[text]

    def _rest(self, text: str) -> str:
        """Return a word of a text that nothing explains; empty: there is none."""
        rest = text.casefold()
        if rest in self._known:
            return ""
        for part in self._parts:
            if part in rest:
                before = rf"(?<!{_EDGE})" if re.match(_EDGE, part) else ""
                after = rf"(?!{_EDGE})" if re.search(f"{_EDGE}$", part) else ""
                rest = re.sub(f"{before}{re.escape(part)}{after}", " ", rest)
        left = (word[0] for word in _LETTERS.finditer(rest))
        return next((word for word in left if len(word) >= _SHORTEST or not word.isascii()), "")


def _length(text: str) -> tuple[int, str]:
    return -len(text), text


def _labels(world: World) -> Iterator[str]:
    """Yield what a specification says on pages."""
    yield from (world.title, world.user, world.role, world.currency)
    yield from (part for _, label in world.words for part in _parts(label))
    for entity in world.entities:
        yield from _labels_of(entity)
    for flow in world.workflows:
        yield from (step.label for step in flow.transitions)
    yield from (view.label for view in world.views)
    yield from (thread.reply for thread in world.threads)
    how, noise, cart = world.behaviour, world.noise, world.cart
    yield from (menu.label for menu in how.menus)
    yield from (*how.parts, how.more, how.saved, how.searching, how.sure or "", how.actions or "")
    yield from (noise.accept, noise.decline, noise.refuse, noise.name, noise.resume)
    yield from (noise.announcement, noise.survey or "")
    if cart is not None:
        yield from (cart.add, cart.remove, cart.line_sum, cart.total, cart.check_out)
    if world.permissions is not None:
        yield world.permissions.leader
        yield world.permissions.requests.ask if world.permissions.requests is not None else ""


def _labels_of(entity: Entity) -> Iterator[str]:
    yield from (entity.one, entity.many, *(section.label for section in entity.sections))
    for field in entity.fields:
        yield from (field.label, *field.choices)


def _values(world: World, rows: Rows) -> Iterator[str]:
    """Yield the values of rows as pages show them, long texts by their lines."""
    for entity in world.entities:
        for row in rows.get(entity.name, ()):
            for field in entity.fields:
                value = row[field.name]
                if field.target is None and value is not None:
                    yield show_value(world, field, value)
                    yield str(value)
                    yield from tags_of(value) if field.kind is Kind.TAGS else ()
                if field.kind not in HAVE_CHOICES and isinstance(value, str):
                    parts = value.split()[:2]
                    yield "".join(part[0] for part in parts)  # what stands in place of a face
    yield from world.user.split()[:1]  # who is greeted by it
    yield from re.split(
        r"\d+", show_day(world, EXAMPLE_DAY)
    )  # what stands around the numbers of days


def _texts(words: Catalogue) -> Iterator[str]:
    """Yield the parts of a catalogue's texts around what is put in."""
    for key in words:
        if key.startswith(f"{LABELS}."):
            continue  # a world has one of each, which is in its specification
        said = words[key]
        for text in [said] if isinstance(said, str) else said:
            for one in [text] if isinstance(text, str) else text:
                yield from _parts(one)


def _parts(text: str) -> Iterator[str]:
    """Yield the parts of a text around what is put in."""
    return (before for before, *_ in Formatter().parse(text) if before.strip())
