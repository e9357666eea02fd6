"""Tasks on grids: cells of named rows are edited in place."""

from random import Random

from generators.tasks.worlds.ground.changes import changes, clashes
from generators.tasks.worlds.ground.mentions import CellsSaid, RowSaid, ValueSaid
from generators.tasks.worlds.ground.new_values import new_value
from generators.tasks.worlds.ground.task import Draft
from generators.tasks.worlds.ground.task_kind import task_kind
from generators.tasks.worlds.ground.world_rows import Setting
from generators.tasks.worlds.references.forms import put
from generators.tasks.worlds.references.pattern_steps import views_of
from generators.tasks.worlds.references.steps import Steps, answer, click, find_row, press
from generators.worlds.state.database import Row, Value
from generators.worlds.state.display import cell_name
from schemas.tasks.reference import Do, Purpose, ReferenceStep
from schemas.worlds.behaviour import Cells
from schemas.worlds.field import DataField, Kind, Widget
from schemas.worlds.patterns import Shape
from schemas.worlds.world import View

_WIDGETS = {Kind.CHOICE: Widget.SELECT, Kind.FLAG: Widget.CHECKBOX}
"""The widgets of cells that are not plain inputs."""

_IN_CELLS = {
    Purpose.TYPE: Purpose.FILL_CELL,
    Purpose.CHOOSE: Purpose.CHOOSE_CELL,
    Purpose.CHOOSE_AT_ONCE: Purpose.CHOOSE_CELL_AT_ONCE,
    Purpose.TOGGLE: Purpose.TOGGLE_CELL,
}
"""The purposes in cells of steps that forms share."""

_ENTERED = 0.6
"""The share of cells that Enter saves; the button saves the others."""

Change = tuple[Row, DataField, Value]
"""A row, one of its fields, and its new value."""


@task_kind("grid-edit", needs=Shape.GRID)
def grid_edit(setting: Setting, random: Random) -> Draft | None:
    """Ask to change one or two cells of a grid."""
    for view in views_of(setting, Shape.GRID):
        entity = setting.world.entity(view.entity)
        drawn = _changes(setting, random, view, random.choice((1, 2, 2)))
        pairs = [(row, {field.name: value}) for row, field, value in drawn]
        if not drawn or clashes(setting, entity, *pairs):
            continue
        cells = (
            (RowSaid(entity, setting.title(entity, row), row), ValueSaid(entity, field, value))
            for row, field, value in drawn
        )
        return Draft(
            {**setting.names(view, entity), "stated": CellsSaid(tuple(cells))},
            changes(entity, *pairs),
            (*_reference(setting, random, view, drawn), answer()),
        )
    return None


def cell_steps(setting: Setting, view: View, change: Change, *, by_key: bool) -> Steps:
    """Return the steps that open, change and save a visible cell of a grid, by Enter or by its button."""
    entity, (row, field, value) = setting.world.entity(view.entity), change
    words, title = setting.world.words, setting.title(entity, row)
    name = cell_name(setting.world, field.label, title)
    shown = f"{name}: {setting.fact(entity, field, row)}".strip()
    if setting.world.behaviour.cells is Cells.PENCIL:
        opened: Steps = (click(f"{words.edit}: {name}", Purpose.CELL),)
    elif setting.world.behaviour.cells is Cells.TWICE:
        opened = (ReferenceStep(do=Do.DOUBLE_CLICK, on=shown, purpose=Purpose.CELL_TWICE),)
    else:
        opened = (click(shown, Purpose.CELL), press("Enter", Purpose.OPEN_CELL))
    asked = field.model_copy(update={"widget": _WIDGETS.get(field.kind)})
    filled = tuple(
        step.model_copy(
            update={"within": title, "purpose": _IN_CELLS[step.purpose or Purpose.TYPE]}
        )
        for step in put(setting, asked, value, before=row[field.name])
    )
    if not by_key or field.kind is Kind.CHOICE:
        return (*opened, *filled, click(words.save, Purpose.SAVE_CELL))
    if [step.do for step in filled] != [Do.TYPE]:
        return (*opened, *filled, press("Enter", Purpose.KEEP_CELL))
    entered = filled[0].model_copy(update={"do": Do.ENTER, "purpose": Purpose.ENTER_CELL})
    return (*opened, entered)


def _changes(setting: Setting, random: Random, view: View, count: int) -> list[Change]:
    """Return up to `count` changes of cells, each in another row."""
    entity = setting.world.entity(view.entity)
    named, cells = setting.namable(view, entity), setting.world.cells(view)
    out = list[Change]()
    for _ in range(count if named else 0):
        row, field = setting.pick(random, entity, named), random.choice(cells)
        value = new_value(setting, random, entity, field, unlike=(row[field.name],))
        if value is not None and row not in (changed for changed, _, _ in out):
            out.append((row, field, value))
    return out


def _reference(setting: Setting, random: Random, view: View, drawn: list[Change]) -> Steps:
    entity, steps = setting.world.entity(view.entity), list(Steps())
    for change in drawn:
        steps += find_row(setting, view, entity, change[0])
        steps += cell_steps(setting, view, change, by_key=random.random() < _ENTERED)
    return tuple(steps)
