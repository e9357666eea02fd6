"""How a policy says what it does: the reason for an action in varied words, a plan at the start, and a new one after a setback."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from random import Random

from generators.policy.course import Course, Taken
from generators.policy.element_names import names, words
from generators.policy.protocol import Decision
from generators.policy.reference_actions import FILLS
from generators.policy.sentences.vary import vary
from generators.policy.sight import Sight
from generators.policy.thoughts import visible
from generators.policy.thoughts.endings import Past, Written, proofs
from generators.policy.thoughts.plan import Known, phase_of, plan
from generators.policy.thoughts.reasons import reason
from generators.policy.thoughts.remarks import Scene, Use, remark
from schemas.episodes.action import Answer
from schemas.tasks.reference import Do, Fact, Purpose, ReferenceStep

_REMARKS = 0.7
"""The share of thoughts with a remark on the picture, where there is something to say."""

_LEAVES = {Purpose.SAVE, Purpose.VIEW, Purpose.ADD, Purpose.ROW, Purpose.TWICE}
"""The purposes of steps after which it is another row or form."""

_DOES = {
    *(Purpose.SAVE, Purpose.SURE, Purpose.CONFIRM, Purpose.STEP, Purpose.CARD_STEP),
    *(Purpose.MOVE_CARD, Purpose.REPLY, Purpose.ASK, Purpose.PUT_IN, Purpose.PUT_IN_LISTED),
    *(Purpose.CHECK_OUT, Purpose.ENTER_CELL, Purpose.KEEP_CELL, Purpose.SAVE_CELL),
}
"""The purposes of steps that change something, of which a page says whether it was done."""


class Voice:
    """The words of one episode."""

    def __init__(self, course: Course, notes: Written, seed: str) -> None:
        """`notes` is what the episode has written down so far; the seed draws the words."""
        self._course, self._notes = course, notes
        self._random = Random(f"voice {seed}")
        self._steps = course.to_come
        self._goal = ""
        self._page = ("", "")
        self._first_row: str | None = None
        self._messages = list[str]()
        self._facts: dict[str, dict[str, str]] = {}
        self._has_planned = False
        self._setbacks = 0

    def say(self, decision: Decision, sight: Sight | None, goal: str) -> Decision:
        """Return a decision with its thought in words.

        `sight` is what was looked at for it; None: nothing was, so that nothing is said of a picture.
        """
        self._goal = words(goal).casefold()
        if decision.thought is None:
            return decision
        thought = vary(decision.thought, self._random)
        if sight is not None:
            because = self._reason(decision, sight)
            told = self._with_plan(decision, because or thought, sight)
            thought = told or because or self._with_remark(decision, thought, sight)
            self._look_back(sight)
        return decision.model_copy(update={"thought": thought})

    def _reason(self, decision: Decision, sight: Sight) -> str | None:
        """Return why a row is opened; None: it is none, or its thought says it."""
        step, _ = self._current(decision)
        if step is None or self._says(step.on or ""):
            return None
        noted = [one for one in self._notes.written if f'"{one.of}"' not in (decision.note or "")]
        return reason(step, sight, self._goal, noted, self._random)

    def _with_plan(self, decision: Decision, thought: str, sight: Sight) -> str | None:
        """Return a thought with a plan: the first one before it, what is left behind it; None: neither is due."""
        setbacks = self._course.setbacks
        is_first, is_set_back = not self._has_planned, setbacks > self._setbacks
        self._has_planned, self._setbacks = True, setbacks
        if not (is_first or is_set_back):
            return None

        names_all = visible.may_name_others(decision.action, thought, sight)

        def is_known(name: str) -> bool:
            return names_all and (self._says(name) or sight.shows(name))

        def is_said(text: str) -> bool:
            return names_all and self._says(text)

        known = Known(is_known, is_said)
        if is_first:
            told = plan(self._steps, known, self._random)
            return told and f"{told} {thought}"
        told = plan(self._course.to_come, known, self._random, key="again")
        return told and f"{thought} {told}"

    def _says(self, text: str) -> bool:
        """Return whether the goal says a text; in small letters an ß is two letters."""
        return names(self._goal, words(text).casefold())

    def _with_remark(self, decision: Decision, thought: str, sight: Sight) -> str:
        if self._random.random() > _REMARKS and not isinstance(decision.action, Answer):
            return thought
        step, done = self._current(decision)
        form = list(_form(done, sight))
        page, heading = sight.screen.url, sight.screen.heading
        is_other_page, is_other_list = heading != self._page[1], page != self._page[0]
        fills = step is not None and step.do in FILLS
        past = Past(self._goal, done, self._notes, self._shown_before(sight))
        scene = Scene(
            decision.action,
            sight,
            is_new_page=is_other_page,
            use=self._use(step),
            first_row=self._first_row if not is_other_page else None,
            is_new_list=is_other_list,
            label=(step.on or "") if step is not None and fills else "",
            entered=dict(_entries(form)),
            entered_last=_entered_last(form),
            proofs=list(proofs(decision.action, sight, past)),
            to_enter=self._to_enter(step, form) if step is not None and fills else 0,
            noted=self._noted_as(step),
            to_change=frozenset(self._to_change()),
            typed=[one.step.text for one in done if one.step.do in FILLS and one.step.text],
            known_messages=self._messages if _does_something(done) else None,
        )
        return remark(scene, thought, self._goal, self._random)

    def _use(self, step: ReferenceStep | None) -> Use:
        """Return what a list in sight is used for; `step` is the one that is carried out, None: none is."""
        then = self._course.next
        if step is None:
            return Use.READ if then is not None and then.do in (Do.FIND, Do.READ) else Use.NONE
        if step.purpose in {Purpose.APPLY, Purpose.ORDER}:
            return Use.NARROW
        return Use.OPEN if step.purpose in {Purpose.ROW, Purpose.TWICE} else Use.NONE

    def _to_change(self) -> Iterator[str]:
        """Yield the labels of the fields that the next form is to get other values in."""
        for one in self._course.to_come:
            if one.purpose in _LEAVES or one.do is Do.FIND:
                return
            if _fills(one) and one.do is not Do.PRESS:
                yield from (label for label in (one.on, one.within) if label)

    def _current(self, decision: Decision) -> tuple[ReferenceStep | None, list[Taken]]:
        """Return the step that an action carries out, None: it leads to one or is a mistake, and what was done before."""
        taken = self._course.taken
        is_it = bool(taken) and taken[-1].step.why == decision.thought
        return (taken[-1].step, taken[:-1]) if is_it else (None, taken)

    def _to_enter(self, step: ReferenceStep, form: Sequence[Taken]) -> int:
        """Return how many fields of a form are to be filled, the step's among them; 0: it is not done by words alone."""
        fills = takewhile(_fills, (step, *self._course.to_come))
        steps = [*(one.step for one in form if one.is_planned), *fills]
        is_by_words = all(one.do in FILLS for one in steps)
        return len({one.on for one in steps} - {on for on, _ in _entries(form)}) * is_by_words

    def _noted_as(self, step: ReferenceStep | None) -> Fact | None:
        """Return what was noted and is put in by a step; None: it is nothing of that."""
        text = step.text if step is not None and step.do in FILLS else None
        return next((one for one in self._notes.told if text and one.value == text), None)

    def _shown_before(self, sight: Sight) -> Mapping[str, str]:
        """Return the values by labels that the page in sight has shown first."""
        is_beside = visible.has_page_beside(sight)
        return {} if is_beside else self._facts.get(sight.screen.heading, {})

    def _look_back(self, sight: Sight) -> None:
        """Remember what the next picture is compared with."""
        self._page = (sight.screen.url, sight.screen.heading)
        self._first_row = next(iter(visible.rows(sight).names), None)
        self._messages += visible.messages(sight)
        if not visible.has_page_beside(
            sight
        ):  # which is of another row each time, under one heading
            shown = self._facts.setdefault(sight.screen.heading, {})
            new = [one for one in visible.facts(sight) if one[0] not in shown]
            shown.update(new)


def _does_something(done: Sequence[Taken]) -> bool:
    """Return whether the last step is one of which a page says what came of it."""
    last = done[-1] if done else None
    return last is not None and (last.sends or last.step.purpose in _DOES)


def _form(done: Sequence[Taken], sight: Sight) -> Iterator[Taken]:
    """Yield what was filled in on the form in sight, the last first."""
    for one in reversed(done):
        if one.screen != sight.screen or (one.is_planned and not _fills(one.step)):
            return
        yield one


def _fills(step: ReferenceStep) -> bool:
    """Return whether a step fills a field of a form."""
    return phase_of(step) == "fill" if step.purpose is not None else step.do in FILLS


def _entered_last(form: Sequence[Taken]) -> str:
    """Return the label of the field that was filled by words just before; empty: something else was done."""
    step = form[0].step if form else None
    return (step.on or "") if step is not None and step.do in FILLS else ""


def _entries(form: Sequence[Taken]) -> Iterator[tuple[str, str]]:
    """Yield what was entered into fields by words, by their labels, the first one first."""
    for one in reversed(form):
        step = one.step
        if one.is_planned and step.do in FILLS and step.on and step.on[0] not in "#." and step.text:
            yield step.on, step.text
