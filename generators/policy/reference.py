"""A policy that carries out a task's reference, as `schemas/tasks/reference.py` describes it.

The reference says what is done; how it is found is decided by what the episode has been shown (`memory.py`). An element
is acted on by pixels and keys once it is in sight. Until then the policy scrolls to where it has seen it, or else
through what it has not seen yet, at most four fifths of what is in sight at once. If the whole page was in sight and
nothing is called so, the episode ends as a failure of the policy that names the element.
"""

from collections.abc import Sequence

from generators.browser.protocol import Node
from generators.policy.course import Course, Screen, screen_of
from generators.policy.element_names import is_active, is_button_or_link, words
from generators.policy.memory import Memory, Place, Sheet
from generators.policy.named_elements import Page
from generators.policy.protocol import Decision, PolicyCard, PolicyInput
from generators.policy.reference_actions import (
    WAIT_MS,
    act_on,
    act_on_nothing,
    decide,
    is_disabled,
    may_change,
    opens,
    sends_form,
    slide,
)
from generators.policy.seen_document import SeenDocument
from generators.policy.sight import Sight
from generators.policy.slips.slips import Slips
from generators.policy.troubles import Troubles
from generators.policy.window import Window, is_within
from schemas.episodes.action import Answer, Back, Click, Direction, Hover, Key, TypeText, Wait
from schemas.episodes.episode import PolicyKind
from schemas.episodes.observation import Box, Observation, PageState
from schemas.errors import FailureKind, RolloutFailure
from schemas.tasks.reference import Do, ReferenceStep

_FIRST_PART = 18
"""Distance from the edge of a native date field to its first part, px. That part is typed first."""

MAX_SCROLLS = 80
"""Largest number of scrolls for one element, or through one list."""

_LOOKS_THROUGH = {Do.FIND, Do.READ}
_LOOKS = {Do.LOOK, Do.FIND}
_ACTS_ON_NOTHING = {*_LOOKS_THROUGH, Do.LOOK, Do.WAIT, Do.BACK}
_FILLS = {Do.TYPE, Do.ENTER, Do.SELECT, Do.CHOOSE}

_FINDS_ON = "What I look for is not among the rows in sight; the list goes on further down."
_READS_ON = "I have read the rows in sight; the list goes on further down."
_READS_UP = "I have not seen the beginning of this list yet, so I go up."
_UNSEEN = "What I need next is not in sight"
_TO_TOP = "What I need next is not in sight; I have seen it at the top of this page."
_WAITS_ON = 'The page still says "{}", so I go on waiting.'
_CHECKS = "I look whether this page shows what I have changed."
_ENDS = "I have done all that was asked for."
_UNFOLDS = 'What I need next is not in sight; "{}" shows the links of this site.'
_TURNS = 'I have read all that this page lists; "{}" leads to more.'


class ReferencePolicy:
    """A `Policy` that takes the steps of a reference in order, by what it has been shown."""

    def __init__(self, steps: Sequence[ReferenceStep], slips: Slips | None = None) -> None:
        """`slips` are the mistakes that it makes; None: it makes none."""
        self._course = Course(steps)
        self._slips = slips or Slips((), seed="", share=0.0)
        self._troubles = Troubles(self._course)
        self._scrolls = 0
        self._came_to: tuple[str, Box] | None = None
        self._moved_away = False
        self._memory = Memory()
        self._seen = SeenDocument()
        self._unfolded = set[str]()
        self._grows = False
        self._url = ""
        self._set: dict[str, str] = {}
        self._saved: dict[str, str] = {}
        self._opened: ReferenceStep | None = None
        self._keys: list[Decision] = []

    @property
    def card(self) -> PolicyCard:
        """Its name and kind; it is privileged, because it reads the positions of elements."""
        return PolicyCard(name="scripted", kind=PolicyKind.SCRIPTED, privileged=True)

    async def act(self, turn: PolicyInput) -> Decision:
        """Return the next step's action, or a scroll to find its element; an empty answer after the last.

        Raises:
            RolloutFailure: the page does not show the element, or it cannot be reached.
        """
        decision = self._keys.pop(0) if self._keys else await self._decide(turn)
        if may_change(decision.action):
            self._memory.change(grows=self._grows)
        self._grows = False
        return self._slips.mark(self._course, decision)

    async def _decide(self, turn: PolicyInput) -> Decision:
        await self._begin(turn)
        if self._keys:
            return self._keys.pop(0)
        if turn.observation.page.dialog is not None:
            return self._answer_dialog(turn.observation.page)
        url = turn.observation.page.url
        page = await self._look(turn)
        places = self._memory.look(url, page.root, page.front, page.window)
        self._unfolded.update(page.unfolded())
        sight = Sight(page, places, self._memory, screen_of(page, url))
        found = self._troubles.answer(sight) or self._slips.mend(self._course, sight)
        if found is not None:
            return found
        return self._go_on(turn.observation, sight)

    def _answer_dialog(self, page: PageState) -> Decision:
        """Return the next step's answer to what the page asks."""
        step = self._course.next
        if step is None:
            return Decision(action=Answer())
        self._check_dialog(step, page)
        self._take()
        return decide(act_on_nothing(step, page.url), step.why)

    def _go_on(self, observation: Observation, sight: Sight) -> Decision:
        """Return the next step's action, or a scroll to find its element."""
        page, places = sight.page, sight.places
        while (step := self._course.next) is not None:
            self._check_dialog(step, observation.page)
            if step.on is None and step.do not in _LOOKS_THROUGH and not self._has_to_see(step):
                self._take(None, sight.screen)
                return decide(act_on_nothing(step, observation.page.url), step.why)
            if step.do is Do.ANSWER:
                return self._end(step, observation, places)
            decision = self._before(step, page, places)
            if decision is not None:
                return decision
            if step.do in _ACTS_ON_NOTHING:
                self._take(None, sight.screen)
                continue
            slip = self._slips.make(self._course, sight)
            if slip is not None:
                return slip
            if self._course.next is step:
                self._take(self._find(step, page, places), sight.screen)
                return self._act(step, page, places)
        return Decision(action=Answer())

    def _before(self, step: ReferenceStep, page: Page, places: Sequence[Place]) -> Decision | None:
        """Return what is done before a step, or until it is done; None: nothing more."""
        match step.do:
            case Do.WAIT:
                return self._wait(step, page)
            case Do.BACK:
                return self._leave(step, page)
            case Do.FIND | Do.READ:
                return self._look_through(step, page, places)
            case _:
                return self._bring_into_sight(step, page, places)

    async def _begin(self, turn: PolicyInput) -> None:
        """Note which page it is, and plan how an option is taken where a list was just opened."""
        if turn.observation.page.url != self._url:
            self._url = turn.observation.page.url
            self._saved, self._set = self._set, {}
        if self._opened is not None:
            step, self._opened = self._opened, None
            self._choose(step, await self._look(turn))

    async def _look(self, turn: PolicyInput) -> Page:
        """Return the page as it was seen, now or before: of its document nothing else decides."""
        if turn.reader is None:
            raise AssertionError("a privileged policy is given a reader")
        return Page(self._seen.look(await turn.reader.read(), turn.observation))

    def _has_to_see(self, step: ReferenceStep) -> bool:
        """Return whether a step says that something was done, which a page has to show."""
        return step.do is Do.ANSWER and not step.text and bool(self._saved)

    def _end(
        self, step: ReferenceStep, observation: Observation, places: Sequence[Place]
    ) -> Decision:
        """Return the end of a task that changes something, or a scroll to see the change first."""
        shown = " ".join(sight.text for sight in observation.sights or ()).casefold()
        unseen = [text for text in self._saved.values() if words(text).casefold() not in shown]
        on = _unseen_part(places) if unseen else None
        if on is not None:
            self._count_scroll(step)
            return decide(self._memory.scroll(*on), step.why and _CHECKS)
        self._take()
        why = step.why if not unseen else step.why and _ENDS
        return decide(act_on_nothing(step, observation.page.url), why)

    def _find(self, step: ReferenceStep, page: Page, places: Sequence[Place]) -> Node | None:
        """Return the element of a step; None: none was seen.

        One whose name has the step's words among others is meant only if all was in sight, and nothing is called just so.
        """
        exact = page.find(step, exactly=True)
        return page.find(step) if exact is None and _unseen_part(places) is None else exact

    def _ends(self, step: ReferenceStep, page: Page, places: Sequence[Place]) -> list[Node]:
        """Return the elements of a step; a look has what its element is read with before it."""
        found = [
            one
            for named in _steps_that_name(step)
            if (one := self._find(named, page, places)) is not None
        ]
        return [*page.window.around(found[0]), *found] if step.do is Do.LOOK and found else found

    def _bring_into_sight(
        self, step: ReferenceStep, page: Page, places: Sequence[Place]
    ) -> Decision | None:
        """Return a decision by which more of a step's elements comes into sight; None: no more is needed or possible.

        Raises:
            RolloutFailure: all of the page was in sight, and nothing that is called so.
        """
        fold = self._fold_over(step, page)
        if fold is not None:
            return self._unfold(step, fold, page, places)
        for one in _steps_that_name(step):
            end = self._find(one, page, places)
            if end is None or not _is_in_window(end, page):
                self._count_scroll(step)
                back = None if end is None else self._go_back(step, end, page, places)
                return back or self._look_on(step, one, places)
        for end in self._ends(step, page, places):
            scroll = self._show_whole(step, end, page.window)
            if scroll is not None:
                return scroll
        return None

    def _fold_over(self, step: ReferenceStep, page: Page) -> Node | None:
        """Return the button behind which a click's element is, as far as is known; None: it is behind none.

        A part that was never shown may hold it; of one that was, its names are remembered.
        """
        fold = page.fold() if step.do is Do.CLICK else None
        found = None if fold is None else page.find(step, exactly=True)
        if fold is None or (found is not None and is_button_or_link(found)):
            return None
        return fold if not self._unfolded or words(step.on or "") in self._unfolded else None

    def _unfold(
        self, step: ReferenceStep, fold: Node, page: Page, places: Sequence[Place]
    ) -> Decision:
        """Return the click that shows what is folded away, or what brings its button into sight."""
        self._count_scroll(step)
        said = words(fold.text)
        why = step.why and _UNFOLDS.format(said)
        press = ReferenceStep(do=Do.CLICK, on=said, why=why)
        return self._bring_into_sight(press, page, places) or self._act(press, page, places)

    def _go_back(
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
                return decide(Key(key="Home"), step.why and _TO_TOP)
            where = "further up" if direction is Direction.UP else "further down"
            why = step.why and f"{_UNSEEN}; I have seen it {where} on this page."
            scroll = self._memory.scroll(place, direction, distance)
            return decide(scroll, step.why if step.do is Do.LOOK else why)
        return None

    def _look_on(
        self, step: ReferenceStep, named: ReferenceStep, places: Sequence[Place]
    ) -> Decision:
        """Return a scroll to what was not in sight yet.

        Raises:
            RolloutFailure: all was in sight.
        """
        on = _unseen_part(places)
        if on is not None:
            where = "further down" if on[1] is Direction.DOWN else "further up"
            why = step.why and f"{_UNSEEN}; it should be {where} on this page."
            scroll = self._memory.scroll(*on)
            return decide(scroll, step.why if step.do is Do.LOOK else why)
        inside = f" within '{named.within}'" if named.within else ""
        raise RolloutFailure(
            FailureKind.POLICY,
            f"step {self._course.number} of the reference: the page shows no '{named.on}'{inside}",
        )

    def _look_through(
        self, step: ReferenceStep, page: Page, places: Sequence[Place]
    ) -> Decision | None:
        """Return the next scroll through a list, or the click that loads its next rows; None: it is found, or read.

        Raises:
            RolloutFailure: the list has ended without what is to be found in it.
        """
        end = page.find_exactly(step.on) if step.do is Do.FIND and step.on else None
        if end is not None and _is_in_window(end, page):
            whole = [*page.window.around(end), end]
            shown = (self._show_whole(step, one, page.window) for one in whole)
            return next((one for one in shown if one is not None), None)
        self._count_scroll(step)
        on = _unseen_part(places)
        if on is not None:
            down = _READS_ON if step.do is Do.READ else _FINDS_ON
            why = _READS_UP if on[1] is Direction.UP else down
            return decide(self._memory.scroll(*on), step.why and why)
        button = None if step.text is None else page.find_exactly(step.text)
        if step.text is None or button is None or is_disabled(button):
            if step.do is Do.READ:
                return None
            raise RolloutFailure(
                FailureKind.POLICY,
                f"step {self._course.number} of the reference: the list ends without '{step.on}'",
            )
        press = ReferenceStep(do=Do.CLICK, on=step.text, why=step.why and _TURNS.format(step.text))
        scroll = self._bring_into_sight(press, page, places)
        if scroll is not None:
            return scroll
        self._grows = True
        return self._act(press, page, places)

    def _wait(self, step: ReferenceStep, page: Page) -> Decision | None:
        """Return a wait while the page says that something is not done yet; None: it does not say so."""
        sign = page.find_exactly(step.on or "")
        if sign is None or not _is_in_window(sign, page):
            return None
        waits_on = step.why and self._scrolls and _WAITS_ON.format(step.on)
        self._count_scroll(step)
        return decide(Wait(ms=WAIT_MS), waits_on or step.why)

    def _leave(self, step: ReferenceStep, page: Page) -> Decision | None:
        """Return a step back while what is to be used is not in sight; None: it is. Words alone are of no use."""
        wanted = page.find_exactly(step.on or "")
        if wanted is not None and is_active(wanted) and _is_in_window(wanted, page):
            return None
        self._count_scroll(step)
        return decide(Back(), step.why)

    def _count_scroll(self, step: ReferenceStep) -> None:
        self._scrolls += 1
        if self._scrolls > MAX_SCROLLS:
            raise RolloutFailure(
                FailureKind.POLICY,
                f"step {self._course.number} of the reference: '{step.on}' cannot be brought into sight",
            )

    def _check_dialog(self, step: ReferenceStep, page: PageState) -> None:
        """Check that a step answers what the page asks, if and only if it asks.

        Raises:
            RolloutFailure: it does not.
        """
        answers = step.do in (Do.ACCEPT, Do.DISMISS)
        if answers is (page.dialog is not None):
            return
        asked = "nothing" if page.dialog is None else f'"{page.dialog.message}"'
        raise RolloutFailure(
            FailureKind.POLICY,
            f"step {self._course.number} of the reference: '{step.do.value}' while the page asks {asked}",
        )

    def _take(self, thing: Node | None = None, screen: Screen | None = None) -> None:
        """Note that the next step is taken, on an element that a screen shows, or on none."""
        step = self._course.next
        pressed = thing if step is not None and step.do is Do.CLICK else None
        self._course.take(
            screen,
            sends=pressed is not None and sends_form(pressed),
            opens_menu=(pressed is not None and pressed.tag == "summary")
            or (step is not None and step.do in (Do.HOVER, Do.RIGHT_CLICK)),
        )
        self._scrolls, self._came_to, self._moved_away = 0, None, False

    def _act(self, step: ReferenceStep, page: Page, places: Sequence[Place]) -> Decision:
        ends = self._ends(step, page, places)
        if step.do in _FILLS and step.text:
            self._set[step.on or ""] = step.text
        if step.do is Do.SLIDE:
            rtl = page.is_right_to_left
            return decide(slide(ends[0], step.text or "", right_to_left=rtl), step.why)
        points = [end.point for end in ends if end.point is not None]
        if step.do in (Do.SELECT, Do.CHOOSE) and ends[0].tag != "select":
            # A list that the page draws itself: once it is open, its option is there to be clicked.
            seen = step.why and f"The list of '{step.on}' is open: I click '{step.text}'."
            option = ReferenceStep(do=Do.CLICK, on=step.text, why=seen or None)
            self._course.put_in(option)
        elif step.do is Do.SELECT and opens(ends[0]):
            self._opened = step
            return decide(Click(x=points[0][0], y=points[0][1]), step.why)
        if step.do in (Do.TYPE, Do.ENTER) and ends[0].attrs.get("type") == "date":
            points[0] = (min(points[0][0], ends[0].box[0] + _FIRST_PART), points[0][1])
        end = points[1] if points[1:] else None
        return decide(act_on(step, points[0], end, is_native=ends[0].tag == "select"), step.why)

    def _choose(self, step: ReferenceStep, page: Page) -> None:
        """Plan how an option of a field is taken, whose list was just opened: by a click, or by its name where no list is drawn."""
        if page.has_open_list:
            seen = step.why and f"The list of '{step.on}' is open: I click '{step.text}'."
            option = ReferenceStep(do=Do.CLICK, on=step.text, why=seen or None)
            self._course.put_in(option)
            return
        led = step.why and f"The list of '{step.on}' is open; I type '{step.text}' to get to it."
        marked = step.why and f"In the list of '{step.on}' '{step.text}' is marked: Enter takes it."
        name = TypeText(text=step.text or "")
        self._keys = [decide(name, led), decide(Key(key="Enter"), marked)]

    def _show_whole(self, step: ReferenceStep, thing: Node, window: Window) -> Decision | None:
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
        if came_no_nearer and (thing.point is not None or step.do in _LOOKS):
            return None
        self._count_scroll(step)
        if came_no_nearer and not self._moved_away and window.heading is not None:
            self._moved_away = True
            said, (x, y) = window.heading
            why = f'Something lies over what I need next: I move the pointer to "{said}".'
            return decide(Hover(x=x, y=y), step.why and why)
        direction = Direction.DOWN if offset > 0 else Direction.UP
        where = "further down" if offset > 0 else "further up"
        how_much = "covered" if thing.point is None else "only partly in sight"
        seen = step.why and f"What I need next is {how_much}; the rest of it is {where}."
        over = None if holder is None else (view[0] + view[2] / 2, view[1] + view[3] / 2)
        place = Place(Sheet(), 0.0, view, holder, over)
        return decide(
            place.scroll(direction, abs(offset)), step.why if step.do is Do.LOOK else seen
        )


def _steps_that_name(step: ReferenceStep) -> list[ReferenceStep]:
    """Return the steps that name the elements of one: a drag has two."""
    if step.do is not Do.DRAG:
        return [step]
    return [step, ReferenceStep(do=Do.CLICK, on=step.text)]


def _unseen_part(places: Sequence[Place]) -> tuple[Place, Direction] | None:
    """Return the first sheet that has something that was not in sight, and where; None: all was."""
    ways = ((one, one.sheet.next_way(one.top, one.bottom)) for one in places)
    return next(((one, way) for one, way in ways if way is not None), None)


def _is_in_window(thing: Node, page: Page) -> bool:
    """Return whether a part of an element is where it can be in sight."""
    (_, top, _, height), view = thing.box, page.window.view(thing)
    return top < view[1] + view[3] and view[1] < top + max(height, 1.0)
