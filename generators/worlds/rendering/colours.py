"""The colours of a world's pages, derived from its look so that all text is readable.

A look's accent and surface are drawn without regard to contrast. A text colour with too little contrast (WCAG 2) is
mixed with the ink colour until the contrast suffices.
"""

from schemas.worlds.look import Look

_WHITE, _NIGHT, _BLACK = "#ffffff", "#14171c", "#000000"
_LIGHT_INK, _DARK_INK = "#f1f3f6", "#1c2128"
_ENOUGH = 4.5
_LINEAR = 0.04045
_STEPS = 20
_BRIGHT, _DIM = 0.5, 0.12


def colours_of(look: Look) -> dict[str, str]:
    """Return the colours of a look by purpose, as `#1a2b3c`."""
    ground = look.surface
    if look.dark and _luminance(ground) > _DIM:
        ground = _mix(ground, _NIGHT, 0.92)
    if not look.dark and _luminance(ground) < _BRIGHT:
        ground = _mix(ground, _WHITE, 0.92)
    panel = _mix(ground, _WHITE, 0.06 if look.dark else 0.75)
    ink = _LIGHT_INK if look.dark else _DARK_INK
    accent = _readable(look.accent, ink, ground, panel)
    return {
        "ground": ground,
        "panel": panel,
        "ink": ink,
        "muted": _readable(_mix(ink, ground, 0.4), ink, ground, panel),
        "line": _mix(ink, ground, 0.82),
        "field": _mix(ink, ground, 0.5),
        "accent": accent,
        "on-accent": max((_WHITE, _BLACK), key=lambda colour: _contrast(colour, accent)),
        "tint": _mix(accent, panel, 0.9),
        "deep": _mix(ground, _BLACK, 0.5) if look.dark else _DARK_INK,
        "on-deep": _LIGHT_INK,
        "danger": _readable("#c62828", ink, ground, panel),
    }


def _readable(colour: str, ink: str, *grounds: str) -> str:
    for step in range(_STEPS + 1):
        mixed = _mix(colour, ink, step / _STEPS)
        if all(_contrast(mixed, ground) >= _ENOUGH for ground in grounds):
            return mixed
    return ink


def _mix(colour: str, other: str, share: float) -> str:
    """Return `colour` mixed with a share of `other`."""
    pairs = zip(_parts(colour), _parts(other), strict=True)
    return "#" + "".join(f"{round(one + (two - one) * share):02x}" for one, two in pairs)


def _parts(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _contrast(one: str, two: str) -> float:
    darker, lighter = sorted((_luminance(one), _luminance(two)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    red, green, blue = (
        part / 12.92 if part <= _LINEAR else ((part + 0.055) / 1.055) ** 2.4
        for part in (each / 255 for each in _parts(colour))
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
