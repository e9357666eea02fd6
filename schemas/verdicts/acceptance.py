"""Whether a run's rule accepts an episode, given its verdicts: accepted, rejected or not judged yet.

The functions are pure, so that the progress of a run, the published dataset and a later reading of the
same tables agree. Only the highest round of each verifier counts, and of several versions of a verifier
the one that judged last. Not judged is not zero: if a required verifier has not seen an episode,
abstained or broke on it, the episode is `unjudged`, unless another part of the rule rejects it.

People's reviews come last, and only against an episode: one that a reviewer rejects is rejected, and one that
reviewers disagree on is not judged. None makes good what a verifier failed.

Verdicts hold facts and the rule holds thresholds. A verdict of `outcome` has the reward that the site
reported, and the template's own threshold if it has one; the rule compares the two, or the reward with
`accept.min_reward`, whenever the verdict is read. So every row of one reading has the same thresholds,
whenever its episode was judged. Verdicts of earlier versions of `outcome` passed or failed by the
threshold of their day: one that the rule of today might overturn leaves its episode unjudged.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from schemas.configuration.sections import AcceptSection, ReviewRule
from schemas.verdicts.novelty import Fingerprints, find_repeats, fingerprints_of
from schemas.verdicts.review import (
    Decision,
    Review,
    ReviewResult,
    decisions,
    review_result,
    reviewed_instruction,
)
from schemas.verdicts.sketch import sketch_in
from schemas.verdicts.step_label import StepLabel, step_labels
from schemas.verdicts.verdict import Acceptance, Status, Verdict

_REPLAY_LABELS = {
    Status.PASSED: "reproduced",
    Status.FAILED: "diverged",
    Status.UNSUPPORTED: "unsupported",
}
_JUDGES = ("judge", "panel")
_OUTCOME = "outcome"
REVIEW = "review"
"""What the reasons of reviewers begin with, as those of a verifier do with its name."""
NOVELTY = "novelty"
"""The verifier by which repeated episodes are found."""
_NOT_JUDGED = ": not judged"
_AGAIN = "`stepmill verify` judges it again"


class AcceptanceStatus(StrEnum):
    """The result of a rule for an episode."""

    ACCEPTED = "accepted"
    """Every part of the rule is met."""
    REJECTED = "rejected"
    """A part of the rule is not met, and no later verdict can change that."""
    UNJUDGED = "unjudged"
    """No part has failed, but a required verdict is missing."""


class _Reason(NamedTuple):
    """A part of the rule that is not met."""

    text: str
    final: bool
    """No later verdict of the same verifiers can change it."""


def latest_verdicts(verdicts: Iterable[Verdict]) -> dict[str, Verdict]:
    """Return the verdict that counts of each verifier on one episode."""
    out: dict[str, Verdict] = {}
    for verdict in sorted(verdicts, key=lambda v: (v.judged_at, v.round)):
        before = out.get(verdict.verifier)
        same = before is not None and before.verifier_version == verdict.verifier_version
        if before is None or not same or verdict.round >= before.round:
            out[verdict.verifier] = verdict
    return out


def acceptance_status(rule: AcceptSection, verdicts: Iterable[Verdict]) -> AcceptanceStatus:
    """Return the rule's result for an episode, given every verdict on it."""
    return _status(_reasons(rule, latest_verdicts(verdicts)))


def _status(reasons: Collection[_Reason]) -> AcceptanceStatus:
    if any(reason.final for reason in reasons):
        return AcceptanceStatus.REJECTED
    return AcceptanceStatus.UNJUDGED if reasons else AcceptanceStatus.ACCEPTED


def acceptance(
    rule: AcceptSection,
    verdicts: Iterable[Verdict],
    *,
    split: str = "",
    reviews: Sequence[Review] = (),
) -> Acceptance:
    """Return the columns that the rule gives an episode, given every verdict on it, and the reviews that stand.

    `split` is the one that its template is published in; empty where nothing is published.
    """
    every = tuple(verdicts)
    latest = latest_verdicts(every)
    reasons = tuple(reason.text for reason in _reasons(rule, latest, reviews))
    replay = latest.get("replay")
    judge = next((latest[name] for name in _JUDGES if name in latest), None)
    stated = latest.get(_OUTCOME)
    probed = stated if stated is not None and stated.evidence.get("probed") is True else None
    confirmations = (("replayed", replay), ("probed", probed), ("judged", judge))
    outcome = stated if _OUTCOME in rule.passed else None
    own, why = (None, None) if outcome is None else _own_threshold(outcome)
    tries = [agreed for one in every if one.verifier == "replay" for agreed in _tries(one)]
    return Acceptance(
        accepted=not reasons,
        rejected_because=reasons,
        assurance=next(
            (how for how, one in confirmations if one and one.status is Status.PASSED), "none"
        ),
        replay=_REPLAY_LABELS.get(replay.status) if replay else None,
        replay_score=replay.score if replay else None,
        judge_score=judge.score if judge else None,
        split=split,
        min_reward=None if outcome is None else rule.min_reward if own is None else own,
        min_reward_reason=why,
        replays=len(tries) or None,
        replays_agreed=sum(tries) if tries else None,
        review=review_result(reviews),
        reviewed_instruction=reviewed_instruction(reviews),
        sketch=sketch_in(latest),
    )


def deciding_reason(reasons: Sequence[str]) -> str:
    """Return which of an episode's reasons decided: the first but "not judged", else the first of all.

    A verifier that rejects spares the others, which then did not judge.
    """
    return next((reason for reason in reasons if not reason.endswith(_NOT_JUDGED)), reasons[0])


class JudgedEpisode(NamedTuple):
    """An episode of a run, with every verdict on it."""

    episode_id: str
    task_id: str
    verdicts: tuple[Verdict, ...]
    split: str = ""
    """See `acceptance`."""


class RunJudgement(NamedTuple):
    """The rule's result for an episode among all others of its run."""

    status: AcceptanceStatus
    acceptance: Acceptance
    labels: tuple[StepLabel, ...] | None = None
    """The label of each action; None if `steps` has not judged the episode."""
    success: bool | None = None
    """See `success`."""


def accept_all(
    rule: AcceptSection,
    episodes: Iterable[JudgedEpisode],
    reviews: Mapping[str, Sequence[Review]] | None = None,
) -> dict[str, RunJudgement]:
    """Return the rule's result for each episode of a run, by id, given every verdict on all of them.

    `reviews` are those that stand, by episode; None: there are none.

    Of episodes that repeat each other (see `schemas.verdicts.novelty`) the first by id counts; where the rule
    names `novelty`, an exact copy of it is rejected.
    """
    out: dict[str, RunJudgement] = {}
    fingerprints: dict[str, Fingerprints] = {}
    tasks: dict[str, str] = {}
    for one in episodes:
        latest = latest_verdicts(one.verdicts)
        said = (reviews or {}).get(one.episode_id, ())
        status = _status(_reasons(rule, latest, said))
        columns = acceptance(rule, one.verdicts, split=one.split, reviews=said)
        out[one.episode_id] = RunJudgement(
            status, columns, step_labels(latest), success(rule, latest)
        )
        own = fingerprints_of(latest)
        if status is AcceptanceStatus.ACCEPTED and own is not None:
            fingerprints[one.episode_id] = own
            tasks[one.episode_id] = one.task_id
    for episode_id, repeats in find_repeats(fingerprints, tasks).items():
        judgement = out[episode_id]
        changes: dict[str, object] = dict(repeats._asdict())
        if repeats.duplicate_of is not None and NOVELTY in rule.passed:
            judgement = judgement._replace(status=AcceptanceStatus.REJECTED)
            because = f"{NOVELTY}: repeats: a copy of {repeats.duplicate_of}"
            changes |= {"accepted": False, "rejected_because": (because,)}
        columns = judgement.acceptance.model_copy(update=changes)
        out[episode_id] = judgement._replace(acceptance=columns)
    return out


def success(rule: AcceptSection, latest: Mapping[str, Verdict]) -> bool | None:
    """Return whether the site reported success under the thresholds of `rule`; None without a judgement.

    `outcome` alone decides this, regardless of other verifiers and of whether the rule requires it.
    """
    outcome = latest.get(_OUTCOME)
    if outcome is None or outcome.status not in (Status.PASSED, Status.FAILED):
        return None
    reason = _outcome_reason(rule, outcome)
    if reason is not None:
        return False if reason.final else None
    return outcome.status is Status.PASSED


def _reasons(
    rule: AcceptSection, latest: Mapping[str, Verdict], reviews: Sequence[Review] = ()
) -> list[_Reason]:
    """Return the parts of the rule that are not met."""
    out: list[_Reason] = []
    for name in rule.passed:
        verdict = latest.get(name)
        if verdict is None:
            out.append(_Reason(name + _NOT_JUDGED, final=False))
        elif name == _OUTCOME and (reason := _outcome_reason(rule, verdict)) is not None:
            out.append(reason)
        elif verdict.status is not Status.PASSED:
            final = verdict.status in (Status.FAILED, Status.UNSUPPORTED)
            out.append(_Reason(f"{name}: {verdict.status.value}: {verdict.reason}", final=final))
    for name, min_score in sorted(rule.min_scores.items()):
        verdict = latest.get(name)
        if verdict is None or verdict.score is None:
            out.append(_Reason(f"{name}: no score", final=False))
        elif verdict.score < min_score:
            text = f"{name}: score {verdict.score:g} is below {min_score:g}"
            out.append(_Reason(text, final=True))
    reason = _review_reason(rule.reviews, reviews)
    return out if reason is None else [*out, reason]


def _review_reason(rule: ReviewRule, reviews: Sequence[Review]) -> _Reason | None:
    """Return what the reviews that stand have against an episode; None if they have nothing."""
    if rule is ReviewRule.IGNORE:
        return None
    result = review_result(reviews)
    decided = decisions(reviews)
    match result:
        case ReviewResult.REJECTED:
            said = "; ".join(f"{one.reviewer}: {one.reason}" for one in decided)
            return _Reason(f"{REVIEW}: rejected: {said}", final=True)
        case ReviewResult.DISAGREED:
            said = ", ".join(
                f"{one.reviewer} {'accepts' if one.decision is Decision.ACCEPT else 'rejects'} it"
                for one in decided
            )
            return _Reason(f"{REVIEW}: disagreed: {said}", final=False)
        case ReviewResult.UNSURE if rule is ReviewRule.REQUIRE:
            return _Reason(f"{REVIEW}: unsure: no reviewer decided", final=False)
        case None if rule is ReviewRule.REQUIRE:
            return _Reason(REVIEW + _NOT_JUDGED, final=False)
    return None


def _outcome_reason(rule: AcceptSection, outcome: Verdict) -> _Reason | None:
    """Return why the reward in a verdict of `outcome` is too low; None if it suffices or is missing."""
    reward = _number(outcome, "reward")
    own, _ = _own_threshold(outcome)
    min_reward = rule.min_reward if own is None else own
    before = _number(outcome, "min_reward")
    named = f"{_OUTCOME}: judged by version {outcome.verifier_version}"
    match outcome.status:
        case Status.PASSED if reward is None:
            return _Reason(f"{named}, which tells no reward: {_AGAIN}", final=False)
        case Status.PASSED if reward is not None and reward < min_reward:
            if before is not None and "min_reward_reason" not in outcome.evidence:
                text = f"{named}, which does not tell whose threshold {before} is: {_AGAIN}"
                return _Reason(text, final=False)
            whose = "`accept.min_reward`" if own is None else "the threshold of its template"
            unmet = outcome.evidence.get("unmet")
            told = f": {'; '.join(map(str, unmet))}" if isinstance(unmet, list) and unmet else ""
            text = f"reward {reward} is below {min_reward:g}, {whose}{told}"
            return _Reason(f"{_OUTCOME}: below the threshold: {text}", final=True)
        case Status.FAILED if reward is not None and outcome.evidence.get("done") is True:
            if before is not None and min_reward <= reward < before:
                text = f"{named}, for which reward {reward} had to be {before:g}: {_AGAIN}"
                return _Reason(text, final=False)
    return None


def _own_threshold(outcome: Verdict) -> tuple[float | None, str | None]:
    """Return the template's own threshold and why it has one; None twice if it has none.

    Earlier versions put the run's threshold into the same place, without a reason.
    """
    own, why = _number(outcome, "min_reward"), outcome.evidence.get("min_reward_reason")
    return (own, why) if own is not None and isinstance(why, str) else (None, None)


def _tries(replay: Verdict) -> list[bool]:
    """Return whether each execution that a verdict of `replay` rests on agreed.

    Earlier versions stored only their number; the last one decided. A broken execution left no other
    evidence.
    """
    match replay.evidence.get("tries"):
        case list() as tries:
            return [isinstance(one, dict) and one.get("agreed") is True for one in tries]
        case int() as count if count > 0:
            return [*[False] * (count - 1), replay.status is Status.PASSED]
    return [False] if replay.status is Status.ERROR else []


def _number(verdict: Verdict, name: str) -> float | None:
    """Return a number of a verdict's evidence; None if it is not there."""
    value = verdict.evidence.get(name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
