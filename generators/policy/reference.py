"""A policy that carries out a task's reference, as `schemas/tasks/reference.py` describes it.

The reference says what is done; how it is found is decided by what the episode has been shown (`memory.py`). An element
is acted on by pixels and keys once it is in sight (`approach.py`). What goes wrong is seen and mended (`troubles.py`), the
policy's own mistakes too (`slips/`).
"""

from collections.abc import Sequence
from dataclasses import replace

from generators.browser.protocol import Node
from generators.policy.approach import Approach, is_in_window
from generators.policy.course import Course, Screen, screen_of
from generators.policy.element_names import is_active, words
from generators.policy.memory import Memory, Place, unseen_part
from generators.policy.named_elements import Page
from generators.policy.notes import Notes
from generators.policy.protocol import Decision, PolicyCard, PolicyInput
from generators.policy.reference_actions import (
    FILLS,
    WAIT_MS,
    act_on,
    act_on_nothing,
    click,
    decide,
    is_disabled,
    may_change,
    opens,
    sends_form,
    slide,
)
from generators.policy.seen_document import SeenDocument
from generators.policy.sentences.vary import sentence
from generators.policy.sight import Sight
from generators.policy.slips.slips import Slips
from generators.policy.thoughts.lists import looks, turns
from generators.policy.thoughts.voice import Voice
from generators.policy.troubles import Troubles
from generators.policy.ways import Ways
from schemas.episodes.action import (
    Answer,
    Back,
    Click,
    Direction,
    Key,
    Tab,
    TabOperation,
    TypeText,
    Wait,
)
from schemas.episodes.episode import PolicyKind
from schemas.episodes.observation import Observation, PageState
from schemas.errors import FailureKind, RolloutFailure
from schemas.tasks.reference import Do, ReferenceStep

_FIRST_PART = 18
"""Distance from the edge of a native date field to its first part, px. That part is typed first."""

_LOOKS_THROUGH = {Do.FIND, Do.READ}
_ACTS_ON_NOTHING = {*_LOOKS_THROUGH, Do.LOOK, Do.WAIT, Do.BACK, Do.TAB}


class ReferencePolicy:
    """A `Policy` that takes the steps of a reference in order, by what it has been shown."""

    def __init__(
        self, steps: Sequence[ReferenceStep], slips: Slips | None = None, *, seed: str = ""
    ) -> None:
        """`slips` are the mistakes that it makes, None: it makes none; the seed decides how it words its notes."""
        self._course = Course(steps)
        self._notes = Notes(self._course, seed)
        self._voice = Voice(self._course, self._notes, seed)
        self._sight: Sight | None = None
        self._slips = slips or Slips((), seed="", share=0.0)
        self._troubles = Troubles(self._course)
        self._memory = Memory()
        self._approach = Approach(self._course, self._memory)
        self._ways = Ways(self._course)
        self._seen = SeenDocument()
        self._grows = False
        self._url = self._goal = ""
        self._headings: dict[str, str] = {}
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
        self._sight = None
        decision = self._keys.pop(0) if self._keys else await self._decide(turn)
        decision = self._notes.add(self._slips.mark(self._course, decision))
        decision = self._voice.say(decision, self._sight, turn.instruction)
        if may_change(decision.action):
            self._memory.change(grows=self._grows)
        self._grows = False
        return decision

    async def _decide(self, turn: PolicyInput) -> Decision:
        self._goal = self._approach.goal = turn.instruction
        await self._begin(turn)
        if self._keys:
            return self._keys.pop(0)
        if turn.observation.page.dialog is not None:
            return self._answer_dialog(turn.observation.page)
        url = turn.observation.page.url
        self._saved = _unseen(self._saved, turn.observation)
        page = await self._look(turn)
        places = self._memory.look(url, page.root, page.front, page.window)
        self._approach.unfolded.update(page.fold_names())
        sight = Sight(page, places, self._memory, self._screen(page, turn.observation.page))
        self._notes.look(sight)
        self._sight = sight
        found = self._troubles.answer(sight) or self._slips.mend(self._course, sight)
        if found is not None:
            return found
        return self._go_on(turn.observation, sight)

    def _screen(self, page: Page, state: PageState) -> Screen:
        """Return which form or list is shown; a heading that was scrolled away is remembered by its address."""
        screen = screen_of(page, state)
        if page.modal is not page.root:
            return screen
        heading = screen.heading or self._headings.get(screen.url, "")
        self._headings[screen.url] = heading
        return replace(screen, heading=heading)

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
            if self._ways.shorten(sight, self._goal):
                continue
            step = self._course.next or step  # it may have got another thought
            self._notes.look(sight)
            decision = self._ways.close_tried(sight) or self._click_menu(step, sight)
            decision = decision or self._before(step, sight)
            if decision is not None:
                return decision
            if step.do in _ACTS_ON_NOTHING:
                self._take(None, sight.screen)
                continue
            slip = self._slips.make(self._course, sight) or self._ways.try_menu(sight)
            if slip is not None:
                self._ways.note(slip, sight)
                return slip
            if self._course.next is step:
                self._take(self._approach.find(step, page, places), sight.screen)
                return self._act(step, page, places)
        return Decision(action=Answer())

    def _before(self, step: ReferenceStep, sight: Sight) -> Decision | None:
        """Return what is done before a step, or until it is done; None: nothing more."""
        page, places = sight.page, sight.places
        match step.do:
            case Do.WAIT:
                return self._wait(step, page)
            case Do.BACK | Do.TAB:
                return self._leave(step, sight)
            case Do.FIND | Do.READ:
                return self._look_through(step, page, places)
            case _:
                return self._approach.reach(step, page, places)

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
        on = unseen_part(places) if self._saved else None
        if on is not None:
            self._approach.count(step)
            return decide(self._memory.scroll(*on), step.why and sentence("policy.checks"))
        self._take()
        why = step.why if not self._saved else step.why and sentence("policy.ends")
        return decide(act_on_nothing(step, observation.page.url), why)

    def _look_through(
        self, step: ReferenceStep, page: Page, places: Sequence[Place]
    ) -> Decision | None:
        """Return the next scroll through a list, or the click that loads its next rows; None: it is found, or read.

        Raises:
            RolloutFailure: the list has ended without what is to be found in it.
        """
        end = page.find_exactly(step.on) if step.do is Do.FIND and step.on else None
        if end is not None and is_in_window(end, page):
            whole = [*page.window.around(end), end]
            shown = (self._approach.show_whole(step, one, page.window) for one in whole)
            return next((one for one in shown if one is not None), None)
        self._approach.count(step)
        back = None if end is None else self._approach.go_back(step, end, page, places)
        if back is not None:
            return back
        button = None if step.text is None else page.find_exactly(step.text)
        end_of_list = None if step.text is None else page.end_of_list(button)
        on = unseen_part(places, end_of_list)
        if on is not None:
            way = "up" if on[1] is Direction.UP else "on"
            looked = looks(step, self._course, self._goal, way=way, scrolls=self._approach.scrolls)
            return decide(self._memory.scroll(*on), step.why and looked)
        if step.text is None or button is None or is_disabled(button):
            if step.do is Do.READ:
                return None
            raise RolloutFailure(
                FailureKind.POLICY,
                f"step {self._course.number} of the reference: the list ends without '{step.on}'",
            )
        scrolls = self._approach.scrolls
        why = step.why and turns(step, self._course, self._goal, scrolls=scrolls)
        press = ReferenceStep(do=Do.CLICK, on=step.text, why=why)
        scroll = self._approach.reach(press, page, places)
        if scroll is not None:
            return scroll
        self._grows = True
        return self._act(press, page, places)

    def _click_menu(self, step: ReferenceStep, sight: Sight) -> Decision | None:
        """Return a click on the menu that was just pointed at and has not opened; None: it has, or was clicked."""
        last = self._course.taken[-1] if self._course.taken else None
        if (
            last is None
            or last.step.do is not Do.HOVER
            or self._approach.scrolls
            or step.on is None
        ):
            return None
        menu = sight.page.find(last.step, exactly=True)
        is_open = sight.page.find(step, exactly=True) is not None
        if last.screen != sight.screen or is_open or menu is None or menu.point is None:
            return None
        self._approach.count(step)
        return click(menu, step.why and sentence("policy.not_open", on=last.step.on))

    def _wait(self, step: ReferenceStep, page: Page) -> Decision | None:
        """Return a wait while the page says that something is not done yet; None: it does not say so."""
        sign = page.find_exactly(step.on or "")
        if sign is None or not is_in_window(sign, page):
            return None
        waits_on = step.why and self._approach.scrolls and sentence("policy.waits_on", on=step.on)
        self._approach.count(step)
        return decide(Wait(ms=WAIT_MS), waits_on or step.why)

    def _leave(self, step: ReferenceStep, sight: Sight) -> Decision | None:
        """Return a step out of a page while what is to be used is not in sight; None: it is, or this is its own page.

        Words alone are of no use; behind a button that shows the navigation they may be.
        """
        page, name = sight.page, words(step.on or "")
        wanted = page.find_exactly(name)
        if wanted is not None and is_active(wanted) and is_in_window(wanted, page):
            return None
        if words(sight.screen.heading) == name or page.fold() is not None:
            return None
        self._approach.count(step)
        closes = step.do is Do.TAB and sight.screen.tabs > 1
        goes_on = self._approach.scrolls > 1
        why = step.why and (sentence("policy.leaves_on") if goes_on else step.why)
        return decide(Tab(operation=TabOperation.CLOSE) if closes else Back(), why)

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
        sends = pressed is not None and sends_form(pressed)
        self._saved = {**self._set} if sends else self._saved
        self._course.take(
            screen,
            sends=sends,
            opens_menu=(pressed is not None and pressed.tag == "summary")
            or (step is not None and step.do in (Do.HOVER, Do.RIGHT_CLICK)),
        )
        self._approach.begin()

    def _act(self, step: ReferenceStep, page: Page, places: Sequence[Place]) -> Decision:
        ends = self._approach.ends(step, page, places)
        if step.do in FILLS and step.text:
            self._set[step.on or ""] = step.text
        if step.do is Do.DRAG:
            self._saved = {step.on or "": step.on or ""}
        if step.do is Do.SLIDE:
            rtl = page.is_right_to_left
            return decide(slide(ends[0], step.text or "", right_to_left=rtl), step.why)
        points = [end.point for end in ends if end.point is not None]
        if step.do in (Do.SELECT, Do.CHOOSE) and ends[0].tag != "select":
            # A list that the page draws itself: once it is open, its option is there to be clicked.
            self._put_in_option(step)
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
            self._put_in_option(step)
            return
        led = step.why and sentence("policy.option_typed", on=step.on, text=step.text)
        marked = step.why and sentence("policy.option_marked", on=step.on, text=step.text)
        name = TypeText(text=step.text or "")
        self._keys = [decide(name, led), decide(Key(key="Enter"), marked)]

    def _put_in_option(self, step: ReferenceStep) -> None:
        """Plan the click on an option of a list that is open."""
        why = step.why and sentence("policy.option", on=step.on, text=step.text)
        self._course.put_in(ReferenceStep(do=Do.CLICK, on=step.text, why=why or None))


def _unseen(saved: dict[str, str], observation: Observation) -> dict[str, str]:
    """Return the texts that a picture does not show, by the names of their fields."""
    shown = " ".join(sight.text for sight in observation.sights or ()).casefold()
    return {name: text for name, text in saved.items() if words(text).casefold() not in shown}
