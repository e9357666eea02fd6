"""A world: one generated website, fully determined by its specification.

A specification is a frozen record: equal records give the same website, byte for byte, data and tasks included. It has
entities, fields, the signed-in user, views, labels and appearance; `generators/worlds` draws it from a seed.
"""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from hashlib import sha256

from pydantic import AwareDatetime, Field, model_validator

from schemas.base import Record, canonical_json
from schemas.worlds.behaviour import Behaviour, Noise
from schemas.worlds.cart import Cart
from schemas.worlds.field import PICKERS, DataField, Kind, broken_columns
from schemas.worlds.language import Language
from schemas.worlds.look import Amounts, Days, Look, Words
from schemas.worlds.patterns import Label, Name, Section, Shape, Thread
from schemas.worlds.permissions import Permissions
from schemas.worlds.records import Fields, History, Manual

SITE = "worlds"
"""The site that serves all worlds, as tasks name it."""

CELLS = frozenset({Kind.TEXT, Kind.INTEGER, Kind.MONEY, Kind.CHOICE, Kind.FLAG})
"""The kinds of fields that grid cells can edit."""


class Picture(StrEnum):
    """The subject of the pictures of an entity's rows."""

    THING = "thing"
    """An object that is sold, lent or used."""
    PERSON = "person"
    PLACE = "place"
    PAPER = "paper"
    """A document."""


class Entity(Record):
    """An entity of the website: a table."""

    name: Name
    """The table's name."""
    one: Label
    """Its singular on pages."""
    many: Label
    """Its plural on pages."""
    fields: tuple[DataField, ...] = Field(min_length=1, max_length=30)
    """The columns, beside `id`; the first is a text that names a row, and no two rows share it."""
    rows: int = Field(ge=0, le=5_000)
    """The number of initial rows; 0 only for the cart's content."""
    can_add: bool = True
    """Whether pages offer to add a row."""
    can_edit: bool = True
    """Whether pages offer to edit a row."""
    can_delete: bool = True
    """Whether pages offer to delete a row."""
    picture: Picture | None = None
    """The subject of the rows' pictures (`generators/worlds/rendering/pictures.py`); None: no pictures."""
    sections: tuple[Section, ...] = ()
    """The sections of its forms; fields in no section come first."""
    wizard: bool = False
    """Whether the form for a new row is a wizard: one section per page, then a summary before saving."""
    apart: tuple[Name, ...] = ()
    """Fields, a date among them, whose values together are unique; empty: no such constraint."""

    @property
    def title(self) -> DataField:
        """The field that names a row."""
        return self.fields[0]

    def field(self, name: str) -> DataField:
        """Return a field.

        Raises:
            KeyError: no field has this name.
        """
        for field in self.fields:
            if field.name == name:
                return field
        raise KeyError(name)


class Transition(Record):
    """A step of a workflow: a button that changes a row's state."""

    name: Name
    """Its part of the URL."""
    label: Label
    """The button's text."""
    said: tuple[Label, ...] = ()
    """How a goal asks for it, as `ship {it}`; empty: by the state that it leads to."""
    before: tuple[Label, ...] = Field(min_length=1)
    """The states in which it can be taken."""
    after: Label
    """The state that it leads to."""


class Workflow(Record):
    """The states of an entity's rows. Forms do not contain a workflow's field."""

    entity: Name
    """The entity whose rows have states."""
    field: Name
    """The choice field with the state."""
    transitions: tuple[Transition, ...] = Field(min_length=1)
    """The transitions between states."""


class View(Record):
    """A page that shows rows of an entity; the rows of a list link to their own pages."""

    name: Name
    """Its part of the URL."""
    label: Label
    """Its heading, and its link in the navigation."""
    entity: Name
    """The entity whose rows it shows."""
    columns: tuple[Name, ...] = Field(min_length=1)
    """The fields in a list's row, the title first; the row's own page shows all fields."""
    searched: bool = True
    """Whether it has a search over the title."""
    filters: tuple[Name, ...] = ()
    """The choice fields that filter it."""
    sorts: tuple[Name, ...] = ()
    """The fields that sort it; the default order is by id."""
    page_size: int = Field(default=10, ge=3, le=200)
    """Rows per page."""
    shape: Shape = Shape.LIST
    """Its shape; the fields above that describe lists apply to lists and grids only."""
    day: Name | None = None
    """The date field that places rows in a calendar; None for other shapes."""
    free: Label | None = None
    """The state of free places on a map; None for other shapes."""
    bulk: bool = False
    """Whether rows can be ticked for bulk actions."""


class World(Record):
    """The specification of one website."""

    family: Name
    """The kind of website."""
    seed: int = Field(ge=0)
    """The seed within its family."""
    title: Label
    """The website's name."""
    host: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,50}\.localhost$")
    """The host of its origin, `http://HOST`."""
    language: Language = Language.ENGLISH
    """The language of its pages, contents and goals."""
    locale: str = "en_US"
    """The locale of data and formats, as Faker names it; its language is that of the world."""
    currency: str = "$"
    """The currency symbol beside amounts."""
    amounts: Amounts = Amounts.POINT
    """The format of amounts."""
    days: Days = Days.ISO
    """The format of days."""
    at: AwareDatetime
    """The fixed time of its clock."""
    user: Label
    """The signed-in user's name."""
    role: str = Field(default="", max_length=80)
    """The signed-in user's role, which pages show beside the name; empty: no role."""
    entities: tuple[Entity, ...] = Field(min_length=1, max_length=20)
    """The entities."""
    workflows: tuple[Workflow, ...] = ()
    """The workflows, at most one for each entity."""
    views: tuple[View, ...] = Field(min_length=1, max_length=20)
    """The views in the order of the navigation."""
    threads: tuple[Thread, ...] = ()
    """The messages on rows' pages, at most one thread for each entity."""
    cart: Cart | None = None
    """The cart; None: the website has no cart."""
    permissions: Permissions | None = None
    """Acts reserved to one role; None: every role may do everything."""
    manual: Manual | None = None
    """The written procedures; None: there are no procedures."""
    history: History | None = None
    """The past changes of an entity's rows; None: pages show no changes."""
    words: Words = Words()
    """The labels of elements that every website has."""
    look: Look
    """The appearance."""
    behaviour: Behaviour = Behaviour()
    """How pages behave."""
    noise: Noise = Noise()
    """The distractions."""
    packages: tuple[str, ...] = ()
    """The packages whose files pages load, as `bootstrap@5.3.9`; a missing package is an error."""

    @property
    def origin(self) -> str:
        """The origin, which has no port."""
        return f"http://{self.host}"

    @property
    def sha256(self) -> str:
        """The hash of the specification's canonical JSON: its identity."""
        return sha256(canonical_json(self.model_dump(mode="json")).encode()).hexdigest()

    def entity(self, name: str) -> Entity:
        """Return an entity.

        Raises:
            KeyError: no entity has this name.
        """
        for entity in self.entities:
            if entity.name == name:
                return entity
        raise KeyError(name)

    def workflow(self, entity: str) -> Workflow | None:
        """Return the workflow of an entity's rows, or None."""
        return next((one for one in self.workflows if one.entity == entity), None)

    def view_of(self, entity: str) -> View | None:
        """Return the first list of an entity's rows, or None."""
        lists = (one for one in self.views if one.shape is Shape.LIST)
        return next((one for one in lists if one.entity == entity), None)

    def sends_by_enter(self, view: View) -> bool:
        """Return whether a view's search has no button."""
        return self.behaviour.enter and view.searched

    def thread(self, entity: str) -> Thread | None:
        """Return the thread of an entity's rows, or None."""
        return next((one for one in self.threads if one.entity == entity), None)

    def cells(self, view: View) -> tuple[DataField, ...]:
        """Return the editable fields of a grid, in column order."""
        entity, flow = self.entity(view.entity), self.workflow(view.entity)
        state = flow.field if flow is not None else None
        fields = [entity.field(name) for name in view.columns[1:] if name != state]
        return tuple(one for one in fields if entity.can_edit and is_cell(one))

    @model_validator(mode="after")
    def _check(self) -> "World":
        for problem in self._problems():
            raise ValueError(problem)
        return self

    def _problems(self) -> Iterator[str]:
        """Yield a sentence for each dangling reference and duplicate."""
        if self.locale.partition("_")[0] != self.language.value:
            yield f"locale: '{self.locale}' is none of the language '{self.language.value}'"
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
                if field.asked_with in PICKERS and not self._has_package(field.asked_with.value):
                    yield f"field '{entity.name}.{field.name}': there is no package '{field.asked_with.value}'"
            yield from _broken_parts(entity)
        yield from self._broken_views(set(names))
        yield from self._broken_workflows(set(names))
        for thread in self.threads:
            yield from self._broken_thread(thread, set(names))
        fields = {
            entity.name: {field.name: field for field in entity.fields} for entity in self.entities
        }
        yield from self._broken_records(fields)
        yield from self._broken_cart(fields)

    def _broken_records(self, fields: Fields) -> Iterator[str]:
        if self.permissions is not None:
            yield from self.permissions.problems(fields)
            steps = ((self.permissions.entity, one.step) for one in self.permissions.reserved)
            yield from self._broken_steps("permissions", steps)
        if self.manual is not None:
            yield from self.manual.problems(fields)
            told = ((one.entity, one.step) for one in self.manual.procedures)
            yield from self._broken_steps("manual", told)
            if self.manual.entity in fields:
                count = self.entity(self.manual.entity).rows
                if count != len(self.manual.procedures):
                    yield f"manual: {count} rows for {len(self.manual.procedures)} procedures"
        if self.history is not None:
            yield from self.history.problems(fields)

    def _broken_cart(self, fields: Fields) -> Iterator[str]:
        lying = None if self.cart is None else self.cart.lying
        for entity in self.entities:
            if (entity.rows == 0) is not (entity.name == lying):
                yield f"entity '{entity.name}': what lies in a cart has no rows, and all else has some"
        pages = [view.entity for view in self.views if view.shape is Shape.CART]
        if pages != ([] if lying is None else [lying]):
            yield "cart: one view has its shape, that of what lies in it"
        if self.cart is not None:
            yield from self.cart.problems(fields)

    def _has_package(self, name: str) -> bool:
        return any(pinned.startswith(f"{name}@") for pinned in self.packages)

    def _broken_views(self, names: set[str]) -> Iterator[str]:
        for view in self.views:
            if view.entity not in names:
                yield f"view '{view.name}': there is no entity '{view.entity}'"
                continue
            known = {field.name for field in self.entity(view.entity).fields}
            for column in (*view.columns, *view.filters, *view.sorts):
                if column not in known:
                    yield f"view '{view.name}': '{view.entity}' has no field '{column}'"
            entity = self.entity(view.entity)
            fixed = entity.rows == 1 and not entity.can_add and not entity.can_delete
            dates = {field.name for field in entity.fields if field.kind is Kind.DATE}
            if (view.shape is Shape.CALENDAR) is not (view.day in dates):
                yield f"view '{view.name}': a calendar has the day of its rows, a date, and nothing else has"
            if view.shape is Shape.BOARD and self.workflow(view.entity) is None:
                yield f"view '{view.name}': '{view.entity}' has no workflow, as a board needs"
            if view.shape is Shape.GRID and known.issuperset(view.columns) and not self.cells(view):
                yield f"view '{view.name}': a grid has a cell that can be changed"
            yield from self._broken_map(view, entity)
            if view.shape is Shape.SETTINGS and not fixed:
                yield f"view '{view.name}': '{view.entity}' has one row for ever, as settings have"

    def _broken_map(self, view: View, entity: Entity) -> Iterator[str]:
        flow = self.workflow(view.entity)
        befores = {state for step in flow.transitions for state in step.before} if flow else set()
        if (view.shape is Shape.MAP) is not (view.free in befores):
            yield f"view '{view.name}': a map has a state from which places are taken, and nothing else has"
        elif view.shape is Shape.MAP and (entity.can_add or entity.title.editable):
            yield f"view '{view.name}': places of a map are neither added nor named anew"

    def _broken_workflows(self, names: set[str]) -> Iterator[str]:
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
            yield from _broken_steps(flow, states)

    def _broken_steps(self, place: str, steps: Iterable[tuple[str, str | None]]) -> Iterator[str]:
        for entity, step in steps:
            flow = self.workflow(entity)
            known = {one.name for one in flow.transitions} if flow is not None else set[str]()
            if step is not None and step not in known:
                yield f"{place}: '{entity}' has no step '{step}'"

    def _broken_thread(self, thread: Thread, names: set[str]) -> Iterator[str]:
        place = f"thread of '{thread.entity}'"
        if not {thread.entity, thread.messages} <= names:
            yield f"{place}: there is no entity '{thread.entity}', or no '{thread.messages}'"
            return
        fields = {field.name: field for field in self.entity(thread.messages).fields}
        needed = (
            (thread.link, Kind.LINK),
            (thread.text, Kind.LONG_TEXT),
            (thread.author, Kind.TEXT),
            (thread.day, Kind.DATE),
        )
        yield from broken_columns(place, thread.messages, fields, needed, thread.entity)


def is_cell(field: DataField) -> bool:
    """Return whether grid cells can edit a field that is neither a state nor a title."""
    return field.editable and field.kind in CELLS


def _broken_steps(flow: Workflow, states: set[str]) -> Iterator[str]:
    """Yield a sentence for each useless or duplicate step, and for each state that no step uses."""
    place, names = f"workflow of '{flow.entity}'", [step.name for step in flow.transitions]
    for step in flow.transitions:
        if names.count(step.name) > 1:
            yield f"{place}: two steps of the name '{step.name}'"
        if step.after in step.before:
            yield f"{place}: the step '{step.name}' leads from '{step.after}' to itself"
    used = {state for step in flow.transitions for state in (*step.before, step.after)}
    for state in sorted(states - used):
        yield f"{place}: no step leads to '{state}' or from it"


def _broken_parts(entity: Entity) -> Iterator[str]:
    columns = [field.name for field in entity.fields]
    dates = {field.name for field in entity.fields if field.kind is Kind.DATE}
    if entity.apart and not (set(entity.apart) <= set(columns) and dates & set(entity.apart)):
        yield f"entity '{entity.name}': what keeps rows apart are fields, a date among them"
    sorted_in = [name for section in entity.sections for name in section.fields]
    for name in dict.fromkeys(sorted_in):
        if name not in columns or sorted_in.count(name) > 1:
            yield f"sections of '{entity.name}': '{name}' is no field, or is there twice"
