"""From a format's name and options to the format."""

from pydantic import JsonValue

from schemas.errors import BadConfig
from storage.export.atif import Atif
from storage.export.chat import Chat, Renderer
from storage.export.grounding import Grounding
from storage.export.protocol import Format
from storage.export.registry import FormatName, MessageShape, Pictures
from storage.export.verifiers import Verifiers

_TAKES: dict[FormatName, frozenset[str]] = {
    FormatName.CHAT: frozenset({"dialect", "shape", "pictures"}),
    FormatName.VERIFIERS: frozenset({"pictures"}),
}
"""The options of each format that has any."""


def check_options(name: FormatName, given: dict[str, JsonValue]) -> None:
    """Refuse options that a format does not have, before any work.

    Raises:
        BadConfig: one of those that are given is none of the format's.
    """
    takes = _TAKES.get(name, frozenset())
    for option, value in given.items():
        if value is not None and option not in takes:
            fits = " and ".join(str(other) for other, has in _TAKES.items() if option in has)
            raise BadConfig(f"--{option}: '{name}' has no such option; it is for {fits}")


def make_format(
    name: FormatName,
    *,
    renderer: Renderer | None = None,
    shape: MessageShape = MessageShape.OPENAI,
    pictures: Pictures = Pictures.FILES,
) -> Format:
    """Return the format of that name; `chat` needs a renderer."""
    match name:
        case FormatName.CHAT:
            if renderer is None:
                raise ValueError("chat needs a renderer")
            return Chat(renderer, shape=shape, pictures=pictures)
        case FormatName.ATIF:
            return Atif()
        case FormatName.GROUNDING:
            return Grounding()
        case FormatName.VERIFIERS:
            return Verifiers(pictures=pictures)
