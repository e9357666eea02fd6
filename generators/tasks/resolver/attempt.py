"""An attempt to read a goal in one way: what it uses of the goal, and what it comes to."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from generators.tasks.resolver.mentions import Item
from generators.tasks.resolver.reading import Reading, Reason, Refusal
from generators.tasks.resolver.roles import Role
from generators.tasks.resolver.scene import Scene
from generators.tasks.resolver.senses import Sort
from generators.tasks.resolver.words import Cue

_KNOWN = (Sort.CHOICE, Sort.TEXT, Sort.LABEL, Sort.RANK)

Used = frozenset[int]
"""The numbers of the mentions that an attempt uses."""


class Attempt(NamedTuple):
    """One way to read a goal."""

    used: Used
    """What of the goal it uses."""
    result: Reading | Refusal
    """What it comes to."""


Frame = Callable[[Scene], Iterator[Attempt]]
"""Yields the ways to read a goal as one sort of request; none if its words are not of that sort."""


def used_by(*items: Item | Iterable[Item | None] | None) -> Used:
    """Return the numbers of mentions."""
    out = set[int]()
    for one in items:
        if isinstance(one, Item):
            out.add(one.number)
        elif one is not None:
            out |= {each.number for each in one if each is not None}
    return frozenset(out)


def refuse(used: Used, reason: Reason, about: str, candidates: Iterable[str] = ()) -> Attempt:
    """Return an attempt that fails for a reason."""
    return Attempt(used, Refusal(reason=reason, about=about, candidates=tuple(candidates)))


def judge(scene: Scene, attempts: Iterable[Attempt]) -> Reading | Refusal:
    """Return the only reading of those that use the most of a goal, or why there is none.

    Every mention that counts must be used; of the others, a reading that uses more values goes before one that uses
    fewer, and so does a refusal.
    """
    bounds = {
        pair.item.number
        for pair in scene.pairs
        if pair.over is not None or (pair.label is not None and not pair.item.cues)
    }
    needed = {one.number for one in scene.items if _is_needed(scene, one)} | bounds
    values = {one.number for one in scene.items if one.is_value}
    told = [*attempts]
    whole = [one for one in told if not _left(scene, needed, one) and not _forgets(scene, one)]
    is_done = any(isinstance(one.result, Reading) and not _answers(one) for one in whole)
    new = scene.new_entities()
    whole = [one for one in whole if not _touches(one, new) and not _is_deaf(scene, one)]
    if not scene.may_ask():
        whole = [one for one in whole if not _answers(one)]
    if not scene.may_act():
        whole = [one for one in whole if not _changes(one)]
    elif is_done and (scene.with_cues(Cue.UNDO, Cue.SWAP, Cue.DELETE) or not scene.is_question()):
        whole = [one for one in whole if not _answers(one)]
    most = max((len(one.used & values) for one in whole), default=0)
    best = [one for one in whole if len(one.used & values) == most]
    read = [one for one in best if isinstance(one.result, Reading)]
    return _only(read) if read else _why(scene, needed, best or told)


def _only(read: Sequence[Attempt]) -> Reading | Refusal:
    """Return what those attempts come to that use the most, if that is one and the same."""
    most = max(len(one.used) for one in read)
    known = (one.result for one in read if len(one.used) == most)
    effects = {one.effect: one for one in known if isinstance(one, Reading)}
    if len(effects) == 1:
        return next(iter(effects.values()))
    some = (str(one.model_dump(mode="json", exclude_defaults=True)) for one in effects)
    about = "it can be read in several ways"
    return Refusal(reason=_difference([*effects.values()]), about=about, candidates=tuple(some))


def _difference(read: Sequence[Reading]) -> Reason:
    """Return in what readings differ, if that is one thing."""
    if len({one.entity for one in read}) == len(read):
        return Reason.TWO_ENTITIES
    if len({one.rows for one in read}) == len(read):
        return Reason.TWO_ROWS
    fields = {tuple(name for change in one.changed for name, _ in change.values) for one in read}
    if len(fields) == len(read) and all(one.changed for one in read):
        return Reason.TWO_FIELDS
    return Reason.TWO_READINGS


def _forgets(scene: Scene, attempt: Attempt) -> bool:
    """Return whether a change leaves out the name of a field beside the values that it uses, or an answer what is to be set."""
    read = attempt.result
    if not isinstance(read, Reading) or not (read.changed or read.added):
        return isinstance(read, Reading) and _is_to_act(scene, attempt)
    sentences = {one.sentence for one in scene.items if one.number in attempt.used and one.is_value}
    entities = {one.entity for one in (*read.changed, *read.added)}
    return any(
        one.number not in attempt.used
        and scene.is_named(one)
        and not scene.is_noun_of_row(one)
        and one.sentence in sentences
        and any(scene.fields(one, entity) for entity in entities)
        for one in scene.bare
    )


def _is_to_act(scene: Scene, attempt: Attempt) -> bool:
    """Return whether a goal that an attempt answers asks for an act: a value is to be set, or a step to be taken."""
    if not _answers(attempt):
        return False
    values = [one for one in scene.pairs if one.role is Role.SET]
    deeds = [one for one in scene.items if one.has(Sort.DEED)]
    return any(one.item.number not in attempt.used for one in values) or any(
        not scene.is_plain_question(one.sentence) and not scene.asks(one.sentence) for one in deeds
    )


def _is_deaf(scene: Scene, attempt: Attempt) -> bool:
    """Return whether an answer does without words of the question by which people speak of the world."""
    return _answers(attempt) and any(scene.asks(sentence) for _, sentence in scene.unread)


def _is_needed(scene: Scene, item: Item) -> bool:
    """Return whether a reading must use a mention: a day is never said for nothing, nor what stands in a phrase for a field."""
    is_noun = item.has(Sort.ONE, Sort.MANY, Sort.VIEW)
    is_meant = item.counts or (item.exact and item.has(*_KNOWN) and not is_noun)
    if item.has(Sort.RANK) or item.is_alone:
        return True
    is_named = is_meant and not scene.is_part(item)
    return is_named or item.day is not None or scene.is_framed(item)


def _touches(attempt: Attempt, entities: Collection[str]) -> bool:
    """Return whether an attempt changes or removes rows of entities of which a goal asks for new ones."""
    read = attempt.result
    return isinstance(read, Reading) and any(
        one.entity in entities for one in (*read.changed, *read.removed)
    )


def _left(scene: Scene, needed: set[int], attempt: Attempt) -> set[int]:
    """Return what an attempt leaves of the mentions that a reading must use; a day that is said twice is used with the other."""
    left = needed - attempt.used
    if not left:
        return left
    days = {scene.items[number].day for number in attempt.used} - {None}
    return {one for one in left if scene.items[one].day not in days or scene.items[one].senses}


def _changes(attempt: Attempt) -> bool:
    read = attempt.result
    return isinstance(read, Reading) and read.answer is None


def _answers(attempt: Attempt) -> bool:
    return isinstance(attempt.result, Reading) and attempt.result.answer is not None


def _why(scene: Scene, needed: set[int], told: Sequence[Attempt]) -> Refusal:
    """Return why the attempts that use the most of a goal fail."""
    told = sorted(told, key=lambda one: (len(_left(scene, needed, one)), -len(one.used)))
    left = sorted(_left(scene, needed, told[0])) if told else [one.number for one in scene.literals]
    unknown = [scene.items[number] for number in left]
    if unknown and all(one.is_literal for one in unknown):
        return _unknown(unknown)
    least = len(left)
    for attempt in told:
        if isinstance(attempt.result, Refusal) and len(_left(scene, needed, attempt)) == least:
            return attempt.result
    if any(one.is_literal for one in unknown):
        return _unknown([one for one in unknown if one.is_literal])
    if not told and scene.strangers:
        about = f"nothing is called {scene.strangers[0]}"
        return Refusal(reason=Reason.NO_ROW, about=about, candidates=tuple(scene.strangers))
    if not told:
        return Refusal(reason=Reason.NOT_READ, about="the words do not say what is to be done")
    texts = tuple(one.text for one in unknown)
    return Refusal(reason=Reason.NOT_READ, about="nothing says what this is for", candidates=texts)


def _unknown(items: Sequence[Item]) -> Refusal:
    texts = tuple(one.text for one in items)
    return Refusal(reason=Reason.NO_ROW, about=f"nothing is called {texts[0]}", candidates=texts)
