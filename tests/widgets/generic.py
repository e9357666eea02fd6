"""The generic skills: what each goal becomes, in steps of a reference, whatever the kit or the component.

They know a thing by the words on it or beside it alone. There is one rule a skill and no rule a component.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from schemas.tasks.reference import Do, ReferenceStep


def steps_of(goals: Sequence[dict[str, Any]]) -> list[ReferenceStep]:
    """Return the steps by which the generic skills reach these goals, one after another."""
    return [step for goal in goals for step in _steps(goal)]


def _steps(goal: dict[str, Any]) -> Iterator[ReferenceStep]:
    match goal:
        case {"click": name}:
            yield _click(name)
        case {"type": text, "into": name}:
            yield ReferenceStep(do=Do.TYPE, on=name, text=text)
        case {"choose": option, "of": name}:
            yield ReferenceStep(do=Do.SELECT, on=name, text=option)
        case {"date": written, "of": name}:
            yield ReferenceStep(do=Do.TYPE, on=name, text=written)
            yield _press("Enter")
        case {"slide": name, "steps": steps}:
            yield from (_click(name), _press("Home"), *[_press("ArrowRight")] * steps)
        case {"press": key}:
            yield _press(key)
        case {"drag": name, "to": place}:
            yield ReferenceStep(do=Do.DRAG, on=name, text=place)
        case {"upload": file, "into": name}:
            yield _click(name)
            yield ReferenceStep(do=Do.ACCEPT, text=file)


def _click(name: str) -> ReferenceStep:
    return ReferenceStep(do=Do.CLICK, on=name)


def _press(key: str) -> ReferenceStep:
    return ReferenceStep(do=Do.PRESS, text=key)
