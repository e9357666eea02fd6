"""The steps of references over the patterns of worlds, and what settings and messages leave."""

from collections.abc import Iterable
from datetime import date

from generators.tasks.worlds.ground.world_rows import Setting
from generators.tasks.worlds.references.steps import Steps, choose, click, fill, put, save, to_view
from generators.worlds.state.database import Row
from schemas.tasks.reference import Do, ReferenceStep
from schemas.worlds.field import DataField
from schemas.worlds.patterns import Shape, Thread
from schemas.worlds.world import Transition, View


def views_of(setting: Setting, shape: Shape) -> list[View]:
    """Return the views of a shape, in the order of the navigation."""
    return [view for view in setting.world.views if view.shape is shape]


def to_setting(setting: Setting, view: View, values: Row) -> Steps:
    """Return the way from any page to settings, and how they are changed and saved."""
    entity = setting.world.entity(view.entity)
    before = setting.row(entity, 1)
    steps = [
        step
        for name, value in values.items()
        for step in put(setting, entity.field(name), value, before=before[name])
    ]
    return (*to_view(setting, view), *steps, *save(setting))


def reply(setting: Setting, thread: Thread, text: str) -> Steps:
    """Return how a message is written on the page of a row."""
    field = setting.world.entity(thread.messages).field(thread.text)
    return (fill(field.label, text), click(thread.reply))


def to_card(setting: Setting, view: View, title: str) -> Steps:
    """Return the way from any page to a board on which a card is in sight with those of alike titles alone."""
    words = setting.world.words
    return (*to_view(setting, view), fill(words.search, title), click(words.apply))


def drag_card(setting: Setting, view: View, title: str, state: str) -> Steps:
    """Return how a card is dragged to the column of a state, to which one step leads."""
    drag = ReferenceStep(do=Do.DRAG, on=title, text=state)
    return (*to_card(setting, view, title), drag)


def press_card(setting: Setting, view: View, title: str, step: Transition) -> Steps:
    """Return how a card takes a step by its button."""
    return (*to_card(setting, view, title), click(step.label, within=title))


def do_to_all(setting: Setting, titles: Iterable[str], action: str) -> Steps:
    """Return how rows of the list in sight are ticked, and what is done to all of them.

    Args:
        setting: the world.
        titles: the rows' titles; all are on the list's page in sight.
        action: its words: a step's label, what deleting is called, or `bulk_label` of a choice.
    """
    words = setting.world.words
    ticks = (click(words.tick.format(title=title)) for title in titles)
    return (*ticks, choose(words.ticked, action), click(words.run))


def bulk_label(field: DataField, choice: str) -> str:
    """Return the words of the action that gives all ticked rows a choice."""
    return f"{field.label}: {choice}"


def to_month(setting: Setting, view: View, day: str) -> Steps:
    """Return the way from any page to the month of a day in a calendar, turned month by month."""
    words, wanted, now = setting.world.words, date.fromisoformat(day), setting.world.at.date()
    months = 12 * (wanted.year - now.year) + wanted.month - now.month
    turns = (click(words.next if months > 0 else words.previous),) * abs(months)
    return (*to_view(setting, view), *turns)


def to_day(setting: Setting, view: View, day: str) -> Steps:
    """Return the way from any page to the form for a new row on a day of a calendar, which holds the day."""
    add = setting.world.words.add.format(one=setting.world.entity(view.entity).one)
    return (*to_month(setting, view, day), click(f"{add}, {day}"))
