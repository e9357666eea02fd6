"""What worlds show that is no letter is drawn by a locked font, never by whatever the machine has."""

import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.worlds.made_world import SHOP

import generators.worlds
from generators.worlds.drawing.look import faces, with_signs
from generators.worlds.rendering.pages import Pages

LATIN = "U+2000-206F, U+20AC, U+2122, U+2191, U+2193, U+2212, U+2215"
"""Those beyond U+00FF that every font of Latin letters has, as its package says."""

OWN = {"ja": "U+3000-3003, U+3005-301C, U+30FB-30FE, U+FF01-FF5D", "ar": "U+0600-06FF"}
"""Those that the locked font of a language has, whose worlds alone show them."""

SHOWN = {".toml", ".html", ".css", ".js", ".py"}


def characters(ranges: str) -> set[str]:
    """Return what is in ranges of CSS."""
    found = set[str]()
    for one in ranges.split(", "):
        first, _, last = one.removeprefix("U+").partition("-")
        found |= {chr(code) for code in range(int(first, 16), int(last or first, 16) + 1)}
    return found


def signs(language: str | None = None) -> Iterator[tuple[str, str]]:
    """Yield each sign in the files that pages of a language are made of, with the file's name; None: of all others."""
    for path in sorted(Path(generators.worlds.__path__[0]).rglob("*")):
        own = next((one for one in OWN if one in {path.parent.name, path.stem}), None)
        if path.suffix in SHOWN and "packages" not in path.parts and own == language:
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


@pytest.mark.parametrize("language", OWN)
def test_each_sign_of_a_language_is_in_its_font_or_in_those_that_every_world_has(
    language: str,
) -> None:
    drawn = characters(LATIN) | characters(OWN[language])
    for face in faces(()):
        drawn |= characters(face.signs or "")

    there = dict(signs(language))

    assert {sign: name for sign, name in there.items() if sign not in drawn} == {}
    assert set(there) & characters(OWN[language])


def test_the_fonts_of_signs_come_before_the_machine_s_own() -> None:
    assert with_signs("inter, noto-sans-jp, sans-serif").startswith("inter, noto-sans-jp, noto-")
    assert with_signs("inter, sans-serif").endswith(", noto-sans-math, sans-serif")
    style = Pages(SHOP).style()
    for face in faces(()):
        assert f'url("{face.address}") format("woff2"); unicode-range: {face.signs};' in style
    assert f" {with_signs(SHOP.look.font)};" in style
