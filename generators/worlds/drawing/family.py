"""A family of worlds: the TOML file from which a seed draws.

Alternative words stand in one text, separated by bars: `Order | Purchase`. Workflows refer to a choice by the first
of its alternatives. A world may lack fields other than the title, and views (`chance`).
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import AliasChoices, BeforeValidator, Field, ValidationError, model_validator

from generators.worlds.drawing.carts import FamilyCart, cart_problems
from schemas.base import Record, first_mistake
from schemas.errors import BadTasks
from schemas.worlds.field import Kind
from schemas.worlds.language import Language
from schemas.worlds.look import Words
from schemas.worlds.patterns import Label, Name, Shape
from schemas.worlds.spoken import Phrases, Spoken
from schemas.worlds.world import CELLS, Picture


def _split(value: object) -> object:
    return tuple(part.strip() for part in value.split("|")) if isinstance(value, str) else value


Alternatives = Annotated[tuple[Label, ...], BeforeValidator(_split), Field(min_length=1)]
"""Alternative labels, of which a world uses one."""

Chance = Annotated[float, Field(gt=0, le=1)]
"""The probability that a world has something; 1: always."""


class FamilyField(Spoken):
    """A field that worlds may have, with its words in goals; see `DataField` for more."""

    label: Alternatives
    """Its label on pages."""
    kind: Kind = Kind.TEXT
    """Its type."""
    content: str = ""
    """The recipe of its values."""
    choices: tuple[Alternatives, ...] = ()
    """The values of a choice or of tags."""
    few: int | None = Field(default=None, ge=1)
    """The minimum number of choices in a world; None: every world has all."""
    target: Name | None = None
    """The entity that a link points to."""
    min: int = Field(default=0, validation_alias=AliasChoices("min", "least"))
    """The smallest number, or day relative to the world's date."""
    max: int = Field(default=100, validation_alias=AliasChoices("max", "most"))
    """The largest, likewise. `least` and `most` are accepted as well."""
    required: bool = True
    """Whether a form rejects a row without it."""
    editable: bool = True
    """Whether forms contain it."""
    section: Name | None = None
    """Its section of forms; None: no section."""
    chance: Chance = 1
    """The probability that a world has it."""


class FamilyEntity(Record):
    """An entity of every world of the family."""

    one: Alternatives
    """Its singular on pages."""
    many: Alternatives
    """Its plural on pages, in the order of `one`."""
    rows: tuple[int, int]
    """The minimum and maximum number of initial rows."""
    can_add: bool = True
    """Whether pages offer to add a row."""
    can_edit: bool = True
    """Whether pages offer to edit a row."""
    can_delete: bool = True
    """Whether pages offer to delete a row."""
    picture: Picture | None = None
    """The subject of its rows' pictures; None: no pictures."""
    wizard: bool = False
    """Whether the form for a new row is a wizard with one page per section."""
    apart: tuple[Name, ...] = ()
    """Fields whose values together are unique."""
    sections: dict[Name, Alternatives] = Field(default_factory=dict)
    """The headings of the sections of its forms."""
    fields: dict[Name, FamilyField] = Field(min_length=1)
    """Its fields by column, the title first."""


class FamilyStep(Record):
    """A step of a workflow."""

    label: Alternatives
    """The button's text."""
    said: Phrases = ()
    """How a goal asks for it, as `ship {it}`."""
    before: tuple[str, ...] = Field(min_length=1)
    """The states in which it can be taken, by their first words."""
    after: str
    """The state that it leads to, likewise."""


class FamilyWorkflow(Record):
    """The states of an entity's rows."""

    field: Name
    """The choice field with the state."""
    transitions: dict[Name, FamilyStep] = Field(min_length=1)
    """The steps."""


class FamilyThread(Record):
    """The messages of an entity's rows; see `Thread`."""

    messages: Name
    """The entity of the messages."""
    link: Name
    """The messages' link to the row."""
    text: Name
    """The messages' long text."""
    author: Name
    """The messages' text field with the author's name."""
    day: Name
    """The messages' date field."""
    reply: Alternatives
    """The button's text."""


class FamilyView(Record):
    """A page that shows rows."""

    label: Alternatives
    """Its heading; `{one}` and `{many}` are the entity's singular and plural."""
    entity: Name
    """The entity whose rows it shows."""
    shape: Shape = Shape.LIST
    """Its shape."""
    day: Name | None = None
    """The date field that places rows in a calendar."""
    free: str | None = None
    """The state of free places on a map, by its first words."""
    chance: Chance = 1
    """The probability that a world has it."""


class FamilyRoles(Record):
    """Names of roles, each beginning with a consonant because pages write `a` before them."""

    user: Alternatives = ("Clerk", "Trainee")
    """The role with restrictions."""
    leader: Alternatives = ("Manager", "Supervisor", "Team lead")
    """The role without restrictions."""


class Family(Record):
    """The options from which a seed draws a world."""

    language: Language = Language.ENGLISH
    """The language of its words."""
    title: str
    """The recipe of the website's name."""
    words: dict[str, Alternatives] = Field(default_factory=dict)
    """Labels of elements that every website has; missing ones have their defaults."""
    entities: dict[Name, FamilyEntity] = Field(min_length=1)
    """The entities by name."""
    workflows: dict[Name, FamilyWorkflow] = Field(default_factory=dict)
    """The workflows by entity."""
    threads: dict[Name, FamilyThread] = Field(default_factory=dict)
    """The threads by the entity whose rows have messages."""
    cart: FamilyCart | None = None
    """The cart; None: no world has a cart."""
    drags: bool = True
    """Whether choices other than files may be dragged into a box."""
    roles: FamilyRoles = FamilyRoles()
    """The roles."""
    views: dict[Name, FamilyView] = Field(min_length=1)
    """The views by name."""

    @property
    def all_words(self) -> dict[str, tuple[str, ...]]:
        """All labels by name, with defaults where the file has no entry."""
        return {name: self.words.get(name, (usual,)) for name, usual in Words()}

    @model_validator(mode="after")
    def _check(self) -> "Family":
        for problem in (*_problems(self), *_clashes(self)):
            raise ValueError(problem)
        return self


def parse_family(path: Path) -> Family:
    """Return the family that a file describes.

    Raises:
        BadTasks: the file is invalid; the message is one line with the file, the place and the reason.
    """
    try:
        return Family.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadTasks(f"{path.name}: invalid TOML: {error}") from None
    except OSError as error:
        raise BadTasks(f"{path.name}: cannot be read: {error.strerror}") from None
    except ValidationError as error:
        raise BadTasks(f"{path.name}: {first_mistake(error)}") from None


def _problems(family: Family) -> Iterator[str]:
    """Yield mistakes in alternatives and chances, which the validation of a specification cannot find."""
    for name, said in family.words.items():
        if name not in Words.model_fields:
            yield f"words.{name}: no such word; there are {', '.join(Words.model_fields)}"
        yield from (
            f"words.{name}: '{one}' lacks {_SLOTS[name]}" for one in said if not _fits(name, one)
        )
    for name, entity in family.entities.items():
        yield from (f"entities.{name}.{problem}" for problem in _entity_problems(entity))
    yield from _workflow_problems(family)
    for name, view in family.views.items():
        if view.entity not in family.entities:
            yield f"views.{name}.entity: there is no entity '{view.entity}'"
        elif view.day is not None:
            fields = family.entities[view.entity].fields
            if view.day not in fields or fields[view.day].chance < 1:
                yield f"views.{name}.day: there is no date '{view.day}' in every world"
        yield from _map_problems(family, name, view)
        if view.shape is Shape.GRID and not _has_cells(family, view.entity):
            yield f"views.{name}: '{view.entity}' has no field in every world that a grid can change"
    yield from _thread_problems(family)
    yield from _cart_problems(family)
    if not any(view.chance == 1 for view in family.views.values()):
        yield "views: none has the chance 1, so a world may have none"


_PLACES = re.compile(r"\{\d+(\|\d+)*\}\{[A-Z](\|[A-Z])*\}$")
"""The end of a recipe for titles with places."""


def _map_problems(family: Family, name: str, view: FamilyView) -> Iterator[str]:
    if view.shape is not Shape.MAP or view.entity not in family.entities:
        return
    flow = family.workflows.get(view.entity)
    if not any(view.free in step.before for step in (flow.transitions.values() if flow else ())):
        yield f"views.{name}.free: no step of '{view.entity}' begins at '{view.free}'"
    title = next(iter(family.entities[view.entity].fields.values()))
    if not _PLACES.search(title.content):
        yield f"views.{name}: titles of '{view.entity}' end in no place, as {{1|2|3}}{{A|B|C|D}}"


def _has_cells(family: Family, name: str) -> bool:
    entity, flow = family.entities.get(name), family.workflows.get(name)
    fields = list(entity.fields.items())[1:] if entity is not None and entity.can_edit else []
    states = {flow.field} if flow is not None else set[str]()
    return any(
        field.chance == 1 and field.editable and field.kind in CELLS and column not in states
        for column, field in fields
    )


def _cart_problems(family: Family) -> Iterator[str]:
    kinds = {
        name: {
            column: (field.kind, field.chance * field.required)
            for column, field in entity.fields.items()
        }
        for name, entity in family.entities.items()
    }
    yield from () if family.cart is None else cart_problems(family.cart, kinds)


def _thread_problems(family: Family) -> Iterator[str]:
    for name, thread in family.threads.items():
        if thread.messages not in family.entities:
            yield f"threads.{name}.messages: there is no entity '{thread.messages}'"
            continue
        fields = family.entities[thread.messages].fields
        for column in (thread.link, thread.text, thread.author, thread.day):
            if column not in fields or fields[column].chance < 1:
                yield f"threads.{name}: '{thread.messages}' has no field '{column}' in every world"


_SLOTS = {
    "add": "{one}",
    "increase": "{field}",
    "decrease": "{field}",
    "ascending": "{field}",
    "descending": "{field}",
    "tick": "{title}",
    "untag": "{tag}",
    "drop": "{field}",
}
"""Placeholders that some words must contain."""


def _fits(name: str, text: str) -> bool:
    return _SLOTS.get(name, "") in text


def _entity_problems(entity: FamilyEntity) -> Iterator[str]:
    if len(entity.one) != len(entity.many):
        yield f"many: {len(entity.many)} words for several, {len(entity.one)} for one"
    if not 1 <= entity.rows[0] <= entity.rows[1]:
        yield f"rows: expected the fewest, at least 1, and the most, got {list(entity.rows)}"
    title = next(iter(entity.fields))
    if entity.fields[title].chance < 1 or not entity.fields[title].required:
        yield f"fields.{title}: every row of every world has its title"
    for column in entity.apart:
        if column not in entity.fields or entity.fields[column].chance < 1:
            yield f"apart: there is no field '{column}' in every world"
    for column, field in entity.fields.items():
        if field.few is not None and field.few > len(field.choices):
            yield f"fields.{column}.few: {field.few} of {len(field.choices)} choices"
        if field.section is not None and field.section not in entity.sections:
            yield f"fields.{column}.section: there is no section '{field.section}'"


def _workflow_problems(family: Family) -> Iterator[str]:
    for name, flow in family.workflows.items():
        place = f"workflows.{name}"
        if name not in family.entities:
            yield f"{place}: there is no entity '{name}'"
            continue
        field = family.entities[name].fields.get(flow.field)
        if field is None or field.kind is not Kind.CHOICE:
            yield f"{place}.field: '{name}' has no choice '{flow.field}'"
            continue
        if field.chance < 1 or field.few is not None or not field.required:
            yield f"{place}.field: '{flow.field}' is in every world and row, with all its choices"
        states = [choice[0] for choice in field.choices]
        for step_name, step in flow.transitions.items():
            for state in (*step.before, step.after):
                if state not in states:
                    yield f"{place}.transitions.{step_name}: '{flow.field}' has no choice '{state}'"


def _clashes(family: Family) -> Iterator[str]:
    """Yield labels that two elements of one page could share, which would make both ambiguous."""
    yield from _same({f"entities.{name}.one": one.one for name, one in family.entities.items()})
    yield from _same({f"entities.{name}.many": one.many for name, one in family.entities.items()})
    words = family.all_words
    chosen = {f"words.{name}": words[name] for name in ("all", "none")}
    labelled = {f"words.{name}": words[name] for name in ("search", "sort", "ticked")}
    buttons = ("edit", "save", "delete", "confirm", "cancel", "apply", "next", "previous", "run")
    links = {f"views.{name}": _headings(family, view) for name, view in family.views.items()}
    acting = {f"words.{name}": words[name] for name in ("home", *buttons)} | links
    for name, entity in family.entities.items():
        place = f"entities.{name}"
        labels = {f"{place}.fields.{column}": one.label for column, one in entity.fields.items()}
        yield from _same(labelled | labels)
        for column, field in entity.fields.items():
            texts = {f"{place}.fields.{column}: '{one[0]}'": one for one in field.choices}
            yield from _same(chosen | texts)
        steps = family.workflows[name].transitions if name in family.workflows else {}
        taken: dict[str, Iterable[str]] = {
            f"workflows.{name}.{key}": one.label for key, one in steps.items()
        }
        if name in family.threads:
            taken[f"threads.{name}.reply"] = family.threads[name].reply
        yield from _same({**acting, **taken})


def _headings(family: Family, view: FamilyView) -> list[str]:
    """Return every heading that a view may have; empty if its entity does not exist."""
    entity = family.entities.get(view.entity)
    pairs = zip(entity.one, entity.many, strict=False) if entity is not None else ()
    return [name_entity(label, one, many) for one, many in pairs for label in view.label]


def name_entity(label: str, one: str, many: str) -> str:
    """Return a view's heading with the entity's names filled in; `{many small}` begins with a small letter."""
    small = many[0].lower() + many[1:]
    return label.replace("{one}", one).replace("{many small}", small).replace("{many}", many)


def _same(named: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """Yield each text that two names share, ignoring case."""
    first = dict[str, str]()
    for name, texts in named.items():
        for text in texts:
            other = first.setdefault(text.casefold(), name)
            if other != name:
                yield f"{name}: {other} may be called '{text}' too"
