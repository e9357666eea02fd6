"""The cells of grids: each has its own page, with its value and a form of one field.

Our script shows the form inside the grid, and the value once the form was sent. It identifies itself by a request
header; requests without the header are redirected to the grid.
"""

from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from generators.worlds.rendering.overlays import is_part
from generators.worlds.rendering.row_fields import facts_of
from generators.worlds.serving.visit import WorldVisit, answer, fill, go_to, read_body, visit_of
from generators.worlds.state.database import Row, change_row, find_row
from generators.worlds.state.display import cell_name
from generators.worlds.state.form_fields import form_texts
from schemas.worlds.field import DataField
from schemas.worlds.patterns import Shape
from schemas.worlds.world import View

CELLS = "/_/cells/"
"""The path prefix of cells' pages."""


async def edit_cell(request: Request) -> Response:
    """Show a cell with its form, or change its value."""
    visit = visit_of(request)
    view, row, field = _find_cell(request, visit)
    entity = visit.world.entity(view.entity)
    texts = form_texts(visit.world, entity, row)
    if request.method != "POST":
        return _show_cell(visit, view, row, field, text=texts[field.name])
    text = (await read_body(request)).get(field.name, "")
    filled = fill(visit, entity, row, {**texts, field.name: text})
    if filled.messages:
        message = filled.messages.get(field.name) or next(iter(filled.messages.values()))
        return _show_cell(visit, view, row, field, text=text, message=message)
    change_row(visit.database, entity, int(row["id"] or 0), {field.name: filled.values[field.name]})
    return go_to(request.url.path if is_part(request) else f"/{view.name}")


def _find_cell(request: Request, visit: WorldVisit) -> tuple[View, Row, DataField]:
    """Return the grid, the row and the field of a URL.

    Raises:
        HTTPException: the cell does not exist or is not editable.
    """
    asked = request.path_params
    grids = (view for view in visit.world.views if view.shape is Shape.GRID)
    view = next((one for one in grids if one.name == asked["view"]), None)
    if view is not None:
        row = find_row(visit.database, visit.world.entity(view.entity), asked["id"])
        cells = visit.world.cells(view)
        field = next((one for one in cells if one.name == asked["field"]), None)
        if row is not None and field is not None:
            return view, row, field
    raise HTTPException(HTTPStatus.NOT_FOUND)


def _show_cell(
    visit: WorldVisit, view: View, row: Row, field: DataField, *, text: str, message: str = ""
) -> Response:
    entity = visit.world.entity(view.entity)
    choices = visit.choices(entity).get(field.name, {})
    page = visit.pages.view_page(
        "cell.html",
        view,
        name=cell_name(visit.world, field.label, str(row[entity.title.name])),
        id=row["id"],
        field=field,
        fact=facts_of(visit.world, entity, [field], row, visit.titles(entity))[0],
        text=text,
        choices=choices,
        message=message,
    )
    return answer(page, HTTPStatus.UNPROCESSABLE_ENTITY if message else HTTPStatus.OK)
