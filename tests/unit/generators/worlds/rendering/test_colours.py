"""The colours of looks: whatever a look says, texts can be read."""

from random import Random

import pytest
from support.worlds.made_world import SHOP

from generators.worlds.rendering.colours import colours_of
from schemas.worlds.look import Look

TEXTS = [
    ("ink", "ground"),
    ("ink", "panel"),
    ("muted", "ground"),
    ("muted", "panel"),
    ("accent", "ground"),
    ("accent", "panel"),
    ("danger", "panel"),
    ("panel", "danger"),
    ("on-accent", "accent"),
]
"""Which text is written on what."""


def look_of(accent: str, surface: str, *, dark: bool) -> Look:
    return SHOP.look.model_copy(update={"accent": accent, "surface": surface, "dark": dark})


def brightness(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, two: str) -> float:
    dark, light = sorted((brightness(one), brightness(two)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_every_text_has_enough_contrast_with_what_it_is_on(dark: bool) -> None:  # noqa: FBT001 - a parameter
    draw = Random(1)
    surfaces = ["#ffffff", "#000000", "#808080", "#0000ff", "#ffff00"]
    surfaces += [f"#{draw.randrange(2**24):06x}" for _ in range(50)]
    for surface in surfaces:
        for accent in (*surfaces[:5], f"#{draw.randrange(2**24):06x}"):
            colours = colours_of(look_of(accent, surface, dark=dark))
            for text, ground in TEXTS:
                found = contrast(colours[text], colours[ground])
                assert found >= 4.5, f"{text} on {ground} of {accent} on {surface}"


def test_an_accent_that_can_be_read_stays_as_it_is() -> None:
    colours = colours_of(look_of("#1a4f9c", "#f6f8fa", dark=False))

    assert colours["accent"] == "#1a4f9c"
    assert colours["ground"] == "#f6f8fa"
    assert colours_of(look_of("#ffee00", "#f6f8fa", dark=False))["accent"] != "#ffee00"
