"""Acts reserved to one role of a website, and how other roles request them.

Reserved acts concern the rows of one entity: deleting, editing, or a step of the workflow; on all rows, or on those
whose number exceeds a limit.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum

from pydantic import Field, model_validator

from schemas.base import Record
from schemas.worlds.field import DataField, Kind, broken_columns
from schemas.worlds.patterns import Label, Name


class Act(StrEnum):
    """An act that can be reserved."""

    EDIT = "edit"
    """Editing a row by its form or by a bulk action."""
    DELETE = "delete"
    """Deleting the row."""
    STEP = "step"
    """Taking one step of the workflow."""


class Reserved(Record):
    """An act on a row that only one role may perform."""

    act: Act
    """The act."""
    step: Name | None = None
    """The workflow step; None for other acts."""
    above: Name | None = None
    """The number or amount that must exceed `limit`; None: the act is reserved on all rows."""
    limit: int = 0
    """The largest number at which every role may perform the act."""
    hidden: bool = True
    """Whether pages omit the button; otherwise the button leads to a page that names the allowed role."""

    @property
    def name(self) -> str:
        """The act's part of the URL of its request."""
        return self.act.value if self.step is None else f"do-{self.step}"

    @model_validator(mode="after")
    def _check(self) -> "Reserved":
        if (self.act is Act.STEP) is not (self.step is not None):
            raise ValueError("a reserved step names it, and nothing else does")
        return self


class Requests(Record):
    """The entity of requests; only the request button adds rows."""

    entity: Name
    """The entity. A new row has its row number as title."""
    act: Name
    """The choice field with the requested act, in the words of the act's button."""
    link: Name
    """The link to the row concerned."""
    author: Name
    """The text field with the requester's name: the signed-in user."""
    day: Name
    """The date field: the world's date."""
    ask: Label
    """The first words of the request button; those of the act follow."""


class Permissions(Record):
    """Acts that a website reserves to one role."""

    entity: Name
    """The entity whose rows are concerned."""
    leader: Label
    """The role that may do everything."""
    reserved: tuple[Reserved, ...] = Field(min_length=1)
    """The acts that no other role may perform."""
    requests: Requests | None = None
    """How other roles request such an act; None: pages do not offer requests."""

    def problems(self, fields: Mapping[str, Mapping[str, DataField]]) -> Iterator[str]:
        """Yield each dangling reference as a sentence; `fields` has the fields of each entity by name."""
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
