"""Tooltips of form fields, which explain the accepted values."""

from generators.worlds.state.display import EXAMPLE_DAY, show_day, show_value
from generators.worlds.words.catalogue import catalogue
from schemas.worlds.field import DataField, Kind, Widget
from schemas.worlds.world import World


def tip_of(world: World, field: DataField) -> str:
    """Return a field's tooltip; empty if the field needs none or the world has no tooltips."""
    said = _tip(world, field) if world.behaviour.tips else None
    return "" if said is None else catalogue(world.language).say(f"tips.{said[0]}", **said[1])


def _tip(world: World, field: DataField) -> tuple[str, dict[str, object]] | None:
    """Return the name of a field's tooltip in the catalogue, with what is put in; None: it has none."""
    match field.kind:
        case Kind.INTEGER:
            return "whole_number", {"least": field.min, "most": field.max}
        case Kind.MONEY:
            least, most = (show_value(world, field, bound) for bound in (field.min, field.max))
            return "amount", {"least": least, "most": most}
        case Kind.DATE:
            return "date", {"example": show_day(world, EXAMPLE_DAY)}
        case Kind.TAGS:
            return "several", {}
        case Kind.CHOICE if field.asked_with is Widget.DROP:
            return "dragged", {}
        case _:
            return None
