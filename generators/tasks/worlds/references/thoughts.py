"""Thoughts of references: before each step, what is in sight and why this is next.

A thought quotes nothing but what the goal says, what the step acts on or types, and what an earlier step named, so
that nobody has to know more than the pictures show. The same step is thought of in several ways. Where something
follows from what was read, the kind of task says so itself, with the values as pages write them.
"""

from collections.abc import Iterator, Mapping, Sequence
from random import Random

from generators.tasks.worlds.ground.world_rows import Setting
from generators.tasks.worlds.references.cart_thoughts import SAID_OF_CARTS, cart_purposes
from generators.tasks.worlds.references.cell_thoughts import SAID_OF_CELLS, CellWalk
from generators.tasks.worlds.references.said import SAID
from generators.tasks.worlds.references.steps import Steps
from generators.worlds.state.permissions import act_label
from schemas.tasks.reference import Do, ReferenceStep
from schemas.worlds.field import Widget
from schemas.worlds.patterns import Shape

_CHANGING = {"edit", "delete", "step"}
"""The purposes of clicks on a row's page that change it."""

_READING = {"view", "again", "menu", "row", "named", "part", "look"}
"""The purposes of steps after which a page shows no change."""


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
    said = {**SAID, **SAID_OF_CELLS, **SAID_OF_CARTS}
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
        self._in_form = self._on_slider = self._in_calendar = False
        self._searched = self._last = ""

    def purpose(self, step: ReferenceStep, then: ReferenceStep) -> str:
        """Return what a step is for, by the words of the world that it names; `then` is the step after it."""
        on, text = step.on or "", step.text or ""
        match step.do:
            case Do.ANSWER:
                ending = _ending(text, self._answer_kind)
                return "nothing_left" if ending == "done" and self._last in _READING else ending
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
        on, self._last = step.on or "", purpose
        if step.do is Do.CLICK:
            self._on_slider = purpose == "slider"
        if step.do is Do.CLICK and on in self._views:
            view = self._views[on]
            fields = self._world.entity(view.entity).fields
            self._filters = {field.label for field in fields if field.name in view.filters}
            self._in_form = view.shape is Shape.SETTINGS
            self._in_calendar = view.shape is Shape.CALENDAR
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
        named = self._named.get(on) or self._named.get(on.rpartition(", ")[0])  # perhaps with a day
        if named is not None:
            return self._naming(on, named)
        if on in self._titles:
            if on in self._goal:
                return "named"
            is_changed = then.do is Do.CLICK and self._named.get(then.on or "") in _CHANGING
            return "meant" if is_changed else "row"
        is_slid = then.do is Do.PRESS and on in self._sliders
        return "slider" if is_slid else ("toggle" if self._in_form else "click")

    def _naming(self, on: str, named: str) -> str:
        """Return what a click is for on what pages name in one way."""
        if self._searched == on:
            return "nothing"
        if named == "turn" and self._in_calendar:
            return "month"
        return "again" if named == "view" and on in self._visited else named


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
