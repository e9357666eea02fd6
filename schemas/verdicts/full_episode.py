"""An episode with all that was found about it, which training rows are made of."""

from dataclasses import dataclass

from schemas.episodes.episode import Episode
from schemas.tasks.task import Task
from schemas.verdicts.step_label import Label, StepLabel
from schemas.verdicts.verdict import Acceptance


@dataclass(frozen=True, slots=True)
class FullEpisode:
    """An episode with its task and acceptance."""

    episode: Episode
    """Complete, with steps, elements, calls and prompts."""
    task: Task
    """The task attempted."""
    acceptance: Acceptance
    """The result of the run's rule."""
    labels: tuple[StepLabel, ...] | None = None
    """What each of its actions did; None if `steps` has not judged it."""

    def label(self, step: int) -> Label | None:
        """Return what the action of a step did for the task; None if nobody knows."""
        return self.columns(step).label

    def columns(self, step: int) -> StepLabel:
        """Return what `steps` says of a step; a label without values where it says nothing."""
        known = self.labels or ()
        return known[step] if step < len(known) else StepLabel()
