"""Plans in words: the phases that steps of a reference come to, as far as the goal and the picture name them."""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, pairwise
from random import Random

from generators.policy.sentences.vary import sentences, vary
from schemas.tasks.reference import Do, Fact, Purpose, ReferenceStep

MOST = 5
"""A plan of more phases leaves out those that follow by themselves."""

_BY_THE_WAY = {"search", "filter", "sort", "row"}
_BEFORE = {"go", "find", "look", *_BY_THE_WAY}
_CHANGES = {"new", "edit", "delete", "step", "put_in"}

_IMPOSSIBLE = "impossible"
"""The answer of goals that say how to answer where something cannot be done."""

_NAMED = {"go", "find"}
"""Phases that are said with a name, where it is known."""

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


def plan(
    steps: Sequence[ReferenceStep],
    is_known: Callable[[str], bool],
    random: Random,
    *,
    key: str = "plan",
) -> str | None:
    """Return what steps come to, in a sentence; None: in fewer than two phases, or nobody knows what they are for.

    Args:
        steps: the steps that are to be taken.
        is_known: whether the goal or the picture says a name; only such are named.
        random: draws the words.
        key: `plan` for a first plan, `again` for what is left of one that has changed.
    """
    told = sentences("plan")
    named = ((name, on if is_known(on) else "") for name, on in _phases(steps) if name)
    phases = _short([(name, on if name in _NAMED else "") for name, on in named])
    if len(phases) == 1 and f"{key}_one" in told:
        key = f"{key}_one"
    elif len(phases) < 2:  # noqa: PLR2004 - one is no plan
        return None
    said = (vary(random.choice(told[_key(*one)]), random) for one in phases)
    words = [sentence.format(name=on) for sentence, (_, on) in zip(said, phases, strict=True)]
    return vary(random.choice(told[key]), random).format(phases=_join(words))


def _short(phases: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return phases without what follows by itself from others, if they are many, and without what is done once more."""
    phases = [
        one
        for one, then in pairwise((*phases, ("", "")))
        if (one[0], then[0]) != ("fill", "send")  # the message is written then
    ]
    kept = _once([one for at, one in enumerate(phases) if one[0] != "go" or one not in phases[:at]])
    found = [at for at, (name, _) in enumerate(kept) if name == "find"]
    for one, other in pairwise(found):
        is_same = bool(kept[one][1]) and kept[one] == kept[other]
        if is_same and "look" in (name for name, _ in kept[one:other]):
            first = kept.index(("look", ""))
            return [
                *kept[: first + 1],
                ("check", ""),
            ]  # what has to be changed is known once it is read
    if len(kept) > MOST:
        kept = _once([one for one in kept if one[0] not in _BY_THE_WAY])
    changes = [at for at, (name, _) in enumerate(kept) if name in _CHANGES]
    if len(changes) > 1 and kept[changes[0]][0] == kept[changes[1]][0]:
        end = changes[1]
        while end > changes[0] + 1 and kept[end - 1][0] in _BEFORE:
            end -= 1
        return [*kept[:end], ("rest", "")]
    return kept


def _once(phases: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return phases without those that repeat the one before; what is found after another is another phase."""
    return [
        next(group)
        for _, group in groupby(phases, key=lambda one: one if one[0] == "find" else one[0])
    ]


def _phases(steps: Sequence[ReferenceStep]) -> Iterator[tuple[str, str]]:
    """Yield the phase of each step, empty if it is of none, and the name that the step is on."""
    for step in _foreseen(steps):
        on = step.on or ""
        match step.do:
            case Do.FIND:
                yield "find", on
            case Do.READ if not step.keep:  # nothing comes of it, which nobody knows beforehand
                yield "find", ""
                return
            case Do.READ:
                yield "read", on
            case Do.LOOK if any(_says_what_to_do(fact) for fact in step.keep):
                yield "look", on
                yield "follow", ""
                return
            case Do.LOOK:
                yield "look", on
            case Do.ANSWER:
                yield ("answer" if step.text else ""), on
            case _:
                yield phase_of(step), on


def _foreseen(steps: Sequence[ReferenceStep]) -> Sequence[ReferenceStep]:
    """Return steps without what only a page will say: that it cannot be done, and what is read to see that."""
    *others, last = steps or (None,)
    if last is None or last.do is not Do.ANSWER:
        return steps
    if last.purpose is not Purpose.REFUSE and last.text != _IMPOSSIBLE:
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


def _key(name: str, on: str) -> str:
    return f"{name}_unnamed" if name in _NAMED and not on else name


def _join(words: Sequence[str]) -> str:
    """Return phases in one line: `a, b and then c`."""
    *first, last = words
    if len(first) > 1:
        return f"{', '.join(first)} and then {last}"
    return f"{first[0]}, then {last}" if first else last
