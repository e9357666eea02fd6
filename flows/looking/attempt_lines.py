"""An attempt explained, as lines for a terminal, and as JSON."""

from collections.abc import Iterator

from flows.looking.explanation import NOT_JUDGED, DifferenceKind, Explanation
from flows.looking.films import step_words
from flows.looking.places import Head
from schemas.base import JsonObject
from schemas.verdicts.full_episode import FullEpisode

MAX_DIFFERENCES = 8
"""Differences of which each is shown; of more only the number."""

_MARGIN = " " * 9


def attempt_lines(head: Head, episode: FullEpisode, told: Explanation) -> Iterator[str]:
    """Yield what became of an attempt and why: goal, outcome, first mistake, expected and found, reasons."""
    attempt, task = episode.episode, episode.task
    yield f"episode  {attempt.episode_id}  ({head.status})"
    yield f"task     {task.template_id} on {task.site}, seed {task.seed}, by {attempt.policy}"
    yield f"goal     {attempt.instruction}"
    yield f"outcome  {told.outcome}"
    if told.first_mistake is not None:
        step = told.first_mistake.step
        words = step_words(attempt, attempt.steps[step]) if step < len(attempt.steps) else ""
        yield f"mistake  {words or f'step {step}'}"
        yield f"{_MARGIN}{told.first_mistake.why}"
    for number, one in enumerate(told.differences[:MAX_DIFFERENCES]):
        name = "found" if number == 0 else ""
        what = one.what if one.kind is DifferenceKind.AS_EXPECTED else f"{one.kind}: {one.what}"
        yield f"{name:9}{what}"
        if one.kind is DifferenceKind.AS_EXPECTED:
            yield f"{_MARGIN}  as expected: {one.found}"
        else:
            yield f"{_MARGIN}  expected {one.expected}"
            yield f"{_MARGIN}  found    {one.found}"
    more = len(told.differences) - MAX_DIFFERENCES
    if more > 0:
        yield f"{_MARGIN}and {more} more (--json has all)"
    yield from _reason_lines(told)


def _reason_lines(told: Explanation) -> Iterator[str]:
    """Yield each reason and its meaning; verifiers that have not judged stand in one line."""
    spared = [one.text.partition(":")[0] for one in told.reasons if one.text.endswith(NOT_JUDGED)]
    judged = [one for one in told.reasons if not one.text.endswith(NOT_JUDGED)]
    lines = [line for one in judged for line in (one.text, f"  {one.meaning}")]
    lines += [f"not judged by {', '.join(spared)}"] if spared else []
    for number, line in enumerate(lines):
        yield f"{'rule' if number == 0 else '':9}{line}"


def attempt_facts(head: Head, episode: FullEpisode, told: Explanation) -> JsonObject:
    """Return the same for programs."""
    attempt, task = episode.episode, episode.task
    facts: JsonObject = {
        "episode_id": attempt.episode_id,
        "task_id": task.task_id,
        "template_id": task.template_id,
        "site": task.site,
        "seed": task.seed,
        "policy": attempt.policy,
        "status": head.status.value,
        "instruction": attempt.instruction,
        "n_steps": attempt.n_steps,
        "reward": attempt.reward,
        "answer": attempt.answer,
    }
    return {**facts, **told.model_dump(mode="json")}
