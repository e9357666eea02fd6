"""The label of each step, as judged by the verifier `steps`, and its place in verdicts."""

from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache

from pydantic import JsonValue, ValidationError

from schemas.base import Record
from schemas.verdicts.verdict import Status, Verdict


class Label(StrEnum):
    """What a step did for its task, judged by the goal, by what had been seen by then and by what came of it.

    The first that fits counts, in the order `mistake`, `recovery`, `redundant`, `explores`, `on_path`.
    """

    ON_PATH = "on_path"
    """It did a part of what the goal asks, or led there: it entered, chose, saved or answered what the goal wants,
    or it opened, searched, filtered, pressed or brought back into sight what a later step or the answer used."""
    EXPLORES = "explores"
    """It brought something into sight that had not been seen, while what is needed next had not been seen either: a
    scroll or a page turn; or a look at a page, a menu or a section that turned out not to be needed. Nothing had to
    be taken back."""
    MISTAKE = "mistake"
    """It went against what the goal and the pictures said by then, or it had to be taken back or mended: a wrong value,
    choice, row or page; a form that was sent with a wrong value or with one missing; a press beside what it was meant
    for; an action that could not be carried out; an end without success."""
    RECOVERY = "recovery"
    """It took back or mended a mistake or a fault of the site: it replaced a wrong value, left a wrong page, sent again
    what was refused or had failed, signed in again, closed what stood in the way."""
    REDUNDANT = "redundant"
    """It was of no use: nothing changed and nothing new came into sight, or the same had been done already."""


GOOD_STEPS = (Label.ON_PATH, Label.EXPLORES, Label.RECOVERY)
"""The labels of steps that are worth learning."""


class StepLabel(Record):
    """The label of a step by `steps`: the columns that the published `steps` have beside a run's."""

    label: Label | None = None
    """What the step did for its task; None in the last row, if `steps` has not judged the episode, or where nothing
    recorded tells."""
    visible_change: bool | None = None
    """The next picture differs in more than a rasteriser's noise, or elements, sights or address do, or a
    dialog was shown. None in the last row, if `steps` has not seen the episode, or where only the pictures
    could tell and one is missing or cut."""


def step_labels(latest: Mapping[str, Verdict]) -> tuple[StepLabel, ...] | None:
    """Return the label of each action of an episode with these latest verdicts, in order.

    None if `steps` has not judged it, or if its evidence has another form, as that of earlier versions.
    """
    verdict = latest.get("steps")
    rows = None if verdict is None or verdict.status is not Status.PASSED else verdict.evidence
    match rows:
        case {"steps": list(labels)} if all(
            isinstance(row, dict) and "label" in row for row in labels
        ):
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
