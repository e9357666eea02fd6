"""The pages of a world: HTML made from its specification, and the one stylesheet that they use.

Pages name everything by the words of the specification. What they show of a row is what
`generators/worlds/display.py` writes for its values.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader

from generators.worlds.colours import colours_of
from generators.worlds.database import Chosen, Listed, Row
from generators.worlds.display import Titles, show
from generators.worlds.forms import Choices, asked_fields
from schemas.world import DataField, Entity, Kind, Transition, View, Widget, World

_TEMPLATES = Environment(
    loader=PackageLoader("generators.worlds"), autoescape=True, trim_blocks=True, lstrip_blocks=True
)
_MARKS = {
    Kind.INTEGER: "figure",
    Kind.MONEY: "figure",
    Kind.DATE: "day",
    Kind.TEXT: "text",
    Kind.LONG_TEXT: "text",
}
"""The class of a kind's cells in a table, but for those of titles."""


class _Fact(NamedTuple):
    """A field of a row as a page shows it."""

    name: str
    label: str
    shown: str
    href: str
    """The page of the row that a link leads to; empty: the field leads nowhere."""


class Pages:
    """The pages of one world."""

    def __init__(self, world: World) -> None:
        self._world = world

    def style(self) -> str:
        """Return the stylesheet."""
        look = self._world.look
        # What it is made of was checked by the specification, and CSS is not escaped as HTML is.
        template = _TEMPLATES.overlay(autoescape=False).get_template("style.css")
        return template.render(look=look, colours=colours_of(look))

    def home(self) -> str:
        """Return the start page."""
        return self._page("home.html", self._world.title)

    def notice(self, heading: str, message: str) -> str:
        """Return a page with a sentence and the navigation."""
        return self._page("notice.html", heading, at=None, message=message)

    def listing(
        self, view: View, listed: Listed, *, chosen: Chosen, choices: Choices, titles: Titles
    ) -> str:
        """Return a page of a view.

        Args:
            view: the view.
            listed: the rows of its page.
            chosen: what was asked for.
            choices: what may be chosen in each field that has choices.
            titles: the titles of the rows that links lead to.
        """
        entity, words = self._world.entity(view.entity), self._world.words
        fields = [entity.field(name) for name in view.columns]
        sorts = {
            f"{sign}{name}": label.format(field=entity.field(name).label)
            for name in view.sorts
            for sign, label in (("", words.ascending), ("-", words.descending))
        }
        sort = f"{'-' if chosen.descending else ''}{chosen.sort}"
        return self._page(
            "list.html",
            view.label,
            at=view.name,
            view=view,
            entity=entity,
            fields=fields,
            marks={
                field.name: "title" if field == entity.title else _MARKS.get(field.kind, "name")
                for field in fields
            },
            rows=[
                {"id": row["id"], "facts": self._facts(entity, fields, row, titles)}
                for row in listed.rows
            ],
            chosen=chosen,
            choices=choices,
            sorts=sorts,
            sort=sort,
            previous=_page_address(view, chosen, sort, listed.page - 1),
            next="" if listed.is_last else _page_address(view, chosen, sort, listed.page + 1),
        )

    def row(
        self,
        entity: Entity,
        row: Row,
        *,
        titles: Titles,
        steps: Sequence[Transition],
        linked: Sequence[tuple[Entity, Sequence[Row]]],
        message: str = "",
    ) -> str:
        """Return the page of a row.

        Args:
            entity: whose row it is.
            row: the row.
            titles: the titles of the rows that links lead to.
            steps: those of its workflow that may be taken.
            linked: the rows that link to it, by their entity.
            message: what just went wrong; empty: nothing.
        """
        return self._page(
            "row.html",
            str(row[entity.title.name]),
            at=self._view_name(entity),
            entity=entity,
            id=row["id"],
            facts=self._facts(entity, entity.fields, row, titles),
            steps=steps,
            linked=linked,
            message=message,
        )

    def form(
        self,
        entity: Entity,
        row: Row | None,
        *,
        texts: Mapping[str, str],
        choices: Choices,
        messages: Mapping[str, str],
    ) -> str:
        """Return a form.

        Args:
            entity: whose row it asks for.
            row: the row that it changes; None: it makes a new one.
            texts: what it holds, by field.
            choices: what may be chosen in each field that has choices.
            messages: what is wrong, by field.
        """
        words = self._world.words
        if row is None:
            heading, back = words.add.format(one=entity.one), self.list_address(entity)
        else:
            heading = f"{words.edit}: {row[entity.title.name]}"
            back = f"/{entity.name}/{row['id']}"
        fields = asked_fields(self._world, entity)
        return self._page(
            "form.html",
            heading,
            at=self._view_name(entity),
            fields=fields,
            widgets={field.name: _widget(field).value for field in fields},
            texts=texts,
            choices=choices,
            messages=messages,
            back=back,
        )

    def delete(self, entity: Entity, row: Row, *, message: str = "") -> str:
        """Return the page that asks whether a row is to be deleted; `message` says why it was not."""
        heading = f"{self._world.words.delete}: {row[entity.title.name]}"
        return self._page(
            "delete.html",
            heading,
            at=self._view_name(entity),
            entity=entity,
            id=row["id"],
            message=message,
        )

    def list_address(self, entity: Entity) -> str:
        """Return the path of the first view of an entity, or of the start page where it has none."""
        return f"/{self._view_name(entity) or ''}"

    def _view_name(self, entity: Entity) -> str | None:
        view = self._world.view_of(entity.name)
        return view.name if view is not None else None

    def _facts(
        self, entity: Entity, fields: Sequence[DataField], row: Row, titles: Titles
    ) -> list[_Fact]:
        out = list[_Fact]()
        for field in fields:
            value = row[field.name]
            leads = field.target is not None and value is not None
            out.append(
                _Fact(
                    name=field.name,
                    label=field.label,
                    shown=show(self._world, entity.name, field.name, value, titles),
                    href=f"/{field.target}/{value}" if leads else "",
                )
            )
        return out

    def _page(self, template: str, heading: str, *, at: str | None = "", **content: object) -> str:
        """Return a page; `at` is the part of the navigation that it belongs to, None if to none."""
        return _TEMPLATES.get_template(template).render(
            world=self._world, heading=heading, at=at, **content
        )


def _widget(field: DataField) -> Widget:
    """Return what a form asks for a field with, where its own does not go with its kind."""
    match field.kind:
        case Kind.CHOICE | Kind.LINK:
            return Widget.RADIOS if field.widget is Widget.RADIOS else Widget.SELECT
        case Kind.FLAG:
            chosen = field.widget in {Widget.RADIOS, Widget.SELECT}
            return field.widget if chosen else Widget.CHECKBOX
        case Kind.LONG_TEXT:
            return Widget.TEXTAREA
        case _:
            return Widget.INPUT


def _page_address(view: View, chosen: Chosen, sort: str, page: int) -> str:
    """Return the address of another page of what was asked for; empty for a page before the first."""
    if page < 1:
        return ""
    asked = {"q": chosen.search, **chosen.filters, "sort": sort, "page": str(page)}
    return f"/{view.name}?{urlencode({name: text for name, text in asked.items() if text})}"
