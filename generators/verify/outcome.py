"""What the site itself said: the verifier that takes no policy's word.

It passes if and only if the site said the task is done and its raw, undiscounted reward reaches
the threshold: the run's, or the family's own where its score is continuous.
"""

from collections.abc import Mapping

from generators.sites.protocol import Site
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
        """Return what the site's word amounts to; `unsupported` where it says nothing."""
        site = self._sites.get(task.site)
        own = site.threshold(task.template_id) if site else None
        least = self._min_reward if own is None else own
        evidence = {"reward": episode.reward, "done": episode.done, "min_reward": least}
        if episode.reward is None and episode.failure_kind is None:
            return Finding(
                status=Status.UNSUPPORTED, reason="the site says nothing", evidence=dict(evidence)
            )
        if episode.done and episode.reward is not None and episode.reward >= least:
            status, reason = Status.PASSED, f"done with reward {episode.reward:g}"
        elif not episode.done:
            status, reason = Status.FAILED, f"not done ({episode.stop_reason.value})"
        else:
            status, reason = Status.FAILED, f"reward {episode.reward} is below {least:g}"
        return Finding(status=status, reason=reason, evidence=dict(evidence))
