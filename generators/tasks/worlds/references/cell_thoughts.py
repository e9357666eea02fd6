"""What references think at cells of grids and at places of maps, whose names stand on no picture as they are called.

So these thoughts quote nothing but what is typed: a row's title, a column and a value are read apart.
"""

from generators.tasks.worlds.ground.world_rows import Setting
from generators.worlds.serving.seat_map import place_of
from generators.worlds.state.display import cell_name
from schemas.tasks.reference import Do, ReferenceStep
from schemas.worlds.behaviour import Cells
from schemas.worlds.patterns import Shape

SAID_OF_CELLS = {
    "cell": (
        "The row is in the table, so I go to its cell that has to change.",
        "This is the row, and this the column that the task names; I go to the cell.",
        "I find the cell by its row and its column, and click there.",
    ),
    "open_cell": (
        "The cell is selected. Enter opens it.",
        "With Enter I can write into the cell that I have selected.",
    ),
    "place": (
        "I have seen the whole map. Of the free ones that fit, this is the cheapest, so I open it.",
        "This one is free, it is where it should be and as it should be, and none of these costs less.",
        "Comparing what is free in these rows, I choose this one: it has what is wanted and costs least.",
    ),
    "fill_cell": (
        'The cell is open. The task gives "{text}" for it, so I put that in.',
        'In this cell it has to be "{text}"; I type it.',
    ),
    "choose_cell": (
        "The cell has a list of what it may say, so I open it.",
        "I open the list in the cell, which should have what the task names.",
    ),
    "toggle_cell": (
        "The box in the cell is not yet as it should be; I click on it.",
        "The task wants the other state of this box, so I click on it.",
    ),
    "keep_cell": (
        "The cell says what it should, and Enter keeps that.",
        "I press Enter, so that the cell keeps its new value.",
    ),
    "save_cell": (
        "The cell says what it should; the check mark beside it keeps that.",
        "I keep the new value of the cell by the check mark.",
    ),
}
"""What may be thought before a step, by its purpose."""


class CellWalk:
    """A reference on its way, as far as cells are opened and closed on it."""

    def __init__(self, setting: Setting) -> None:
        self._save = setting.world.words.save
        self._has_pencils = setting.world.behaviour.cells is Cells.PENCIL
        self._cells, self._places = _cell_names(setting), _place_names(setting)
        self._at_cell = self._is_open = False

    def purpose(self, step: ReferenceStep) -> str | None:
        """Return what the next step is for, if it is on a cell or a place; None: it is not."""
        on = step.on or ""
        if not self._at_cell:
            if step.do is not Do.CLICK or not on.startswith(self._cells):
                is_place = step.do is Do.CLICK and on.startswith(self._places)
                return "place" if is_place else None
            self._at_cell, self._is_open = True, self._has_pencils
            return "cell"
        closes = step.do is Do.CLICK and on == self._save
        if closes or (step.do is Do.PRESS and self._is_open):
            self._at_cell = self._is_open = False
            return "save_cell" if closes else "keep_cell"
        self._is_open = True
        changes = {Do.TYPE: "fill_cell", Do.SELECT: "choose_cell", Do.CLICK: "toggle_cell"}
        return changes.get(step.do, "open_cell")


def _cell_names(setting: Setting) -> tuple[str, ...]:
    """Return how the names begin of what opens cells of grids."""
    world, names = setting.world, list[str]()
    for view in world.views:
        entity = world.entity(view.entity)
        for field in world.cells(view) if view.shape is Shape.GRID else ():
            names += (cell_name(field.label, title) for title in setting.titles(entity))
    if world.behaviour.cells is Cells.PENCIL:
        return tuple(f"{world.words.edit}: {name}" for name in names)
    return tuple(f"{name}:" for name in names)


def _place_names(setting: Setting) -> tuple[str, ...]:
    """Return how the names of places on maps begin."""
    maps = (view for view in setting.world.views if view.shape is Shape.MAP)
    titles = (title for view in maps for title in setting.titles(setting.world.entity(view.entity)))
    return tuple(f"{place.short}, " for title in titles if (place := place_of(title)) is not None)
