"""What forms say of a field when the pointer is over the sign beside it: what it takes."""

from generators.worlds.state.display import EXAMPLE_DAY, show_day, show_value
from schemas.worlds.field import DataField, Kind, Widget
from schemas.worlds.world import World


def tip_of(world: World, field: DataField) -> str:
    """Return what a field takes, in words; empty where that goes without saying, or the world says no such things."""
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
