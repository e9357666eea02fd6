"""Which texts an episode typed key by key, which another text replaced later, and what an edit of one rests on."""

from collections.abc import Sequence
from itertools import takewhile
from urllib.parse import urlsplit

from generators.verify.shown import Basis, Picture, Shown, split_words
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


def find_edit(step: Step, picture: Picture | None, shown: Shown) -> Basis | None:
    """Return the basis of a text that differs from the one it replaces in one passage alone; None: it has none.

    `picture` is the step's own, None: it is not known. The words around the passage must be in sight on the target, and the passage must have been in sight anywhere.
    """
    action, target = step.action, step.target
    if not isinstance(action, TypeText) or not action.overwrite or picture is None:
        return None
    if target is None or target.bbox is None:
        return None
    before = [word for one in picture.within(target.bbox) for word in split_words(one.text)]
    after = split_words(action.text)
    common = takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False))
    start = sum(1 for _ in common)
    rest = zip(reversed(before[start:]), reversed(after[start:]), strict=False)
    end = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], rest))
    passage = after[start : len(after) - end]
    return shown.find(" ".join(passage)) if passage else Basis(None)
