"""Looks of worlds and their fonts, drawn by a seed; `generators/worlds/kits/kit.py` reads the kits."""

import re
from collections.abc import Mapping, Sequence
from colorsys import hls_to_rgb
from random import Random
from typing import NamedTuple

from generators.worlds.kits.kit import KITS
from generators.worlds.packages.lock import Package, read_lock
from schemas.errors import BadTasks
from schemas.worlds.language import Language
from schemas.worlds.look import Block, Foot, Ground, Heading, Layout, Listing, Look, Stage

FONTS = {
    "inter": "sans-serif",
    "nunito": "sans-serif",
    "work-sans": "sans-serif",
    "barlow": "sans-serif",
    "lora": "serif",
    "pt-serif": "serif",
    "roboto-slab": "serif",
    "ibm-plex-mono": "monospace",
}
"""The fonts for Latin letters, packages `@fontsource/NAME`, with their generic CSS families."""

_FURTHER: Mapping[Language, tuple[str, ...]] = {
    Language.ENGLISH: (),
    Language.GERMAN: (),
    Language.FRENCH: (),
    Language.SPANISH: (),
    Language.PORTUGUESE: (),
    Language.JAPANESE: ("noto-sans-jp",),
    Language.ARABIC: ("noto-sans-arabic", "noto-kufi-arabic"),
}
"""The fonts that each language needs beside those for Latin letters: a world has one of them, none where it is empty."""

_SYMBOLS = {
    "noto-sans-symbols-2": "U+25B2, U+25BC, U+25BE, U+25CB, U+2713, U+2717",
    "noto-sans-symbols": "U+2639, U+263A, U+1F610",
    "noto-sans-math": "U+2190-2193, U+21B6, U+21B7, U+22EF",
}
"""Fonts for symbols, with the characters that the other fonts lack.

Every world has these fonts, so they are not part of its identity; a page loads one only for a symbol on it."""

_DARK, _DENSE = 0.3, 0.3
_MARKED, _PORTRAIT, _ICONS, _PICTURES = 0.7, 0.5, 0.4, 0.6
"""The shares of looks with each option."""

_RADII = (0, 2, 4, 6, 8, 12, 16)

_WAYS = 9
"""The number of leading members of `Block` that link to every view."""

_FIRST = {Block.HERO, Block.BANNER}
"""The blocks that come before all others."""

_SCOPE = "@fontsource/"
_WEIGHT = re.compile(r"-(\d+)-normal\.woff2$")


class Face(NamedTuple):
    """A font of a stylesheet."""

    family: str
    weight: str
    address: str
    signs: str | None = None
    """The CSS `unicode-range`; None: all characters of the font."""


def further_fonts(
    language: Language,
    of: Mapping[Language, Sequence[str]] = _FURTHER,
    lock: Mapping[str, Package] | None = None,
) -> Sequence[str]:
    """Return the fonts of which pages in a language need one beside a font for Latin letters; empty: none.

    `of` has these for each language; `lock` has the locked packages by name, None: those that ship.

    Raises:
        BadTasks: no locked font has the language's letters.
    """
    known = read_lock() if lock is None else lock
    missing = [name for name in of.get(language, ()) if f"{_SCOPE}{name}" not in known]
    if language not in of or missing:
        because = f": the lock has no {_SCOPE}{missing[0]}" if missing else ""
        raise BadTasks(f"there is no font for pages in '{language.value}'{because}")
    return of[language]


def draw_font(language: Language, rng: Random) -> tuple[str, tuple[str, ...]]:
    """Return the CSS font family for pages in a language, and the packages that it needs.

    Raises:
        BadTasks: as `further_fonts`.
    """
    font, further = rng.choice(list(FONTS)), further_fonts(language)
    names = (font, rng.choice(further)) if further else (font,)
    packages = tuple(read_lock()[f"{_SCOPE}{name}"].pinned for name in names)
    return ", ".join((*names, FONTS[font])), packages


def faces(packages: Sequence[str]) -> list[Face]:
    """Return the fonts of packages and of symbols; each family has its package's name."""
    pinned = (name for name in (*packages, *sign_packages()) if name.startswith(_SCOPE))
    fonts = (read_lock()[name.rpartition("@")[0]] for name in pinned)
    return [
        Face(family, weight[1], font.address(path), _SYMBOLS.get(family))
        for font in fonts
        for family in (font.name.removeprefix(_SCOPE),)
        for path in font.files
        if (weight := _WEIGHT.search(path))
    ]


def sign_packages() -> tuple[str, ...]:
    """Return the packages of the symbol fonts, which every world has."""
    return tuple(read_lock()[f"{_SCOPE}{name}"].pinned for name in _SYMBOLS)


def with_signs(font: str) -> str:
    """Return a CSS font family with the symbol fonts inserted before its last, the generic family."""
    *own, last = font.split(", ")
    return ", ".join((*own, *_SYMBOLS, last))


def draw_look(font: str, rng: Random, drawn: Random) -> Look:
    """Return a world's look; `drawn` decides drawings, and the blocks and arrangement of the home page."""
    dark = rng.random() < _DARK
    hue = rng.random()
    brightness = rng.uniform(0.09, 0.14) if dark else rng.uniform(0.95, 0.99)
    return Look(
        kit=rng.choice(KITS),
        layout=rng.choice(list(Layout)),
        listing=rng.choice(list(Listing)),
        ground=rng.choice(list(Ground)),
        foot=rng.choice(list(Foot)),
        accent=_colour(hue, 0.6 if dark else 0.4, rng.uniform(0.45, 0.9)),
        surface=_colour(rng.choice((hue, rng.random())), brightness, rng.uniform(0.05, 0.35)),
        dark=dark,
        dense=rng.random() < _DENSE,
        font=font,
        radius=rng.choice(_RADII),
        home=_home(drawn),
        stage=drawn.choice(list(Stage)),
        heading=drawn.choice(list(Heading)),
        marked=drawn.random() < _MARKED,
        portrait=drawn.random() < _PORTRAIT,
        icons=drawn.random() < _ICONS,
        pictures=drawn.random() < _PICTURES,
    )


def _home(rng: Random) -> tuple[Block, ...]:
    """Return the blocks of a home page: one or two that link to every view, and others around them."""
    ways = list(Block)[:_WAYS]
    others = rng.sample(list(Block)[_WAYS:], rng.randint(2, 6))
    blocks = [*rng.sample(ways, rng.randint(1, 2)), *others]
    rng.shuffle(blocks)
    blocks.sort(key=lambda block: block not in _FIRST)
    return tuple(blocks)


def _colour(hue: float, brightness: float, saturation: float) -> str:
    """Return a colour as `#1a2b3c`; all arguments range from 0 to 1."""
    return "#" + "".join(
        f"{round(part * 255):02x}" for part in hls_to_rgb(hue, brightness, saturation)
    )
