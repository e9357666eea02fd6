"""How a policy comes to the element of a step: by scrolls to where it was seen, or else through what was not seen yet.

At most four fifths of what is in sight are scrolled at once. A part that is folded away is opened; what only partly is in
sight, or is covered, is brought into sight whole. If the whole page was in sight and nothing is called so, the episode ends
as a failure of the policy that names the element.
"""

from collections.abc import Sequence

from generators.browser.protocol import Node
from generators.policy.course import Course, is_known
from generators.policy.element_names import ROWS, is_active, names, words
from generators.policy.memory import Memory, Place, Sheet, unseen_part
from generators.policy.named_elements import Page
from generators.policy.protocol import Decision
from generators.policy.reference_actions import FILLS, click, decide
from generators.policy.sentences.vary import sentence
from generators.policy.window import Window, is_within
from schemas.episodes.action import Direction, Hover, Key
from schemas.episodes.observation import Box
from schemas.errors import FailureKind, RolloutFailure
from schemas.tasks.reference import Do, Purpose, ReferenceStep

MAX_SCROLLS = 80
"""Largest number of scrolls for one element, or through one list."""

LOOKS = {Do.LOOK, Do.FIND}
"""What is only looked at."""

_OPENS = {Purpose.ROW, Purpose.TWICE}
"""The purposes of steps that open a row's page, by its name."""

_ENTERS = {*FILLS, Do.SLIDE, Do.DRAG}
"""What enters something into a form."""


_LONGEST = 60
"""Longer texts are not quoted, in characters."""

_THINGS = {
    Purpose.VIEW: "the link that I need",
    Purpose.SAVE: "the button that saves",
    Purpose.APPLY: "the button for this list",
    Purpose.ORDER: "the button for this list",
    Purpose.REPLY: "the button that sends this",
    Purpose.ROW: "the one that I have to open",
    Purpose.TWICE: "the one that I have to open",
    Purpose.EDIT: "the way to its form",
    Purpose.ADD: "the way to a new one",
    Purpose.DELETE: "the way to remove it",
    Purpose.STEP: "the way to its next state",
    Purpose.NEXT_PART: "the way to the next part",
    Purpose.CHECK_OUT: "the way to send the order",
    Purpose.PUT_IN: "the way to put it in",
    Purpose.ASK: "the way to ask for it",
    Purpose.OPTION: "the choice that I have to click",
    Purpose.BOX: "the box that I have to click",
}
"""What the elements of some purposes are called."""


class Approach:
    """The way to the elements of a course's next step."""

    def __init__(self, course: Course, memory: Memory) -> None:
        self._course, self._memory = course, memory
        self.scrolls = 0
        """The scrolls for the next step so far."""
        self.goal = ""
        """The task's goal, whose names may be said of what is not in sight yet."""
        self.unfolded = set[str]()
        """The names that folded parts have shown."""
        self._came_to: tuple[str, Box] | None = None
        self._moved_away = False

    def begin(self) -> None:
        """Begin with another step."""
        self.scrolls, self._came_to, self._moved_away = 0, None, False

    def find(self, step: ReferenceStep, page: Page, places: Sequence[Place]) -> Node | None:
        """Return the element of a step; None: none was seen.

        One whose name has the step's words among others is meant only if all was in sight, and nothing is called just so.
        """
        fact, goes_on = _fact_named(step, page), unseen_part(places) is not None
        exact = fact or page.find(step, exactly=True)
        if goes_on and exact is not None and page.is_cut_before(step, exact):
            return None
        return page.find(step) if exact is None and not goes_on else exact

    def ends(self, step: ReferenceStep, page: Page, places: Sequence[Place]) -> list[Node]:
        """Return the elements of a step; a look has what its element is read with before it."""
        found = [
            one
            for named in _steps_that_name(step)
            if (one := self.find(named, page, places)) is not None
        ]
        return [*page.window.around(found[0]), *found] if step.do is Do.LOOK and found else found

    def reach(self, step: ReferenceStep, page: Page, places: Sequence[Place]) -> Decision | None:
        """Return a decision by which more of a step's elements comes into sight; None: no more is needed or possible.

        Raises:
            RolloutFailure: all of the page was in sight, and nothing that is called so.
        """
        fold = self._fold_over(step, page)
        if fold is not None and not (self._fills_form() and unseen_part(places) is not None):
            return self._unfold(step, fold, page, places)
        for one in _steps_that_name(step):
            end = self.find(one, page, places)
            if end is None or not is_in_window(end, page):
                self.count(step)
                back = None if end is None else self.go_back(step, end, page, places)
                return back or self._look_on(step, one, places)
        for end in self.ends(step, page, places):
            scroll = self.show_whole(step, end, page.window)
            if scroll is not None:
                return scroll
        return None

    def _fills_form(self) -> bool:
        """Return whether something was just entered: what is clicked next is rather on the form than in a navigation."""
        return bool(self._course.taken) and self._course.taken[-1].step.do in _ENTERS

    def _fold_over(self, step: ReferenceStep, page: Page) -> Node | None:
        """Return the button behind which a click's element is, as far as is known; None: it is behind none.

        A part that was never shown may hold it; of one that was, its names are remembered.
        """
        is_in_part = step.within is not None
        fold = page.fold() if step.do is Do.CLICK and not is_in_part else None
        found = None if fold is None else page.find(step, exactly=True)
        if fold is None or (found is not None and is_active(found)):
            return None
        return fold if not self.unfolded or words(step.on or "") in self.unfolded else None

    def _unfold(
        self, step: ReferenceStep, fold: Node, page: Page, places: Sequence[Place]
    ) -> Decision:
        """Return the click that shows what is folded away, or what brings its button into sight."""
        self.count(step)
        name = words(fold.text)
        why = step.why and sentence("policy.unfolds", on=name)
        press = ReferenceStep(do=Do.CLICK, on=name, why=why)
        return self.reach(press, page, places) or click(fold, why)

    def go_back(
        self, step: ReferenceStep, thing: Node, page: Page, places: Sequence[Place]
    ) -> Decision | None:
        """Return the way back to a thing that was in sight; None: there is none."""
        holder = page.window.holder(thing)
        for place in (one for one in places if one.holder is holder):
            back = self._memory.recall(place, thing)
            if back is None:
                continue
            direction, distance = back
            if place.is_far_up(direction, distance) and not page.is_written_in:
                to_top = sentence("policy.to_top", thing=self._words_for(step))
                return decide(Key(key="Home"), step.why and to_top)
            scroll = self._memory.scroll(place, direction, distance)
            return decide(
                scroll, self._why(step, direction, self._was_in_sight(step, thing, direction))
            )
        return None

    def _look_on(
        self, step: ReferenceStep, named: ReferenceStep, places: Sequence[Place]
    ) -> Decision:
        """Return a scroll to what was not in sight yet.

        Raises:
            RolloutFailure: all was in sight.
        """
        on = unseen_part(places)
        if on is not None:
            why = sentence(f"policy.unseen_{_way(on[1])}", thing=self._words_for(step))
            return decide(self._memory.scroll(*on), self._why(step, on[1], why))
        inside = f" within '{named.within}'" if named.within else ""
        raise RolloutFailure(
            FailureKind.POLICY,
            f"step {self._course.number} of the reference: the page shows no '{named.on}'{inside}",
        )

    def show_whole(self, step: ReferenceStep, thing: Node, window: Window) -> Decision | None:
        """Return a decision that brings the rest of an element into sight; None: no more is needed or possible.

        It is a scroll, or, if scrolling does not help, a hover at the heading to close a menu that lies
        over the element.

        Raises:
            RolloutFailure: no part of it comes into sight.
        """
        view, holder = window.view(thing), window.holder(thing)
        if thing.point is not None and is_within(thing, view):
            return None
        _, top, _, height = thing.box
        offset = top + height / 2 - view[1] - view[3] / 2
        came_no_nearer = self._came_to == (thing.text, thing.box) or window.is_at_end(
            holder, down=offset > 0
        )
        self._came_to = (thing.text, thing.box)
        if came_no_nearer and (thing.point is not None or step.do in LOOKS):
            return None
        self.count(step)
        if came_no_nearer and not self._moved_away and window.heading is not None:
            self._moved_away = True
            heading, (x, y) = window.heading
            why = sentence("policy.covered", on=words(heading))
            return decide(Hover(x=x, y=y), step.why and why)
        direction = Direction.DOWN if offset > 0 else Direction.UP
        how_much = "covered" if thing.point is None else "partly"
        seen = (words(one.text) for one in thing.walk() if one.point is not None)
        is_named = step.on is not None and self._is_known(step.on) and step.on in seen
        called = f'"{step.on}"' if is_named else "what I need next"
        why = sentence(f"policy.{how_much}_{_way(direction)}", thing=called)
        over = None if holder is None else (view[0] + view[2] / 2, view[1] + view[3] / 2)
        place = Place(Sheet(), 0.0, view, holder, over)
        scroll = place.scroll(direction, abs(offset))
        return decide(scroll, self._why(step, direction, why))

    def _why(self, step: ReferenceStep, direction: Direction, why: str) -> str | None:
        """Return why the page is scrolled: a look says it itself, at first."""
        if step.do is not Do.LOOK or step.why is None:
            return step.why and why
        return step.why if self.scrolls <= 1 else sentence("policy.looks_on", way=_way(direction))

    def _words_for(self, step: ReferenceStep) -> str:
        """Return what a step's element is called: by its name where the goal says that, or by what it is for."""
        name = step.on or ""
        if step.do is Do.DRAG:
            return f'"{name}"' if self._says(name) else "what I have to drag"
        if step.do in _ENTERS:
            return self._words_for_field(name, step.text or "")
        if (step.purpose in _OPENS or step.do is Do.FIND) and self._is_known(name):
            return f'"{name}"'
        if name.isdecimal():  # of a calendar, whose days lead to a form too
            return "the day that I need"
        thing = None if step.purpose is None else _THINGS.get(step.purpose)
        return thing or "what I need next"

    def _words_for_field(self, name: str, text: str) -> str:
        """Return what a field is called: by its name or by what is put into it, if the goal says that."""
        if self._says(name):
            return f'the field "{name}"'
        is_told = len(text) <= _LONGEST and self._says(text)
        return f'the field for "{text}"' if is_told else "the field that comes next"

    def _is_known(self, name: str) -> bool:
        """Return whether a name that can be quoted is known."""
        return _can_be_quoted(name) and is_known(name, self._course, self.goal)

    def _says(self, name: str) -> bool:
        """Return whether the goal says a name that can be quoted."""
        return _can_be_quoted(name) and names(self.goal, name)

    def _was_in_sight(self, step: ReferenceStep, thing: Node, direction: Direction) -> str:
        """Return why a page is scrolled to what was in sight: words on it are named."""
        if step.on is not None and words(thing.text) == step.on:
            return sentence(f"policy.seen_{_way(direction)}_named", on=step.on)
        return sentence(f"policy.seen_{_way(direction)}", thing=self._words_for(step))

    def count(self, step: ReferenceStep) -> None:
        """Count a scroll, or another action that brings a step's element nearer.

        Raises:
            RolloutFailure: there were too many.
        """
        self.scrolls += 1
        if self.scrolls > MAX_SCROLLS:
            raise RolloutFailure(
                FailureKind.POLICY,
                f"step {self._course.number} of the reference: '{step.on}' cannot be brought into sight",
            )


def _fact_named(step: ReferenceStep, page: Page) -> Node | None:
    """Return the label that a look is for among the facts of a row's page, which a list beside it may have too; None: there is none."""
    if step.do is not Do.LOOK:
        return None
    wanted = words(step.on or "")
    named = (one for one in page.front.walk() if one.tag == "dt" and words(one.text) == wanted)
    return next((one for one in named if not _is_in_row(one, page)), None)


def _is_in_row(thing: Node, page: Page) -> bool:
    return any(one.tag in ROWS for one in page.window.path_to(thing))


def _can_be_quoted(name: str) -> bool:
    return name[:1] not in {"", "#", "."} and '"' not in name


def _way(direction: Direction) -> str:
    return "up" if direction is Direction.UP else "down"


def _steps_that_name(step: ReferenceStep) -> list[ReferenceStep]:
    """Return the steps that name the elements of one: a drag has two."""
    if step.do is not Do.DRAG:
        return [step]
    return [step, ReferenceStep(do=Do.CLICK, on=step.text)]


def is_in_window(thing: Node, page: Page) -> bool:
    """Return whether a part of an element is where it can be in sight."""
    (_, top, _, height), view = thing.box, page.window.view(thing)
    return top < view[1] + view[3] and view[1] < top + max(height, 1.0)
