"""Whether a run's rule accepts an episode, given the verdicts: accepted, rejected or not judged yet.

The functions are pure, so that the progress of a run, the published dataset and a later reading of the
same tables agree. Only the highest round of each verifier counts, and of several versions of a verifier
the one that judged last. Not judged is not zero: if a required verifier has not seen an episode,
abstained or broke on it, the episode is `unjudged`, unless another verifier failed it.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum

from schemas.sections import AcceptSection
from schemas.task import split_of
from schemas.verdict import Acceptance, Status, Verdict

_REPLAY_LABELS = {
    Status.PASSED: "reproduced",
    Status.FAILED: "diverged",
    Status.UNSUPPORTED: "unsupported",
}
_JUDGES = ("judge", "panel")


class AcceptanceStatus(StrEnum):
    """What a rule makes of an episode."""

    ACCEPTED = "accepted"
    """Every part of the rule is met."""
    REJECTED = "rejected"
    """A part of the rule is not met, and no later verdict can change that."""
    UNJUDGED = "unjudged"
    """No part has failed, but a required verdict is missing."""


def latest_verdicts(verdicts: Iterable[Verdict]) -> dict[str, Verdict]:
    """Return the verdict that counts of each verifier on one episode."""
    out: dict[str, Verdict] = {}
    for verdict in sorted(verdicts, key=lambda v: (v.judged_at, v.round)):
        before = out.get(verdict.verifier)
        same = before is not None and before.verifier_version == verdict.verifier_version
        if before is None or not same or verdict.round >= before.round:
            out[verdict.verifier] = verdict
    return out


def acceptance_status(rule: AcceptSection, verdicts: Mapping[str, Verdict]) -> AcceptanceStatus:
    """Return what the rule makes of an episode with these verdicts (see `latest_verdicts`)."""
    reasons = _reasons(rule, verdicts)
    if any(final for _, final in reasons):
        return AcceptanceStatus.REJECTED
    return AcceptanceStatus.UNJUDGED if reasons else AcceptanceStatus.ACCEPTED


def acceptance(
    rule: AcceptSection, verdicts: Mapping[str, Verdict], *, template_id: str
) -> Acceptance:
    """Return the columns that the rule gives an episode with these verdicts (see `latest_verdicts`)."""
    reasons = tuple(text for text, _ in _reasons(rule, verdicts))
    replay = verdicts.get("replay")
    judge = next((verdicts[name] for name in _JUDGES if name in verdicts), None)
    confirmations = (("replayed", replay), ("judged", judge))
    duplicate = verdicts.get("duplicates")
    original = duplicate.evidence.get("duplicate_of") if duplicate else None
    outcome = verdicts.get("outcome")
    min_reward = outcome.evidence.get("min_reward") if outcome else None
    why = outcome.evidence.get("min_reward_reason") if outcome else None
    return Acceptance(
        accepted=not reasons,
        rejected_because=reasons,
        assurance=next(
            (how for how, one in confirmations if one and one.status is Status.PASSED), "none"
        ),
        replay=_REPLAY_LABELS.get(replay.status) if replay else None,
        replay_score=replay.score if replay else None,
        judge_score=judge.score if judge else None,
        duplicate_of=original if isinstance(original, str) else None,
        split=split_of(template_id),
        min_reward=float(min_reward) if isinstance(min_reward, int | float) else None,
        min_reward_reason=why if isinstance(why, str) else None,
    )


def _reasons(rule: AcceptSection, verdicts: Mapping[str, Verdict]) -> list[tuple[str, bool]]:
    """Return the parts of the rule that are not met, each with whether that is final."""
    out: list[tuple[str, bool]] = []
    for name in rule.passed:
        verdict = verdicts.get(name)
        if verdict is None:
            out.append((f"{name}: not judged", False))
        elif verdict.status is not Status.PASSED:
            final = verdict.status in (Status.FAILED, Status.UNSUPPORTED)
            out.append((f"{name}: {verdict.status.value}: {verdict.reason}", final))
    for name, min_score in sorted(rule.min_scores.items()):
        verdict = verdicts.get(name)
        if verdict is None or verdict.score is None:
            out.append((f"{name}: no score", False))
        elif verdict.score < min_score:
            out.append((f"{name}: score {verdict.score:g} is below {min_score:g}", True))
    return out
