"""An episode with all that was found about it, which training rows are made of."""

from dataclasses import dataclass

from schemas.episodes.episode import Episode
from schemas.tasks.task import Task
from schemas.verdicts.step_label import StepLabel, StepQuality
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
    """What each of its actions did; None if `steps` has not seen it."""

    def quality(self, step: int) -> StepQuality | None:
        """Return what the action of a step did for the task; None if nobody knows."""
        return self.label(step).quality

    def label(self, step: int) -> StepLabel:
        """Return what `steps` says of a step; a label without values where it says nothing."""
        known = self.labels or ()
        return known[step] if step < len(known) else StepLabel()
