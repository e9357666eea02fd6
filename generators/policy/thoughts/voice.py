"""How a policy says what it does: the reason for an action in varied words, a plan at the start, and a new one after a setback."""

from collections.abc import Iterator, Sequence
from itertools import takewhile
from random import Random

from generators.policy.course import Course, Taken
from generators.policy.element_names import names, words
from generators.policy.protocol import Decision
from generators.policy.reference_actions import FILLS
from generators.policy.sentences.vary import vary
from generators.policy.sight import Sight
from generators.policy.thoughts import visible
from generators.policy.thoughts.plan import phase_of, plan
from generators.policy.thoughts.remarks import Scene, remark
from schemas.tasks.reference import Fact, ReferenceStep

_REMARKS = 0.7
"""The share of thoughts with a remark on the picture, where there is something to say."""


class Voice:
    """The words of one episode."""

    def __init__(self, course: Course, noted: Sequence[Fact], seed: str) -> None:
        """`noted` is what the episode has written down so far; the seed draws the words."""
        self._course, self._noted = course, noted
        self._random = Random(f"voice {seed}")
        self._steps = course.to_come
        self._goal = ""
        self._page = ("", "")
        self._first_row: str | None = None
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
            told = self._with_plan(decision, thought, sight)
            thought = told or self._with_remark(decision, thought, sight)
            self._look_back(sight)
        return decision.model_copy(update={"thought": thought})

    def _with_plan(self, decision: Decision, thought: str, sight: Sight) -> str | None:
        """Return a thought with a plan: the first one before it, what is left behind it; None: neither is due."""
        setbacks = self._course.setbacks
        is_first, is_set_back = not self._has_planned, setbacks > self._setbacks
        self._has_planned, self._setbacks = True, setbacks
        if not (is_first or is_set_back):
            return None

        names_all = visible.may_name_others(decision.action, thought, sight)

        def is_known(name: str) -> bool:
            return names_all and (names(self._goal, words(name)) or sight.shows(name))

        if is_first:
            told = plan(self._steps, is_known, self._random)
            return told and f"{told} {thought}"
        told = plan(self._course.to_come, is_known, self._random, key="again")
        return told and f"{thought} {told}"

    def _with_remark(self, decision: Decision, thought: str, sight: Sight) -> str:
        if self._random.random() > _REMARKS:
            return thought
        step, done = self._current(decision)
        form = list(_form(done, sight))
        page, heading = sight.screen.url, sight.screen.heading
        is_other_page, is_other_list = heading != self._page[1], page != self._page[0]
        fills = step is not None and step.do in FILLS
        scene = Scene(
            decision.action,
            sight,
            is_new_page=is_other_page,
            first_row=self._first_row if is_other_list and not is_other_page else None,
            label=(step.on or "") if step is not None and fills else "",
            entered=dict(_entries(form)),
            to_enter=self._to_enter(step, form) if step is not None and fills else 0,
            noted=self._noted_as(step),
        )
        return remark(scene, thought, self._goal, self._random)

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
        return next((one for one in self._noted if text and one.value == text), None)

    def _look_back(self, sight: Sight) -> None:
        """Remember what the next picture is compared with."""
        self._page = (sight.screen.url, sight.screen.heading)
        self._first_row = next(iter(visible.rows(sight).names), None)


def _form(done: Sequence[Taken], sight: Sight) -> Iterator[Taken]:
    """Yield what was filled in on the form in sight, the last first."""
    for one in reversed(done):
        if one.screen != sight.screen or (one.is_planned and not _fills(one.step)):
            return
        yield one


def _fills(step: ReferenceStep) -> bool:
    """Return whether a step fills a field of a form."""
    return phase_of(step) == "fill" if step.purpose is not None else step.do in FILLS


def _entries(form: Sequence[Taken]) -> Iterator[tuple[str, str]]:
    """Yield what was entered into fields by words, by their labels, the first one first."""
    for one in reversed(form):
        step = one.step
        if one.is_planned and step.do in FILLS and step.on and step.on[0] not in "#." and step.text:
            yield step.on, step.text
