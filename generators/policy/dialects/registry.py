"""Makes a dialect from its name and options: a shipped one or that of a plug-in.

A plug-in offers a class or a function that takes the options and returns a `Dialect` of the entry point's
name. Its class `Options`, a pydantic model, defines the keys of `policy.dialect_options`; without it these
are the keys of `TextSettings`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar, cast

from pydantic import BaseModel, JsonValue

from generators.policy.dialects.claude import Claude
from generators.policy.dialects.computer_use import ComputerUse
from generators.policy.dialects.fara import fara
from generators.policy.dialects.gui_owl import gui_owl
from generators.policy.dialects.holo import Holo1, holo1_5, holo2
from generators.policy.dialects.holo3 import holo3, holo4
from generators.policy.dialects.holo3_1 import Holo31
from generators.policy.dialects.holotron import holotron
from generators.policy.dialects.holotron3 import holotron3, holotron4
from generators.policy.dialects.opencua import OpenCua
from generators.policy.dialects.protocol import Dialect
from generators.policy.dialects.qwen3_vl import qwen3_vl
from generators.policy.dialects.settings import (
    FunctionSettings,
    Holo4Settings,
    HoloSettings,
    Holotron3Settings,
    Holotron4Settings,
    HolotronSettings,
    TextSettings,
)
from generators.policy.dialects.ui_tars import UITars
from registries.entry_points import Group
from registries.options import options_of, read_options
from registries.registry import Registry, callable_part, plugin_errors
from schemas.errors import BadConfig, NotFound

DEFAULT = "holotron"
"""The dialect if none is named."""

Options = TypeVar("Options", bound=BaseModel)


class DialectPart(Protocol):
    """How the dialect of one name is made."""

    @property
    def settings(self) -> type[BaseModel]:
        """The model of its settings."""
        ...

    def make(self, name: str, options: Mapping[str, JsonValue]) -> Dialect:
        """Return the dialect with these options.

        Raises:
            BadConfig: an option is unknown or invalid.
        """
        ...


@dataclass(frozen=True, slots=True)
class _Part(Generic[Options]):
    settings: type[Options]
    maker: Callable[[Options], Dialect]

    def make(self, name: str, options: Mapping[str, JsonValue]) -> Dialect:
        read = read_options(self.settings, options, key="policy.dialect_options", name=name)
        with plugin_errors(f"policy.dialect: '{name}'", "it is not made"):
            return self.maker(read)


def _part(settings: type[Options], maker: Callable[[Options], Dialect]) -> DialectPart:
    return _Part(settings, maker)


def _adapt(found: object) -> DialectPart:
    maker = cast("Callable[[BaseModel], Dialect]", callable_part(found))
    return _part(options_of(found) or TextSettings, maker)


PARTS = Registry[DialectPart](
    Group.DIALECTS,
    {
        "holotron": _part(HolotronSettings, holotron),
        "holotron3": _part(Holotron3Settings, holotron3),
        "holotron4": _part(Holotron4Settings, holotron4),
        "holo4": _part(Holo4Settings, holo4),
        "holo3_1": _part(FunctionSettings, Holo31),
        "holo3": _part(HoloSettings, holo3),
        "holo1_5": _part(HoloSettings, holo1_5),
        "holo2": _part(HoloSettings, holo2),
        "holo1": _part(TextSettings, Holo1),
        "qwen3_vl": _part(FunctionSettings, qwen3_vl),
        "gui_owl": _part(FunctionSettings, gui_owl),
        "fara": _part(FunctionSettings, fara),
        "opencua": _part(FunctionSettings, OpenCua),
        "ui_tars": _part(TextSettings, UITars),
        "computer_use": _part(TextSettings, ComputerUse),
        "claude": _part(TextSettings, Claude),
    },
    adapt=_adapt,
)
"""Every dialect by name."""

DIALECTS: Mapping[str, type[BaseModel]] = {
    name: part.settings for name, part in PARTS.built_in.items()
}
"""Every dialect that ships by name, and the record of its settings."""


def settings_of(name: str) -> type[BaseModel] | None:
    """Return the model of a dialect's settings; None: there is no such dialect.

    Raises:
        BadConfig: the dialect's plug-in cannot be used.
    """
    return PARTS.get(name).settings if name in PARTS.names else None


def options_to_try(name: str | None) -> dict[str, JsonValue]:
    """Return the options without which a dialect is refused, for commands that only look at it.

    To name a reconstructed dialect there is to accept that it is one.

    Raises:
        BadConfig: the dialect's plug-in cannot be used.
    """
    settings = settings_of(name or DEFAULT)
    fields = {} if settings is None else settings.model_fields
    return {"reconstructed": True} if "reconstructed" in fields else {}


def make_dialect(name: str | None, options: Mapping[str, JsonValue] | None = None) -> Dialect:
    """Return the dialect of that name with these options; None: the default dialect.

    Raises:
        BadConfig: there is no such dialect, its plug-in cannot be used, or an option is unknown or
            invalid.
    """
    name = name or DEFAULT
    try:
        part = PARTS.get(name, key="policy.dialect")
    except NotFound as error:
        raise BadConfig(str(error)) from error
    made = part.make(name, options or {})
    if made.name != name:  # rows would name another
        raise BadConfig(
            f"policy.dialect: the dialect '{name}' calls itself '{made.name}': its name should be '{name}'"
        )
    return made
