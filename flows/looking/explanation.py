"""Why an attempt ended as it did, in words: what was expected and found, the first mistake, and each reason of the rule.

Nothing here judges. What is expected and found comes from the code that judges (`generators/sites/judging`), the first
mistake from the labels of `steps`, from what the policy recorded, and from what each action changed on the server. The
texts quote pages and models: whoever shows them makes their control characters visible.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from flows.looking.first_mistake import THE_REWARD, Mistake, first_mistake
from generators.sites.judging.differences import (
    THE_ANSWER,
    Difference,
    DifferenceKind,
    differences,
)
from generators.sites.judging.matching import describe
from schemas.base import Record
from schemas.configuration.sections import AcceptSection
from schemas.episodes.action import Answer, NoAction
from schemas.episodes.episode import Episode, StopReason
from schemas.figures import write_apart
from schemas.tasks.expectation import Matches
from schemas.verdicts.acceptance import latest_verdicts
from schemas.verdicts.full_episode import FullEpisode
from schemas.verdicts.verdict import Verdict

__all__ = ["Difference", "DifferenceKind", "Explanation", "Mistake", "Reason", "explain"]

_ENDS: Mapping[StopReason, str] = {
    StopReason.FINISHED: "the site ended it",
    StopReason.ANSWERED: "the policy ended it with its answer",
    StopReason.STEP_LIMIT: "it was stopped at the limit on actions",
    StopReason.TIME_LIMIT: "it was stopped at the limit on seconds",
    StopReason.TOKEN_LIMIT: "it was stopped at the limit on tokens",
    StopReason.STUCK: "it was stopped because the same action on the same picture was repeated",
    StopReason.FAILED: "it broke",
}

_MEANINGS: Mapping[str, str] = {
    "outcome": "The site that judges the task did not find it done, or not well enough.",
    "structure": "The record contradicts itself: a column does not follow from the steps it is derived from.",
    "replay": "The same actions, carried out again from the task's start, led to something else.",
    "novelty": "Another accepted attempt of the run has the same pictures and the same actions.",
    "seen": "It relied on something that no picture, goal or dialog had shown by then, as a guess does.",
    "steps": "Its steps could not be labelled.",
}
NOT_JUDGED = ": not judged"
"""How a reason ends where its verifier has not judged the attempt."""

_SPARED = "This verifier has not judged it: one that rejects an attempt spares the others."
_NO_MEANING = "A verifier of the run's rule did not pass it."


class Reason(Record):
    """A part of the run's rule that is not met."""

    text: str
    """As the rule states it: the verifier, its status and its sentence."""
    meaning: str
    """What that says of the attempt, for who does not know the verifiers."""


class Explanation(Record):
    """Why an attempt ended as it did."""

    outcome: str
    """What became of it, in a sentence."""
    differences: tuple[Difference, ...] = ()
    """What was expected beside what was found: what is missing, wrong or extra first. Empty where nothing recorded
    tells: a probe judged, the attempt broke, or an earlier version kept no delta."""
    first_mistake: Mistake | None = None
    """The first step that went wrong and was not mended; None: none did, or nothing recorded tells."""
    reasons: tuple[Reason, ...] = ()
    """The parts of the rule that are not met; empty for an accepted attempt."""

    @property
    def unmet(self) -> tuple[Difference, ...]:
        """The differences that are not as expected."""
        return tuple(one for one in self.differences if one.kind is not DifferenceKind.AS_EXPECTED)


def explain(episode: FullEpisode, verdicts: Sequence[Verdict] = ()) -> Explanation:
    """Return why an attempt ended as it did.

    Args:
        episode: the attempt, complete.
        verdicts: every verdict on it; without them, as in a dataset, the steps' labels have no words.
    """
    attempt, latest = episode.episode, latest_verdicts(verdicts)
    enough = _enough(episode, latest)
    solved = _is_solved(attempt, enough)
    found = _differences(episode, enough=enough, solved=solved)
    reasons = tuple(_reason(text) for text in episode.acceptance.rejected_because)
    return Explanation(
        outcome=_outcome(episode, found, enough=enough, solved=solved),
        differences=found,
        first_mistake=first_mistake(episode, latest, found, solved=solved),
        reasons=reasons,
    )


def _enough(episode: FullEpisode, latest: Mapping[str, Verdict]) -> float:
    """Return the lowest raw reward that counts as success."""
    if episode.acceptance.min_reward is not None:
        return episode.acceptance.min_reward
    stated = latest.get("outcome")
    own = None if stated is None else stated.evidence.get("min_reward")
    if isinstance(own, int | float) and not isinstance(own, bool):
        return float(own)
    return AcceptSection().min_reward


def _is_solved(episode: Episode, enough: float) -> bool:
    reward = episode.reward
    return episode.done and episode.failure_kind is None and reward is not None and reward >= enough


def _differences(episode: FullEpisode, *, enough: float, solved: bool) -> tuple[Difference, ...]:
    attempt, expect = episode.episode, episode.task.expect
    if attempt.stop_reason is StopReason.FAILED:
        return ()
    if expect is None:
        return (_of_reward(attempt, enough, solved=solved),)
    if attempt.delta is None:
        return ()
    found = differences(expect, delta=attempt.delta, answer=attempt.answer)
    if episode.task.feasible is False or (expect.looked and isinstance(expect.answer, Matches)):
        found = tuple(map(_as_impossible, found))
    if solved or any(one.kind is not DifferenceKind.AS_EXPECTED for one in found):
        return found
    return (*_values_without_change(episode), *found)


def _as_impossible(one: Difference) -> Difference:
    """Return the answer that a task which cannot be done expects in words: its pattern says nothing to people."""
    words = "an answer that says that it is not there or cannot be done"
    return one.model_copy(update={"expected": words}) if one.what == THE_ANSWER else one


def _of_reward(episode: Episode, enough: float, *, solved: bool) -> Difference:
    """Return the reward of a page that judges itself, beside the one that is enough and the goal it is given for."""
    goal = episode.instruction
    if episode.reward is None:
        wanted, found = f"{enough:.6g}", "none: the site reported no reward"
    else:
        wanted, found = write_apart(enough, episode.reward, ".6g")
    if not episode.done:
        found = f"{found}, and the page did not report the task as done"
    return Difference(
        kind=DifferenceKind.AS_EXPECTED if solved else DifferenceKind.WRONG,
        what=THE_REWARD,
        expected=f"{wanted} or more, for its goal “{goal}”",
        found=found,
    )


def _values_without_change(episode: FullEpisode) -> Iterator[Difference]:
    """Yield the values that are expected at places where nothing changed, of an attempt that misses nothing else."""
    attempt, expect = episode.episode, episode.task.expect
    if expect is None or attempt.delta is None:
        return
    changed = {one.at for one in (*attempt.delta.added, *attempt.delta.changed)}
    for at, matcher in expect.values.items():
        if at not in changed:
            yield Difference(
                kind=DifferenceKind.MISSING,
                what=at,
                expected=describe(matcher),
                found="no change there",
            )


def _outcome(
    episode: FullEpisode, found: Sequence[Difference], *, enough: float, solved: bool
) -> str:
    attempt, reasons = episode.episode, episode.acceptance.rejected_because
    actions = f"{attempt.n_steps} action{'' if attempt.n_steps == 1 else 's'}"
    end = _end_of(attempt)
    if attempt.stop_reason is StopReason.FAILED:
        why = attempt.failure_message or "no reason was recorded"
        whose = "policy itself" if attempt.failure_kind == "policy" else str(attempt.failure_kind)
        return f"The attempt broke after {actions}, by the {whose}: {why}"
    if episode.acceptance.accepted:
        return f"Accepted: the task was done in {actions}, and every check of the rule passed."
    if solved:
        judged = [one for one in reasons if not one.endswith(NOT_JUDGED)] or reasons
        names = ", ".join(dict.fromkeys(f"`{_verifier(one)}`" for one in judged))
        return f"The task was done in {actions}, but the attempt was not accepted, by {names}."
    if attempt.reward is None:
        return f"Nobody judged the attempt: after {actions} {end}, and the site reported no reward."
    told = _counts(found)
    because = f": {told}" if told else ""
    if episode.task.expect is None:
        wanted, reward = write_apart(enough, attempt.reward, ".6g")
        done = "" if attempt.done else " and it did not report the task as done"
        return f"The task was not done: after {actions} {end}; the page's reward is {reward} where {wanted} is needed{done}."
    if attempt.delta is None:
        because = "; what it changed on the server is not recorded"
    elif episode.task.expect.probe is not None:
        because = f": the probe {episode.task.expect.probe} gave {attempt.reward:.6g} where {enough:.6g} is needed"
    return f"The task was not done: after {actions} {end}{because}."


def _end_of(episode: Episode) -> str:
    """Return who ended an attempt; a site may report the end upon the policy's answer."""
    taken = [step for step in episode.steps if not isinstance(step.action, NoAction)]
    if (
        episode.stop_reason is StopReason.FINISHED
        and taken
        and isinstance(taken[-1].action, Answer)
    ):
        return _ENDS[StopReason.ANSWERED]
    return _ENDS.get(episode.stop_reason, f"it ended ({episode.stop_reason})")


def _counts(found: Sequence[Difference]) -> str:
    """Return how much is missing, wrong and extra, in words; empty where nothing is."""
    counts = Counter(one.kind for one in found)
    words = {
        DifferenceKind.MISSING: "missing",
        DifferenceKind.WRONG: "wrong",
        DifferenceKind.EXTRA: "changed that nothing expects",
    }
    return ", ".join(f"{counts[kind]} {word}" for kind, word in words.items() if counts[kind])


def _verifier(reason: str) -> str:
    return reason.partition(":")[0]


def _reason(text: str) -> Reason:
    if text.endswith(NOT_JUDGED):
        return Reason(text=text, meaning=_SPARED)
    return Reason(text=text, meaning=_MEANINGS.get(_verifier(text), _NO_MEANING))
