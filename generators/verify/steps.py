"""The `steps` verifier: what each step did for its task, told from stored states and pictures.

It passes every episode, failed ones too, so it runs before `outcome`; its evidence labels each step (see
`StepQuality`) and names the first mistake of an episode that failed. What it looks at, in this order:

* whether the action was carried out, and whether it ended the episode with success;
* whether anything could be seen to change: the picture in more than a rasteriser's noise, the
  elements, what is in sight, the address, or a dialog; where only a picture could tell and one is
  missing or cut, the step has no label;
* whether a later step took back what it changed in a field;
* in an episode that failed, whether the text has a basis in sight, whether the goal names another
  choice of the same kind, whether a drag only marked text, whether a click fell beside all that can be
  used, and whether it restored the page as it was before an earlier click;
* whether it only moved the focus, and to no use.

A threshold is the template's own, else the default of `accept.min_reward`. What a step meant to do is
the policy's own word and not asked; of a thought, only that counts from which `seen` derives a text. So
a wrong choice that changed the page, was left standing and had
no consequence counts as useful, and a needless wait on a page that moves by itself as neutral.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from pydantic import JsonValue

from generators.sites.protocol import Site
from generators.verify.changes import (
    Edit,
    aimed_at,
    edits,
    is_beside,
    is_visible,
    looks_alike,
    marks_text,
    taken_back,
)
from generators.verify.seen import find_text
from generators.verify.shown import Picture, Shown, Words, split_words
from schemas.action import (
    Answer,
    Click,
    Drag,
    Hover,
    Key,
    KeyDown,
    KeyUp,
    NoAction,
    Scroll,
    Select,
    TypeText,
    Wait,
    target_point,
)
from schemas.episode import Episode, Step
from schemas.observation import Element
from schemas.sections import AcceptSection
from schemas.step_label import StepQuality
from schemas.task import Task
from schemas.verdict import Finding, Status

_LOOKING = (Wait, Hover, Scroll)


@dataclass(frozen=True, slots=True)
class _Label:
    quality: StepQuality
    because: str


class Steps:
    """The `steps` verifier."""

    name = "steps"
    version = "2"

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
    """The steps of an episode, and what changed between them."""

    def __init__(self, episode: Episode, *, succeeded: bool) -> None:
        self._episode = episode
        self._steps = episode.steps
        self._succeeded = succeeded
        self._goal = Words(None, [(episode.instruction, None)])
        self._visible = [is_visible(*pair) for pair in pairwise(self._steps)]
        self._edits: list[tuple[Edit, ...]] = [edits(*pair) for pair in pairwise(self._steps)]
        self._shown: Shown | None = None

    def is_visible(self, number: int) -> bool | None:
        """Return whether the effect of a step can be seen; None if nothing shows it."""
        return self._visible[number] if number < len(self._visible) else None

    def label(self, step: Step) -> _Label | None:
        """Return the label of a step; None if nothing is known of its effect."""
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
        """Return the label of a step after which something looks different."""
        if isinstance(step.action, _LOOKING):
            return _Label(StepQuality.NEUTRAL, "it looked or waited")
        later = self._steps[step.step + 1 : len(self._edits)]
        if taken_back(step, self._edits[step.step], [(s, self._edits[s.step]) for s in later]):
            return _Label(StepQuality.UNDONE_LATER, "a later step took its change back")
        fault = None if self._succeeded else self._fault(step)
        if fault is not None:
            return _Label(StepQuality.MISTAKE, fault)
        if self._is_typed_again(step):
            return _Label(
                StepQuality.UNDONE_LATER, "its text, nowhere in sight, was replaced later"
            )
        return self._focus_only(step) or _Label(StepQuality.USEFUL, "it changed what is seen")

    def _of_unseen(self, step: Step) -> _Label:
        """Return the label of a step after which all looks as before."""
        after, action, aim = self._steps[step.step + 1], step.action, aimed_at(step)
        asked = action.text if isinstance(action, TypeText) else None
        asked = action.option if isinstance(action, Select) else asked
        value = "" if aim is None or aim.value is None else aim.value.strip()
        chosen = isinstance(action, Click) and value == "true"
        moved = step.page.focus != after.page.focus
        quality, because = next(
            (quality, because)
            for holds, quality, because in (
                (isinstance(action, KeyDown | KeyUp), StepQuality.NEUTRAL, "it holds a key"),
                (self._waits_for(step), StepQuality.NEUTRAL, "it waited for what came"),
                (
                    isinstance(action, _LOOKING),
                    StepQuality.WITHOUT_EFFECT,
                    "nothing new was to be seen",
                ),
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
                    moved and self._types_next(step),
                    StepQuality.USEFUL,
                    "what is typed next goes where it put the focus",
                ),
                (
                    aim is not None and self._is_named(aim),
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
            if holds
        )
        return _Label(quality, because)

    def _is_repeated(self, step: Step) -> bool:
        """Return whether the same was done before, and nothing could be seen to change since then."""
        for number in range(step.step - 1, -1, -1):
            if self._visible[number]:
                return False
            if self._steps[number].action == step.action:
                return True
        return False

    def _waits_for(self, step: Step) -> bool:
        """Return whether a wait was asked for, or was followed by others until something changed."""
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
        """Return whether the next action but looking and waiting goes to what has the focus."""
        later = (one.action for one in self._steps[step.step + 1 :])
        action = next((one for one in later if not isinstance(one, _LOOKING)), None)
        return isinstance(action, Key | KeyDown) or (
            isinstance(action, TypeText) and action.x is None
        )

    def _is_named(self, aim: Element) -> bool:
        """Return whether the goal names an element."""
        return any(
            self._goal.find(words) is not None
            for words in (split_words(aim.name), split_words(aim.text))
            if words
        )

    def _fault(self, step: Step) -> str | None:
        """Return what was wrong with a step of an episode that failed; None if nothing shows it."""
        after, clicked = self._steps[step.step + 1], isinstance(step.action, Click)
        marked = isinstance(step.action, Drag) and marks_text(step, after)
        faults = (
            (self._is_invented(step), "the text that it typed had been nowhere in sight"),
            (marked, "it marked text, and moved nothing"),
            (clicked and is_beside(step, after), "it pressed beside all, and took the focus away"),
            (clicked and self._takes_back(step), "it took back what it had done before"),
            (clicked and self._is_wrong_choice(step), "the goal names another choice in sight"),
        )
        return next((because for holds, because in faults if holds), None)

    def _is_wrong_choice(self, step: Step) -> bool:
        """Return whether the goal names another choice of the same kind, and not this one."""
        aim = aimed_at(step)
        if aim is None or self._is_named(aim):
            return False
        return (aim.value in ("true", "false") or aim.tag in ("label", "li")) and any(
            (other.role, other.tag) == (aim.role, aim.tag)
            and other.visible > 0
            and not other.covered
            and self._is_named(other)
            for other in step.elements
        )

    def _takes_back(self, step: Step) -> bool:
        """Return whether all looks as it did before an earlier action on the same target."""
        after = self._steps[step.step + 1]
        return any(
            isinstance(one.action, Click)
            and aimed_at(one) is not None
            and aimed_at(one) == aimed_at(step)
            and self._visible[one.step]
            and looks_alike(one, after)
            for one in self._steps[: step.step]
        )

    def _is_invented(self, step: Step) -> bool:
        """Return whether a text that was typed had been nowhere in sight."""
        action = step.action
        if not isinstance(action, TypeText) or not action.text.strip() or step.sights is None:
            return False
        return find_text(action.text, step.thought or "", self._shown_at(step.step)) is None

    def _is_typed_again(self, step: Step) -> bool:
        """Return whether a text without a basis was replaced by another at the same place."""
        later = (one.action for one in self._steps[step.step + 1 :])
        places = {target_point(one) for one in later if isinstance(one, TypeText)}
        return target_point(step.action) in places - {None} and self._is_invented(step)

    def _shown_at(self, number: int) -> Shown:
        """Return what had been shown up to a step."""
        if self._shown is None:
            scale = self._episode.device_scale_factor
            pictures = tuple(Picture(step, scale=scale) for step in self._steps)
            self._shown = Shown((self._goal,), pictures)
        said = [step.result_text for step in self._steps[:number] if step.result_text]
        texts = tuple(Words(None, [(text, None)]) for text in said)
        return Shown((*self._shown.texts, *texts), self._shown.pictures[: number + 1])

    def _focus_only(self, step: Step) -> _Label | None:
        """Return the label of a step that moved the focus to no use; None if it did more."""
        after = self._steps[step.step + 1]
        same = looks_alike(step, after)
        moved = step.page.focus != after.page.focus
        if not (same and moved and isinstance(step.action, Click)) or step.result_text:
            return None
        if after.page.focus is None:
            return _Label(StepQuality.WITHOUT_EFFECT, "it took the focus away, and no more")
        aim = aimed_at(step)
        named = aim is not None and aim.value is None and self._is_named(aim)
        if self._types_next(step) or named:
            return None
        return _Label(StepQuality.REDUNDANT, "it put the focus where nothing was done")
