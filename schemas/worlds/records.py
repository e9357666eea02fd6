"""What a website writes down about its own rows: procedures to follow, and changes of the past.

Both are entities of the specification, whose rows nobody adds or changes.
"""

from collections.abc import Iterator, Mapping

from pydantic import Field

from schemas.base import Record
from schemas.worlds.field import DataField, Kind, broken_columns
from schemas.worlds.patterns import Label, Name

Fields = Mapping[str, Mapping[str, DataField]]
"""The fields of each entity, by their names."""


class Put(Record):
    """A value that a procedure gives a field."""

    field: Name
    """The field."""
    value: str | int
    """What it is to hold."""


class Procedure(Record):
    """What is done with a row: values, then a step of its workflow, then a message under it."""

    title: Label
    """What it is called."""
    entity: Name
    """Whose rows."""
    puts: tuple[Put, ...] = Field(min_length=1)
    """The values."""
    step: Name | None = None
    """The step; None: none."""
    message: str = ""
    """The message's words; empty: none is written."""


class Manual(Record):
    """The entity of written procedures: a row for each, in their order."""

    entity: Name
    """The entity."""
    text: Name
    """Its text of several lines, which says what is done."""
    procedures: tuple[Procedure, ...] = Field(min_length=1)
    """The procedures."""

    def problems(self, fields: Fields) -> Iterator[str]:
        """Yield what refers to nothing."""
        held = fields.get(self.entity, {}).get(self.text)
        if held is None or held.kind is not Kind.LONG_TEXT:
            yield f"manual: '{self.entity}' has no long_text '{self.text}'"
        for one in self.procedures:
            for put in one.puts:
                if put.field not in fields.get(one.entity, {}):
                    yield f"manual: '{one.title}': '{one.entity}' has no field '{put.field}'"


class History(Record):
    """The entity of past changes of another entity's rows, which their pages show by day."""

    entity: Name
    """Whose rows were changed."""
    changes: Name
    """The entity of the changes."""
    link: Name
    """Its link to the row."""
    field: Name
    """Its choice of the field's label."""
    before: Name
    """Its text of what the field held before, as pages write it."""
    after: Name
    """Its text of what it held then."""
    author: Name
    """Its text that names who changed it."""
    day: Name
    """Its date."""

    def problems(self, fields: Fields) -> Iterator[str]:
        """Yield what refers to nothing."""
        needed = (
            (self.link, Kind.LINK),
            (self.field, Kind.CHOICE),
            (self.before, Kind.TEXT),
            (self.after, Kind.TEXT),
            (self.author, Kind.TEXT),
            (self.day, Kind.DATE),
        )
        held = fields.get(self.changes, {})
        yield from broken_columns("history", self.changes, held, needed, self.entity)
