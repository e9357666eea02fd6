"""From a dialect's name and options to the dialect."""

from collections.abc import Callable, Mapping
from difflib import get_close_matches

from pydantic import JsonValue, ValidationError

from generators.policy.dialects.claude import Claude
from generators.policy.dialects.computer_use import ComputerUse
from generators.policy.dialects.holo import Holo1, holo1_5, holo2
from generators.policy.dialects.holotron import holotron
from generators.policy.dialects.protocol import Dialect
from generators.policy.dialects.settings import HoloSettings, HolotronSettings, TextSettings
from generators.policy.dialects.ui_tars import UITars
from schemas.base import Record
from schemas.errors import BadConfig

DEFAULT = "holotron"
"""The dialect where none is named."""

DIALECTS: Mapping[str, type[Record]] = {
    "holotron": HolotronSettings,
    "holo1_5": HoloSettings,
    "holo2": HoloSettings,
    "holo1": TextSettings,
    "ui_tars": TextSettings,
    "computer_use": TextSettings,
    "claude": TextSettings,
}
"""Every dialect by name, and the record of its settings."""


def make_dialect(name: str | None, options: Mapping[str, JsonValue] | None = None) -> Dialect:
    """Return the dialect of that name with these options; None: the default dialect.

    Raises:
        BadConfig: there is no such dialect, or an option is unknown or invalid.
    """
    name = name or DEFAULT
    if name not in DIALECTS:
        raise BadConfig(
            f"policy.dialect: there is no dialect '{name}'{_nearest(name, list(DIALECTS))}; "
            f"there are {', '.join(DIALECTS)}"
        )
    settings = _settings(name, options or {})
    made: Dialect
    match settings:
        case HolotronSettings():
            made = holotron(settings)
        case HoloSettings():
            made = holo1_5(settings) if name == "holo1_5" else holo2(settings)
        case TextSettings():
            made = _TEXT_DIALECTS[name](settings)
        case _:  # pragma: no cover - the table above names no other
            raise AssertionError(name)
    return made


_TEXT_DIALECTS: Mapping[str, Callable[[TextSettings], Dialect]] = {
    dialect.name: dialect for dialect in (Holo1, UITars, ComputerUse, Claude)
}


def _settings(name: str, options: Mapping[str, JsonValue]) -> Record:
    kind = DIALECTS[name]
    known = list(kind.model_fields)
    for key in options:
        if key not in known:
            raise BadConfig(
                f"policy.dialect_options: '{name}' has no option '{key}'{_nearest(key, known)}; "
                f"it has {', '.join(known)}"
            )
    try:
        return kind.model_validate(dict(options))
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise BadConfig(
            f"policy.dialect_options.{key}: {first['msg']}, but is {first['input']!r:.80}"
        ) from error


def _nearest(word: str, known: list[str]) -> str:
    near = get_close_matches(word, known, n=1)
    return f"; did you mean '{near[0]}'?" if near else ""
