"""What is reserved to one role on a website, and how others ask for it.

What is reserved concerns the rows of one entity: deleting them, changing them, or a step of their workflow; all of
them, or those whose number is above a limit.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum

from pydantic import Field, model_validator

from schemas.base import Record
from schemas.worlds.field import DataField, Kind, broken_columns
from schemas.worlds.patterns import Label, Name


class Act(StrEnum):
    """What may be reserved."""

    EDIT = "edit"
    """Changing a row by its form, or by what is done to several rows."""
    DELETE = "delete"
    """Deleting it."""
    STEP = "step"
    """Taking one step of its workflow."""


class Reserved(Record):
    """Something that one role alone may do with a row."""

    act: Act
    """What it is."""
    step: Name | None = None
    """The step of the workflow; None for other acts."""
    above: Name | None = None
    """The number or amount that has to be above `limit`; None: it is reserved on all rows."""
    limit: int = 0
    """The largest number with which everybody may do it."""
    hidden: bool = True
    """Whether pages have no button for it; else the button leads to a page that says who may."""

    @property
    def name(self) -> str:
        """Its part of the address at which it is asked for."""
        return self.act.value if self.step is None else f"do-{self.step}"

    @model_validator(mode="after")
    def _check(self) -> "Reserved":
        if (self.act is Act.STEP) is not (self.step is not None):
            raise ValueError("a reserved step names it, and nothing else does")
        return self


class Requests(Record):
    """The entity of what was asked for: a row is added by a button, and by nothing else."""

    entity: Name
    """The entity; what is added has the number of its row as title."""
    act: Name
    """Its choice of what is asked for, in the words of the button."""
    link: Name
    """Its link to the row that it is about."""
    author: Name
    """Its text that names who asks: who is signed in."""
    day: Name
    """Its date, which is the world's day."""
    ask: Label
    """The words of the button, before those of what is asked for."""


class Permissions(Record):
    """What a website reserves to one role."""

    entity: Name
    """Whose rows."""
    leader: Label
    """The role that may do everything."""
    reserved: tuple[Reserved, ...] = Field(min_length=1)
    """What nobody else may do."""
    requests: Requests | None = None
    """What others ask with; None: pages do not offer to ask."""

    def problems(self, fields: Mapping[str, Mapping[str, DataField]]) -> Iterator[str]:
        """Yield what refers to nothing; `fields` are those of each entity, by their names."""
        if self.entity not in fields:
            yield f"permissions: there is no entity '{self.entity}'"
            return
        for one in self.reserved:
            held = fields[self.entity].get(one.above or "")
            is_number = held is not None and held.kind in {Kind.INTEGER, Kind.MONEY}
            if one.above is not None and not is_number:
                yield f"permissions: '{self.entity}' has no number or amount '{one.above}'"
        if self.requests is not None:
            yield from self._broken_requests(self.requests, fields)

    def _broken_requests(
        self, asked: Requests, fields: Mapping[str, Mapping[str, DataField]]
    ) -> Iterator[str]:
        needed = (
            (asked.act, Kind.CHOICE),
            (asked.link, Kind.LINK),
            (asked.author, Kind.TEXT),
            (asked.day, Kind.DATE),
        )
        held = fields.get(asked.entity, {})
        yield from broken_columns("permissions", asked.entity, held, needed, self.entity)
