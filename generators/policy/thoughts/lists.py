"""Why a list is looked through further: what is looked for in it, as far as that is known, or what its rows are read for."""

from collections.abc import Sequence

from generators.policy.course import Course, is_known
from generators.policy.element_names import names
from generators.policy.sentences.vary import sentence
from generators.policy.thoughts.plan import missing_name
from schemas.tasks.reference import Do, ReferenceStep

_EVERY = 3
"""What the rows are read for is said at each scroll of so many."""

_MOST = 2
"""So many values are told of a row that is looked for."""

_SHORTEST, _LONGEST = 3, 60
"""Shorter values, as "No", may stand in a goal for something else; longer ones are not quoted. In characters."""


def looks(step: ReferenceStep, course: Course, goal: str, *, way: str, scrolls: int) -> str:
    """Return why a list is scrolled: `way` is `on` or `up`, where it may have changed since it was seen."""
    missing = _find_missing(step, course, goal)
    if missing:
        return sentence(f"policy.finds_{way}_named", on=missing)
    if step.do is Do.READ and not step.keep and way == "on":
        return sentence("policy.looks_for_more")  # there may be no rows at all
    if step.do is Do.READ:
        aim = _aim(step, scrolls) if way == "on" else None
        return sentence("policy.reads_on_for", aim=aim) if aim else sentence(f"policy.reads_{way}")
    if _is_named(step, course, goal):
        return sentence(f"policy.finds_{way}_named", on=step.on)
    said = _facts_of(step, course.to_come, goal) if way == "on" else ""
    return sentence("policy.finds_on_for", facts=said) if said else sentence(f"policy.finds_{way}")


def turns(step: ReferenceStep, course: Course, goal: str, *, scrolls: int) -> str:
    """Return why the next rows of a list are loaded."""
    if _is_named(step, course, goal):
        return sentence("policy.turns_named", on=step.on, next=step.text)
    if missing := _find_missing(step, course, goal):
        return sentence("policy.turns_named", on=missing, next=step.text)
    aim = _aim(step, scrolls) if step.do is Do.READ else None
    if aim:
        return sentence("policy.reads_turns_for", aim=aim, next=step.text)
    said = _facts_of(step, course.to_come, goal) if step.do is Do.FIND else ""
    if said:
        return sentence("policy.turns_for", facts=said, next=step.text)
    return sentence("policy.turns", next=step.text)


def _is_named(step: ReferenceStep, course: Course, goal: str) -> bool:
    """Return whether the name of what a step looks for is known."""
    return step.on is not None and is_known(step.on, course, goal)


def _find_missing(step: ReferenceStep, course: Course, goal: str) -> str:
    """Return the name of what a list is read for in vain, if it is known; empty: it is read for something else."""
    name = missing_name(course.to_come) if step.do is Do.READ and not step.keep else ""
    return name if name and is_known(name, course, goal) else ""


def _aim(step: ReferenceStep, scrolls: int) -> str | None:
    """Return what a list is read for, now and then; None: that was just said, or nobody knows."""
    is_due = bool(step.keep) and scrolls % _EVERY == 1
    return step.why if is_due and step.why and "⟪" not in step.why else None


def _facts_of(step: ReferenceStep, to_come: Sequence[ReferenceStep], goal: str) -> str:
    """Return what the goal says of the row that is looked for, in quotation marks; empty: nothing that can be quoted."""
    by = [fact for one in to_come if one.on == step.on for fact in one.by]
    values = dict.fromkeys(one.value for one in by if one.value)
    said = [f'"{one}"' for one in values if _can_be_quoted(one) and names(goal, one)][:_MOST]
    return " and ".join(said)


def _can_be_quoted(text: str) -> bool:
    return _SHORTEST <= len(text) <= _LONGEST and '"' not in text and any(map(str.isalnum, text))
