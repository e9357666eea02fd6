"""What steps of references bring into sight and later steps need, as pages say it."""

from collections.abc import Iterable, Sequence

from generators.tasks.worlds.ground.world_rows import Setting, rank
from generators.worlds.state.database import Row
from schemas.tasks.reference import Fact, ReferenceStep
from schemas.worlds.field import DataField
from schemas.worlds.world import Entity


def facts_of(
    setting: Setting, entity: Entity, row: Row, fields: Iterable[DataField]
) -> tuple[Fact, ...]:
    """Return what pages say of a row in the fields that are not empty."""
    name = " ".join(setting.title(entity, row).split())
    shown = (
        (field, setting.fact(entity, field, row)) for field in fields if row[field.name] is not None
    )
    return tuple(Fact(of=name, label=field.label, value=said) for field, said in shown if said)


def facts_of_rows(
    setting: Setting, entity: Entity, rows: Iterable[Row], field: DataField | None = None
) -> tuple[Fact, ...]:
    """Return what is kept of rows: what pages say in a field, or, where that is None, that they are the ones."""
    if field is not None:
        return tuple(fact for row in rows for fact in facts_of(setting, entity, row, (field,)))
    return tuple(Fact(of=" ".join(setting.title(entity, row).split())) for row in rows)


def best_so_far(
    setting: Setting, entity: Entity, rows: Iterable[Row], field: DataField, *, wants_large: bool
) -> tuple[Fact, ...]:
    """Return what is kept while rows are read for the largest or smallest value: whatever beats all before it."""
    best = list[Row]()
    for row in rows:
        value = rank(row[field.name])
        last = rank(best[-1][field.name]) if best else None
        if last is None or (value > last if wants_large else value < last):
            best.append(row)
    return facts_of_rows(setting, entity, best, field)


def keep(steps: Sequence[ReferenceStep], facts: Iterable[Fact]) -> tuple[ReferenceStep, ...]:
    """Return steps of which the last keeps facts, beside those that it keeps already."""
    *others, last = steps
    return (*others, last.model_copy(update={"keep": (*last.keep, *facts)}))
