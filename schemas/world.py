"""A world: one made website, from its specification alone.

A specification is a frozen record: the same record is the same website, byte for byte, with the same data
and the same tasks. It says which entities there are and what their fields hold, who is signed in, which
views show them, by which words everything is called and how all of it looks. Nothing here is drawn; what
draws a specification from a seed is in `generators/worlds`.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from hashlib import sha256
from typing import Annotated

from pydantic import AwareDatetime, Field, model_validator

from schemas.base import Record, canonical_json

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=40)]
"""The name of a table, a column or a view: it is never shown."""

Label = Annotated[str, Field(min_length=1, max_length=80)]
"""Words that a page shows."""

_COLOUR = re.compile(r"#[0-9a-f]{6}")


class Kind(StrEnum):
    """What a field holds, and how SQLite keeps it."""

    TEXT = "text"
    """One line of text."""
    LONG_TEXT = "long_text"
    """Text of several lines."""
    INTEGER = "integer"
    """A whole number."""
    MONEY = "money"
    """An amount in hundredths of the world's currency, a whole number."""
    DATE = "date"
    """A day, as `2026-03-09`."""
    CHOICE = "choice"
    """One of the field's `choices`, in its own words."""
    FLAG = "flag"
    """Yes or no, 1 or 0."""
    LINK = "link"
    """The id of a row of the field's `target`; null: of none."""


class Widget(StrEnum):
    """What a form asks for a field with."""

    INPUT = "input"
    """A line to type into; of a date in the form `2026-03-09`."""
    TEXTAREA = "textarea"
    """Several lines to type into."""
    SELECT = "select"
    """A native list that opens."""
    RADIOS = "radios"
    """A radio button for each choice."""
    CHECKBOX = "checkbox"
    """A box to tick."""


class DataField(Record):
    """A field of an entity: a column of its table."""

    name: Name
    """Its column."""
    label: Label
    """What pages call it."""
    kind: Kind
    """What it holds."""
    content: str = ""
    """The recipe that its values are drawn by (`generators/worlds/content.py`); empty: the kind's own."""
    choices: tuple[Label, ...] = ()
    """The values of a choice, in the order in which pages list them; empty for other kinds."""
    target: Name | None = None
    """The entity that a link leads to; None for other kinds."""
    least: int = 0
    """The smallest integer, amount, or day before (negative) or after the world's date."""
    most: int = 100
    """The largest, likewise."""
    required: bool = True
    """Whether a form refuses a row without it."""
    editable: bool = True
    """Whether forms ask for it."""
    widget: Widget = Widget.INPUT
    """What forms ask for it with."""

    @model_validator(mode="after")
    def _check(self) -> "DataField":
        if (self.kind is Kind.CHOICE) is not bool(self.choices):
            raise ValueError(f"field '{self.name}': a choice has choices, and no other kind has")
        if (self.kind is Kind.LINK) is not (self.target is not None):
            raise ValueError(f"field '{self.name}': a link has a target, and no other kind has")
        if self.least > self.most:
            raise ValueError(f"field '{self.name}': least is {self.least}, most is {self.most}")
        return self


class Entity(Record):
    """A kind of thing that the website is about: a table."""

    name: Name
    """Its table."""
    one: Label
    """What pages call one of them."""
    many: Label
    """What pages call several."""
    fields: tuple[DataField, ...] = Field(min_length=1, max_length=30)
    """Its columns, beside `id`; the first is a text that names a row, and no two rows share it."""
    rows: int = Field(ge=1, le=5_000)
    """How many there are in the beginning."""
    can_add: bool = True
    """Whether pages offer to make one."""
    can_edit: bool = True
    """Whether pages offer to change one."""
    can_delete: bool = True
    """Whether pages offer to delete one."""

    @property
    def title(self) -> DataField:
        """The field that names a row."""
        return self.fields[0]

    def field(self, name: str) -> DataField:
        """Return a field.

        Raises:
            KeyError: there is none of that name.
        """
        for field in self.fields:
            if field.name == name:
                return field
        raise KeyError(name)


class Transition(Record):
    """A step of a workflow: a button that changes a row's choice."""

    name: Name
    """Its part of the address."""
    label: Label
    """The button's words."""
    before: tuple[Label, ...] = Field(min_length=1)
    """The values from which it may be taken."""
    after: Label
    """The value that it leads to."""


class Workflow(Record):
    """The states that rows of an entity go through. Forms do not ask for a workflow's field."""

    entity: Name
    """Whose rows."""
    field: Name
    """The choice that holds the state."""
    transitions: tuple[Transition, ...] = Field(min_length=1)
    """The ways from one to another."""


class View(Record):
    """A page that lists rows of an entity; each leads to a page of its own."""

    name: Name
    """Its part of the address."""
    label: Label
    """Its heading, and its link in the navigation."""
    entity: Name
    """Whose rows."""
    columns: tuple[Name, ...] = Field(min_length=1)
    """The fields that a row of the list shows, the title first; the row's own page shows all."""
    searched: bool = True
    """Whether it has a search over the title."""
    filters: tuple[Name, ...] = ()
    """The choices that it can be narrowed by."""
    sorts: tuple[Name, ...] = ()
    """The fields that it can be sorted by; without a choice rows go by id."""
    page_size: int = Field(default=10, ge=3, le=200)
    """Rows a page."""


class Words(Record):
    """What the website calls what it offers everywhere."""

    home: Label = "Home"
    """The link to the first page."""
    add: Label = "New {one}"
    """The link to a form for a new row; `{one}` is what one is called."""
    edit: Label = "Edit"
    """The link to the form of a row."""
    save: Label = "Save"
    """The button of a form."""
    delete: Label = "Delete"
    """The link to the page that asks whether to delete a row."""
    confirm: Label = "Yes, delete"
    """The button that deletes, on the page that asks."""
    cancel: Label = "Cancel"
    """The link that leaves a form or that page."""
    search: Label = "Search"
    """The field that a view is searched by."""
    apply: Label = "Apply"
    """The button that searches, filters and sorts."""
    sort: Label = "Sort by"
    """What stands over the ways to sort."""
    ascending: Label = "{field}, ascending"
    """The choice that sorts by a field, the smallest first."""
    descending: Label = "{field}, descending"
    """The choice that sorts by a field, the largest first."""
    all: Label = "All"
    """The choice of a filter that filters nothing."""
    next: Label = "Next"
    """The link to a list's next page."""
    previous: Label = "Previous"
    """The link to the page before."""
    yes: Label = "Yes"
    """A flag that is set."""
    no: Label = "No"
    """One that is not."""
    none: Label = "None"
    """What stands where a link leads nowhere."""


class Layout(StrEnum):
    """Where a page's parts are."""

    TOP = "top"
    """The navigation runs along the top."""
    SIDE = "side"
    """The navigation stands at the left."""
    SPLIT = "split"
    """A narrow head, the navigation at the right."""


class Listing(StrEnum):
    """How a view shows its rows."""

    TABLE = "table"
    CARDS = "cards"
    ITEMS = "items"
    """A list, each item with its title and a line of facts."""


class Look(Record):
    """How a website looks."""

    kit: Name
    """The front-end kit whose files pages use."""
    layout: Layout
    """Where a page's parts are."""
    listing: Listing
    """How a view shows its rows."""
    accent: str = Field(pattern=_COLOUR.pattern)
    """The colour of what can be acted on, as `#1a2b3c`."""
    surface: str = Field(pattern=_COLOUR.pattern)
    """The colour of the page's ground."""
    dark: bool = False
    """Whether the kit's dark colours are used."""
    dense: bool = False
    """Whether there is less room between things."""
    font: str
    """The CSS font family of all text."""
    radius: int = Field(ge=0, le=24)
    """Of corners, CSS px."""


class World(Record):
    """The specification of one website."""

    family: Name
    """What kind of website it is."""
    seed: int = Field(ge=0)
    """What it was drawn from within its family."""
    title: Label
    """The website's name."""
    host: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,50}\.localhost$")
    """Of its origin, `http://HOST`."""
    locale: str = "en_US"
    """Of its data and formats, as the library of contents names it."""
    currency: str = "$"
    """What stands before amounts."""
    at: AwareDatetime
    """When its clock stands still."""
    user: Label
    """Who is signed in."""
    entities: tuple[Entity, ...] = Field(min_length=1, max_length=20)
    """What it is about."""
    workflows: tuple[Workflow, ...] = ()
    """The states that rows go through, at most one for each entity."""
    views: tuple[View, ...] = Field(min_length=1, max_length=20)
    """The views in the order of the navigation."""
    words: Words = Words()
    """What it calls what it offers everywhere."""
    look: Look
    """How it looks."""

    @property
    def origin(self) -> str:
        """Its origin, which has no port."""
        return f"http://{self.host}"

    @property
    def sha256(self) -> str:
        """The hash of the specification's canonical JSON: its identity."""
        return sha256(canonical_json(self.model_dump(mode="json")).encode()).hexdigest()

    def entity(self, name: str) -> Entity:
        """Return an entity.

        Raises:
            KeyError: there is none of that name.
        """
        for entity in self.entities:
            if entity.name == name:
                return entity
        raise KeyError(name)

    def workflow(self, entity: str) -> Workflow | None:
        """Return the workflow of an entity's rows; None: they have none."""
        return next((one for one in self.workflows if one.entity == entity), None)

    def view_of(self, entity: str) -> View | None:
        """Return the first view of an entity; None: pages show its rows only by links."""
        return next((one for one in self.views if one.entity == entity), None)

    @model_validator(mode="after")
    def _check(self) -> "World":
        for problem in self._problems():
            raise ValueError(problem)
        return self

    def _problems(self) -> Iterator[str]:
        """Yield what refers to nothing, or is there twice."""
        names = [entity.name for entity in self.entities]
        for kind, each in (("entity", names), ("view", [view.name for view in self.views])):
            yield from (
                f"two of the name {kind} '{name}'" for name in set(each) if each.count(name) > 1
            )
        for entity in self.entities:
            columns = [field.name for field in entity.fields]
            if entity.title.kind is not Kind.TEXT:
                yield f"entity '{entity.name}': its first field names a row, so it is a text"
            if len({"id", *columns}) != len(columns) + 1:
                yield f"entity '{entity.name}': two fields of one name, or one named 'id'"
            for field in entity.fields:
                if field.target is not None and field.target not in names:
                    yield f"field '{entity.name}.{field.name}': there is no entity '{field.target}'"
        yield from self._loose_ends(set(names))

    def _loose_ends(self, names: set[str]) -> Iterator[str]:
        for view in self.views:
            if view.entity not in names:
                yield f"view '{view.name}': there is no entity '{view.entity}'"
                continue
            known = {field.name for field in self.entity(view.entity).fields}
            for column in (*view.columns, *view.filters, *view.sorts):
                if column not in known:
                    yield f"view '{view.name}': '{view.entity}' has no field '{column}'"
        for flow in self.workflows:
            if flow.entity not in names:
                yield f"workflow: there is no entity '{flow.entity}'"
                continue
            fields = {field.name: field for field in self.entity(flow.entity).fields}
            if flow.field not in fields:
                yield f"workflow of '{flow.entity}': it has no field '{flow.field}'"
                continue
            states = set(fields[flow.field].choices)
            for step in flow.transitions:
                for state in {*step.before, step.after} - states:
                    yield f"workflow of '{flow.entity}': '{flow.field}' has no choice '{state}'"
