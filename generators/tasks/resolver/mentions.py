"""A mention of a goal: a quotation, a phrase of its world, a number or a day, a cue or a mark."""

from datetime import date
from typing import NamedTuple

from generators.tasks.resolver.senses import Sense, Sort
from generators.tasks.resolver.words import Cue

_NO_CUES: frozenset[Cue] = frozenset()
TITLES = frozenset({Sort.TITLE, Sort.PART})
"""What names a row."""

_VALUES = (*TITLES, Sort.CHOICE, Sort.TEXT, Sort.FLAG)
_NAMED = frozenset({Sort.ONE, Sort.MANY, Sort.VIEW, Sort.PLACE, Sort.STEP, Sort.REPLY, Sort.DEED})
"""What a reading need not use."""


class Item(NamedTuple):
    """One mention."""

    number: int
    """Its number among a goal's mentions."""
    text: str
    """Its text, without quotation marks."""
    place: int
    """The number of its first word."""
    end: int
    """The number of the word behind it."""
    sentence: int
    """The number of its sentence."""
    quoted: bool = False
    """Whether it is a quotation."""
    senses: tuple[Sense, ...] = ()
    """What it may be in the world."""
    whole: int | None = None
    """As a whole number."""
    cents: int | None = None
    """As an amount, in hundredths."""
    day: date | None = None
    """As a day."""
    is_unclear: bool = False
    """Whether it is a day of numbers that may be two days."""
    cues: frozenset[Cue] = _NO_CUES
    """What it says, if it is a cue."""
    mark: str = ""
    """The mark that it is; empty: it is none."""
    exact: bool = False
    """Whether it is written as the world writes names: with a capital letter within a sentence."""
    is_alone: bool = False
    """Whether it is the name of a field that is said around a row, and so has no value."""
    also: tuple[int, ...] = ()
    """The places of words elsewhere that belong to it."""
    new: str = ""
    """The entity of which it is the name of a new row; empty: of none."""
    weak: bool = False
    """Whether a reading may leave it out: a single word that need not mean anything of the world."""

    def has(self, *sorts: Sort) -> bool:
        """Return whether it may be one of some sorts."""
        return any(sense.sort in sorts for sense in self.senses)

    def ids(self, entity: str) -> list[int]:
        """Return the ids of an entity's rows that it may name."""
        known = (one for one in self.senses if one.sort in TITLES and one.entity == entity)
        return [one.value for one in known if isinstance(one.value, int)]

    @property
    def is_value(self) -> bool:
        """Whether it may be the value of a field."""
        return self.is_measure or self.is_literal or self.has(*_VALUES)

    @property
    def is_amount(self) -> bool:
        """Whether it is a number with a currency."""
        return (self.cents is not None and not self.text.strip("-")[:1].isdigit()) or not self.text[
            -1:
        ].isdigit()

    @property
    def has_currency(self) -> bool:
        """Whether it is a number with the sign of a currency."""
        ends = (self.text.strip("-")[:1], self.text[-1:])
        return self.cents is not None and not all(one.isdigit() or one == "%" for one in ends)

    @property
    def is_literal(self) -> bool:
        """Whether it is a quotation of something that the world does not have."""
        return self.quoted and not self.senses and not self.is_measure

    @property
    def is_measure(self) -> bool:
        """Whether it is a number, an amount or a day."""
        return self.whole is not None or self.cents is not None or self.day is not None

    @property
    def counts(self) -> bool:
        """Whether a reading must use it."""
        if not self.is_value and not self.has(Sort.LABEL, Sort.RANK):
            return False
        return not self.weak and not (
            self.senses and all(one.sort in _NAMED for one in self.senses)
        )
