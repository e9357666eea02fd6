"""Decorations of a world's pages as SVG: logo, icons, scenes, charts and portraits.

They follow from the world's family and seed, in the colours of its stylesheet, and reveal nothing about rows: charts
have no numbers and random data.
"""

from calendar import Calendar
from collections.abc import Mapping, Sequence
from functools import lru_cache
from random import Random
from typing import TypeVar

from generators.worlds.rendering.pictures import draw_row
from generators.worlds.rendering.scenes import draw_band, draw_chart, draw_scene, svg_of
from generators.worlds.state.display import first_day
from generators.worlds.words.catalogue import catalogue
from schemas.worlds.look import Layout
from schemas.worlds.patterns import Shape
from schemas.worlds.world import Entity, Picture, View, World

Drawn = TypeVar("Drawn")

DAYS = 7
"""Days of a week."""

_ICONS: Mapping[str, str] = {
    "person": '<circle cx="12" cy="8" r="4"/><path d="M4 21c0-5 4-7 8-7s8 2 8 7"/>',
    "thing": '<path d="M3 8l9-5 9 5v9l-9 5-9-5zM3 8l9 5 9-5M12 13v9"/>',
    "place": '<path d="M12 22s7-7 7-12a7 7 0 0 0-14 0c0 5 7 12 7 12z"/><circle cx="12" cy="10" r="2.5"/>',
    "paper": '<path d="M6 2h8l5 5v15H6zM14 2v5h5M9 12h7M9 16h7"/>',
    "calendar": '<path d="M3 5h18v16H3zM3 10h18M8 2v5M16 2v5"/>',
    "board": '<path d="M3 4h5v16H3zM10 4h5v10h-5zM17 4h4v13h-4z"/>',
    "settings": '<path d="M3 6h10M17 6h4M3 12h3M10 12h11M3 18h12M19 18h2"/><circle cx="15" cy="6" r="2"/><circle cx="8" cy="12" r="2"/><circle cx="17" cy="18" r="2"/>',
    "list": '<path d="M8 6h13M8 12h13M8 18h13M3 6h1M3 12h1M3 18h1"/>',
    "tag": '<path d="M3 3h8l10 10-8 8L3 11z"/><circle cx="7.5" cy="7.5" r="1.5"/>',
    "folder": '<path d="M2 5h7l2 3h11v12H2z"/>',
    "layers": '<path d="M12 3l10 5-10 5L2 8zM2 13l10 5 10-5"/>',
    "flag": '<path d="M5 22V3h13l-3 5 3 5H5"/>',
    "clock": '<circle cx="12" cy="12" r="9"/><path d="M12 7v5l4 2"/>',
    "star": '<path d="M12 3l3 6 6 1-4.5 4.5 1 6.5-5.5-3-5.5 3 1-6.5L3 10l6-1z"/>',
}
"""The paths of icons, in a square of 24 units."""

_OTHERS = ("list", "tag", "folder", "layers", "flag", "clock", "star")
"""Icons for views whose rows have no pictures."""

_MARKS = (
    '<circle cx="12" cy="12" r="11" fill="{a}"/><path d="M5 15c4-8 10-8 14 0z" fill="{b}"/>',
    '<rect width="24" height="24" rx="{r}" fill="{a}"/><circle cx="12" cy="12" r="5.5" fill="{b}"/>',
    '<path d="M12 0l12 12-12 12L0 12z" fill="{a}"/><path d="M12 6l6 6-6 6z" fill="{b}"/>',
    '<path d="M2 22V8l10-7 10 7v14z" fill="{a}"/><path d="M9 22v-8h6v8z" fill="{b}"/>',
    '<circle cx="8" cy="12" r="8" fill="{a}"/><circle cx="16" cy="12" r="8" fill="{a}" opacity=".5"/>',
    '<path d="M0 24V0h9v24zM12 24V9h5v15zM20 24v-9h4v9z" fill="{a}"/>',
    '<rect width="24" height="24" rx="{r}" fill="{a}"/><path d="M5 6h14v3H5zm0 5h9v3H5zm0 5h12v3H5z" fill="{b}"/>',
    '<path d="M12 1l10 5.5v11L12 23 2 17.5v-11z" fill="{a}"/><path d="M12 7l5 3v5l-5 3-5-3v-5z" fill="{b}"/>',
    '<path d="M0 12a12 12 0 0 1 24 0z" fill="{a}"/><path d="M0 14h24a12 12 0 0 1-24 0z" fill="{a}" opacity=".45"/>',
    '<path d="M12 0c10 6 10 18 0 24C2 18 2 6 12 0z" fill="{a}"/><path d="M12 6v12" stroke="{b}" stroke-width="2"/>',
)
"""Logos in a square of 24 units: a is the accent, b the colour on it, r the corner radius."""


class Drawings:
    """The decorations of one world."""

    def __init__(self, world: World) -> None:
        """Prepare the decorations; each is drawn on request."""
        self._world = world
        self._of = f"{world.family} {world.seed}"
        self._words = catalogue(world.language)
        self._first_day = (first_day(world) - 1) % DAYS

    def pick(self, question: str, among: Sequence[Drawn], count: int | None = None) -> object:
        """Return one of the options, or `count` of them in random order; `question` seeds the choice."""
        rng = Random(f"pick {question} {self._of}")
        return rng.choice(among) if count is None else rng.sample(among, count)

    def say(self, key: str, of: str = "", **given: object) -> str:
        """Return the text of a key of the catalogue, or the alternative that is drawn for the key and `of`."""
        said = self._words[key]
        if isinstance(said, str):
            return self._words.say(key, **given)
        return str(self.pick(f"{key} {of}", self._words.among(key))).format(**given)

    def some(self, key: str, count: int) -> object:
        """Return some of the texts or groups of a key, in random order."""
        return self.pick(key, list(self._words[key]), count)

    def one(self, key: str) -> object:
        """Return one of the groups of a key."""
        return self.pick(key, self._words.groups(key))

    def inside(self, noun: str) -> str:
        """Return a noun as it is written inside a sentence."""
        return self._words.inside(noun)

    def weekdays(self) -> list[str]:
        """Return the shortest names of the days of a week, from its first."""
        names = self._words.among("dates.weekdays_tiny")
        return [*names[self._first_day :], *names[: self._first_day]]

    def weeks(self) -> list[list[int]]:
        """Return the days of the world's month as weeks; 0 is a day of another month."""
        at = self._world.at
        return Calendar(self._first_day).monthdayscalendar(at.year, at.month)

    def mark(self, of: str = "") -> str:
        """Return a logo: the website's, or one for the name `of`."""
        is_split = self._world.look.layout is Layout.SPLIT  # its header has the accent colour
        return _mark(f"{self._of} {of}", on_accent=is_split and not of)

    def icon(self, view: View) -> str:
        """Return the icon of a view."""
        if view.shape is not Shape.LIST:
            name = view.shape.value if view.shape.value in _ICONS else "place"
        else:
            picture = self._world.entity(view.entity).picture
            name = picture.value if picture else Random(f"{view.name} {self._of}").choice(_OTHERS)
        return svg_of(
            f'<g fill="none" stroke="currentColor" stroke-width="2" stroke-linejoin="round">{_ICONS[name]}</g>',
            "icon",
            24,
            24,
        )

    def portrait(self, name: str) -> str:
        """Return a person's face."""
        return _frame(draw_row(Picture.PERSON, name), "portrait")

    def row(self, entity: Entity, title: str) -> str:
        """Return the picture of a row; empty if its entity or the look has no pictures."""
        if entity.picture is None or not self._world.look.pictures:
            return ""
        return _frame(draw_row(entity.picture, title), "row-picture")

    def scene(self, of: str = "") -> str:
        """Return a scene for the name `of`."""
        return draw_scene(f"{self._of} {of}")

    def band(self) -> str:
        """Return a decorative strip."""
        return draw_band(self._of)

    def chart(self) -> str:
        """Return a chart without numbers."""
        return draw_chart(self._of)


def _frame(svg: str, name: str) -> str:
    return svg.replace(
        '<svg xmlns="http://www.w3.org/2000/svg"', f'<svg class="{name}" aria-hidden="true"', 1
    )


@lru_cache(maxsize=512)
def _mark(of: str, *, on_accent: bool) -> str:
    rng = Random(f"mark {of}")
    a, b = "var(--accent)", "var(--on-accent)"
    if on_accent:
        a, b = b, a
    return svg_of(rng.choice(_MARKS).format(a=a, b=b, r=rng.choice((0, 4, 8))), "mark", 24, 24)
