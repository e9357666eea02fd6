"""Formats of each locale: currency, amounts and days."""

from typing import NamedTuple

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
    "ja_JP": Formats("¥", Amounts.WHOLE, (Days.JAPANESE, Days.ISO), 100),
    "ar_DZ": Formats("DA", Amounts.COMMA, (Days.SLASHES, Days.ISO), 100),
}
"""The locales of data; pages are in English."""
