"""The panel: all verifiers of a run, run in order on one episode until the rule rejects it.

A verifier runs only on episodes that no earlier one failed and that the rule does not reject already, by
what the earlier ones said; so a threshold that is lowered owes the later verdicts, and one that is raised
owes nothing. `verify.rejected_too` names those that run on rejected episodes as well: a failure that is
to be learnt from has to be as true as a success. None runs on what `structure` failed. The panel keeps an existing verdict unless it comes from another version of the verifier or
decided nothing; then the verifier runs again, in the next round. If a verifier breaks, the panel records
`error`, and the run continues.

Rounds are bounded. A verifier that is asked until it says what one hopes for proves little, so one version
of it judges an episode `MAX_ROUNDS` times at most, abstentions included. An `error` says nothing about
the episode, so it does not count, and a repaired machine can always go on; but it is a row like any other.
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
"""Times that one version of a verifier judges an episode, whoever asks."""

STRUCTURE = "structure"
"""The verifier that says whether an episode is whole; what it fails is not worth another look."""

RETRIED_STATUSES = (Status.ERROR, Status.ABSTAINED)
"""Statuses that decide nothing: the verifier runs again in a later round."""

LOG = logging.getLogger(__name__)


class Panel:
    """Runs verifiers in their order, as far as a rule needs them."""

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
        """Which episodes are accepted."""
        self.rejected_too = frozenset(rejected_too)
        """The names of the verifiers that examine rejected episodes as well."""

    def needs_verdicts(self, known: Collection[Verdict]) -> bool:
        """Return whether an episode needs verdicts beyond those that it has."""
        latest, counted = latest_verdicts(known), list[Verdict]()
        for verifier in self.verifiers:
            if not self._asks(verifier, counted):
                continue
            if _is_owed(verifier, known):
                return True
            counted.append(latest[verifier.name])
        return False

    def spent(self, known: Collection[Verdict]) -> tuple[str, ...]:
        """Return the verifiers that are not asked about an episode again, however often one asks."""
        return tuple(one.name for one in self.verifiers if _rounds(one, known) >= MAX_ROUNDS)

    async def judge(
        self,
        task: Task,
        episode: Episode,
        known: Collection[Verdict] = (),
        *,
        again: bool = False,
    ) -> list[Verdict]:
        """Return the new verdicts on an episode that already has those in `known`.

        With `again` every verifier that is not spent gives a new one.
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
        """Return whether a verifier is asked, given what the earlier ones said."""
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
