"""The patterns of worlds: views other than lists, messages, wizards and bulk actions."""

from calendar import Calendar
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import date, timedelta
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from generators.worlds.rendering.overlays import tell
from generators.worlds.rendering.row_fields import facts_of
from generators.worlds.serving.cart import show_cart
from generators.worlds.serving.seat_map import show_map
from generators.worlds.serving.visit import (
    WorldVisit,
    answer,
    fill,
    find,
    go_to,
    hinder,
    is_sure,
    read_body,
    read_pairs,
    refuse_post,
    show_form,
    show_row,
    visit_of,
)
from generators.worlds.state.database import (
    Chosen,
    Row,
    add_row,
    change_row,
    delete_row,
    find_row,
    find_rows,
    linked_rows,
    list_rows,
    next_id,
)
from generators.worlds.state.display import first_day, show_month
from generators.worlds.state.form_fields import (
    asked_fields,
    form_parts,
    form_texts,
    new_message,
    new_row,
)
from generators.worlds.words.catalogue import catalogue
from schemas.worlds.field import Kind
from schemas.worlds.patterns import Shape
from schemas.worlds.world import Entity, View, World

_FIRST_MONTH, _LAST_MONTH = date(1900, 1, 1), date(2999, 12, 1)

MAX_NEW_ROWS = 1_000
"""Maximum number of added cards that a board shows beside the initial ones."""


async def _settings(request: Request, visit: WorldVisit, view: View) -> Response:
    """Show or change the settings."""
    entity = visit.world.entity(view.entity)
    row = find_row(visit.database, entity, 1)
    if row is None:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    if request.method != "POST":
        return show_form(visit, entity, row, texts=form_texts(visit.world, entity, row), view=view)
    given = await read_body(request)
    filled = fill(visit, entity, row, given)
    if filled.messages:
        return show_form(visit, entity, row, texts=given, messages=filled.messages, view=view)
    if not is_sure(visit, given):
        return show_form(visit, entity, row, texts=given, view=view, asks_again=True)
    if (hindered := hinder(request, visit, entity, row, given, view=view)) is not None:
        return hindered
    change_row(visit.database, entity, 1, filled.values)
    return go_to(f"/{view.name}")


async def _board(request: Request, visit: WorldVisit, view: View) -> Response:
    """Show the cards of a board."""
    refuse_post(request)
    entity, flow = visit.world.entity(view.entity), visit.world.workflow(view.entity)
    if flow is None:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    search = request.query_params.get("q", "").strip() if view.searched else ""
    titles = visit.titles(entity)
    fields = [entity.field(name) for name in view.columns[1:] if name != flow.field]
    whole = view.model_copy(update={"page_size": entity.rows + MAX_NEW_ROWS})
    columns = dict[str, list[dict[str, object]]]()
    for state in entity.field(flow.field).choices:
        chosen = Chosen(search=search, filters={flow.field: state})
        columns[state] = [
            {
                "id": row["id"],
                "title": row[entity.title.name],
                "facts": facts_of(visit.world, entity, fields, row, titles),
                "steps": visit.steps(entity, row),
            }
            for row in list_rows(visit.database, visit.world, whole, chosen=chosen).rows
        ]
    return answer(visit.pages.view_page("board.html", view, columns=columns, search=search))


async def _calendar(request: Request, visit: WorldVisit, view: View) -> Response:
    """Show a calendar's requested month, or the world's current one."""
    refuse_post(request)
    entity, day = visit.world.entity(view.entity), view.day
    if day is None:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    try:
        first = date.fromisoformat(f"{request.query_params.get('month', '')}-01")
    except ValueError:
        first = visit.world.at.date().replace(day=1)
    first = min(max(first, _FIRST_MONTH), _LAST_MONTH)
    titles, found = visit.titles(entity), defaultdict[str, list[dict[str, object]]](list)
    more = [entity.field(name) for name in entity.apart if name != day]
    for row in find_rows(visit.database, entity):
        facts = facts_of(visit.world, entity, more, row, titles)
        found[str(row[day])].append(
            {
                "id": row["id"],
                "title": row[entity.title.name],
                "more": ", ".join(fact.shown for fact in facts),
            }
        )
    begin = (first_day(visit.world) - 1) % 7
    weeks = [
        [
            {
                "number": one.day,
                "iso": one.isoformat(),
                "inside": one.month == first.month,
                "rows": found[one.isoformat()] if one.month == first.month else [],
            }
            for one in week
        ]
        for week in Calendar(begin).monthdatescalendar(first.year, first.month)
    ]
    weekdays = catalogue(visit.world.language).among("dates.weekdays_short")
    later, earlier = first + timedelta(days=31), first - timedelta(days=1)
    return answer(
        visit.pages.view_page(
            "calendar.html",
            view,
            month=show_month(visit.world, first.month, first.year),
            weekdays=(*weekdays[begin:], *weekdays[:begin]),
            weeks=weeks,
            previous=f"/{view.name}?month={earlier:%Y-%m}",
            next=f"/{view.name}?month={later:%Y-%m}",
        )
    )


SHAPES: Mapping[Shape, Callable[[Request, WorldVisit, View], Awaitable[Response]]] = {
    Shape.BOARD: _board,
    Shape.CALENDAR: _calendar,
    Shape.CART: show_cart,
    Shape.MAP: show_map,
    Shape.SETTINGS: _settings,
}
"""The handler of each shape of views except lists and grids."""


async def add_by_wizard(request: Request, visit: WorldVisit, entity: Entity) -> Response:
    """Show a page of the wizard for a new row, or add the row from the last page; earlier pages store nothing."""
    given = await read_body(request) if request.method == "POST" else {}
    parts, page = form_parts(visit.world, entity), 0
    if given.get("page", "").isdecimal():
        page = min(int(given["page"][:3]), len(parts))
    filled = fill(visit, entity, None, given)
    wrong = [any(field.name in filled.messages for field in fields) for _, fields in parts]
    messages = dict[str, str]()
    match given.get("go"):
        case "previous":
            page = max(0, page - 1)
        case "next" if page < len(parts) and wrong[page]:
            messages = filled.messages
        case "next":
            page += 1
        case "save" if not filled.messages:
            made = add_row(visit.database, entity, new_row(visit.world, entity) | filled.values)
            return go_to(f"/{entity.name}/{made}")
        case _:
            pass
    page = min(page, len(parts))
    if page == len(parts) and any(wrong):
        page, messages = wrong.index(True), filled.messages
    asked = [field for _, fields in parts for field in fields if field.name in filled.values]
    return answer(
        visit.pages.wizard(
            entity,
            page,
            texts=given,
            choices=visit.choices(entity),
            messages=messages,
            facts=facts_of(visit.world, entity, asked, filled.values, visit.titles(entity)),
        ),
        HTTPStatus.UNPROCESSABLE_ENTITY if messages else HTTPStatus.OK,
    )


def bulk_actions(world: World, entity: Entity) -> dict[str, str]:
    """Return the bulk actions by form value, with their labels."""
    flow, colon = world.workflow(entity.name), world.language.colon
    actions = {f"do:{step.name}": step.label for step in flow.transitions} if flow else {}
    for field in asked_fields(world, entity):
        if field.kind is Kind.CHOICE and field.name not in entity.apart:
            for number, choice in enumerate(field.choices):
                actions[f"set:{field.name}:{number}"] = f"{field.label}{colon}{choice}"
    if entity.can_delete:
        actions["delete"] = world.words.delete
    return actions


async def do_to_all(request: Request, visit: WorldVisit, view: View) -> Response:
    """Apply a bulk action to all ticked rows, or to none."""
    entity, pairs = visit.world.entity(view.entity), await read_pairs(request)
    action = dict(pairs).get("action", "")
    ids = dict.fromkeys(int(text) for name, text in pairs if name == "id" and text.isdecimal())
    rows = [row for one in ids if (row := find_row(visit.database, entity, one)) is not None]
    label = bulk_actions(visit.world, entity).get(action)
    if label is None:
        raise HTTPException(HTTPStatus.BAD_REQUEST)
    message = _why_not(visit, entity, action, rows) if rows else visit.say("bulk.nothing_selected")
    message = message or _do_to_rows(visit, entity, action, rows)
    if message:
        return answer(visit.pages.notice(label, message), HTTPStatus.CONFLICT)
    return go_to(f"/{view.name}")


def _why_not(visit: WorldVisit, entity: Entity, action: str, rows: Sequence[Row]) -> str:
    """Return why a bulk action is not permitted; empty: it is."""
    what, _, rest = action.partition(":")
    name = {"delete": "delete", "do": f"do-{rest}"}.get(what, "edit")
    for row in rows:
        held = visit.find_reserved(entity, row, name)
        if held is not None:
            title = str(row[entity.title.name])
            return visit.say("bulk.refused", title=title, reason=held.sentence)
    return ""


def _do_to_rows(visit: WorldVisit, entity: Entity, action: str, rows: Sequence[Row]) -> str:
    """Apply an action to all rows and return an empty text, or return why it is applied to none."""
    what, _, rest = action.partition(":")
    flow = visit.world.workflow(entity.name)
    values = Row()
    if what == "delete":
        for row in rows:
            if linked_rows(visit.database, visit.world, entity, int(row["id"] or 0)):
                return visit.say("bulk.others_refer", title=row[entity.title.name])
    elif what == "do" and flow is not None:
        step = next(one for one in flow.transitions if one.name == rest)
        values = {flow.field: step.after}
        for row in rows:
            if row[flow.field] not in step.before:
                return visit.say("bulk.not_now", title=row[entity.title.name])
    else:
        name, _, number = rest.partition(":")
        values = {name: entity.field(name).choices[int(number)]}
    for row in rows:
        if what == "delete":
            delete_row(visit.database, entity, int(row["id"] or 0))
        else:
            change_row(visit.database, entity, int(row["id"] or 0), values)
    if what == "delete":
        titles = [str(row[entity.title.name]) for row in rows]
        tell(visit.world, visit.memory, "rows.deleted", titles)
    return ""


async def reply(request: Request) -> Response:
    """Add a message to a row."""
    visit = visit_of(request)
    entity, row = find(request)
    thread = visit.world.thread(entity.name)
    if thread is None:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    text = (await read_body(request)).get(thread.text, "").replace("\r\n", "\n").strip()
    messages, number = visit.world.entity(thread.messages), int(row["id"] or 0)
    if not text:
        message = visit.say("form.required", field=messages.field(thread.text).label)
        return show_row(visit, entity, row, message=message, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    made = new_message(visit.world, thread, number, next_id(visit.database, messages), text)
    add_row(visit.database, messages, made)
    return go_to(f"/{entity.name}/{number}")
