"""Translations of families: files that have the keys of a family's file, and its words in another language.

A file says nothing that is not a word: kinds, bounds, chances and links stay those of the English file. Choices are in
the same order, so that workflows and maps, which refer to states by their first words in English, need not be
translated. A word of `[words]` that a translation lacks is the language's own (`generators/worlds/words/`).
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pydantic import Field, ValidationError

from generators.worlds.drawing.family import (
    Alternatives,
    Family,
    FamilyEntity,
    FamilyField,
    FamilyRoles,
    FamilyStep,
    FamilyThread,
    FamilyView,
    FamilyWorkflow,
)
from generators.worlds.drawing.text_recipes import SOURCES
from generators.worlds.words.catalogue import catalogue
from schemas.base import Record, first_mistake
from schemas.errors import BadTasks
from schemas.worlds.field import Kind
from schemas.worlds.language import Language
from schemas.worlds.patterns import Name
from schemas.worlds.spoken import Phrases, Spoken

_SOURCE = re.compile("|".join(rf"\{{{source}\}}" for source in SOURCES))
_WORD = re.compile(r"[^\W\d_]{3,}")
"""A word in a recipe: three letters or more; shorter ones are parts of codes, as `KX`."""

_TEXTS = {Kind.TEXT, Kind.LONG_TEXT}


class _Labelled(Record):
    """The words of a step of a workflow, or of a view."""

    label: Alternatives
    """Its label."""
    said: Phrases = ()
    """How goals ask for the step; empty: by the state that it leads to."""


class _FieldWords(Spoken):
    label: Alternatives
    """Its label on pages."""
    content: str | None = None
    """The recipe of its values; None: the English one, which has no words."""
    choices: tuple[Alternatives, ...] = ()
    """The words of its choices, in the order of the English file."""


class _EntityWords(Record):
    one: Alternatives
    """What one row is called."""
    many: Alternatives
    """What several rows are called."""
    sections: dict[Name, Alternatives] = Field(default_factory=dict)
    """The labels of its forms' sections."""
    fields: dict[Name, _FieldWords]
    """The words of its fields."""


class _WorkflowWords(Record):
    transitions: dict[Name, _Labelled]
    """The words of its steps."""


class _ThreadWords(Record):
    reply: Alternatives
    """The button that sends a message."""


class FamilyWords(Record):
    """The words of a family in another language, by the keys of its file."""

    title: str
    """The recipe of a website's name."""
    roles: FamilyRoles
    """What roles are called."""
    words: dict[str, Alternatives] = Field(default_factory=dict)
    """Labels that the family has of its own."""
    entities: dict[Name, _EntityWords]
    """The words of its entities."""
    workflows: dict[Name, _WorkflowWords] = Field(default_factory=dict)
    """The words of its workflows."""
    threads: dict[Name, _ThreadWords] = Field(default_factory=dict)
    """The words of its threads."""
    views: dict[Name, _Labelled]
    """The words of its views."""


def read_words(path: Path) -> FamilyWords:
    """Return the words of a translation's file.

    Raises:
        BadTasks: the file cannot be read; the message is one line with the file, the place and the reason.
    """
    name = f"{path.parent.name}/{path.name}"
    try:
        return FamilyWords.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise BadTasks(f"{name}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadTasks(f"{name}: invalid TOML: {error}") from None
    except ValidationError as error:
        raise BadTasks(f"{name}: {first_mistake(error)}") from None


def translate(family: Family, said: FamilyWords, language: Language) -> Family:
    """Return a family in another language.

    Raises:
        BadTasks: the translation is not whole; the message is its first mistake, with the place.
    """
    for problem in lacks(family, said):
        raise BadTasks(problem)
    try:
        return Family(
            language=language,
            title=said.title,
            words=catalogue(language).labels() | said.words,
            entities={
                name: _entity(entity, said.entities[name])
                for name, entity in family.entities.items()
            },
            workflows={
                name: _workflow(flow, family.entities[name], name, said)
                for name, flow in family.workflows.items()
            },
            threads={
                name: FamilyThread(**{**dict(thread), "reply": said.threads[name].reply})
                for name, thread in family.threads.items()
            },
            cart=family.cart,
            drags=family.drags,
            roles=said.roles,
            views={name: _view(family, name, view, said) for name, view in family.views.items()},
        )
    except ValidationError as error:
        raise BadTasks(first_mistake(error)) from None


def lacks(family: Family, said: FamilyWords) -> Iterator[str]:
    """Yield what a translation lacks or has too much of, each with its place."""
    yield from _keys("entities", family.entities, said.entities)
    yield from _keys("workflows", family.workflows, said.workflows)
    yield from _keys("threads", family.threads, said.threads)
    yield from _keys("views", family.views, said.views)
    for name, entity in family.entities.items():
        if name in said.entities:
            yield from _lacks_of_entity(f"entities.{name}", entity, said.entities[name])
    for name, flow in family.workflows.items():
        if name in said.workflows:
            place = f"workflows.{name}.transitions"
            yield from _keys(place, flow.transitions, said.workflows[name].transitions)


def _keys(place: str, wanted: Iterable[str], given: Iterable[str]) -> Iterator[str]:
    there = set(given)
    yield from (f"{place}.{name}: is missing" for name in wanted if name not in there)
    yield from (
        f"{place}.{name}: the English file has no such key"
        for name in given
        if name not in set(wanted)
    )


def _lacks_of_entity(place: str, entity: FamilyEntity, said: _EntityWords) -> Iterator[str]:
    yield from _keys(f"{place}.fields", entity.fields, said.fields)
    yield from _keys(f"{place}.sections", entity.sections, said.sections)
    for name, field in entity.fields.items():
        if name in said.fields:
            yield from _lacks_of_field(f"{place}.fields.{name}", field, said.fields[name])


def _lacks_of_field(place: str, field: FamilyField, said: _FieldWords) -> Iterator[str]:
    if len(said.choices) != len(field.choices):
        yield f"{place}.choices: {len(said.choices)}, in English {len(field.choices)}"
    if (
        said.content is None
        and field.kind in _TEXTS
        and _WORD.search(_SOURCE.sub("", field.content))
    ):
        yield f"{place}.content: is missing; in English '{field.content}'"
    if said.content is not None and (field.kind not in _TEXTS or not field.content):
        yield f"{place}.content: the English file has no recipe of words here"


def _entity(entity: FamilyEntity, said: _EntityWords) -> FamilyEntity:
    return entity.model_copy(
        update={
            "one": said.one,
            "many": said.many,
            "sections": said.sections,
            "fields": {
                name: _field(field, said.fields[name]) for name, field in entity.fields.items()
            },
        }
    )


def _field(field: FamilyField, said: _FieldWords) -> FamilyField:
    content = field.content if said.content is None else said.content
    update = {"label": said.label, "content": content, "choices": said.choices}
    return field.model_copy(update=update | said.spoken())


def _states(entity: FamilyEntity, field: str, said: FamilyWords, name: str) -> Mapping[str, str]:
    """Return the first words of a field's choices in the translation, by those in English."""
    english = [choice[0] for choice in entity.fields[field].choices]
    translated = [choice[0] for choice in said.entities[name].fields[field].choices]
    return dict(zip(english, translated, strict=True))


def _workflow(
    flow: FamilyWorkflow, entity: FamilyEntity, name: str, said: FamilyWords
) -> FamilyWorkflow:
    states, steps = _states(entity, flow.field, said, name), said.workflows[name].transitions
    return FamilyWorkflow(
        field=flow.field,
        transitions={
            key: FamilyStep(
                label=steps[key].label,
                said=steps[key].said,
                before=tuple(states[state] for state in step.before),
                after=states[step.after],
            )
            for key, step in flow.transitions.items()
        },
    )


def _view(family: Family, name: str, view: FamilyView, said: FamilyWords) -> FamilyView:
    free, flow = view.free, family.workflows.get(view.entity)
    if free is not None and flow is not None:
        free = _states(family.entities[view.entity], flow.field, said, view.entity)[free]
    return view.model_copy(update={"label": said.views[name].label, "free": free})
