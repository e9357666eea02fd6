"""What came over a page by itself, and the steps that answered it, closed it, or put a notice away.

Something stands over a page if most of what can be used there is covered. It came by itself unless a press of the
policy opened it; making a field active opens nothing. A notice covers nothing: it is put away by a button that goes
with it, while all else stays.
"""

from generators.verify.changes import aimed_at
from generators.verify.shifts import texts_of
from generators.verify.thoughts import quotes
from generators.verify.visits import is_near, is_same, place_of
from schemas.episodes.action import Click, Key, Select, TypeText
from schemas.episodes.episode import Episode, Step
from schemas.episodes.observation import Element

_WORDS = 3
"""Words of a line of a notice, at least."""

_NOTICE_PX = 90.0
"""How far the parts of a notice stand from the button that puts it away, CSS px."""

_FIELDS = ("textbox", "searchbox")


class Overlays:
    """What came over the pages of an episode by itself."""

    def __init__(self, episode: Episode) -> None:
        """All by the steps of the episode."""
        self._steps = episode.steps
        self._quoted = quotes(episode.instruction)

    def clears_the_way(self, step: Step) -> bool:
        """Return whether a step closed something that had come over the page by itself, or filled in what it asked."""
        if not isinstance(step.action, Click | Key | Select | TypeText):
            return False
        if isinstance(step.action, Click) and aimed_at(step) is None:
            return False
        for one in self._steps[step.step : -1]:
            if not is_covered(one):
                return False
            if self._closes(one):
                return True
        return False

    def _closes(self, step: Step) -> bool:
        """Return whether a click closed something that had come over the page by itself."""
        if not isinstance(step.action, Click):
            return False
        after = self._steps[step.step + 1]
        if not is_covered(step) or not _uncovers(step, after) or step.page.url != after.page.url:
            return False
        aim = aimed_at(step)
        if aim is None or any(is_same(aim, one) and is_near(aim, one) for one in after.elements):
            return False
        if self._is_wanted(aim):
            return False
        for one in reversed(self._steps[: step.step]):
            if not is_covered(one):  # it came with what this step did
                then = self._steps[one.step + 1]
                return one.page.url != then.page.url or not _opens(one) or _loses(one, then)
        return True

    def _is_wanted(self, aim: Element) -> bool:
        """Return whether what was pressed is a thing that the goal names in quotes: a row, not a button to close with."""
        return any(
            name in (aim.name, aim.text) or aim.name.startswith(f"{name} ") for name in self._quoted
        )

    def dismisses(self, step: Step) -> bool:
        """Return whether a step put away a notice that had been on its page since that was opened, and nothing else."""
        aim, after = aimed_at(step), self._steps[step.step + 1]
        if aim is None or "button" not in (aim.tag, aim.role) or not isinstance(step.action, Click):
            return False
        if step.page.url != after.page.url or self._is_wanted(aim):
            return False
        values = {one.value or "" for look in (step, after) for one in look.elements}
        there = texts_of(after) | values  # a page that comes anew has its fields as they were
        gone = [
            one for one in step.sights or () if _plain(one.text) and _plain(one.text) not in there
        ]
        lost = [one for one in step.elements if _is_usable(one) and not _is_left(one, after)]
        new = [one for one in after.elements if _is_usable(one) and not _is_left(one, step)]
        return (
            any(len(one.text.split()) >= _WORDS for one in gone)
            and any(is_same(aim, one) for one in lost)
            and all(
                _is_beside(box, aim)
                for box in (*(one.bbox for one in gone), *(one.bbox for one in lost))
            )
            and all(_is_beside(one.bbox, aim) or _is_at_end(one, after) for one in new)
            and self._has_been_there(step, aim)
        )

    def _has_been_there(self, step: Step, aim: Element) -> bool:
        """Return whether a thing has been on its page since that was opened, where it could be seen."""
        return all(
            any(other.name == aim.name and other.visible > 0 for other in one.elements)
            for one in self._steps[self._begin(step) : step.step]
            if one.page.scroll_y == step.page.scroll_y
        )

    def _begin(self, step: Step) -> int:
        """Return the step from which on the page of a step has been open."""
        begun = step.step
        while begun and place_of(self._steps[begun - 1]) == place_of(step):
            begun -= 1
        return begun


def is_covered(step: Step) -> bool:
    """Return whether something stands over most of what can be used in the window."""
    usable = [one for one in step.elements if one.interactive and one.visible > 0]
    covered = sum(one.covered for one in usable)
    return covered > 0 and 2 * covered >= len(usable)


def _uncovers(step: Step, after: Step) -> bool:
    """Return whether a step laid open what was covered: all of the page, or half of what stayed where it was."""
    if not is_covered(after):
        return True
    hidden = [one for one in step.elements if one.covered and one.visible > 0]
    free = [
        one
        for one in hidden
        if any(is_same(one, other) and is_near(one, other) for other in after.elements)
    ]
    return bool(free) and 2 * len(free) >= len(hidden)


def _loses(step: Step, after: Step) -> bool:
    """Return whether a page lost what had been entered when it was sent, as where it asks again who is there."""
    here = [one.value for one in step.elements if one.value is not None]
    there = [one.value for one in after.elements if one.value is not None and one.covered]
    return any(here) and len(here) == len(there) and here != there


def is_field(element: Element) -> bool:
    """Return whether text can be entered into an element."""
    return element.value is not None and element.role in _FIELDS


def _opens(step: Step) -> bool:
    """Return whether what came over a page with a step can be what the step opened."""
    aim = aimed_at(step)
    if isinstance(step.action, Click) and aim is not None and is_field(aim):
        return False
    return isinstance(step.action, Click | Key)


def _is_usable(element: Element) -> bool:
    return element.interactive and element.visible > 0 and bool(element.name)


def _is_left(element: Element, step: Step) -> bool:
    """Return whether a picture shows a thing of this kind and name."""
    return any((one.role, one.name) == (element.role, element.name) for one in step.elements)


def _is_beside(box: tuple[float, ...], aim: Element) -> bool:
    """Return whether something stands close above, below or beside what was pressed."""
    return abs(box[1] + box[3] / 2 - aim.bbox[1] - aim.bbox[3] / 2) <= _NOTICE_PX


def _is_at_end(element: Element, step: Step) -> bool:
    """Return whether something stands where a page moves up that has lost a notice."""
    return element.bbox[1] + element.bbox[3] >= step.height - 2 * _NOTICE_PX


def _plain(text: str) -> str:
    return " ".join(text.split())
