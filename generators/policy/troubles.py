"""What a page shows to have gone wrong on its site, and what is done about it.

A page that still loads is waited for, one that failed is loaded again, a window that lies in the way is closed, and a
session that has ended is begun again. What a page says was not saved is sent once more, or entered again where the
form has lost it. All of this is told by what is in sight: in English by its words, in any language by the number of an
error, by an element that is marked as busy, and by the only name or the only button of a window.
"""

import re
from collections.abc import Iterator

from generators.browser.protocol import Node
from generators.policy.course import Course
from generators.policy.element_names import is_button_or_link, is_field, words
from generators.policy.named_elements import Page
from generators.policy.protocol import Decision
from generators.policy.reference_actions import click, decide
from generators.policy.sentences.vary import sentence
from generators.policy.sight import Sight
from schemas.episodes.action import Reload, TypeText, Wait
from schemas.errors import FailureKind, RolloutFailure
from schemas.tasks.reference import Do, Purpose

MAX_ANSWERS = 12
"""The largest number of such answers in an episode: a site on which more goes wrong is left."""

WAIT_MS = 3_000
"""The time for which a page is waited for at once, ms: three waits are longer than any list of a world takes."""

_BUSY = {"aria-busy": "true"}
"""The attribute of an element whose content is still to come."""

_LOADS = re.compile(r"loading\b.{0,40}", re.IGNORECASE)
_FAILED = {
    *("internal server error", "bad gateway", "service unavailable", "gateway timeout"),
    *("something went wrong",),
}
"""Headings of pages that failed to load, in small letters."""

_FAILED_BY_NUMBER = re.compile(r"50[0234]\b.*")
"""Such a heading that begins with the number of the error."""

_SELECTORS = ("#", ".")
"""What names begin with that no page shows: those of ids and classes."""

_NOT_SAVED = re.compile(
    r"\bnot (be )?(saved|done|stored)\b|\btry again\b|\([^()]*(?<!\d)(50[0234]|409)\)",
    re.IGNORECASE,
)
_LOST = re.compile(r"\benter (them|it) again\b|\([^()]*(?<!\d)409\)", re.IGNORECASE)
"""What an alert says of a form that was not saved, and of one that has lost what was entered: in brackets the numbers of
servers that are not available, and of a conflict with what somebody else has saved."""

_SIGNED_OUT = re.compile(r"\bsigned in as ([^:;.\n]+)")
_BOLD = {"b", "strong"}
_CLOSES = re.compile(
    r"(close|not now|skip|later|maybe later|no,? thanks|dismiss|got it|ok|×)",
    re.IGNORECASE,
)


class Troubles:
    """Finds what went wrong in an episode, and answers it."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._answers = 0
        self._again: int | None = None
        self._taken_up = -1

    def answer(self, sight: Sight) -> Decision | None:
        """Return the answer to what a page shows to be wrong; None: nothing is, or the next step of the course answers it.

        Raises:
            RolloutFailure: the site goes wrong again and again.
        """
        window = _window_in_the_way(sight, self._course)
        answered = None if window is None else self._answer_window(window, sight)
        if answered is not None:
            return answered
        if self._again is not None:
            self._course.go_back(self._again, sentence("policy.lost_all"))
            self._again = None
        return self._answer_page(sight)

    def _answer_page(self, sight: Sight) -> Decision | None:
        seen = [one for one in sight.elements() if one.text]
        loads = next((one.text for one in seen if self._is_busy(one)), None)
        if loads is not None:
            self._note(loads)
            return decide(Wait(ms=WAIT_MS), sentence("policy.loads", told=loads))
        failed = (one.text for one in seen if one.tag in ("h1", "h2"))
        heading = next((one for one in failed if _has_failed(one)), None)
        if heading is not None:
            self._note(heading)
            self._course.set_back()
            return decide(Reload(), sentence("policy.failed", told=heading))
        return self._take_up_alert(seen, sight)

    def _is_busy(self, one: Node) -> bool:
        """Return whether an element says that more is to come, unless the next step waits for it by itself.

        Words for which the site was waited before say so too.
        """
        if _LOADS.fullmatch(one.text):
            return True
        step = self._course.next
        if step is not None and step.do is Do.WAIT:
            return False
        taken = (each.step for each in self._course.taken)
        signs = {words(each.on or "") for each in taken if each.do is Do.WAIT}
        return one.attrs.items() >= _BUSY.items() or words(one.text) in signs

    def _take_up_alert(self, seen: list[Node], sight: Sight) -> Decision | None:
        """Put in what a page's alert asks for, where it says that what was just sent was not saved.

        A window that is still open after its form was sent is looked through for what it says.
        """
        taken = self._course.taken
        if not taken or not taken[-1].sends or len(taken) == self._taken_up:
            return None
        told = next((one.text for one in seen if one.attrs.get("role") == "alert"), "")
        if not _NOT_SAVED.search(told):
            if told or any(one.text and one.attrs.get("role") == "status" for one in seen):
                return None
            is_open = sight.page.front is not sight.page.root and sight.screen == taken[-1].screen
            is_open = is_open and not self._asks_again()
            return sight.look_on(sentence("policy.still_open")) if is_open else None
        self._note(told)
        if _LOST.search(told):
            begin = self._course.begin_of_form()
            first = taken[begin].step
            why = sentence("policy.lost", told=told, on=first.text or first.on)
            self._course.go_back(begin, why)
        else:
            first, *others = self._course.presses()
            why = sentence("policy.not_saved", told=told, on=first.on)
            if (first.on or "")[:1] in _SELECTORS:
                why = sentence("policy.not_saved_unnamed")
            self._course.put_in(first.model_copy(update={"why": why}), *others)
            self._course.set_back()
        self._taken_up = len(taken)
        return None

    def _asks_again(self) -> bool:
        """Return whether a window is open because it asks once more, which the next step answers."""
        step = self._course.next
        return step is not None and step.purpose is Purpose.SURE

    def _note(self, told: str) -> None:
        """Count something that has gone wrong, in the words of the page.

        Raises:
            RolloutFailure: it is too much.
        """
        self._answers += 1
        if self._answers > MAX_ANSWERS:
            raise RolloutFailure(
                FailureKind.POLICY,
                f'the site has gone wrong {self._answers} times, at last: "{told}"',
            )

    def _answer_window(self, window: Node, sight: Sight) -> Decision | None:
        """Return a step towards closing a window, or towards signing in by it; None: it offers neither."""
        seen = [one for one in window.walk() if sight.holds(one)]
        buttons = [one for one in seen if is_button_or_link(one) and one.text]
        name = _name_in(window)
        field = next((one for one in seen if is_field(one)), None)
        if name is not None and field is not None and buttons:
            return self._sign_in(name, field, buttons[0])
        all_buttons = [one for one in window.walk() if is_button_or_link(one)]
        close = next((one for one in buttons if _CLOSES.fullmatch(one.text)), None)
        if close is None and len(buttons) == len(all_buttons) == 1:
            close = buttons[0]
        if close is None or field is not None:
            return None
        headings = (one.text for one in seen if one.tag in ("h1", "h2", "h3") and one.text)
        told = next(headings, "") or window.text[:80]
        self._note(told)
        return click(close, sentence("policy.in_the_way", told=told, on=close.text))

    def _sign_in(self, name: str, field: Node, button: Node) -> Decision:
        """Return the next step of signing in; what was on the form that was sent is entered again afterwards."""
        self._note(name)
        if (field.value or "") != name:
            taken = self._course.taken
            if taken and taken[-1].sends:
                self._again = self._course.begin_of_form()
            x, y = field.point or (0.0, 0.0)
            typed = TypeText(x=x, y=y, text=name, overwrite=True)
            return decide(typed, sentence("policy.session", on=name))
        return click(button, sentence("policy.session_go", on=button.text))


def _has_failed(heading: str) -> bool:
    """Return whether a heading says that its page failed to load."""
    return heading.casefold() in _FAILED or _FAILED_BY_NUMBER.fullmatch(heading) is not None


def _name_in(window: Node) -> str | None:
    """Return the name that a window says a user was signed in with: the only one in bold; None: it says none."""
    bold = [words(one.text) for one in window.walk() if one.tag in _BOLD and one.text]
    if len(bold) == 1:
        return bold[0]
    said = _SIGNED_OUT.search(window.text)
    return None if said is None else said[1].strip()


def _window_in_the_way(sight: Sight, course: Course) -> Node | None:
    """Return the window that lies over the page and has nothing to do with the steps; None: there is none."""
    page, step = sight.page, course.next
    window = page.front
    if course.taken and course.taken[-1].screen == sight.screen:
        return None  # the last step was taken in it
    if step is None or window is page.root or page.has_open_list or any(_scrollers(window, page)):
        return None
    if step.on is None:
        return window if step.do in (Do.READ, Do.ANSWER) else None
    return window if page.find(step) is None else None


def _scrollers(window: Node, page: Page) -> Iterator[Node]:
    """Yield the parts of a window that have more than they show."""
    return (one for one in window.walk() if page.window.scrolls(one))
