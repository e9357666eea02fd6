"""Remarks: what a picture shows beside the reason for an action, as its heading, a message, rows, or what a field holds."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import StrEnum
from random import Random
from typing import NamedTuple

from generators.browser.protocol import Node
from generators.policy.element_names import words
from generators.policy.sentences.vary import sentence, vary
from generators.policy.sight import Sight
from generators.policy.thoughts import visible
from schemas.episodes.action import Action, Answer, Click, Drag, Hover, Scroll, TypeText
from schemas.tasks.reference import Fact

_FEWEST = 3
"""So many rows make a list of which something is said."""

_PLACE = 0.2
"""How often where something stands is said, where something else could be."""

_PLACE_ALONE = 0.5
"""How often it is said where nothing else could be."""

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_BEHIND = {"place", "between", "entries", "entry"}
"""Remarks on what is pointed at, which stand behind the reason."""


class Use(StrEnum):
    """What a list in sight is used for."""

    READ = "read"
    """It is looked through."""
    NARROW = "narrow"
    """It is about to take over what was entered above it."""
    OPEN = "open"
    """A row of it is opened."""
    NONE = "none"
    """It is not."""


class Remark(NamedTuple):
    """A remark, without its words."""

    key: str
    """Which sentences say it."""
    name: str = ""
    """What it is about, as the picture shows it."""
    other: str = ""
    """A second such text; empty: there is none."""
    more: str = ""
    """A third one, or a number in words; empty: there is none."""


class Scene(NamedTuple):
    """What is done, and what is known of the step beside the picture."""

    action: Action
    """What is done."""
    sight: Sight
    """The picture."""
    is_new_page: bool
    """Whether the page was not in the picture before."""
    use: Use
    """What a list in the picture is used for."""
    first_row: str | None
    """The first row of the list in the picture before; None: there was none, or another page."""
    is_new_list: bool
    """Whether the page has another address than in the picture before."""
    label: str
    """The words by which the step names the field that it fills; empty: it fills none."""
    entered: Mapping[str, str]
    """What was entered into the form so far, by the labels of its fields."""
    entered_last: str
    """The label of the field that was filled by words just before; empty: something else was done."""
    proofs: Sequence[Remark]
    """What in the picture proves that a task is done, or its answer."""
    to_enter: int
    """How many fields of the form are still to be filled, this one among them; 0: nobody can tell how many are."""
    noted: Fact | None
    """What was noted, and is typed now; None: it is nothing of that."""
    to_change: AbstractSet[str]
    """The labels of the fields that are to get other values next."""
    typed: Collection[str]
    """The texts that were typed so far."""
    known_messages: Collection[str] | None
    """The messages that earlier pictures had; None: nothing was done of which one could tell."""


def remark(scene: Scene, thought: str, goal: str, random: Random) -> str:
    """Return a thought with a remark on the picture, drawn from what it shows; as it was where there is nothing to say.

    What the goal says itself is not remarked on where there is something else; `random` draws the remark and its words.
    """
    action = scene.action
    if isinstance(action, Answer) and action.text and f'"{action.text}"' not in thought:
        return thought  # beside other quotations it would have to quote its answer
    proofs = [one for one in scene.proofs if _is_new(one, thought)]
    if proofs:
        return f"{_words(random.choice(proofs), random)} {thought}"
    found = [one for one in _remarks(scene, thought) if _is_new(one, thought)]
    places = [one for one in found if one.key == "place"]
    told = [one for one in found if one.key != "place"]
    told = [one for one in told if not _is_in_goal(one, goal)] or told
    if (not told and random.random() < _PLACE_ALONE) or (places and random.random() < _PLACE):
        told = places
    if not told:
        return thought
    one = random.choice(told)
    parts = (thought, _words(one, random))
    return " ".join(parts if one.key in _BEHIND else reversed(parts))


def _words(one: Remark, random: Random) -> str:
    told = sentence(f"remarks.{one.key}", name=one.name, other=one.other, more=one.more)
    return vary(told, random)


def _is_new(one: Remark, thought: str) -> bool:
    """Return whether a thought does not say already what a remark is about."""
    if one.key == "told":  # the thought may have its point too
        return one.name not in thought
    return f'"{one.name}"' not in thought or one.key in {"holds", "noted"}


def _is_in_goal(one: Remark, goal: str) -> bool:
    return words(f"{one.other or one.name}").casefold() in goal


def _remarks(scene: Scene, thought: str) -> Iterator[Remark]:
    """Yield what can be said; beside what is clicked nothing is named that the thought does not tell it from."""
    action, sight = scene.action, scene.sight
    target = visible.target_of(action, sight)
    place = visible.place_of(action, sight) if isinstance(action, Click | Hover | Drag) else ""
    if place:
        yield Remark("place", place)
    if visible.is_on_field(action, sight):
        yield from _on_field(scene)
        return
    if not visible.may_name_others(action, thought, sight):
        return
    heading = visible.heading_of(sight)
    if scene.is_new_page and heading is not None:
        yield Remark("arrived", heading)
    if scene.known_messages is not None:
        new = (one for one in visible.messages(sight) if one not in scene.known_messages)
        yield from (Remark("told", one) for one in new)
    if isinstance(action, Answer):
        return  # what else is in sight proves nothing of what was to be done
    yield from _entries(scene)
    others = visible.entries(target, sight)
    if others:
        yield Remark("entries", *others[:2]) if others[1:] else Remark("entry", others[0])
        return
    yield from _facts(scene, target)
    yield from _rows(scene)


def _facts(scene: Scene, target: Node | None) -> Iterator[Remark]:
    """Yield what a page says that is to be changed, or of which it is what is clicked."""
    for label, value in visible.facts(scene.sight):
        if label in scene.to_change:
            yield Remark("to_change", label, value)
        elif target is not None and target.tag == "a" and value == words(target.text):
            yield Remark("fact", label, value)


def _on_field(scene: Scene) -> Iterator[Remark]:
    """Yield what a field holds before it is filled, and how far its form is."""
    target = visible.target_of(scene.action, scene.sight)
    if target is None or not scene.label or scene.label[:1] in {"#", "."}:
        return
    now = visible.content(target)
    if now == "":
        yield Remark("empty", scene.label)
    elif now and not visible.may_be_cut(now, target) and not _is_cut(now, scene.typed):
        yield Remark("holds", scene.label, now)
    if not isinstance(scene.action, TypeText):
        return
    if scene.noted is not None:
        yield Remark("noted", scene.noted.of, scene.noted.label or "", scene.noted.value or "")
    yield from _entries(scene)
    done = len(scene.entered)
    if 0 < done < len(_NUMBERS) and 0 < scene.to_enter < len(_NUMBERS) and _all_show(scene):
        yield Remark("progress", _NUMBERS[done], more=_NUMBERS[scene.to_enter])


def _is_cut(held: str, typed: Collection[str]) -> bool:
    """Return whether what a field shows is the beginning of a text that was typed."""
    return any(one.startswith(held) and one != held for one in typed)


def _entries(scene: Scene) -> Iterator[Remark]:
    """Yield what was entered into the form just before, if it is in sight."""
    label, text = scene.entered_last, scene.entered.get(scene.entered_last)
    if text is not None and visible.holds_text(label, text, scene.sight):
        yield Remark("entered", label, text)


def _all_show(scene: Scene) -> bool:
    return all(visible.holds_text(*one, scene.sight) for one in scene.entered.items())


def _rows(scene: Scene) -> Iterator[Remark]:
    """Yield what can be said of the rows in sight, as far as it has to do with what is done, or of the fields."""
    sight, listed = scene.sight, visible.rows(scene.sight)
    names = listed.names
    target = visible.target_of(scene.action, sight)
    if target is not None and words(target.text) in names:
        near = visible.neighbours(target, listed.links)
        if near is not None:
            yield Remark("between", *near)
    is_list = len(names) >= _FEWEST and listed.is_alone
    if scene.use is Use.NARROW and is_list and names[0] == scene.first_row:
        yield Remark("unchanged", names[0])
    if scene.use is Use.NONE and isinstance(scene.action, Scroll):
        fields = visible.labels(sight)
        if len(fields) >= _FEWEST:
            yield Remark("fields", fields[0], fields[-1])
    if scene.use is Use.READ:
        yield from _list(scene, listed)


def _list(scene: Scene, listed: visible.Rows) -> Iterator[Remark]:
    """Yield what can be said of the rows of a list that is looked through."""
    names = listed.names
    is_list = len(names) >= _FEWEST and listed.is_alone
    if is_list and not listed.are_below:
        yield Remark("cards", names[0], names[-1])
    elif is_list and listed.are_all:
        yield Remark("rows", names[0], names[-1])
        if len(names) < len(_NUMBERS):
            yield Remark("counted", names[0], names[-1], _NUMBERS[len(names)])
        if scene.is_new_list and scene.first_row not in {None, names[0]}:
            yield Remark("renewed", names[0])
    elif is_list:
        yield Remark("whole", names[0], names[-1])
