"""Whether the user's own threshold holds for all that a run has, said by every command that applies it.

A template whose score is continuous has a threshold of its own, which holds instead of
`accept.min_reward`, whether it is lower or higher.
"""

import asyncio
import logging
from collections.abc import Iterable

from generators.sites import miniwob
from schemas.configuration.sections import AcceptSection
from storage.lake import readers
from storage.lake.lake_reader import Snapshot

LOG = logging.getLogger(__name__)


def warn_of_thresholds(rule: AcceptSection, tasks: Iterable[tuple[str, str]]) -> None:
    """Warn of templates to which the user's own threshold does not apply.

    `tasks` are the site and the template of each task.
    """
    if rule.min_reward == AcceptSection().min_reward:
        return
    templates = {template for site, template in tasks if site == miniwob.NAME}
    own = [
        f"{name} ({miniwob.THRESHOLDS[name].reward:g})"
        for name in sorted(templates & miniwob.THRESHOLDS.keys())
    ]
    if own:
        LOG.warning(
            "accept.min_reward = %g does not hold for %s: a template whose score is continuous has "
            "a threshold of its own",
            rule.min_reward,
            ", ".join(own),
        )


async def warn_of_stored_thresholds(snapshot: Snapshot, rule: AcceptSection) -> None:
    """Warn of templates of a stored run to which the user's own threshold does not apply.

    Raises:
        Damaged: the tasks cannot be read.
    """
    if rule.min_reward != AcceptSection().min_reward:  # else every task would be read for nothing
        tasks = await asyncio.to_thread(
            readers.rows, await snapshot.dataset("tasks"), columns=["site", "template_id"]
        )
        warn_of_thresholds(rule, {(row["site"], row["template_id"]) for row in tasks})
