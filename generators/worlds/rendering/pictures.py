"""Pictures of a world's rows: SVG, derived from their titles alone.

Equal titles give equal pictures in every process and on every machine. Pictures contain no text, whose rendering
would depend on installed fonts.
"""

from collections.abc import Callable, Mapping
from hashlib import sha256

from schemas.worlds.world import Picture

_SIZE = 120
"""Width and height of a picture, in its own units."""

_SKINS = ("#f2d3b6", "#e0ac82", "#c68a5e", "#94613c", "#6b4428")
_HAIRS = ("#2b2220", "#5a3a22", "#8d5a2b", "#c9a05a", "#8c8c8c", "#a33b20")


class _Draws:
    """Pseudo-random numbers derived from a text, one for each question."""

    def __init__(self, words: str) -> None:
        self._words = words

    def below(self, question: str, bound: int) -> int:
        """Return an integer from 0 to `bound` - 1."""
        digest = sha256(f"{question}/{self._words}".encode()).digest()
        return int.from_bytes(digest[:8]) % bound


def draw_row(picture: Picture, title: str) -> str:
    """Return the picture of a row as SVG; the title decides shape and colours."""
    hue, paint = _Draws(title).below("hue", 360), _PAINTERS[picture]
    ground = f'<rect width="{_SIZE}" height="{_SIZE}" fill="hsl({hue},38%,88%)"/>'
    return _svg(_SIZE, _SIZE, ground + paint(title, hue))


def _svg(width: int, height: int, inner: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
        f' width="{width}" height="{height}">{inner}</svg>'
    )


_THINGS: Mapping[str, str] = {
    "box": '<path class="b" d="M25 42 60 26l35 16v42L60 100 25 84z"/><path class="d" d="M25 42l35 16v42L25 84z"/>',
    "lamp": '<path class="b" d="M40 30h40l14 34H26z"/><path class="d" d="M57 64h6v28h14v6H43v-6h14z"/>',
    "mug cup kettle jug pot": '<path class="b" d="M30 38h48v46a12 12 0 0 1-12 12H42a12 12 0 0 1-12-12z"/><path class="n" d="M78 48h8a10 10 0 0 1 0 26h-8"/>',
    "chair stool seat": '<path class="b" d="M34 22h10v44h32V50h10v48h-8V82H42v16h-8z"/><path class="d" d="M42 60h40v12H42z"/>',
    "desk table bench": '<path class="b" d="M20 46h80v10H20z"/><path class="d" d="M26 56h8v40h-8zm60 0h8v40h-8z"/><path class="d" d="M52 56h28v14H52z"/>',
    "bag basket backpack satchel": '<path class="b" d="M30 44h60l6 54H24z"/><path class="n" d="M44 50V38a16 16 0 0 1 32 0v12"/>',
    "clock watch timer": '<circle class="b" cx="60" cy="60" r="36"/><path class="l" d="M60 38v22l16 10"/>',
    "bottle vase flask": '<path class="b" d="M52 20h16v18l10 16v42a4 4 0 0 1-4 4H46a4 4 0 0 1-4-4V54l10-16z"/><path class="d" d="M42 66h36v18H42z"/>',
    "book notebook album volume": '<path class="b" d="M28 26h58a6 6 0 0 1 6 6v62H34a6 6 0 0 1-6-6z"/><path class="d" d="M28 84h64v10H34a6 6 0 0 1-6-10z"/>',
    "screen monitor laptop tablet radio": '<path class="b" d="M22 40h76v46H22z"/><path class="d" d="M48 86h24v8H48zm-10 8h44v6H38z"/><path class="g" d="M28 46h64v34H28z"/>',
    "plant fern herb tree": '<path class="b" d="M40 70h40l-6 30H46z"/><path class="n" d="M60 70V44"/><path class="d" d="M60 52c-22 2-26-14-24-22 16 0 24 8 24 22zm0-4c0-16 10-24 24-22 2 14-8 24-24 22z"/>',
    "umbrella parasol tent": '<path class="b" d="M24 52a36 30 0 0 1 72 0v8H24z"/><path class="d" d="M57 60h6v28a8 8 0 0 1-16 0h5a3 3 0 0 0 5 0z"/>',
}
"""The shapes of things by noun; the classes b, d, g, n and l select the colours of parts."""

_SHAPES = {noun: shape for nouns, shape in _THINGS.items() for noun in nouns.split()}

_LABELS = (
    "M60 66l24-11v14L60 80z",
    "M66 72l6-3v12l-6 3zm10-5 6-3v12l-6 3z",
    "M64 62l22-10v4L64 66z",
)
"""The labels on the box that stands for all other things."""


def _paint_thing(title: str, hue: int) -> str:
    words = title.casefold().replace(",", " ").split()
    shape = next((_SHAPES[word] for word in reversed(words) if word in _SHAPES), None)
    if shape is None:
        label = _LABELS[_Draws(title).below("label", len(_LABELS))]
        shape = f'{_SHAPES["box"]}<path d="{label}" class="g"/>'
    body, shade = f"hsl({hue},48%,50%)", f"hsl({hue},48%,34%)"
    styles = {
        "b": f'fill="{body}"',
        "d": f'fill="{shade}"',
        "g": f'fill="hsl({hue},45%,80%)"',
        "n": f'fill="none" stroke="{shade}" stroke-width="6"',
        "l": 'fill="none" stroke="#ffffff" stroke-width="5"',
    }
    for name, style in styles.items():
        shape = shape.replace(f'class="{name}"', style)
    return shape


def _paint_person(title: str, hue: int) -> str:
    draws = _Draws(title)
    skin = _SKINS[draws.below("skin", len(_SKINS))]
    hair = _HAIRS[draws.below("hair", len(_HAIRS))]
    cuts = (
        "M38 50a22 24 0 0 1 44 0c-8-10-30-12-44 0z",
        "M36 72V50a24 26 0 0 1 48 0v22h-8V52c-12-8-22-8-32 0v20z",
        "M38 46a22 20 0 0 1 44 0z",
        "M36 56a24 28 0 0 1 48 0c-4-10-16-16-24-16s-18 6-24 16zM54 18h12v8H54z",
    )
    glasses = (
        '<path d="M45 54h12v8H45zm18 0h12v8H63zm-6 3h6" fill="none" stroke="#333333" stroke-width="2"/>'
        if draws.below("glasses", 4) == 0
        else '<path d="M50 56h3v4h-3zm17 0h3v4h-3z" fill="#333333"/>'
    )
    return (
        f'<path d="M18 120c0-24 18-34 42-34s42 10 42 34z" fill="hsl({hue},45%,42%)"/>'
        f'<path d="M51 74h18v18a9 9 0 0 1-18 0z" fill="{skin}"/>'
        f'<ellipse cx="60" cy="56" rx="21" ry="25" fill="{skin}"/>'
        f'<path d="{cuts[draws.below("cut", len(cuts))]}" fill="{hair}"/>{glasses}'
        '<path d="M53 69c4 4 10 4 14 0" fill="none" stroke="#7a3b32" stroke-width="2"/>'
    )


def _paint_place(title: str, hue: int) -> str:
    draws = _Draws(title)
    houses = "".join(
        f'<path d="M{x} 96V{top}{roof}v{96 - top}z" fill="hsl({(hue + 25 * number) % 360},40%,{38 + 8 * number}%)"/>'
        f'<path d="M{x + 6} {top + 8}h6v7h-6zm10 0h6v7h-6z" fill="#fff6d8"/>'
        for number, x in enumerate((14, 46, 78))
        for top in (42 + draws.below(f"top {number}", 30),)
        for roof in (("h28", "l14-14 14 14", "l28-12v12")[draws.below(f"roof {number}", 3)],)
    )
    sun = 20 + draws.below("sun", 80)
    return (
        f'<circle cx="{sun}" cy="22" r="10" fill="#ffd479"/>{houses}'
        f'<path d="M0 96h120v24H0z" fill="hsl({(hue + 90) % 360},28%,55%)"/>'
    )


def _paint_paper(title: str, hue: int) -> str:
    draws = _Draws(title)
    lines = "".join(
        f'<path d="M40 {y}h{16 + draws.below(f"line {y}", 26)}" stroke="#b3b8c2" stroke-width="4"/>'
        for y in (58, 68, 78, 88)
    )
    return (
        '<path d="M30 18h44l16 16v70H30z" fill="#ffffff"/><path d="M74 18v16h16z" fill="#c9ced8"/>'
        f'<path d="M40 38h24v10H40z" fill="hsl({hue},55%,48%)"/>{lines}'
    )


_PAINTERS: Mapping[Picture, Callable[[str, int], str]] = {
    Picture.THING: _paint_thing,
    Picture.PERSON: _paint_person,
    Picture.PLACE: _paint_place,
    Picture.PAPER: _paint_paper,
}
