"""How the data of each locale is written: its currency, its amounts and its days."""

from typing import NamedTuple

from schemas.worlds.look import Amounts, Days


class Formats(NamedTuple):
    """How the data of a locale is written."""

    currency: str
    amounts: Amounts
    days: tuple[Days, ...]
    """One of these."""
    scale: int = 1
    """How many of its currency buy what one of a family's file does."""


LOCALES = {
    "en_US": Formats("$", Amounts.POINT, (Days.MONTH_FIRST, Days.AMERICAN, Days.ISO)),
    "en_GB": Formats("£", Amounts.POINT, (Days.SLASHES, Days.ENGLISH, Days.ISO)),
    "de_DE": Formats("€", Amounts.COMMA, (Days.DOTS, Days.GERMAN, Days.ISO)),
    "fr_FR": Formats("€", Amounts.SPACE, (Days.SLASHES, Days.FRENCH, Days.ISO)),
    "es_ES": Formats("€", Amounts.COMMA, (Days.SLASHES, Days.SPANISH, Days.ISO)),
    "ja_JP": Formats("¥", Amounts.WHOLE, (Days.JAPANESE, Days.ISO), 100),
    "ar_DZ": Formats("DA", Amounts.COMMA, (Days.SLASHES, Days.ISO), 100),
}
"""The locales of contents; pages are in English."""
