"""The `outcome` verifier: whether the site judged the end of an attempt.

It ignores the policy's claims and records facts only: the site's reward, whether the task was done, and the
template's own threshold if there is one. It passes if and only if nothing failed, the site reported the
task as done and its raw, undiscounted reward is finite. Whether the reward is enough is decided by the rule
each time that the verdict is read (`schemas/verdicts/acceptance.py`).
"""

import math
from collections.abc import Mapping

from generators.sites.judging.judge import explain
from generators.sites.judging.protocol import REASON_BYTES
from generators.sites.protocol import Judge, Site
from schemas.base import JsonObject
from schemas.episodes.action import NoAction
from schemas.episodes.episode import Episode, Step, StopReason
from schemas.figures import write_apart
from schemas.tasks.task import Task
from schemas.truncation import truncate
from schemas.verdicts.verdict import Finding, Status

MAX_UNMET = 5
"""Largest number of sentences about unmet expectations."""


class OutcomeVerifier:
    """The `outcome` verifier."""

    name = "outcome"
    version = "4"

    def __init__(self, sites: Mapping[str, Site]) -> None:
        self._sites = sites

    async def examine(self, task: Task, episode: Episode) -> Finding:
        """Return the site's reward and threshold; `unsupported` if the site reported none.

        If the site judged by its server's state, the evidence has `probed`.
        """
        site = self._sites.get(task.site)
        own = site.threshold(task.template_id) if site else None
        reward = episode.reward
        is_number = reward is None or math.isfinite(reward)
        evidence: JsonObject = {
            "reward": reward if is_number else None,
            "done": episode.done,
            "min_reward": None if own is None else own.reward,
            "min_reward_reason": None if own is None else own.reason,
        }
        if site is not None and site.judge is Judge.SERVER:
            evidence["probed"] = True
        unmet = _unmet(task, episode, enough=1.0 if own is None else own.reward)
        if unmet:
            evidence["unmet"] = [*unmet]
        if not is_number:
            status, reason = Status.FAILED, f"the reward is {reward}, which is no finite number"
        elif episode.failure_kind is not None or episode.stop_reason is StopReason.FAILED:
            status, reason = Status.FAILED, f"the attempt failed ({episode.failure_kind})"
        elif reward is None:
            status, reason = Status.UNSUPPORTED, "the site says nothing"
        elif episode.done:
            told = f": {'; '.join(unmet)}" if unmet else ""
            status, reason = (
                Status.PASSED,
                truncate(f"done with reward {reward:g}{told}", REASON_BYTES),
            )
        else:
            status, reason = Status.FAILED, f"not done ({episode.stop_reason.value})"
        return Finding(status=status, reason=reason, evidence=evidence)


def _unmet(task: Task, episode: Episode, *, enough: float) -> tuple[str, ...]:
    """Return a sentence for each unmet expectation, with the expected and the found value.

    Empty: the reward is enough, or no recorded fact explains it.
    """
    reward = episode.reward
    untold = task.expect is not None and episode.delta is None
    if not episode.done or reward is None or not reward < enough or untold:
        return ()
    if task.expect is not None and episode.delta is not None:
        return explain(task.expect, delta=episode.delta, answer=episode.answer)[:MAX_UNMET]
    acted = [step for step in episode.steps if not isinstance(step.action, NoAction)]
    last = f", the last of which was {_action_words(acted[-1])}" if acted else ""
    steps = f"{len(acted)} action{'' if len(acted) == 1 else 's'}"
    wanted, found = write_apart(enough, reward, ".6g")
    return (f"expected a reward of {wanted}, found {found} after {steps}{last}",)


def _action_words(step: Step) -> str:
    """Return a step's action in words: its type and its target."""
    hit = step.target and (step.target.name or step.target.text)
    return f"{step.action.type} on {truncate(hit, 60)!r}" if hit else step.action.type
