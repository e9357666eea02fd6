"""Thoughts of references: before each step, what is in sight and why this is next.

A thought quotes nothing but what the goal says, what the step acts on or types, and what an earlier step named, so
that nobody has to know more than the pictures show. The same step is thought of in several ways.
"""

from collections.abc import Iterator, Mapping, Sequence
from random import Random

from generators.tasks.worlds.cart_thoughts import SAID_OF_CARTS, cart_purposes
from generators.tasks.worlds.cell_thoughts import SAID_OF_CELLS, CellWalk
from generators.tasks.worlds.moves import Steps
from generators.tasks.worlds.setting import Setting
from generators.worlds.permissions import act_label
from schemas.field import Widget
from schemas.patterns import Shape
from schemas.reference import Do, ReferenceStep

_SAID = {
    "view": (
        'The navigation has "{on}", where what the task is about should be. I open it.',
        'What I need should be under "{on}", so I go there.',
        'I go to "{on}" in the navigation to look for what the task names.',
    ),
    "again": (
        'I go to "{on}" for the next part.',
        'This page has done its part; now I need "{on}".',
        'Next I need "{on}" from the navigation.',
    ),
    "search": (
        'The list may be long, so I search it for "{text}".',
        'There is a search: I put in "{text}" to find it quickly.',
        'Rather than reading the whole list, I search for "{text}".',
    ),
    "apply": (
        'What narrows the list is set; "{on}" shows what fits.',
        'Now "{on}", so that the list shows only what I asked for.',
        'I have put in what I look for, so I click "{on}".',
    ),
    "sort": (
        'I need the rows in order, so I choose "{on}".',
        'With "{on}" the row that I need comes first.',
    ),
    "filter": (
        'Only some of the rows count, so I open the list of "{on}".',
        '"{on}" can narrow the list, so I open what it offers.',
    ),
    "turn": (
        'The list goes on after the rows in sight, so I click "{on}".',
        'I have read the rows that are in sight; "{on}" leads to others.',
    ),
    "scroll": (
        "The rows in sight are not all there are; I go to the end of the list for more.",
        "More rows come at the end of the list, so I go there.",
    ),
    "look": (
        "Not all that I have to read is in sight yet, so I go on.",
        "This page goes on; I read the rest of it too.",
    ),
    "named": (
        'The list shows "{on}", which the task names. I open it.',
        'There is "{on}", the one that the task is about, so I click on it.',
        '"{on}" is in sight, as the task calls it; its page should say more.',
    ),
    "row": (
        'I open "{on}" to see what its page says.',
        '"{on}" is here; I want to read its page.',
        'I look at "{on}" more closely.',
    ),
    "meant": (
        '"{on}" is one that the task is about, so I open it.',
        '"{on}" fits what the task asks for; on its page I can do what is needed.',
        'I open "{on}", because something is to be done to it.',
    ),
    "nothing": (
        'The search shows nothing that I can use, so I begin again with "{on}".',
        'That word was of no use. I go back to "{on}" and look in another way.',
    ),
    "part": (
        'What I want to read is not in sight; it should be under "{on}".',
        '"{on}" holds the rest of the facts, so I open it.',
    ),
    "menu": (
        'What I need is in a menu: I open "{on}".',
        'I open the menu "{on}" to see what can be chosen there.',
    ),
    "add": (
        'There has to be a new one, and "{on}" leads to its form.',
        'I click "{on}" to enter what the task asks for.',
    ),
    "edit": (
        'This is the right page, and something here has to change: "{on}".',
        'To change what this page says I click "{on}".',
    ),
    "delete": (
        'This is the one that has to go, so I click "{on}".',
        'The page is that of the row to be removed: "{on}".',
    ),
    "confirm": (
        'The page asks whether I am sure. It is the right one, so "{on}".',
        'It asks again before it deletes; I confirm with "{on}".',
    ),
    "step": (
        'The page offers "{on}", which is the step that is needed here.',
        'To bring it on I click "{on}".',
    ),
    "ask": (
        'My role may not do this itself; "{on}" asks for it.',
        'Somebody else has to allow this, so I click "{on}".',
    ),
    "fill": (
        'The task gives "{text}" for "{on}", so I put it in.',
        '"{on}" has to be "{text}"; I type it.',
        'Next is "{on}": "{text}", as asked.',
    ),
    "carry": (
        'I remember "{text}" from the page before; it goes into "{on}".',
        '"{on}" gets "{text}", which I have read before.',
    ),
    "empty": ('"{on}" has to be empty, so I clear it.',),
    "part_of_choice": (
        'I type "{text}" into "{on}", so that fewer choices are left.',
        '"{on}" offers many choices; "{text}" narrows them.',
    ),
    "choose": (
        'Next comes "{on}"; I open its list.',
        '"{on}" has a list of what it may be, so I open it.',
    ),
    "option": (
        'Of the choices for "{within}" I take "{on}".',
        '"{on}" is the right choice for "{within}".',
    ),
    "untag": (
        "One of what is chosen here does not belong to it; the sign in its box takes it away.",
        "This one has to go, so I click the sign that removes it.",
    ),
    "box": (
        'The box "{on}" is not yet as the task wants "{within}", so I click on it.',
        'For "{within}" the box "{on}" has to change; I click on it.',
    ),
    "toggle": (
        'The task wants "{on}" changed, so I click on it.',
        '"{on}" is not yet as it should be; I click on it.',
    ),
    "count": (
        "The number is not yet right; the button beside it brings it closer.",
        "One click on this button changes the number by one, so that it comes closer to what it should be.",
    ),
    "slider": (
        'I click on the slider "{on}", so that keys move it.',
        '"{on}" is a slider: after a click on it the keys move it.',
    ),
    "end_of_slider": (
        "The key {text} takes it to one end of its range.",
        "I bring it to an end of its range first, with the key {text}.",
    ),
    "key": (
        "I move on with the key {text}.",
        "The key {text} brings it closer to what it should be.",
    ),
    "save": (
        'All that was asked for is in the form, so I click "{on}".',
        'The form says what it should; "{on}".',
        'Nothing else has to change here: "{on}".',
    ),
    "in_the_way": (
        '"{on}" clears what stands in the way.',
        'Something covers what I need; "{on}" removes it.',
    ),
    "sure": (
        'The page asks once more; what it says is right, so "{on}".',
        'It wants to be sure. I go on with "{on}".',
    ),
    "name": (
        'The page asks who I am; the name at the top is "{text}".',
        'To go on I have to enter my name, which the page shows: "{text}".',
    ),
    "click": (
        'Next I need "{on}" on this page.',
        '"{on}" is what leads on from here.',
    ),
    "drag": (
        'The card "{on}" belongs to "{text}", so I drag it there.',
        'I take "{on}" and put it under "{text}".',
    ),
    "attach": (
        'For "{within}" I drag "{on}" into the box.',
        '"{on}" belongs to "{within}": I pull it from the tray into the box.',
    ),
    "read": (
        'The page says "{text}", which is what was asked for.',
        'I have found it: "{text}".',
        'What I was asked for stands here: "{text}".',
    ),
    "computed": (
        'From what I have read it follows: "{text}".',
        'I have seen all that counts; it comes to "{text}".',
    ),
    "impossible": (
        'What the task needs is not there, so it cannot be done: "{text}".',
        'I have looked where it should be, and it is not there. The answer is "{text}".',
    ),
    "done": (
        "The page shows the change; all that was asked for is done.",
        "Everything is as the task wants it, so I am done.",
    ),
}
"""What may be thought before a step, by its purpose."""


_CHANGING = {"edit", "delete", "step"}
"""The purposes of clicks on a row's page that change it."""


def think(setting: Setting, steps: Steps, goal: str, answer_kind: str, random: Random) -> Steps:
    """Return steps with a thought for each that has none yet.

    Args:
        setting: the world.
        steps: a whole reference.
        goal: the task's instruction.
        answer_kind: the task's: `none`, `verbatim` or `computed`.
        random: what the words are drawn from.
    """
    purposes = _purposes(setting, steps, goal, answer_kind)
    said = {**_SAID, **SAID_OF_CELLS, **SAID_OF_CARTS}
    return tuple(
        step
        if step.why is not None
        else step.model_copy(
            update={
                "why": random.choice(said[purpose]).format(
                    on=step.on, text=step.text, within=step.within
                )
            }
        )
        for step, purpose in zip(steps, purposes, strict=True)
    )


def _purposes(
    setting: Setting, steps: Sequence[ReferenceStep], goal: str, answer_kind: str
) -> Iterator[str]:
    """Yield what each step is for."""
    walk, cells = _Walk(setting, goal, answer_kind), CellWalk(setting)
    for step, then in zip(steps, (*steps[1:], steps[-1]), strict=True):
        purpose = cells.purpose(step) or walk.purpose(step, then)
        walk.after(step, purpose)
        yield purpose


class _Walk:
    """A reference on its way, as far as what its steps are for depends on those before."""

    def __init__(self, setting: Setting, goal: str, answer_kind: str) -> None:
        self._world, self._goal, self._answer_kind = setting.world, goal, answer_kind
        self._named = _named(setting)
        self._views = {view.label: view for view in setting.world.views}
        self._titles = {
            title for entity in setting.world.entities for title in setting.titles(entity)
        }
        fields = [field for entity in setting.world.entities for field in entity.fields]
        self._boxed = {field.label for field in fields if field.asked_with is Widget.CHECKBOXES}
        self._sliders = {field.label for field in fields if field.asked_with is Widget.SLIDER}
        self._known = goal
        self._visited = set[str]()
        self._filters = set[str]()
        self._in_form = self._on_slider = False
        self._searched = ""

    def purpose(self, step: ReferenceStep, then: ReferenceStep) -> str:
        """Return what a step is for, by the words of the world that it names; `then` is the step after it."""
        on, text = step.on or "", step.text or ""
        match step.do:
            case Do.ANSWER:
                return _ending(text, self._answer_kind)
            case Do.PRESS:
                is_end = text in {"Home", "End"}
                return ("end_of_slider" if self._on_slider else "scroll") if is_end else "key"
            case Do.TYPE:
                is_part = then.within == on
                return self._named.get(on) or ("part_of_choice" if is_part else self._filling(text))
            case Do.SELECT:
                return "filter" if on in self._filters and not self._in_form else "choose"
            case Do.DRAG | Do.LOOK:
                return step.do.value if step.within is None else "attach"
            case _:
                return self._clicking(on, step.within, then)

    def after(self, step: ReferenceStep, purpose: str) -> None:
        """Remember a step that was taken."""
        on = step.on or ""
        if step.do is Do.CLICK:
            self._on_slider = purpose == "slider"
        if step.do is Do.CLICK and on in self._views:
            view = self._views[on]
            fields = self._world.entity(view.entity).fields
            self._filters = {field.label for field in fields if field.name in view.filters}
            self._in_form = view.shape is Shape.SETTINGS
        if step.do is Do.TYPE or purpose in {"nothing", "view", "again"}:
            self._searched = step.text or "" if step.do is Do.TYPE else ""
        ends_form = purpose in {"save", "row", "meant", "named"}
        self._in_form = (self._in_form or purpose in {"add", "edit"}) and not ends_form
        self._visited |= {on} if step.do is not Do.LOOK else set()
        self._known = f"{self._known}\n{on}\n{step.text}"

    def _filling(self, text: str) -> str:
        if not text:
            return "empty"
        return "fill" if text in self._known else "carry"

    def _clicking(self, on: str, within: str | None, then: ReferenceStep) -> str:
        if within is not None:
            is_sign = self._named.get(on) == "untag"
            return "untag" if is_sign else "box" if within in self._boxed else "option"
        if on in self._named:
            if self._searched == on:
                return "nothing"
            is_again = self._named[on] == "view" and on in self._visited
            return "again" if is_again else self._named[on]
        if on in self._titles:
            if on in self._goal:
                return "named"
            is_changed = then.do is Do.CLICK and self._named.get(then.on or "") in _CHANGING
            return "meant" if is_changed else "row"
        is_slid = then.do is Do.PRESS and on in self._sliders
        return "slider" if is_slid else ("toggle" if self._in_form else "click")


def _ending(text: str, answer_kind: str) -> str:
    """Return what an answer is for."""
    if not text:
        return "done"
    if text == "impossible":
        return "impossible"
    return "computed" if answer_kind == "computed" else "read"


def _named(setting: Setting) -> Mapping[str, str]:
    """Return the purpose of each thing that a world's pages name in one way; views go before others."""
    world = setting.world
    words, behaviour, noise = world.words, world.behaviour, world.noise
    named = {
        **{step.label: "step" for flow in world.workflows for step in flow.transitions},
        **dict.fromkeys(behaviour.parts, "part"),
        **{
            way.format(field=field.label): "sort"
            for entity in world.entities
            for field in entity.fields
            for way in (words.ascending, words.descending)
        },
        **{
            way.format(field=field.label): "count"
            for entity in world.entities
            for field in entity.fields
            for way in (words.increase, words.decrease)
        },
        **{
            words.untag.format(tag=choice): "untag"
            for entity in world.entities
            for field in entity.fields
            for choice in field.choices
        },
        words.search: "search",
        words.apply: "apply",
        words.next: "turn",
        words.previous: "turn",
        behaviour.more: "turn",
        words.edit: "edit",
        words.save: "save",
        words.delete: "delete",
        words.confirm: "confirm",
        noise.name: "name",
        **{menu.label: "menu" for menu in behaviour.menus},
        **{words.add.format(one=entity.one): "add" for entity in world.entities},
        **dict.fromkeys((noise.accept, noise.decline, noise.refuse, noise.resume), "in_the_way"),
    }
    permissions = world.permissions
    if permissions is not None and permissions.requests is not None:
        entity = world.entity(permissions.entity)
        for rule in permissions.reserved:
            label = act_label(world, entity, rule)
            named[f"{permissions.requests.ask}: {label}"] = "ask"
    if behaviour.actions is not None:
        named[behaviour.actions] = "menu"
    if behaviour.sure is not None:
        named[behaviour.sure] = "sure"
    return named | {view.label: "view" for view in world.views} | cart_purposes(setting)
