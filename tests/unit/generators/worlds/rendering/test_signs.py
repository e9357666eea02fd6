"""What worlds show that is no letter is drawn by a locked font, never by whatever the machine has."""

import unicodedata
from collections.abc import Iterator
from pathlib import Path

from support.worlds.made_world import SHOP

import generators.worlds
from generators.worlds.drawing.look import faces, with_signs
from generators.worlds.rendering.pages import Pages

LATIN = "U+2000-206F, U+20AC, U+2122, U+2191, U+2193, U+2212, U+2215"
"""Those beyond U+00FF that every font of Latin letters has, as its package says."""

SHOWN = {".toml", ".html", ".css", ".js", ".py"}


def characters(ranges: str) -> set[str]:
    """Return what is in ranges of CSS."""
    found = set[str]()
    for one in ranges.split(", "):
        first, _, last = one.removeprefix("U+").partition("-")
        found |= {chr(code) for code in range(int(first, 16), int(last or first, 16) + 1)}
    return found


def signs() -> Iterator[tuple[str, str]]:
    """Yield each sign in the files that pages are made of, with the file's name."""
    for path in sorted(Path(generators.worlds.__path__[0]).rglob("*")):
        if path.suffix in SHOWN and "packages" not in path.parts:
            for sign in {*path.read_text(encoding="utf-8")}:
                if ord(sign) > 0xFF and unicodedata.category(sign)[0] not in "LM":
                    yield sign, path.name


def test_each_sign_has_a_font_that_every_world_has() -> None:
    drawn = characters(LATIN)
    for face in faces(()):
        assert face.signs is not None
        drawn |= characters(face.signs)
    there = dict(signs())

    assert {sign: name for sign, name in there.items() if sign not in drawn} == {}
    assert {*"✓✗☺"} <= there.keys()


def test_the_fonts_of_signs_come_before_the_machine_s_own() -> None:
    assert with_signs("inter, noto-sans-jp, sans-serif").startswith("inter, noto-sans-jp, noto-")
    assert with_signs("inter, sans-serif").endswith(", noto-sans-math, sans-serif")
    style = Pages(SHOP).style()
    for face in faces(()):
        assert f'url("{face.address}") format("woff2"); unicode-range: {face.signs};' in style
    assert f" {with_signs(SHOP.look.font)};" in style
