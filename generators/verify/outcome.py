"""What the site reported: the verifier that relies on no claim of a policy.

It passes if and only if the site reported the task as done and its raw, undiscounted reward reaches
the threshold: the run's `accept.min_reward`, or the template's own where its score is continuous. The
template's own threshold wins, and every finding names the one that was used.
"""

from collections.abc import Mapping

from generators.sites.protocol import Site
from schemas.base import JsonObject
from schemas.episode import Episode
from schemas.task import Task
from schemas.verdict import Finding, Status


class OutcomeVerifier:
    """The `outcome` verifier."""

    name = "outcome"
    version = "1"

    def __init__(self, sites: Mapping[str, Site], *, min_reward: float) -> None:
        self._sites = sites
        self._min_reward = min_reward

    async def examine(self, task: Task, episode: Episode) -> Finding:
        """Compare what the site reported with the threshold; `unsupported` if it reported nothing."""
        site = self._sites.get(task.site)
        own = site.threshold(task.template_id) if site else None
        min_reward = self._min_reward if own is None else own.reward
        whose = "" if own is None else f", the threshold of {task.template_id} itself"
        evidence: JsonObject = {
            "reward": episode.reward,
            "done": episode.done,
            "min_reward": min_reward,
            "min_reward_reason": None if own is None else own.reason,
        }
        if episode.reward is None and episode.failure_kind is None:
            status, reason = Status.UNSUPPORTED, "the site says nothing"
        elif episode.done and episode.reward is not None and episode.reward >= min_reward:
            status, reason = Status.PASSED, f"done with reward {episode.reward:g}"
            reason += f", at least {min_reward:g}{whose}" if own else ""
        elif not episode.done:
            status, reason = Status.FAILED, f"not done ({episode.stop_reason.value})"
        else:
            status, reason = (
                Status.FAILED,
                f"reward {episode.reward} is below {min_reward:g}{whose}",
            )
        return Finding(status=status, reason=reason, evidence=evidence)
