"""The `novelty` verifier: fingerprints of an episode, by which repeated episodes are found.

Novelty is a property of a run, so the verifier passes every episode and only records fingerprints.
Repetitions are found over the whole run whenever it is read (`schemas/verdicts/novelty.py`): the result
does not depend on the order of judging, and no other episode is needed here.
"""

from pydantic import JsonValue

from schemas.base import JsonObject, content_hash
from schemas.episodes.episode import Episode, Step
from schemas.tasks.task import Task
from schemas.verdicts.novelty import Fingerprints
from schemas.verdicts.sketch import sketch_of
from schemas.verdicts.verdict import Finding, Status


class Novelty:
    """The `novelty` verifier."""

    name = "novelty"
    version = "1"

    async def examine(self, task: Task, episode: Episode) -> Finding:
        """Return the fingerprints; `unsupported` for an episode without a step."""
        if not episode.steps:
            return Finding(status=Status.UNSUPPORTED, reason="the episode has no steps")
        goal = " ".join(episode.instruction.casefold().split())
        shown = [
            [step.screenshot_sha256, step.action.model_dump(mode="json")] for step in episode.steps
        ]
        prints = Fingerprints(
            trajectory=content_hash(["trajectory", shown]),
            course=content_hash(["course", goal, [_course(one) for one in episode.steps]]),
            pictures=tuple(step.screenshot_phash for step in episode.steps),
            task=content_hash(["task", task.template_id, goal, episode.steps[0].screenshot_sha256]),
        )
        evidence: JsonObject = {
            **prints._asdict(),
            "pictures": list(prints.pictures),
            "sketch": sketch_of(prints).hex(),
        }
        return Finding(
            status=Status.PASSED,
            reason=f"fingerprints of {len(episode.steps)} states",
            evidence=evidence,
        )


def _course(step: Step) -> list[JsonValue]:
    """Return a step's action and target without coordinates."""
    target = step.target
    named: list[JsonValue] = []
    if target is not None:
        named = [target.tag, target.role, target.name or target.text]
    return [step.action.model_dump(mode="json", exclude={"x", "y", "to_x", "to_y"}), named]
