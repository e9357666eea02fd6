"""The `steps` verifier: what each step did for its task, judged from what is stored.

It passes every episode, failed ones too, so it runs before `outcome`. Its evidence has a label for each step (see
`Label`) and names the first mistake of a failed episode. A label is judged by the task, never by the type of the
action: by what the step changed in the server's state, held against the expectation (`writes.py`); by what it entered,
held against the goal, the pictures so far and what became of it (`step_mistakes.py`, `entries.py`); by what it brought
into sight, and whether that was of use (`views.py`). Nothing that the policy says of itself counts: neither its
thoughts, but for the operands from which `seen` derives a text, nor what a clumsy one records of its mistakes.

An episode that its server's state judges, and whose steps do not say what they changed there, is not labelled: it has
no state to judge by. A step has no label where only a picture could tell and it is missing or cut, and where its change
was too large for a row. An omission has no step of its own; there the end without success is the mistake.
"""

from collections.abc import Mapping

from pydantic import JsonValue

from generators.sites.protocol import Site
from generators.verify.step_course import Course
from schemas.configuration.sections import AcceptSection
from schemas.episodes.action import NoAction
from schemas.episodes.episode import Episode
from schemas.tasks.task import Task
from schemas.verdicts.step_label import GOOD_STEPS, Label
from schemas.verdicts.verdict import Finding, Status

NO_STATE = (
    "the episode has no state to judge its steps by: its task is judged by the server's state, and no step says "
    "what it changed there, as in recordings of earlier versions"
)


class Steps:
    """The `steps` verifier."""

    name = "steps"
    version = "8"

    def __init__(self, sites: Mapping[str, Site]) -> None:
        self._sites = sites

    async def examine(self, task: Task, episode: Episode) -> Finding:
        """Return the labels of all steps; `unsupported` for an episode without an action, or without a state."""
        taken = [step for step in episode.steps if not isinstance(step.action, NoAction)]
        if not taken:
            return Finding(status=Status.UNSUPPORTED, reason="the episode has no actions")
        if task.expect is not None and all(step.delta is None for step in taken):
            return Finding(status=Status.UNSUPPORTED, reason=NO_STATE)
        succeeded = self._has_succeeded(task, episode)
        course = Course(episode, expect=task.expect, succeeded=succeeded)
        rows, first, faults = list[JsonValue](), None, 0
        for step in taken:
            found = course.label(step)
            faults += found.label is not None and found.label not in GOOD_STEPS
            if first is None and not succeeded and found.label is Label.MISTAKE:
                first = step.step
            rows.append(
                {
                    "step": step.step,
                    "label": None if found.label is None else found.label.value,
                    "visible_change": course.is_visible(step.step),
                    "because": found.because,
                }
            )
        reason = f"{len(taken) - faults} of {len(taken)} steps were of use"
        return Finding(
            status=Status.PASSED,
            score=1 - faults / len(taken),
            reason=reason if first is None else f"{reason}; the first mistake is step {first}",
            evidence={"steps": rows, "first_mistake": first, "succeeded": succeeded},
        )

    def _has_succeeded(self, task: Task, episode: Episode) -> bool:
        """Return whether an attempt got the template's own threshold, else the default of `accept.min_reward`."""
        site = self._sites.get(task.site)
        own = site.threshold(task.template_id) if site else None
        threshold = AcceptSection().min_reward if own is None else own.reward
        return (
            episode.done
            and episode.failure_kind is None
            and episode.reward is not None
            and episode.reward >= threshold
        )
