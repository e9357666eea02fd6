"""The words that the scripts of pages show: those of calendars and of the tools over a text."""

from functools import cache

from generators.worlds.words.catalogue import catalogue
from schemas.base import canonical_json
from schemas.worlds.language import Language

PATH = "/_/words.js"
"""The path of the script that has them; it comes before those that show them."""

_TEXTS = (
    *("dates.next_month", "dates.previous_month", "dates.calendar", "dates.year"),
    *("dates.today", "dates.clear", "dates.day_of_month"),
    *("tools.list", "tools.paragraph", "tools.undo", "tools.redo"),
)
_LISTS = ("dates.months", "dates.months_short")
_WEEKS = ("dates.weekdays", "dates.weekdays_short", "dates.weekdays_tiny")


@cache
def script_words(language: Language) -> str:
    """Return the script that holds the words of a language, by the catalogue's keys; weeks begin on Sunday."""
    words = catalogue(language)
    said: dict[str, str | list[str]] = {key: words.say_as_is(key) for key in _TEXTS}
    said |= {key: list(words.among(key)) for key in _LISTS}
    for key in _WEEKS:
        *days, sunday = words.among(key)
        said[key] = [sunday, *days]
    return f"window.worldWords = {canonical_json(said)};\n"
