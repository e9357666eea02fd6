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
    def runs_right_to_left(self) -> bool:
        """Whether its pages run from right to left."""
        return self is Language.ARABIC
