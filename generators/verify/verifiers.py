"""The verifiers that ship, by the names that configurations use; two of them have modules of their own.

`outcome` compares what the site reported with a threshold, and relies on no claim of a policy. It passes
if and only if nothing failed, the site reported the task as done and its raw, undiscounted reward is a
finite number that reaches the threshold: the template's own where its score is continuous, else the run's
`accept.min_reward`. Every finding names the threshold that was used.
"""

import difflib
import math
from collections.abc import Callable, Mapping, Sequence

from generators.browser.protocol import Sessions
from generators.sites.protocol import Site
from generators.verify.protocol import Verifier
from generators.verify.replay import Replay
from generators.verify.structure import Structure
from schemas.base import JsonObject
from schemas.episode import Episode, StopReason
from schemas.errors import NotFound
from schemas.task import Task
from schemas.verdict import Finding, Status


class OutcomeVerifier:
    """The `outcome` verifier."""

    name = "outcome"
    version = "2"

    def __init__(self, sites: Mapping[str, Site], *, min_reward: float) -> None:
        self._sites = sites
        self._min_reward = min_reward

    async def examine(self, task: Task, episode: Episode) -> Finding:
        """Compare what the site reported with the threshold; `unsupported` if it reported nothing."""
        site = self._sites.get(task.site)
        own = site.threshold(task.template_id) if site else None
        min_reward = self._min_reward if own is None else own.reward
        whose = "" if own is None else f", the threshold of {task.template_id} itself"
        reward = episode.reward
        is_number = reward is None or math.isfinite(reward)
        evidence: JsonObject = {
            "reward": reward if is_number else None,
            "done": episode.done,
            "min_reward": min_reward,
            "min_reward_reason": None if own is None else own.reason,
        }
        if not is_number:
            status, reason = Status.FAILED, f"the reward is {reward}, which is no finite number"
        elif episode.failure_kind is not None or episode.stop_reason is StopReason.FAILED:
            status, reason = Status.FAILED, f"the attempt failed ({episode.failure_kind})"
        elif reward is None:
            status, reason = Status.UNSUPPORTED, "the site says nothing"
        elif episode.done and reward >= min_reward:
            status, reason = Status.PASSED, f"done with reward {reward:g}"
            reason += f", at least {min_reward:g}{whose}" if own else ""
        elif not episode.done:
            status, reason = Status.FAILED, f"not done ({episode.stop_reason.value})"
        else:
            status, reason = (
                Status.FAILED,
                f"reward {reward} is below {min_reward:g}{whose}",
            )
        return Finding(status=status, reason=reason, evidence=evidence)


Maker = Callable[[Mapping[str, Site], Sessions, float], Verifier]
"""Makes a verifier from the run's sites, the sessions for replays and the reward that counts as success."""

MAKERS: dict[str, Maker] = {
    "structure": lambda _sites, _sessions, _reward: Structure(),
    "outcome": lambda sites, _sessions, reward: OutcomeVerifier(sites, min_reward=reward),
    "replay": lambda sites, sessions, _reward: Replay(sites, sessions=sessions),
}
"""Every verifier by the name that configurations use, cheapest first."""

VERIFIER_NAMES = tuple(MAKERS)
"""The names of the verifiers that ship."""


def check_verifier_names(names: Sequence[str]) -> None:
    """Refuse names of unknown verifiers.

    Raises:
        NotFound: with the unknown name and the nearest known one.
    """
    for name in names:
        if name not in MAKERS:
            near = difflib.get_close_matches(name, MAKERS, n=1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            raise NotFound(f"unknown verifier '{name}'{hint} (known: {', '.join(MAKERS)})")


def make_verifiers(
    names: Sequence[str], *, sites: Mapping[str, Site], sessions: Sessions, min_reward: float
) -> tuple[Verifier, ...]:
    """Return the verifiers with these names, in that order. Replays run in `sessions`.

    Raises:
        NotFound: a name is unknown.
    """
    check_verifier_names(names)
    return tuple(MAKERS[name](sites, sessions, min_reward) for name in names)
