"""The effect of each step on its task, as judged by the verifier `steps`, and its place in verdicts."""

from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache

from pydantic import JsonValue, ValidationError

from schemas.base import Record
from schemas.verdicts.verdict import Status, Verdict


class StepQuality(StrEnum):
    """The effect of a step on its task, as `steps` judges it from stored states and pictures."""

    USEFUL = "useful"
    """It changed something that was not taken back, or it is what the goal names."""
    NEUTRAL = "neutral"
    """It looked or waited, and there was something new to be seen."""
    WITHOUT_EFFECT = "without_effect"
    """Nothing could be seen to change."""
    REDUNDANT = "redundant"
    """What it asked for was so already, or the next step made it needless."""
    UNDONE_LATER = "undone_later"
    """A later step took its change back, or wrote over it."""
    MISTAKE = "mistake"
    """It could not be carried out, or led to a failure."""


GOOD_STEPS = (StepQuality.USEFUL, StepQuality.NEUTRAL)
"""The qualities of steps that are worth learning."""


class StepLabel(Record):
    """The label of a step by `steps`: the columns that the published `steps` have beside a run's."""

    quality: StepQuality | None = None
    """What the step did for its task; None in the last row, if `steps` has not seen the episode, or where
    nothing shows what it changed."""
    visible_change: bool | None = None
    """The next picture differs in more than a rasteriser's noise, or elements, sights or address do, or a
    dialog was shown. None in the last row, if `steps` has not seen the episode, or where only the pictures
    could tell and one is missing or cut."""


def step_labels(latest: Mapping[str, Verdict]) -> tuple[StepLabel, ...] | None:
    """Return the label of each action of an episode with these latest verdicts, in order.

    None if `steps` has not judged it, or if its evidence has another form.
    """
    verdict = latest.get("steps")
    rows = None if verdict is None or verdict.status is not Status.PASSED else verdict.evidence
    match rows:
        case {"steps": list(labels)} if all(isinstance(row, dict) for row in labels):
            read = [row for row in labels if isinstance(row, dict)]
            try:
                return tuple(map(_label, map(StepLabel.model_validate, map(_columns, read))))
            except ValidationError:
                return None
    return None


def _columns(row: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {name: row.get(name) for name in StepLabel.model_fields}


@lru_cache(maxsize=64)
def _label(label: StepLabel) -> StepLabel:
    """Return a label; equal ones share one object, because a run has very many."""
    return label
