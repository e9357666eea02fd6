"""Tooltips of form fields, which explain the accepted values."""

from generators.worlds.state.display import EXAMPLE_DAY, show_day, show_value
from schemas.worlds.field import DataField, Kind, Widget
from schemas.worlds.world import World


def tip_of(world: World, field: DataField) -> str:
    """Return a field's tooltip; empty if the field needs none or the world has no tooltips."""
    if not world.behaviour.tips:
        return ""
    said = ""
    match field.kind:
        case Kind.INTEGER:
            said = f"A whole number from {field.min} to {field.max}."
        case Kind.MONEY:
            least, most = (show_value(world, field, bound) for bound in (field.min, field.max))
            said = f"An amount from {least} to {most}."
        case Kind.DATE:
            said = f"A date, as {show_day(world, EXAMPLE_DAY)}."
        case Kind.TAGS:
            said = "More than one may be chosen."
        case Kind.CHOICE if field.asked_with is Widget.DROP:
            said = "One of these, dragged into the box."
    return said
