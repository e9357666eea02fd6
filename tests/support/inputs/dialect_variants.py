"""Dialects to test: every family, in the settings that change what it says or reads."""

from collections.abc import Mapping

from pydantic import JsonValue

from generators.policy.dialects.coordinates import Frame
from generators.policy.dialects.protocol import Dialect
from generators.policy.dialects.registry import make_dialect
from schemas.configuration.sections import PolicyName, PolicySection

VARIANTS: Mapping[str, tuple[str, dict[str, JsonValue]]] = {
    "holotron": ("holotron", {}),
    "holotron-px": ("holotron", {"convention": "px"}),
    "holotron-resized": ("holotron", {"convention": "resized"}),
    "holotron-unit": ("holotron", {"convention": "0-1"}),
    "holo1_5": ("holo1_5", {}),
    "holo1_5-published": ("holo1_5", {"extended": False}),
    "holo2": ("holo2", {}),
    "holo2-published": ("holo2", {"extended": False}),
    "holo3": ("holo3", {}),
    "holo3-published": ("holo3", {"extended": False}),
    "holo4": ("holo4", {"reconstructed": True}),
    "holo3_1": ("holo3_1", {}),
    "holo3_1-published": ("holo3_1", {"extended": False}),
    "holotron3": ("holotron3", {}),
    "holotron3-published": ("holotron3", {"extended": False}),
    "holotron4": ("holotron4", {"reconstructed": True}),
    "qwen3_vl": ("qwen3_vl", {}),
    "qwen3_vl-published": ("qwen3_vl", {"extended": False}),
    "gui_owl": ("gui_owl", {}),
    "fara": ("fara", {}),
    "fara-published": ("fara", {"extended": False}),
    "opencua": ("opencua", {}),
    "opencua-published": ("opencua", {"extended": False}),
    "holo1": ("holo1", {}),
    "ui_tars": ("ui_tars", {}),
    "ui_tars-thousand": ("ui_tars", {"convention": "0-1000"}),
    "computer_use": ("computer_use", {}),
    "computer_use-resized": ("computer_use", {"convention": "resized"}),
    "claude": ("claude", {}),
}

PUBLISHED_HOLO = frozenset(
    {"hover", "drag", "select", "key", "key_down", "key_up", "forward", "tab", "none"}
)

PUBLISHED_HOLO3 = PUBLISHED_HOLO | {"scroll", "goto", "back", "reload", "wait", "restart"}

PUBLISHED_DESKTOP = frozenset(
    {"select", "goto", "back", "forward", "reload", "tab", "restart", "none"}
)

CANNOT: Mapping[str, frozenset[str]] = {
    **{
        name: frozenset({"none"})
        for name in (
            *("holotron", "holotron3", "holotron4", "holo1_5", "holo2", "holo3", "holo4"),
            *("holo3_1", "qwen3_vl", "gui_owl", "fara", "opencua"),
        )
    },
    "holo3-published": PUBLISHED_HOLO3,
    "holo3_1-published": PUBLISHED_HOLO3,
    "holotron3-published": PUBLISHED_DESKTOP | {"drag", "wait"},
    "qwen3_vl-published": PUBLISHED_DESKTOP | {"key_down", "key_up"},
    "opencua-published": PUBLISHED_DESKTOP | {"answer"},
    "fara-published": frozenset(
        {"drag", "select", "key_down", "key_up", "forward", "reload", "tab", "restart", "none"}
    ),
    "holo1_5-published": PUBLISHED_HOLO,
    "holo2-published": PUBLISHED_HOLO,
    "holo1": frozenset(
        {"hover", "drag", "type", "select", "key", "key_down", "key_up", "scroll", "goto", "back"}
        | {"forward", "reload", "tab", "wait", "answer", "restart", "none"}
    ),
    "ui_tars": frozenset({"select", "goto", "back", "forward", "reload", "tab", "restart", "none"}),
    "computer_use": frozenset(
        {"select", "key_down", "key_up", "goto", "back", "forward", "reload", "tab"}
        | {"restart", "none"}
    ),
    "claude": frozenset(
        {"select", "key_down", "key_up", "goto", "back", "forward", "reload", "tab", "restart"}
        | {"none"}
    ),
}
"""Kinds of action that a family cannot express, whatever is in them."""

COMPLETE = frozenset(name for name, kinds in CANNOT.items() if kinds == {"none"})
"""Families that say every action there is."""

IN_JSON = frozenset(
    name
    for name, (family, _) in VARIANTS.items()
    if family.startswith(("holotron", "holo1_5", "holo2", "holo3", "holo4")) and family != "holo3_1"
)
"""Variants that reply with one JSON object, held by a schema."""


NEEDED: Mapping[str, dict[str, JsonValue]] = {
    "holo4": {"reconstructed": True},
    "holotron4": {"reconstructed": True},
}
"""Options without which a family is refused."""


def section_in(dialect: str) -> PolicySection:
    """Return the section of a model in a dialect."""
    options = NEEDED.get(dialect, {})
    return PolicySection(name=PolicyName.MODEL, dialect=dialect, dialect_options=options)


def variant(name: str) -> Dialect:
    """Return the dialect of that variant."""
    family, options = VARIANTS[name]
    return make_dialect(family, options)


def cannot(name: str) -> frozenset[str]:
    """Return the kinds that a variant cannot express."""
    return CANNOT[name] if name in CANNOT else CANNOT[VARIANTS[name][0]]


def framed(dialect: Dialect, width: int = 1_280, height: int = 720, *, scale: float = 1.0) -> Frame:
    """Return the frame in which a dialect sees a viewport."""
    picture = (max(1, round(width * scale)), max(1, round(height * scale)))
    sent = dialect.sent_size(*picture)
    return Frame(
        viewport_width=width,
        viewport_height=height,
        picture_width=picture[0],
        picture_height=picture[1],
        sent_width=sent[0],
        sent_height=sent[1],
    )
