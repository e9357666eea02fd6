"""The panel: all verifiers of a run, in order, on one episode until the rule rejects it.

A verifier runs only if no earlier verifier failed the episode and the rule does not reject it already. So a
lowered threshold makes later verdicts due, and a raised one makes none due. Verifiers in
`verify.rejected_too` run on rejected episodes as well: failures used for training must be as trustworthy as
successes. No verifier runs on an episode that `structure` failed. The panel keeps an existing verdict
unless another version of the verifier gave it or it decided nothing; then the verifier runs again, in the
next round. If a verifier breaks, the panel records `error`, and the run continues.

Rounds are bounded: repeating a verifier until it passes would prove little. One version judges an episode
at most `MAX_ROUNDS` times, abstentions included. An `error` says nothing about the episode and does not
count, so that a run on a repaired machine can continue; it is stored as a row like any other.
"""

import logging
import time
from collections.abc import Collection, Sequence
from datetime import UTC, datetime

from generators.verify.protocol import Verifier
from schemas.configuration.sections import AcceptSection
from schemas.episodes.episode import Episode
from schemas.errors import FailureKind, RolloutFailure, boundary
from schemas.tasks.task import Task
from schemas.verdicts.acceptance import AcceptanceStatus, acceptance_status, latest_verdicts
from schemas.verdicts.verdict import Finding, Status, Verdict

MAX_ROUNDS = 3
"""Largest number of verdicts of one version of a verifier on one episode, over all commands."""

STRUCTURE = "structure"
"""The verifier of an episode's integrity; no other verifier runs on an episode that it failed."""

RETRIED_STATUSES = (Status.ERROR, Status.ABSTAINED)
"""Statuses without a decision: the verifier runs again in a later round."""

LOG = logging.getLogger(__name__)


class Panel:
    """Runs verifiers in order, as far as the rule needs them."""

    def __init__(
        self,
        verifiers: Sequence[Verifier],
        rule: AcceptSection,
        *,
        rejected_too: Collection[str] = (),
    ) -> None:
        self.verifiers = tuple(verifiers)
        """In the order in which they run."""
        self.rule = rule
        """Decides which episodes are accepted."""
        self.rejected_too = frozenset(rejected_too)
        """The names of the verifiers that run on rejected episodes as well."""

    def needs_verdicts(self, known: Collection[Verdict]) -> bool:
        """Return whether an episode needs more verdicts."""
        latest, counted = latest_verdicts(known), list[Verdict]()
        for verifier in self.verifiers:
            if not self._asks(verifier, counted):
                continue
            if _is_owed(verifier, known):
                return True
            counted.append(latest[verifier.name])
        return False

    def spent(self, known: Collection[Verdict]) -> tuple[str, ...]:
        """Return the verifiers that have used up their rounds on an episode."""
        return tuple(one.name for one in self.verifiers if _rounds(one, known) >= MAX_ROUNDS)

    async def judge(
        self,
        task: Task,
        episode: Episode,
        known: Collection[Verdict] = (),
        *,
        again: bool = False,
    ) -> list[Verdict]:
        """Return the new verdicts on an episode that has the verdicts `known`.

        With `again` every verifier with rounds left gives a new one.
        """
        latest, counted, out = latest_verdicts(known), list[Verdict](), list[Verdict]()
        for verifier in self.verifiers:
            if not self._asks(verifier, counted):
                continue
            verdict = latest.get(verifier.name)
            asks = again and _rounds(verifier, known) < MAX_ROUNDS
            if verdict is None or asks or _is_owed(verifier, known):
                same = verdict is not None and verdict.verifier_version == verifier.version
                round_ = verdict.round + 1 if verdict is not None and same else 0
                verdict = await _examine(verifier, task, episode, round_=round_)
                out.append(verdict)
            counted.append(verdict)
        return out

    def _asks(self, verifier: Verifier, counted: Collection[Verdict]) -> bool:
        """Return whether a verifier runs, given the earlier verifiers' verdicts."""
        failed = {verdict.verifier for verdict in counted if verdict.status is Status.FAILED}
        if STRUCTURE in failed:
            return False
        if verifier.name in self.rejected_too:
            return True
        status = acceptance_status(self.rule, counted)
        return not failed and status is not AcceptanceStatus.REJECTED


def _rounds(verifier: Verifier, known: Collection[Verdict]) -> int:
    """Return how often this version of a verifier has judged an episode."""
    source = (verifier.name, verifier.version)
    return sum(
        (one.verifier, one.verifier_version) == source and one.status is not Status.ERROR
        for one in known
    )


def _is_owed(verifier: Verifier, known: Collection[Verdict]) -> bool:
    """Return whether a verifier has to judge an episode, for the first time or again."""
    verdict = latest_verdicts(known).get(verifier.name)
    if verdict is None or verdict.verifier_version != verifier.version:
        return True
    if verdict.status is Status.ABSTAINED:
        return _rounds(verifier, known) < MAX_ROUNDS
    return verdict.status is Status.ERROR


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
