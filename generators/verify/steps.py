"""The `steps` verifier: each step's use for its task, judged from stored states and pictures.

It passes every episode, failed ones too, so it runs before `outcome`. Its evidence labels each step (see
`StepQuality`) and names the first mistake of a failed episode. It checks in this order:

* whether the action was carried out, and whether it ended the episode with success;
* whether a change is visible: in the picture beyond a rasteriser's noise, the elements, the sights, the
  address, or a dialog. If only a picture could show it and one is missing or cut, the step has no label;
* whether it repeated earlier work: the same text again, or the same actions, which led back to their start;
* whether a later step undid its edit of a field;
* in a failed episode, its mistake (see `faults`);
* whether it moved only the focus, without use.

The threshold is the template's own, else the default of `accept.min_reward`. The policy's intention is not
checked; a thought counts only for the operands from which `seen` derives a text. So a wrong choice that
changed the page, stayed and had no consequence is labelled useful, and a needless wait on an animated page
neutral. An omission has no step of its own; there the end without success is the mistake.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from pydantic import JsonValue

from generators.sites.protocol import Site
from generators.verify.changes import (
    LOOKING,
    Edit,
    aimed_at,
    edits,
    is_visible,
    looks_alike,
    loops,
    taken_back,
)
from generators.verify.shown import Words
from generators.verify.step_mistakes import Faults
from schemas.configuration.sections import AcceptSection
from schemas.episodes.action import (
    Answer,
    Click,
    Key,
    KeyDown,
    KeyUp,
    NoAction,
    Select,
    TypeText,
    Wait,
)
from schemas.episodes.episode import Episode, Step
from schemas.tasks.task import Task
from schemas.verdicts.step_label import StepQuality
from schemas.verdicts.verdict import Finding, Status

_Rule = tuple[bool, StepQuality, str]
"""Whether the rule holds, the label, and the reason."""


@dataclass(frozen=True, slots=True)
class _Label:
    quality: StepQuality
    because: str


class Steps:
    """The `steps` verifier."""

    name = "steps"
    version = "4"

    def __init__(self, sites: Mapping[str, Site]) -> None:
        self._sites = sites

    async def examine(self, task: Task, episode: Episode) -> Finding:
        """Return the labels of all steps; `unsupported` for an episode without an action."""
        site = self._sites.get(task.site)
        own = site.threshold(task.template_id) if site else None
        threshold = AcceptSection().min_reward if own is None else own.reward
        succeeded = (
            episode.done
            and episode.failure_kind is None
            and episode.reward is not None
            and episode.reward >= threshold
        )
        taken = [step for step in episode.steps if not isinstance(step.action, NoAction)]
        if not taken:
            return Finding(status=Status.UNSUPPORTED, reason="the episode has no actions")
        course = _Course(episode, succeeded=succeeded)
        rows: list[JsonValue] = []
        first: int | None = None
        faults = 0
        for step in taken:
            visible, label = course.is_visible(step.step), course.label(step)
            quality = None if label is None else label.quality
            if quality not in (None, StepQuality.USEFUL, StepQuality.NEUTRAL):
                faults += 1
            if first is None and not succeeded and quality is StepQuality.MISTAKE:
                first = step.step
            rows.append(
                {
                    "step": step.step,
                    "quality": None if quality is None else quality.value,
                    "visible_change": visible,
                    "because": None if label is None else label.because,
                }
            )
        reason = f"{len(taken) - faults} of {len(taken)} steps are useful or neutral"
        return Finding(
            status=Status.PASSED,
            score=1 - faults / len(taken),
            reason=reason if first is None else f"{reason}; the first mistake is step {first}",
            evidence={"steps": rows, "first_mistake": first, "succeeded": succeeded},
        )


class _Course:
    """The steps of an episode and the changes between them."""

    def __init__(self, episode: Episode, *, succeeded: bool) -> None:
        self._steps = episode.steps
        self._succeeded = succeeded
        self._goal = Words(None, [(episode.instruction, None)])
        self._visible = [is_visible(*pair) for pair in pairwise(self._steps)]
        self._edits: list[tuple[Edit, ...]] = [edits(*pair) for pair in pairwise(self._steps)]
        self._loops = loops(self._steps)
        self._faults = Faults(episode, visible=self._visible, edits=self._edits)

    def is_visible(self, number: int) -> bool | None:
        """Return whether the effect of a step is visible; None if unknown."""
        return self._visible[number] if number < len(self._visible) else None

    def label(self, step: Step) -> _Label | None:
        """Return the label of a step; None if its effect is unknown."""
        if step.action_error is not None:
            return _Label(StepQuality.MISTAKE, "it could not be carried out")
        if step.terminated or isinstance(step.action, Answer):
            if self._succeeded:
                return _Label(StepQuality.USEFUL, "it ended the task with success")
            return _Label(StepQuality.MISTAKE, "it ended the task without success")
        if self.is_visible(step.step) is None:
            return None
        return self._of_seen(step) if self._visible[step.step] else self._of_unseen(step)

    def _of_seen(self, step: Step) -> _Label:
        """Return the label of a step with a visible effect."""
        if isinstance(step.action, LOOKING):
            return _Label(StepQuality.NEUTRAL, "it looked or waited")
        fault = None if self._succeeded else self._faults.of(step)
        return _first(
            (step.step in self._loops, StepQuality.REDUNDANT, "the same again led back"),
            (self._is_typed_twice(step), StepQuality.REDUNDANT, "it typed the same again"),
            (self._is_taken_back(step), StepQuality.UNDONE_LATER, "a later step took it back"),
            (fault is not None, StepQuality.MISTAKE, fault or ""),
            (
                self._faults.is_typed_again(step),
                StepQuality.UNDONE_LATER,
                "its invented text was replaced",
            ),
            *self._focus_only(step),
            (True, StepQuality.USEFUL, "it changed what is seen"),
        )

    def _of_unseen(self, step: Step) -> _Label:
        """Return the label of a step without a visible effect."""
        after, action, aim = self._steps[step.step + 1], step.action, aimed_at(step)
        asked = action.text if isinstance(action, TypeText) else None
        asked = action.option if isinstance(action, Select) else asked
        value = "" if aim is None or aim.value is None else aim.value.strip()
        chosen = isinstance(action, Click) and value == "true"
        moved = step.page.focus != after.page.focus
        return _first(
            (isinstance(action, KeyDown | KeyUp), StepQuality.NEUTRAL, "it holds a key"),
            (self._waits_for(step), StepQuality.NEUTRAL, "it waited for what came"),
            (isinstance(action, LOOKING), StepQuality.WITHOUT_EFFECT, "nothing new was to be seen"),
            (
                step.page.form_sha256 != after.page.form_sha256,
                StepQuality.USEFUL,
                "it changed a field out of sight",
            ),
            (
                chosen or (value != "" and value == (asked or "").strip()),
                StepQuality.REDUNDANT,
                "what it asked for was so already",
            ),
            (
                self._is_repeated(step),
                StepQuality.REDUNDANT,
                "the same had been done before, to no effect",
            ),
            (
                isinstance(action, Click) and not self._succeeded and self._faults.is_early(step),
                StepQuality.MISTAKE,
                "the goal names another before it",
            ),
            (
                moved and self._types_next(step),
                StepQuality.USEFUL,
                "what is typed next goes where it put the focus",
            ),
            (
                aim is not None and self._faults.is_named(aim),
                StepQuality.USEFUL,
                "the goal names what it acted on",
            ),
            (
                isinstance(action, Click)
                and moved
                and step.target is not None
                and step.target.tag == "button",
                StepQuality.NEUTRAL,
                "what a button does need not be shown",
            ),
            (True, StepQuality.WITHOUT_EFFECT, "nothing could be seen to change"),
        )

    def _is_taken_back(self, step: Step) -> bool:
        """Return whether a later step, not itself wrong, undid this step's edits."""
        wrong = self._loops if self._succeeded else self._loops | self._faults.spoilt
        later = [
            one
            for one in self._steps[step.step + 1 : len(self._edits)]
            if one.step not in wrong and not self._is_typed_twice(one)
        ]
        changes = [(one, self._edits[one.step]) for one in later]
        return taken_back(step, self._edits[step.step], changes)

    def _is_typed_twice(self, step: Step) -> bool:
        return isinstance(step.action, TypeText) and self._is_same_again(step)

    def _is_same_again(self, step: Step) -> bool:
        return step.step > 0 and self._steps[step.step - 1].action == step.action

    def _is_repeated(self, step: Step) -> bool:
        """Return whether a step repeats the one before, or an earlier one since which nothing changed visibly."""
        if isinstance(step.action, Click | TypeText) and self._is_same_again(step):
            return True
        for number in range(step.step - 1, -1, -1):
            if self._visible[number]:
                return False
            if self._steps[number].action == step.action:
                return True
        return False

    def _waits_for(self, step: Step) -> bool:
        """Return whether the goal asks for a wait, or waits alone follow until something changed."""
        if not isinstance(step.action, Wait):
            return False
        if self._goal.find(["wait"]) is not None:
            return True
        for one in self._steps[step.step : len(self._visible)]:
            if not isinstance(one.action, Wait):
                return False
            if self._visible[one.step]:
                return True
        return False

    def _types_next(self, step: Step) -> bool:
        """Return whether the next action types into the focus; looking and repetitions are skipped."""
        later = (one.action for one in self._steps[step.step + 1 :] if one.action != step.action)
        action = next((one for one in later if not isinstance(one, LOOKING)), None)
        return isinstance(action, Key | KeyDown) or (
            isinstance(action, TypeText) and action.x is None
        )

    def _focus_only(self, step: Step) -> Iterator[_Rule]:
        """Yield the labels of a step that only moved the focus, without use; nothing if it did more."""
        after, aim = self._steps[step.step + 1], aimed_at(step)
        same = looks_alike(step, after) and not step.result_text
        if not same or step.page.focus == after.page.focus or not isinstance(step.action, Click):
            return
        yield (
            after.page.focus is None,
            StepQuality.WITHOUT_EFFECT,
            "it took the focus away, and no more",
        )
        named = aim is not None and aim.value is None and self._faults.is_named(aim)
        if self._types_next(step) or named:
            return
        later = (one for one in self._steps[step.step + 1 :] if not isinstance(one.action, LOOKING))
        then = next(later, after)
        ended = then.terminated or isinstance(then.action, Answer | NoAction)
        cut_off = ended and not self._succeeded
        yield (cut_off, StepQuality.NEUTRAL, "the episode ended before it was of use")
        yield (True, StepQuality.REDUNDANT, "it put the focus where nothing was done")


def _first(*rules: _Rule) -> _Label:
    """Return the label of the first rule that holds."""
    return next(_Label(quality, because) for holds, quality, because in rules if holds)
