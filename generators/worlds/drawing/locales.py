"""The locales of worlds: the language of each, and its formats of currency, amounts and days."""

from random import Random
from typing import NamedTuple

from schemas.worlds.language import Language
from schemas.worlds.look import Amounts, Days


class Formats(NamedTuple):
    """The formats of a locale."""

    currency: str
    amounts: Amounts
    days: tuple[Days, ...]
    """The formats of days, of which a world uses one."""
    scale: int = 1
    """The factor by which a family's amounts are multiplied."""


LOCALES = {
    "en_US": Formats("$", Amounts.POINT, (Days.MONTH_FIRST, Days.AMERICAN, Days.ISO)),
    "en_GB": Formats("£", Amounts.POINT, (Days.SLASHES, Days.ENGLISH, Days.ISO)),
    "de_DE": Formats("€", Amounts.COMMA, (Days.DOTS, Days.GERMAN, Days.ISO)),
    "fr_FR": Formats("€", Amounts.SPACE, (Days.SLASHES, Days.FRENCH, Days.ISO)),
    "es_ES": Formats("€", Amounts.COMMA, (Days.SLASHES, Days.SPANISH, Days.ISO)),
    "pt_BR": Formats("R$", Amounts.COMMA_LAST, (Days.SLASHES, Days.PORTUGUESE)),
    "ja_JP": Formats("¥", Amounts.WHOLE, (Days.JAPANESE, Days.ISO), 100),
    "ar_DZ": Formats("DA", Amounts.COMMA, (Days.SLASHES, Days.ARABIC), 100),
}
"""The locales of worlds. Arabic has no format with hyphens, which a line from right to left would put in another order."""

_ENGLISH = 0.5
"""The share of worlds in English; the other languages have equal shares of the rest."""

_OTHERS = tuple(one for one in Language if one is not Language.ENGLISH)


def draw_language(random: Random) -> Language:
    """Return the language of a world, where its family has words in it."""
    return Language.ENGLISH if random.random() < _ENGLISH else random.choice(_OTHERS)


def locales_of(language: Language) -> list[str]:
    """Return the locales of a language."""
    return [name for name in LOCALES if name.partition("_")[0] == language.value]
