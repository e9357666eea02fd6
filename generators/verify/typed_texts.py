"""Which texts an episode typed key by key, and which another text replaced later."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from schemas.episodes.action import Key, TypeText
from schemas.episodes.episode import Step


def spelled_texts(taken: Sequence[Step]) -> dict[int, str]:
    """Return the texts that are typed key by key, by the step of the last key."""
    out: dict[int, str] = {}
    for step in taken:
        key = step.action.key if isinstance(step.action, Key) else ""
        if len(key) == 1:
            out[step.step] = out.pop(step.step - 1, "") + key
    return out


def replaced_texts(taken: Sequence[Step]) -> set[int]:
    """Return the steps whose typed text another one replaces later in the same field."""
    typed = [step for step in taken if isinstance(step.action, TypeText) and step.target]
    return {
        one.step
        for place, one in enumerate(typed)
        for later in typed[place + 1 :]
        if isinstance(later.action, TypeText)
        and later.action.overwrite
        and _is_same_field(one, later)
    }


def _is_same_field(one: Step, later: Step) -> bool:
    """Return whether two steps are on the same field of the same page: by its name, or by where it stands."""
    field, again = one.target, later.target
    if (
        field is None
        or again is None
        or urlsplit(one.page.url).path != urlsplit(later.page.url).path
    ):
        return False
    if field.tag != again.tag or field.bbox is None or again.bbox is None:
        return False
    left, top, width, height = field.bbox
    x, y = again.bbox[0] + again.bbox[2] / 2, again.bbox[1] + again.bbox[3] / 2
    is_there = left <= x <= left + width and top <= y <= top + height
    return is_there or (field.name is not None and field.name == again.name)
