"""A row's values, messages and past changes as pages display them."""

from collections.abc import Sequence
from typing import NamedTuple

from generators.worlds.state.database import Row
from generators.worlds.state.display import Titles, show
from generators.worlds.words.catalogue import catalogue
from schemas.worlds.field import DataField, Kind, tags_of
from schemas.worlds.world import Entity, World


class Fact(NamedTuple):
    """A field of a row as displayed."""

    name: str
    label: str
    shown: str
    href: str
    """The path of the linked row; empty: no link."""
    tags: tuple[str, ...] = ()
    """Its tags."""
    is_state: bool = False
    """Whether it is the state of a workflow."""


def facts_of(
    world: World, entity: Entity, fields: Sequence[DataField], row: Row, titles: Titles
) -> list[Fact]:
    """Return fields of a row as displayed; `titles` are those of linked rows."""
    out, flow = list[Fact](), world.workflow(entity.name)
    for field in fields:
        value = row[field.name]
        leads = field.target is not None and value is not None
        out.append(
            Fact(
                name=field.name,
                label=field.label,
                shown=show(world, entity.name, field.name, value, titles),
                href=f"/{field.target}/{value}" if leads else "",
                tags=tags_of(value) if field.kind is Kind.TAGS else (),
                is_state=flow is not None and flow.field == field.name,
            )
        )
    return out


def past_changes(world: World, changes: Sequence[Row]) -> list[dict[str, str]]:
    """Return a row's past changes as displayed."""
    history = world.history
    if history is None:
        return []
    return [
        {
            "id": str(one["id"]),
            "title": str(one[world.entity(history.changes).title.name]),
            "day": show(world, history.changes, history.day, one[history.day], {}),
            "author": str(one[history.author]),
            "said": catalogue(world.language).say(
                "history.said",
                field=one[history.field],
                before=one[history.before],
                after=one[history.after],
            ),
        }
        for one in changes
    ]


def messages_of(world: World, entity: Entity, messages: Sequence[Row]) -> list[dict[str, str]]:
    """Return a row's messages as displayed."""
    thread = world.thread(entity.name)
    if thread is None:
        return []
    names = {"author": thread.author, "day": thread.day, "text": thread.text}
    return [
        {part: show(world, thread.messages, name, one[name], {}) for part, name in names.items()}
        for one in messages
    ]
