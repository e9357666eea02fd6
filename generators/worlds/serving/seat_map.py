"""Maps of places: an entity's rows drawn at their positions, with free and taken places distinguished.

A place's position is the end of its title: `4C` is the third place of the fourth row from the front.
"""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from generators.worlds.serving.visit import WorldVisit, answer, refuse_post
from generators.worlds.state.database import Row, find_rows
from generators.worlds.state.display import show
from schemas.worlds.field import DataField, Kind
from schemas.worlds.world import View

_PLACE = re.compile(r"(\d+)([A-Z])$")


class Place(NamedTuple):
    """A position on a map."""

    row: int
    """The row, from 1 at the front."""
    letter: str
    """The place in the row, from A at the left."""

    @property
    def short(self) -> str:
        """The label on the map."""
        return f"{self.row}{self.letter}"


def place_of(title: str) -> Place | None:
    """Return the place at the end of a title, or None."""
    found = _PLACE.search(title)
    return None if found is None else Place(int(found[1]), found[2])


def place_words(
    fields: Iterable[DataField], row: Row, show_field: Callable[[DataField], str]
) -> list[str]:
    """Return the texts that a map shows for a place: values of fields, and labels of flags that are set."""
    out = list[str]()
    for field in fields:
        if field.kind is not Kind.FLAG:
            out.append(show_field(field))
        elif row[field.name]:
            out.append(field.label)
    return out


def place_name(place: Place, words: Iterable[str]) -> str:
    """Return the accessible name of a place: its short label and its texts."""
    return ", ".join((place.short, *words))


async def show_map(request: Request, visit: WorldVisit, view: View) -> Response:
    """Show the places of a map."""
    refuse_post(request)
    entity, flow = visit.world.entity(view.entity), visit.world.workflow(view.entity)
    state = flow.field if flow is not None else ""
    titles = visit.titles(entity)
    fields = [entity.field(name) for name in (state, *view.columns[1:]) if name]
    places = dict[Place, dict[str, object]]()
    for row in find_rows(visit.database, entity):
        place = place_of(str(row[entity.title.name]))
        if place is None:
            continue

        def show_field(field: DataField, row: Row = row) -> str:
            return show(visit.world, entity.name, field.name, row[field.name], titles)

        words = place_words(fields, row, show_field)
        places[place] = {
            "id": row["id"],
            "short": place.short,
            "is_free": row[state] == view.free,
            "name": place_name(place, words),
            "words": words,
        }
    letters = sorted({place.letter for place in places})
    lines = [
        (number, [places.get(Place(number, letter)) for letter in letters])
        for number in sorted({place.row for place in places})
    ]
    return answer(visit.pages.view_page("map.html", view, letters=letters, lines=lines))
