"""Presses that opened or changed something of which nothing could come.

A list of choices is opened again from which the right one had been taken; a field is made active, but something comes
over the page, and another field is used then; a value is taken out of a field of which the goal does not speak.
"""

from collections.abc import Iterator, Sequence

from generators.verify.changes import LOOKING, aimed_at
from generators.verify.overlays import Overlays, is_covered, is_field
from generators.verify.shifts import texts_of
from generators.verify.step_mistakes import Faults
from generators.verify.step_rules import Rule
from generators.verify.views import Views
from generators.verify.visits import is_near, is_same
from schemas.episodes.action import Key
from schemas.episodes.episode import Step
from schemas.verdicts.step_label import Label


class VainPresses:
    """The presses of an episode of which nothing could come."""

    def __init__(
        self, steps: Sequence[Step], *, faults: Faults, views: Views, overlays: Overlays
    ) -> None:
        """All by the steps of one episode."""
        self._steps = steps
        self._faults = faults
        self._views = views
        self._overlays = overlays

    def rules(self, step: Step, *, succeeded: bool) -> Iterator[Rule]:
        """Yield of each kind of vain press whether a step is one, its label and the reason."""
        chosen = self.opens_chosen(step)
        yield (chosen, Label.REDUNDANT, "what it opened was chosen already")
        yield (self.is_hindered(step), Label.REDUNDANT, "something else was done then")
        taken = not succeeded and self.takes_out(step)
        yield (taken, Label.MISTAKE, "it took out what the goal does not speak of")

    def opens_chosen(self, step: Step) -> bool:
        """Return whether a key opened again a list of choices from which the goal's had been taken, to no further end."""
        after = self._steps[step.step + 1]
        chosen = any(
            one.tag == "select" and self._faults.names(one.value or "") for one in after.elements
        )
        return (
            isinstance(step.action, Key)
            and chosen
            and step.page.url == after.page.url
            and self._views.is_dead_end(step)
            and not self._views.shifts_new_in(step)
        )

    def is_hindered(self, step: Step) -> bool:
        """Return whether something came over the page as a field was made active, and another was used then."""
        aim, after = aimed_at(step), self._steps[step.step + 1]
        if aim is None or not is_field(aim) or is_covered(step) or not is_covered(after):
            return False
        for one in self._steps[step.step + 1 : -1]:
            if not isinstance(one.action, LOOKING) and not self._overlays.clears_the_way(one):
                other = aimed_at(one)
                return other is not None and not (is_same(aim, other) and is_near(aim, other))
        return False

    def takes_out(self, step: Step) -> bool:
        """Return whether a press took one of several values out of a field of which the goal does not speak.

        What is pressed is called after the value, as "Remove Red", and is gone then.
        """
        aim, after = aimed_at(step), self._steps[step.step + 1]
        if aim is None or not aim.name or "button" not in (aim.tag, aim.role):
            return False
        if step.page.form_sha256 == after.page.form_sha256:
            return False
        if step.page.url != after.page.url or any(one.name == aim.name for one in after.elements):
            return False
        texts = texts_of(step) | texts_of(after)
        value = any(1 < len(text) < len(aim.name) and text in aim.name for text in texts)
        return value and not self._views.speaks_of_field(step, aim)
