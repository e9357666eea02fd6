"""The pages of a world: HTML from its specification and from values as `state/display.py` shows them, and their style."""

from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from types import CodeType
from urllib.parse import urlencode

from jinja2 import BytecodeCache, Environment, FileSystemLoader
from jinja2.bccache import Bucket

from generators.worlds.drawing.look import faces, with_signs
from generators.worlds.drawing.widgets import picker_files
from generators.worlds.kits.kit import end_tags, kit_folder, kit_styles, read_kit, start_tags
from generators.worlds.rendering.colours import colours_of
from generators.worlds.rendering.drawings import Drawings
from generators.worlds.rendering.hints import tip_of
from generators.worlds.rendering.overlays import Frame
from generators.worlds.rendering.row_fields import Fact, facts_of, messages_of, past_changes
from generators.worlds.state.database import Chosen, Listed, Row
from generators.worlds.state.display import Titles, cell_name, day_writing
from generators.worlds.state.form_fields import Choices, form_parts
from generators.worlds.state.page_layout import fact_parts
from generators.worlds.state.permissions import Withheld
from generators.worlds.words.catalogue import catalogue
from schemas.worlds.behaviour import Facts
from schemas.worlds.field import Kind
from schemas.worlds.world import Entity, Transition, View, World

_HERE = Path(__file__).parent
_MARKS = {
    Kind.INTEGER: "figure",
    Kind.MONEY: "figure",
    Kind.DATE: "day",
    **dict.fromkeys((Kind.TEXT, Kind.LONG_TEXT), "text"),
}
"""The CSS class of table cells by kind, except for titles."""


class _Compiled(BytecodeCache):
    """Shares compiled templates between kits, most of which use the same files."""

    def __init__(self) -> None:
        self._code = dict[tuple[str, str], CodeType | None]()

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load the code of an identical file."""
        bucket.code = self._code.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Store the compiled code."""
        self._code[bucket.key, bucket.checksum] = bucket.code


_COMPILED = _Compiled()

SURE = "_sure"
"""The form field that marks a second confirmation; no data field has this name."""


@cache
def _templates(kit: Path) -> Environment:
    """Return the templates of pages over the table of the kit in a folder; templates of its own go first."""
    environment = Environment(
        loader=FileSystemLoader([kit, _HERE / "templates", _HERE]),
        bytecode_cache=_COMPILED,
        auto_reload=False,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(start=start_tags, end=end_tags)
    environment.globals["kit_table"] = read_kit(kit)
    return environment


class Pages:
    """The pages of one world."""

    def __init__(self, world: World) -> None:
        self._world = world
        picker_styles, self._scripts = picker_files(world.entities)
        self._styles = [*kit_styles(world.look.kit), *picker_styles]
        self._templates = _templates(kit_folder(world.look.kit))
        self._drawings = Drawings(world)
        self.frame = Frame()
        """The frame around their content."""

    def with_frame(self, frame: Frame) -> "Pages":
        """Return the same pages with another frame."""
        pages = Pages(self._world)
        pages.frame = frame
        return pages

    def style(self) -> str:
        """Return the stylesheet."""
        look = self._world.look
        # Not escaped as HTML: the specification has validated all values.
        template = self._templates.overlay(autoescape=False).get_template("style.css")
        return template.render(
            look=look,
            language=self._world.language,
            colours=colours_of(look),
            faces=faces(self._world.packages),
            font=with_signs(look.font),
        )

    def home(self) -> str:
        """Return the start page."""
        return self._page("home.html", self._world.title)

    def notice(self, heading: str, message: str) -> str:
        """Return a page with a message and the navigation."""
        return self._page("notice.html", heading, at=None, message=message)

    def listing(
        self,
        view: View,
        listed: Listed,
        *,
        chosen: Chosen,
        choices: Choices,
        titles: Titles,
        actions: Mapping[str, str] | None = None,
    ) -> str:
        """Return a page of a list or a grid.

        Args:
            view: the view.
            listed: the rows of the page.
            chosen: the requested search, filters, sorting and page.
            choices: the options of each field that has choices.
            titles: the titles of linked rows.
            actions: the bulk actions with their labels; None: rows cannot be ticked.
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
                {
                    "id": row["id"],
                    "facts": facts_of(self._world, entity, fields, row, titles),
                    "title": row[entity.title.name],
                }
                for row in listed.rows
            ],
            cells={field.name for field in self._world.cells(view)},
            cell_name=partial(cell_name, self._world),
            chosen=chosen,
            actions=actions,
            choices=choices,
            sorts=sorts,
            sort=sort,
            slow_ms=self._slow_ms(chosen, listed),
            previous=_page_address(view, chosen, sort, listed.page - 1),
            next="" if listed.is_last else _page_address(view, chosen, sort, listed.page + 1),
        )

    def _slow_ms(self, chosen: Chosen, listed: Listed) -> int:
        """Return how long a list takes to show its rows, ms; 0: they are there at once."""
        is_result = bool(chosen.search or chosen.filters or chosen.sort) and listed.page == 1
        return self._world.behaviour.slow_ms if is_result else 0

    def sheet(self, entity: Entity, row: Row, *, titles: Titles) -> str | None:
        """Return the sheet of a row's facts; None: its page shows all of them."""
        parts = fact_parts(self._world, entity)
        if self._world.behaviour.facts is not Facts.SHEET or len(parts) == 1:
            return None
        label, fields = parts[1]
        return self._page(
            "sheet.html",
            str(row[entity.title.name]),
            at=None,
            is_alone=True,
            part={
                "label": label,
                "facts": facts_of(self._world, entity, fields, row, titles),
            },
        )

    def row(
        self,
        entity: Entity,
        row: Row,
        *,
        titles: Titles,
        steps: Sequence[Transition],
        linked: Sequence[tuple[Entity, Sequence[Row]]],
        messages: Sequence[Row] = (),
        message: str = "",
        held: Sequence[Withheld] = (),
        past: Sequence[Row] = (),
    ) -> str:
        """Return the page of a row.

        Args:
            entity: the row's entity.
            row: the row.
            titles: the titles of linked rows.
            steps: the available steps of its workflow.
            linked: the rows that link to it, by entity, without its messages.
            messages: the messages of its thread, in order.
            message: an error message; empty: no error.
            held: the acts on it that the user may not perform.
            past: its past changes, by date.
        """
        return self._page(
            "row.html",
            str(row[entity.title.name]),
            at=self._view_name(entity),
            entity=entity,
            id=row["id"],
            parts=[
                {
                    "id": f"part-{number}",
                    "label": label,
                    "facts": facts_of(self._world, entity, fields, row, titles),
                }
                for number, (label, fields) in enumerate(fact_parts(self._world, entity))
            ],
            is_alone=self._world.behaviour.rows_alone,
            steps=steps,
            trail=self._trail(entity, row),
            linked=linked,
            thread=self._world.thread(entity.name),
            messages=messages_of(self._world, entity, messages),
            message=message,
            withheld=held,
            history=self._world.history,
            past=past_changes(self._world, past),
            hidden={one.rule.name for one in held if one.rule.hidden},
        )

    def _trail(self, entity: Entity, row: Row) -> list[tuple[str, str]]:
        """Return the breadcrumbs of a row's page, each with its URL; empty if pages have none."""
        if not self._world.behaviour.trail:
            return []
        way = [(self._world.words.home, "/")]
        name = self._view_name(entity)
        way += [(view.label, f"/{name}") for view in self._world.views if view.name == name]
        return [*way, (str(row[entity.title.name]), "")]

    def form(
        self,
        entity: Entity,
        row: Row | None,
        *,
        texts: Mapping[str, str],
        choices: Choices,
        messages: Mapping[str, str],
        view: View | None = None,
        asks_again: bool = False,
        message: str = "",
    ) -> str:
        """Return a form.

        Args:
            entity: the row's entity.
            row: the row to edit; None: a new row.
            texts: the content of each field.
            choices: the options of each field that has choices.
            messages: error messages by field.
            view: the settings view that is the form; None: the form has its own page.
            asks_again: whether the form asks for a second confirmation.
            message: why it was not saved, other than for what its fields hold; empty: no such reason.
        """
        words, language = self._world.words, self._world.language
        if view is not None:
            heading, back = view.label, "/"
        elif row is None:
            heading, back = words.add_one(entity.one, language), self.list_address(entity)
        else:
            heading = self._act_title(words.edit, row[entity.title.name])
            back = f"/{entity.name}/{row['id']}"
        parts = form_parts(self._world, entity)
        return self._page(
            "form.html",
            heading,
            at=self._view_name(entity) if view is None else view.name,
            parts=parts,
            texts=texts,
            choices=choices,
            messages=messages,
            back=back,
            sure=SURE if asks_again else "",
            message=message,
        )

    def view_page(self, template: str, view: View, **content: object) -> str:
        """Return the page of a view other than a list."""
        entity = self._world.entity(view.entity)
        return self._page(template, view.label, at=view.name, view=view, entity=entity, **content)

    def wizard(
        self,
        entity: Entity,
        page: int,
        *,
        texts: Mapping[str, str],
        choices: Choices,
        messages: Mapping[str, str],
        facts: Sequence[Fact],
    ) -> str:
        """Return page `page` of a wizard, from 0; the last is the summary, which shows `facts`.

        The other arguments are those of `form`.
        """
        parts = form_parts(self._world, entity)
        here = {field.name for field in parts[page][1]} if page < len(parts) else set[str]()
        asked = [field for _, fields in parts for field in fields]
        return self._page(
            "wizard.html",
            self._world.words.add_one(entity.one, self._world.language),
            at=self._view_name(entity),
            entity=entity,
            parts=parts,
            page=page,
            kept={
                field.name: texts[field.name]
                for field in asked
                if field.name in texts and field.name not in here
            },
            texts=texts,
            choices=choices,
            messages=messages,
            facts=facts,
            back=self.list_address(entity),
        )

    def delete(self, entity: Entity, row: Row, *, message: str = "") -> str:
        """Return the page that asks to confirm a deletion; `message` says why a deletion failed."""
        heading = self._act_title(self._world.words.delete, row[entity.title.name])
        return self._page(
            "delete.html",
            heading,
            at=self._view_name(entity),
            entity=entity,
            id=row["id"],
            message=message,
        )

    def reserved_page(self, entity: Entity, row: Row, one: Withheld) -> str:
        """Return the page that names the role allowed to perform an act, with a button to request it."""
        heading = self._act_title(one.label, row[entity.title.name])
        at, number = self._view_name(entity), row["id"]
        return self._page("reserved.html", heading, at=at, entity=entity, id=number, one=one)

    def _act_title(self, act: str, title: object) -> str:
        """Return the heading of a page on which something is done to a row."""
        return catalogue(self._world.language).say("rows.act", act=act, title=title)

    def list_address(self, entity: Entity) -> str:
        """Return the path of an entity's first view, preferring lists; the home page if it has no view."""
        return f"/{self._view_name(entity) or ''}"

    def _view_name(self, entity: Entity) -> str | None:
        others = (view for view in self._world.views if view.entity == entity.name)
        view = self._world.view_of(entity.name) or next(others, None)
        return view.name if view is not None else None

    def _page(self, template: str, heading: str, *, at: str | None = "", **content: object) -> str:
        """Return a page; `at` is its entry in the navigation, or None."""
        page = self._templates.get_template(template).render(
            world=self._world,
            draw=self._drawings,
            say=self._drawings.say,
            heading=heading,
            at=at,
            frame=self.frame,
            styles=self._styles,
            tip=partial(tip_of, self._world),
            scripts=self._scripts,
            days=day_writing(self._world),
            **content,
        )
        return page.replace(' class=""', "")  # kits do not style every element


def _page_address(view: View, chosen: Chosen, sort: str, page: int) -> str:
    """Return the URL of another page of a list; empty for a page before the first."""
    if page < 1:
        return ""
    asked = {"q": chosen.search, **chosen.filters, "sort": sort, "page": str(page)}
    return f"/{view.name}?{urlencode({name: text for name, text in asked.items() if text})}"
