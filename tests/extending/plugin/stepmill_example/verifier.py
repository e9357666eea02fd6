"""A verifier that passes episodes of at most a tenth of the actions that their task allows."""

from collections.abc import Mapping

from generators.browser.protocol import Sessions
from generators.sites.protocol import Site
from schemas.episodes.episode import Episode
from schemas.tasks.task import Task
from schemas.verdicts.verdict import Finding, Status


class Short:
    stepmill_api = 1
    name = "short"
    version = "1"

    def __init__(self, sites: Mapping[str, Site], sessions: Sessions) -> None:
        """It asks no site and replays nothing."""

    async def examine(self, task: Task, episode: Episode) -> Finding:
        status = Status.PASSED if episode.n_steps <= task.max_steps / 10 else Status.FAILED
        return Finding(status=status, reason=f"{episode.n_steps} steps.")
