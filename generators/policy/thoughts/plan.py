"""Plans in words: the phases that steps of a reference come to, as far as the goal and the picture name them."""

from collections.abc import Callable, Iterator, Sequence
from itertools import dropwhile, groupby, pairwise
from random import Random
from typing import NamedTuple

from generators.policy.sentences.vary import sentences, vary
from schemas.tasks.reference import Do, Fact, Purpose, ReferenceStep

MOST = 5
"""A plan of more phases leaves out those that follow by themselves."""

_BY_THE_WAY = {"search", "filter", "sort", "row"}
_BEFORE = {"go", "find", "find_by", "look", "look_named", *_BY_THE_WAY}
_TO_FORM = {Purpose.EDIT, Purpose.MENU, Purpose.HOVER_MENU, Purpose.CONTEXT}
"""The purposes of steps that open a form, whose thoughts conclude what has to be entered there."""

_FINDS = {"find", "find_by"}
_LOOKS = {"look", "look_named"}
_CHANGES = {"new", "edit", "delete", "step", "put_in"}

_IMPOSSIBLE = "impossible"
"""The answer of goals that say how to answer where something cannot be done."""

_NAMED = {"go", "find", "search", "filter"}
"""Phases that are said with a name, where it is known, and otherwise as one that is unnamed."""

_LONGEST = 60
"""Longer texts are not quoted in a plan, in characters."""

_FEWEST_LETTERS = 3
"""Shorter values, as "No", may stand in a goal for something else."""

_MOST_QUOTED = 2
"""So many values are told of what is entered, or of what a row is like."""

_FILLS = (
    *(
        Purpose.TYPE,
        Purpose.PART_OF_CHOICE,
        Purpose.CHOOSE,
        Purpose.CHOOSE_AT_ONCE,
        Purpose.ENTER_CHOICE,
    ),
    *(
        Purpose.OPTION,
        Purpose.BOX,
        Purpose.TOGGLE,
        Purpose.UNTAG,
        Purpose.ATTACH,
        Purpose.COUNT,
        Purpose.DATE,
    ),
    *(Purpose.SLIDER, Purpose.HANDLE, Purpose.FILL_CELL, Purpose.ENTER_CELL, Purpose.CHOOSE_CELL),
    *(Purpose.CHOOSE_CELL_AT_ONCE, Purpose.TOGGLE_CELL),
)

_PHASES = {
    Purpose.VIEW: "go",
    Purpose.TO_CART: "go",
    Purpose.SEARCH: "search",
    Purpose.SEARCH_AT_ONCE: "search",
    Purpose.FILTER: "filter",
    Purpose.SORT: "sort",
    Purpose.ROW: "row",
    Purpose.TWICE: "row",
    Purpose.PLACE: "row",
    Purpose.ADD: "new",
    Purpose.EDIT: "edit",
    Purpose.SAVE: "save",
    Purpose.SAVE_CELL: "save",
    Purpose.DELETE: "delete",
    Purpose.STEP: "step",
    Purpose.CARD_STEP: "step",
    Purpose.MOVE_CARD: "step",
    Purpose.REPLY: "send",
    Purpose.ASK: "ask",
    Purpose.PUT_IN: "put_in",
    Purpose.PUT_IN_LISTED: "put_in",
    Purpose.CHECK_OUT: "check_out",
    **dict.fromkeys(_FILLS, "fill"),
}


class _Phase(NamedTuple):
    """A phase of a plan."""

    name: str
    """Which it is; empty: none."""
    on: str = ""
    """What it is about, as it is told; empty: that is not known."""

    @property
    def key(self) -> str:
        """The key of its sentences."""
        return f"{self.name}_unnamed" if self.name in _NAMED and not self.on else self.name


class Known(NamedTuple):
    """What of names and values is known before anything is done."""

    is_named: Callable[[str], bool]
    """Whether the goal or the picture says a name."""
    is_said: Callable[[str], bool]
    """Whether the goal says a text, as a value that is entered."""


def plan(
    steps: Sequence[ReferenceStep], known: Known, random: Random, *, key: str = "plan"
) -> str | None:
    """Return what steps come to, in a sentence; None: in fewer than two phases, or nobody knows what they are for.

    Args:
        steps: the steps that are to be taken.
        known: what is known; nothing else is named.
        random: draws the words.
        key: `plan` for a first plan, `again` for what is left of one that has changed.
    """
    told = sentences("plan")
    phases = _short([one for one in _phases(steps, known) if one.name])
    if key == "again":  # the way to a page is known by then
        phases = [one for one in phases if one.key != "go_unnamed"]
        phases = list(dropwhile(lambda one: one.name == "sort", phases))  # that was chosen before
    if len(phases) == 1 and f"{key}_one" in told:
        key = f"{key}_one"
    elif len(phases) < 2:  # noqa: PLR2004 - one is no plan
        return None
    said = (vary(random.choice(told[one.key]), random) for one in phases)
    words = [sentence.format(name=one.on) for sentence, one in zip(said, phases, strict=True)]
    return vary(random.choice(told[key]), random).format(phases=_join(words))


def _short(phases: Sequence[_Phase]) -> list[_Phase]:
    """Return phases without what follows by itself from others, if they are many, and without what is done once more."""
    phases = [
        one
        for one, then in pairwise((*_without_echo(phases), _Phase("")))
        if (one.name, then.name) != ("fill", "send")  # the message is written then
    ]
    kept = _once(
        [one for at, one in enumerate(phases) if one.name != "go" or one not in phases[:at]]
    )
    found = [at for at, one in enumerate(kept) if one.name in _FINDS]
    looks = [at for at, one in enumerate(kept) if one.name in _LOOKS]
    for one, other in pairwise(found):
        is_same = bool(kept[one].on) and kept[one] == kept[other]
        if is_same and any(one < at < other for at in looks):
            # What has to be changed is known once it is read.
            return [*kept[: looks[0] + 1], _Phase("check")]
    if len(kept) > MOST:
        kept = _once([one for one in kept if one.name not in _BY_THE_WAY])
    changes = [at for at, one in enumerate(kept) if one.name in _CHANGES]
    if len(changes) > 1 and kept[changes[0]].name == kept[changes[1]].name:
        end = changes[1]
        while end > changes[0] + 1 and kept[end - 1].name in _BEFORE:
            end -= 1
        return [*kept[:end], _Phase("rest")]
    return kept


def _without_echo(phases: Sequence[_Phase]) -> Iterator[_Phase]:
    """Yield phases, without the name of what is searched where it is found by it, and without what a filter says already.

    Whether a page that is not open yet has a search, nobody knows: where that is not told by more than its row, it is left out.
    """
    found = {one.on for one in phases if one.name == "find"}
    is_unseen = False
    narrowed = {f'"{one.on}"' for one in phases if one.name == "filter" and one.on}
    for before, one, then in zip(
        (_Phase(""), *phases), phases, (*phases[1:], _Phase("")), strict=False
    ):
        if one.name == "look" and "look_named" in (before.name, then.name):
            continue
        is_unseen |= one.name == "go"
        if one.name == "search" and is_unseen and (not one.on or one.on in found):
            continue
        is_echo = (one.name == "search" and one.on in found) or one.on in narrowed
        yield _Phase(one.name.removesuffix("_by")) if is_echo else one


def _once(phases: Sequence[_Phase]) -> list[_Phase]:
    """Return phases without those that repeat the one before; what is found after another is another phase."""
    return [
        _together(list(group))
        for _, group in groupby(phases, key=lambda one: one if one.name in _FINDS else one.name)
    ]


def _together(phases: Sequence[_Phase]) -> _Phase:
    """Return phases of one kind as one: of what is filled in that is known, the first few are told."""
    first = phases[0]
    told = list(dict.fromkeys(one.on for one in phases if one.on))
    if not first.name.startswith("fill") or not told:
        return first
    others = len(told) > _MOST_QUOTED or not all(one.on for one in phases)
    named = told[:_MOST_QUOTED]
    return _Phase("fill_named", _list([*named, "the other values"] if others else named))


def _phases(steps: Sequence[ReferenceStep], known: Known) -> Iterator[_Phase]:
    """Yield the phase of each step, without a name if it is of none, and what is known of what it is about."""
    asked, missing = _find_asked(steps, known), missing_name(steps)
    steps = _foreseen(steps)
    for at, step in enumerate(steps):
        on = step.on or ""
        match step.do:
            case Do.FIND:
                yield _find(on, steps[at:], known)
            case Do.READ if not step.keep:  # nothing comes of it, which nobody knows beforehand
                yield _Phase("find", missing if missing and known.is_named(missing) else "")
                break
            case Do.READ:
                yield _by("read", _said_of(step, known))
            case Do.LOOK if any(_says_what_to_do(fact) for fact in step.keep):
                yield _Phase("guide")
                yield _Phase("follow")
                return
            case Do.LOOK:
                yield _Phase("look_named", on) if _is_told(on, known) else _Phase("look")
            case Do.ANSWER:
                yield _Phase("answer" if step.text else "")
            case _ if step.purpose is Purpose.ASK and not _change(steps[:at]):
                yield from (_Phase("do"), _Phase("ask"))
            case _ if step.purpose is not Purpose.PART_OF_CHOICE:  # the choice that follows is told
                yield _done(step, known, is_undecided=_decides(steps[:at]))
            case _:
                pass
    yield from asked


def missing_name(steps: Sequence[ReferenceStep]) -> str:
    """Return the name of the row that a task is about and that does not exist; empty: it exists, or has no name."""
    last = steps[-1] if steps else None
    return last.by[0].of if last is not None and last.do is Do.ANSWER and last.by else ""


def _find_asked(steps: Sequence[ReferenceStep], known: Known) -> list[_Phase]:
    """Return the phases that a task asks for and that turn out to be impossible: nobody knows that beforehand."""
    if not steps or not _says_no(steps[-1]) or _change(steps):
        return []
    facts = [one for one in steps[-1].by if one.value]
    if not facts:
        return [_Phase("do")]
    fills = (_Phase("fill", _value(one.label or "", one.value or "", known)) for one in facts)
    return [_Phase("edit"), *fills, _Phase("save")]


def _change(steps: Sequence[ReferenceStep]) -> bool:
    """Return whether some of the steps change something."""
    return any(phase_of(one) in _CHANGES for one in steps)


def _says_no(step: ReferenceStep) -> bool:
    """Return whether a step is the answer that a task cannot be done."""
    is_said = step.purpose is Purpose.REFUSE or step.text == _IMPOSSIBLE
    return step.do is Do.ANSWER and is_said


def _find(name: str, then: Sequence[ReferenceStep], known: Known) -> _Phase:
    """Return the phase that finds a row: by its name, or by what the goal says of it; `then` begins with its step."""
    if known.is_named(name):
        return _Phase("find", name)
    said = [value for one in then if one.on == name for value in _said_of(one, known)]
    return _by("find", list(dict.fromkeys(said))[:_MOST_QUOTED])


def _by(name: str, said: Sequence[str]) -> _Phase:
    return _Phase(f"{name}_by", _list(said)) if said else _Phase(name)


def _said_of(step: ReferenceStep, known: Known) -> list[str]:
    """Return what a goal says of the rows of a step, in quotation marks."""
    values = dict.fromkeys(one.value for one in step.by if one.value)
    told = (one for one in values if len(one) >= _FEWEST_LETTERS and _is_told(one, known))
    return [f'"{one}"' for one in told][:_MOST_QUOTED]


def _decides(before: Sequence[ReferenceStep]) -> bool:
    """Return whether what is entered after some steps depends on what is read in them, as the thought of one concludes."""
    read = [fact.value for step in before for fact in step.keep if fact.value]
    whys = [step.why or "" for step in before if step.purpose in _TO_FORM]
    return any(one in why for one in read for why in whys)


def _done(step: ReferenceStep, known: Known, *, is_undecided: bool) -> _Phase:
    """Return the phase of a step that does something; what it enters may not be decided yet."""
    name, text = phase_of(step), step.text or ""
    match name:
        case "go":
            return _Phase(name, step.on if step.on and known.is_named(step.on) else "")
        case "search" | "filter":
            return _Phase(name, text if _is_told(text, known) else "")
        case "fill":
            return _Phase(name, "" if is_undecided else _entry(step, known))
        case _:
            return _Phase(name)


def _entry(step: ReferenceStep, known: Known) -> str:
    """Return what a step enters, as far as the goal says it; empty: it does not."""
    is_pointed_at = step.do in (Do.CLICK, Do.DRAG)
    field, value = (step.within, step.on) if is_pointed_at else (step.on, step.text)
    field, value = field or "", value or ""
    return "" if is_pointed_at and not field else _value(field, value, known)  # a box has no value


def _value(field: str, value: str, known: Known) -> str:
    """Return a value that a field is to have, as far as the goal says it; empty: it does not."""
    if not _is_told(value, known):
        return ""
    return f'"{value}" as "{field}"' if _is_told(field, known) else f'"{value}"'


def _is_told(text: str, known: Known) -> bool:
    """Return whether a goal says a text that can be quoted."""
    can_be_quoted = 0 < len(text) <= _LONGEST and '"' not in text and any(map(str.isalnum, text))
    return can_be_quoted and known.is_said(text)


def _foreseen(steps: Sequence[ReferenceStep]) -> Sequence[ReferenceStep]:
    """Return steps without what only a page will say: that it cannot be done, and what is read to see that."""
    *others, last = steps or (None,)
    if last is None or not _says_no(last):
        return steps
    while others and others[-1].do is Do.LOOK and not others[-1].keep:
        others.pop()
    return others


def _says_what_to_do(fact: Fact) -> bool:
    """Return whether a fact is a text of several sentences, as a guide that is to be followed."""
    return fact.value is not None and ". " in fact.value


def phase_of(step: ReferenceStep) -> str:
    """Return the phase of a step that does something; empty: it is of none."""
    return "" if step.purpose is None else _PHASES.get(step.purpose, "")


def _list(parts: Sequence[str]) -> str:
    """Return parts in one line: `a, b and c`."""
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def _join(words: Sequence[str]) -> str:
    """Return phases in one line: `a, b and then c`."""
    *first, last = words
    if len(first) > 1:
        return f"{', '.join(first)} and then {last}"
    return f"{first[0]}, then {last}" if first else last
