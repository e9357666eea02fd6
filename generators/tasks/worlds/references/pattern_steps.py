"""The steps of references on the patterns of worlds: settings, messages, boards and calendars."""

from datetime import date

from generators.tasks.worlds.ground.world_rows import Setting
from generators.tasks.worlds.references.forms import put
from generators.tasks.worlds.references.steps import Steps, click, drag, fill, save, search, to_view
from generators.worlds.state.database import Row
from schemas.tasks.reference import Purpose
from schemas.worlds.patterns import Shape, Thread
from schemas.worlds.world import Transition, View


def views_of(setting: Setting, shape: Shape) -> list[View]:
    """Return the views of a shape, in the order of the navigation."""
    return [view for view in setting.world.views if view.shape is shape]


def to_setting(setting: Setting, view: View, values: Row) -> Steps:
    """Return the steps from any page that change and save settings."""
    entity = setting.world.entity(view.entity)
    before = setting.row(entity, 1)
    steps = [
        step
        for name, value in values.items()
        for step in put(setting, entity.field(name), value, before=before[name])
    ]
    return (*to_view(setting, view), *steps, *save(setting))


def reply(setting: Setting, thread: Thread, text: str) -> Steps:
    """Return the steps that write a message on a row's page."""
    field = setting.world.entity(thread.messages).field(thread.text)
    return (fill(field.label, text), click(thread.reply, Purpose.REPLY))


def to_card(setting: Setting, view: View, title: str) -> Steps:
    """Return the steps from any page to a board, searched for a card's title."""
    return (*to_view(setting, view), *search(setting, view, title))


def drag_card(setting: Setting, view: View, title: str, state: str) -> Steps:
    """Return the steps that drag a card to the column of a state."""
    return (*to_card(setting, view, title), drag(title, state, Purpose.MOVE_CARD))


def press_card(setting: Setting, view: View, title: str, step: Transition) -> Steps:
    """Return the steps that move a card by its button."""
    return (*to_card(setting, view, title), click(step.label, Purpose.CARD_STEP, within=title))


def to_month(setting: Setting, view: View, day: str) -> Steps:
    """Return the steps from any page to the month of a day in a calendar."""
    words, wanted, now = setting.world.words, date.fromisoformat(day), setting.world.at.date()
    months = 12 * (wanted.year - now.year) + wanted.month - now.month
    arrow = words.next if months > 0 else words.previous
    turns = (click(arrow, Purpose.MONTH),) * abs(months)
    return (*to_view(setting, view), *turns)
