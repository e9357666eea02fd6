"""The panel: all verifiers of a run, run in order on one episode.

A verifier runs only on episodes that no earlier one failed. The panel keeps an existing verdict unless
it decided nothing (`error`, `abstained`) or comes from another version of the verifier; then the verifier
runs again, in the next round. If a verifier breaks, the panel records `error`, and the run continues.
"""

import logging
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from generators.verify.protocol import Verifier
from schemas.episode import Episode
from schemas.errors import FailureKind, RolloutFailure, boundary
from schemas.task import Task
from schemas.verdict import Finding, Status, Verdict

RETRIED_STATUSES = (Status.ERROR, Status.ABSTAINED)
"""Statuses that decide nothing: the verifier runs again in a later round."""

LOG = logging.getLogger(__name__)


class Panel:
    """Runs verifiers in their order."""

    def __init__(self, verifiers: Sequence[Verifier]) -> None:
        self.verifiers = tuple(verifiers)
        """In the order in which they run."""

    def needs_verdicts(self, known: Mapping[str, Verdict]) -> bool:
        """Return whether an episode needs verdicts beyond those in `known`."""
        for verifier in self.verifiers:
            verdict = known.get(verifier.name)
            if verdict is None or not _is_final(verifier, verdict):
                return True
            if verdict.status is Status.FAILED:
                return False
        return False

    async def judge(
        self, task: Task, episode: Episode, known: Mapping[str, Verdict] | None = None
    ) -> list[Verdict]:
        """Return the new verdicts on an episode that already has those in `known`."""
        out: list[Verdict] = []
        for verifier in self.verifiers:
            verdict = (known or {}).get(verifier.name)
            if verdict is None or not _is_final(verifier, verdict):
                round_ = 0
                if verdict is not None and verdict.verifier_version == verifier.version:
                    round_ = verdict.round + 1
                verdict = await _examine(verifier, task, episode, round_=round_)
                out.append(verdict)
            if verdict.status is Status.FAILED:
                break
        return out


def _is_final(verifier: Verifier, verdict: Verdict) -> bool:
    return verdict.verifier_version == verifier.version and verdict.status not in RETRIED_STATUSES


async def _examine(verifier: Verifier, task: Task, episode: Episode, *, round_: int) -> Verdict:
    begun = time.perf_counter()
    try:
        with boundary(FailureKind.INTERNAL, verifier.name):
            finding = await verifier.examine(task, episode)
    except RolloutFailure as failure:
        LOG.warning("verifier %s broke: %s episode=%s", verifier.name, failure, episode.episode_id)
        finding = Finding(
            status=Status.ERROR,
            reason=failure.message,
            evidence={"failure_kind": failure.kind.value},
        )
    return Verdict(
        episode_id=episode.episode_id,
        unit_id=episode.unit_id,
        verifier=verifier.name,
        verifier_version=verifier.version,
        round=round_,
        status=finding.status,
        score=finding.score,
        reason=finding.reason,
        evidence=finding.evidence,
        seconds=time.perf_counter() - begun,
        cost_usd=finding.cost_usd,
        judged_at=datetime.now(UTC),
    )
