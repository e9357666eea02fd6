"""The languages of worlds: each world has one, for its pages, its contents and its goals."""

from enum import StrEnum


class Language(StrEnum):
    """A language, by its ISO 639-1 code, as the attribute `lang` of pages has it."""

    ENGLISH = "en"
    GERMAN = "de"
    FRENCH = "fr"
    SPANISH = "es"
    PORTUGUESE = "pt"
    JAPANESE = "ja"
    ARABIC = "ar"

    @property
    def gap(self) -> str:
        """What stands between two sentences of a text."""
        return "" if self is Language.JAPANESE else " "

    @property
    def has_italics(self) -> bool:
        """Whether its letters have a slanted form, as quotations are in."""
        return self not in {Language.ARABIC, Language.JAPANESE}

    @property
    def runs_right_to_left(self) -> bool:
        """Whether its pages run from right to left."""
        return self is Language.ARABIC

    @property
    def colon(self) -> str:
        """What stands between a label and its value in a line."""
        return "\u00a0: " if self is Language.FRENCH else ": "

    @property
    def has_small_nouns(self) -> bool:
        """Whether a noun after other words of a label is in small letters, though labels begin with a capital."""
        return self in {Language.FRENCH, Language.SPANISH, Language.PORTUGUESE}
