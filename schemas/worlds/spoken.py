"""How people speak of a field: the words of goals, which no page shows."""

from typing import Annotated

from pydantic import BeforeValidator, model_validator

from schemas.base import Record
from schemas.worlds.patterns import Label


def _split(value: object) -> object:
    return tuple(part.strip() for part in value.split("|")) if isinstance(value, str) else value


Phrases = Annotated[tuple[Label, ...], BeforeValidator(_split)]
"""Ways to say something, parted by bars in a file; there may be none."""


class Ranks(Record):
    """How rows compare by a field of numbers or days, each a verb with its object, as `joined later`."""

    more: Label
    """Said of the row with more of two: `has more employees`, `joined later`."""
    less: Label
    """Said of the row with less of two: `has fewer employees`, `joined earlier`."""
    most: Label
    """Said of the row with the most of several: `has the most employees`, `joined last`."""
    least: Label
    """Said of the row with the least of several: `has the fewest employees`, `joined first`."""


class Spoken(Record):
    """The words for a field and for what rows have there. A seed draws one of several; where there are none, goals do with its label."""

    said: Phrases = ()
    """Nouns for it, as people call it."""
    that: Phrases = ()
    """Phrases after a noun that say of a row what it has there, as `due on {value}`; those of a flag have no `{value}`."""
    does: Phrases = ()
    """Predicates that say it after the row or `it`, as `works for {value}` or `is due on {value}`; those of a flag have no `{value}`."""
    asks: Phrases = ()
    """Questions for it, as `who does {row} work for` or `when is {row} due`, without their mark."""
    leads: Phrases = ()
    """Nouns for the row that a link leads to, as `the company that {row} works for`; none for other kinds of field."""
    ranks: Ranks | None = None
    """How rows compare by it; None: goals say `has the larger …`."""

    def spoken(self) -> dict[str, object]:
        """Return these words by name."""
        return {name: getattr(self, name) for name in Spoken.model_fields}

    @model_validator(mode="after")
    def _check_rows(self) -> "Spoken":
        lacking = next((one for one in (*self.asks, *self.leads) if "{row}" not in one), None)
        if lacking is not None:
            raise ValueError(f"'{lacking}' lacks {{row}}")
        return self
