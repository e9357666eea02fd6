"""A website's records about its own rows: procedures to follow, and past changes.

Both are entities of the specification. Their rows cannot be added or changed.
"""

from collections.abc import Iterator, Mapping

from pydantic import Field

from schemas.base import Record
from schemas.worlds.field import DataField, Kind, broken_columns
from schemas.worlds.patterns import Label, Name

Fields = Mapping[str, Mapping[str, DataField]]
"""The fields of each entity by name."""


class Put(Record):
    """A value that a procedure assigns to a field."""

    field: Name
    """The field."""
    value: str | int
    """The value."""


class Procedure(Record):
    """The parts of a procedure for a row: assign values, take a workflow step, write a message."""

    title: Label
    """Its name."""
    entity: Name
    """The entity whose rows it applies to."""
    puts: tuple[Put, ...] = Field(min_length=1)
    """The assigned values."""
    step: Name | None = None
    """The workflow step; None: no step."""
    message: str = ""
    """The text of the message; empty: no message."""


class Manual(Record):
    """The entity of written procedures, with one row for each, in order."""

    entity: Name
    """The entity."""
    text: Name
    """The long text with the instructions."""
    procedures: tuple[Procedure, ...] = Field(min_length=1)
    """The procedures."""

    def problems(self, fields: Fields) -> Iterator[str]:
        """Yield each dangling reference as a sentence."""
        held = fields.get(self.entity, {}).get(self.text)
        if held is None or held.kind is not Kind.LONG_TEXT:
            yield f"manual: '{self.entity}' has no long_text '{self.text}'"
        for one in self.procedures:
            for put in one.puts:
                if put.field not in fields.get(one.entity, {}):
                    yield f"manual: '{one.title}': '{one.entity}' has no field '{put.field}'"


class History(Record):
    """The entity of past changes of another entity's rows; a row's page lists them by date."""

    entity: Name
    """The entity whose rows were changed."""
    changes: Name
    """The entity of the changes."""
    link: Name
    """The link to the changed row."""
    field: Name
    """The choice field with the changed field's label."""
    before: Name
    """The text field with the earlier value, as pages display it."""
    after: Name
    """The text field with the new value."""
    author: Name
    """The text field with the author's name."""
    day: Name
    """The date field."""

    def problems(self, fields: Fields) -> Iterator[str]:
        """Yield each dangling reference as a sentence."""
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
