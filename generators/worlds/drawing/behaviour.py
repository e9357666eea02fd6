"""Draws how a world's pages behave and which distractions they have."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from enum import StrEnum
from random import Random
from typing import TypeVar

from generators.worlds.drawing.draft import WorldDraft
from generators.worlds.words.catalogue import catalogue
from schemas.worlds.behaviour import (
    Acts,
    Behaviour,
    Cells,
    Cookies,
    Delivery,
    Facts,
    MenuGroup,
    Menus,
    Noise,
    Paging,
    Place,
    Told,
)
from schemas.worlds.patterns import Shape
from schemas.worlds.world import View

Drawn = TypeVar("Drawn", bound=StrEnum)

_SHARES: dict[StrEnum, float] = {
    Delivery.SERVER: 0.45,
    Delivery.ENHANCED: 0.25,
    Delivery.SINGLE_PAGE: 0.3,
    Place.PAGE: 0.55,
    Place.DIALOG: 0.2,
    Place.DRAWER: 0.15,
    Place.PANEL: 0.25,
    Facts.TOGETHER: 0.6,
    Facts.TABS: 0.22,
    Facts.ACCORDION: 0.18,
    Paging.PAGES: 0.6,
    Paging.MORE: 0.25,
    Paging.SCROLL: 0.15,
    Menus.OPEN: 0.7,
    Menus.CLICK: 0.15,
    Menus.HOVER: 0.15,
    Told.NOTHING: 0.4,
    Told.MESSAGE: 0.3,
    Told.TOAST: 0.3,
}
"""The relative frequency of each option among its alternatives."""

_FACTS = (Facts.TOGETHER, Facts.TABS, Facts.ACCORDION)
"""How facts are shown where there is no sheet."""

_CELLS = (Cells.PENCIL, Cells.VALUE)
"""How cells are opened where a double click is not all."""

_TIPS, _TRAIL = 0.35, 0.4
_MENU_OF_ACTIONS, _ASKS_AGAIN_TO_SAVE, _STICKY, _NOISY, _EACH_NOISE = 0.3, 0.08, 0.3, 0.35, 0.3
_HOVERS, _CONTEXT, _IN_TAB, _SHEET, _SLOW, _TWICE = 0.5, 0.25, 0.5, 0.55, 0.18, 0.22
_CARDS_DRAGGED, _ENTER, _CELLS_TWICE, _ALONE = 0.6, 0.5, 0.3, 0.7
_SLOW_TENTHS = 30, 70
"""The shortest and the longest time that a slow list takes, tenths of a second."""

_FEWEST_IN_MENUS = 3


def draw_behaviour(draft: WorldDraft, how: Random, noise: Random) -> None:
    """Draw the behaviour of a world from `how`, and its distractions from `noise`."""
    drawn = _behaviour(draft, how, Random(f"signs {draft.family} {draft.seed}"))
    reach = Random(f"reach {draft.family} {draft.seed}")
    draft.behaviour = _with_reach(draft, drawn, reach)
    draft.noise = _noise(draft, noise)


def _behaviour(draft: WorldDraft, rng: Random, signs: Random) -> Behaviour:
    """Return how pages behave."""
    views, taken, words = draft.views, draft.names(), catalogue(draft.language)
    menus_open = _one(rng, *Menus) if len(views) >= _FEWEST_IN_MENUS else Menus.OPEN
    tips, trail = signs.random() < _TIPS, signs.random() < _TRAIL
    more, parts = (
        draft.draw_words(words.among("behaviour.more"), rng),
        rng.choice(words.groups("behaviour.parts")),
    )
    return Behaviour(
        delivery=_one(rng, *Delivery),
        forms=_one(rng, Place.PAGE, Place.DIALOG, Place.DRAWER),
        rows=(rows := _one(rng, Place.PAGE, Place.PANEL)),
        facts=_one(rng, *_FACTS) if taken.isdisjoint(map(str.casefold, parts)) else Facts.TOGETHER,
        parts=parts,
        paging=_one(rng, *Paging),
        more=more,
        actions=draft.draw_words(words.among("behaviour.actions"), rng)
        if rng.random() < _MENU_OF_ACTIONS
        else None,
        menus=_menus(rng, views, taken, words.among("behaviour.menus"))
        if menus_open is not Menus.OPEN
        else (),
        menus_open=menus_open,
        told=_one(rng, *Told),
        saved=rng.choice(words.among("behaviour.saved")),
        sure=draft.draw_words(words.among("behaviour.sure"), rng)
        if rng.random() < _ASKS_AGAIN_TO_SAVE
        else None,
        sticky=rng.random() < _STICKY,
        tips=tips,
        trail=trail and rows is not Place.PANEL,  # the list stands beside it
        cells=Random(f"cells {draft.family} {draft.seed}").choice(_CELLS),
    )


def _with_reach(draft: WorldDraft, drawn: Behaviour, rng: Random) -> Behaviour:
    """Return a behaviour in which some things are reached by other actions than clicks."""
    hovers, is_context, in_tab = (rng.random() < share for share in (_HOVERS, _CONTEXT, _IN_TAB))
    acts = Acts.HOVER if hovers and drawn.actions else Acts.SHOWN
    if is_context and not drawn.actions:
        acts = Acts.CONTEXT
    has_map = any(view.shape is Shape.MAP for view in draft.views)
    is_alone = rng.random() < _ALONE and drawn.rows is Place.PAGE and not has_map
    has_sheet = rng.random() < _SHEET and drawn.rows is Place.PAGE
    is_free = draft.names().isdisjoint(map(str.casefold, drawn.parts))
    slow = rng.random() < _SLOW
    return drawn.model_copy(
        update={
            "acts": acts,
            "facts": Facts.SHEET if has_sheet and is_free else drawn.facts,
            "rows_alone": is_alone,
            "trail": drawn.trail and not is_alone,
            "in_tab": in_tab,
            "twice": rng.random() < _TWICE,
            "cards_dragged": rng.random() < _CARDS_DRAGGED,
            "enter": rng.random() < _ENTER,
            "slow_ms": 100 * rng.randint(*_SLOW_TENTHS) if slow else 0,
            "cells": Cells.TWICE if rng.random() < _CELLS_TWICE else drawn.cells,
            "searching": rng.choice(catalogue(draft.language).among("behaviour.searching")),
        }
    )


def _noise(draft: WorldDraft, rng: Random) -> Noise:
    """Return the distractions; most worlds have none."""
    if rng.random() >= _NOISY:
        return Noise()
    words = catalogue(draft.language)
    cookies = rng.choice((Cookies.NONE, Cookies.NONE, Cookies.BAR, Cookies.COVERING))
    one, other = (rng.choice(draft.views).name for _ in range(2))
    return Noise(
        cookies=cookies,
        accept=draft.draw_words(words.among("behaviour.accept"), rng),
        decline=draft.draw_words(words.among("behaviour.decline"), rng),
        pop_up=one if rng.random() < _EACH_NOISE else None,
        refuse=draft.draw_words(words.among("behaviour.refuse"), rng),
        asks_again=other if other != one and rng.random() < _EACH_NOISE else None,
        name=draft.draw_words(words.among("behaviour.name"), rng),
        resume=draft.draw_words(words.among("behaviour.resume"), rng),
        announcement=rng.choice(words.among("behaviour.announcement"))
        if rng.random() < _EACH_NOISE
        else "",
        survey=rng.choice(words.among("behaviour.survey"))
        if rng.random() < _EACH_NOISE and cookies is not Cookies.BAR  # it would cover the bar
        else None,
        late=rng.random() < _EACH_NOISE,
    )


def _menus(
    rng: Random, views: Sequence[View], taken: AbstractSet[str], among: Sequence[str]
) -> tuple[MenuGroup, ...]:
    """Return one or two menus of adjacent views; the remaining views are in no menu."""
    labels = [word for word in among if word.casefold() not in taken]
    count = min(len(labels), rng.randint(1, 2))
    size = max(2, len(views) // (count + rng.randint(0, 1))) if count else 0
    names = [view.name for view in views if view.shape is not Shape.CART]  # must stay visible
    held = [tuple(names[at * size : (at + 1) * size]) for at in range(count)]
    return tuple(
        MenuGroup(label=label, views=names)
        for label, names in zip(rng.sample(labels, count), held, strict=True)
        if names
    )


def _one(rng: Random, *among: Drawn) -> Drawn:
    return rng.choices(among, weights=[_SHARES[one] for one in among])[0]
