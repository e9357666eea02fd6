"""The `outcome` verifier: whether an attempt came to an end that the site judged.

It relies on no claim of a policy, and it holds facts only: the reward that the site reported, whether
the task was done, and the template's own threshold where the site has one. It passes if and only if
nothing failed, the site reported the task as done and its raw, undiscounted reward is a finite number.
Whether that reward is enough is for the rule, which compares it with a threshold whenever the verdict
is read (`schemas/acceptance.py`).
"""

import math
from collections.abc import Mapping

from generators.sites.protocol import Judge, Site
from schemas.base import JsonObject
from schemas.episode import Episode, StopReason
from schemas.task import Task
from schemas.verdict import Finding, Status


class OutcomeVerifier:
    """The `outcome` verifier."""

    name = "outcome"
    version = "3"

    def __init__(self, sites: Mapping[str, Site]) -> None:
        self._sites = sites

    async def examine(self, task: Task, episode: Episode) -> Finding:
        """Return what the site reported, and its threshold; `unsupported` if it reported nothing.

        Where the site judged by its server's state, the evidence says that it was `probed`.
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
        if not is_number:
            status, reason = Status.FAILED, f"the reward is {reward}, which is no finite number"
        elif episode.failure_kind is not None or episode.stop_reason is StopReason.FAILED:
            status, reason = Status.FAILED, f"the attempt failed ({episode.failure_kind})"
        elif reward is None:
            status, reason = Status.UNSUPPORTED, "the site says nothing"
        elif episode.done:
            status, reason = Status.PASSED, f"done with reward {reward:g}"
        else:
            status, reason = Status.FAILED, f"not done ({episode.stop_reason.value})"
        return Finding(status=status, reason=reason, evidence=evidence)
