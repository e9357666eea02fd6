"""The first step of an attempt that went wrong and was not mended.

Several records tell of a step: an action that could not be carried out, what it changed on the server beside what is
expected, an answer that differs, a mistake that the policy made on purpose, and the label of `steps`. A mistake that
later steps mended (the label `recovery`) did not decide the attempt and is passed over.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from generators.sites.judging.differences import (
    THE_ANSWER,
    Difference,
    DifferenceKind,
    differences,
)
from schemas.base import Record
from schemas.episodes.action import Answer, NoAction
from schemas.episodes.episode import Episode, Step, StopReason
from schemas.episodes.mistake import InjectedMistake
from schemas.tasks.expectation import Expectation
from schemas.verdicts.full_episode import FullEpisode
from schemas.verdicts.step_label import Label
from schemas.verdicts.verdict import Verdict

THE_REWARD = "the page's reward"
"""What the difference of a page's own reward is called."""

_MAX_WHY = 3

_HARMLESS = {InjectedMistake.IDLED, InjectedMistake.LOOPED}
"""Mistakes that cost an action and change nothing, unless the label of the step says otherwise."""

_INJECTED: Mapping[InjectedMistake, str] = {
    InjectedMistake.GAVE_UP: "it gave up: it ended the episode with an empty answer",
    InjectedMistake.ANSWERED_EARLY: "it said that it was done before it was",
    InjectedMistake.IDLED: "it waited for nothing",
    InjectedMistake.LOOPED: "it repeated its last action",
    InjectedMistake.MISSED: "it pointed beside its target",
    InjectedMistake.CONFUSED: "it took another thing of the same kind",
    InjectedMistake.TYPO: "it typed a wrong letter",
    InjectedMistake.FORGOT: "it skipped an action and took the one that follows",
    InjectedMistake.HURRIED: "it pressed a button before its turn",
    InjectedMistake.LOOK_ALIKE: "it opened a row of a similar name",
    InjectedMistake.OTHER_TAB: "it opened a row of a similar name in a new tab",
    InjectedMistake.WRONG_VIEW: "it opened another entry of the navigation",
    InjectedMistake.EMPTY_SEARCH: "it searched with a wrong letter",
    InjectedMistake.WRONG_FILTER: "it narrowed a list by another option",
    InjectedMistake.WRONG_OPTION: "it took the option beside the right one",
    InjectedMistake.REFUSED_ENTRY: "it typed a value in a form that the site does not take",
    InjectedMistake.LEFT_OUT: "it sent a form without a field that has to be filled",
    InjectedMistake.WRONG_FIELD: "it typed into the field beside",
    InjectedMistake.WRONG_LETTER: "it typed a wrong letter",
}

_LIMITS: Mapping[StopReason, str] = {
    StopReason.STEP_LIMIT: "the limit on actions was reached before the task was done",
    StopReason.TIME_LIMIT: "the limit on seconds was reached before the task was done",
    StopReason.TOKEN_LIMIT: "the limit on tokens was reached before the task was done",
    StopReason.STUCK: "the same action on the same picture had been repeated too often",
}

_ENDED = "it ended the task without success"
_STEP_OF_REASON = re.compile(r"[\w.-]+: failed: step (\d+): (.+)", re.DOTALL)


class Mistake(Record):
    """The first mistake of an attempt that decided it."""

    step: int
    """The step, from 0."""
    why: str
    """What was wrong with it, in words."""


def first_mistake(
    episode: FullEpisode,
    latest: Mapping[str, Verdict],
    found: Sequence[Difference],
    *,
    solved: bool,
) -> Mistake | None:
    """Return the first step that went wrong and was not mended; None if none did, or nothing recorded tells.

    Args:
        episode: the attempt.
        latest: its verdicts that count, by verifier.
        found: what its task expects beside what was found.
        solved: whether the site found the task done. Then the step is the one that a reason of the rule names.
    """
    attempt = episode.episode
    taken = [step for step in attempt.steps if not isinstance(step.action, NoAction)]
    if solved or not taken:
        return _named_by_rule(episode.acceptance.rejected_because)
    if attempt.stop_reason is StopReason.FAILED and attempt.failure_kind != "policy":
        return None
    because = _words_of_labels(latest)
    open_mistakes: list[Mistake] = []
    for step in taken:
        label = episode.label(step.step)
        if label is Label.RECOVERY:
            open_mistakes[-1:] = []
        whys = list(_faults(episode, step, label, found, because.get(step.step)))
        if whys:
            open_mistakes.append(
                Mistake(step=step.step, why="; ".join(dict.fromkeys(whys[:_MAX_WHY])))
            )
    return open_mistakes[0] if open_mistakes else _end(attempt, taken[-1], found)


def _named_by_rule(reasons: Sequence[str]) -> Mistake | None:
    """Return the step that a reason of the rule names, as those of `seen` do."""
    for reason in reasons:
        if told := _STEP_OF_REASON.match(reason):
            what = f"{reason.partition(':')[0]} found no ground for it: {told[2]}"
            return Mistake(step=int(told[1]), why=what)
    return None


def _faults(
    episode: FullEpisode,
    step: Step,
    label: Label | None,
    found: Sequence[Difference],
    because: str | None,
) -> Iterator[str]:
    """Yield what is told to be wrong with a step, the plainest first."""
    if step.action_error is not None:
        yield f"the action could not be carried out: {step.action_error}"
    if step.injected_mistake is not None and _counts(step.injected_mistake, label):
        yield f"{_INJECTED[step.injected_mistake]} (a mistake made on purpose)"
    yield from _wrong_writes(episode.task.expect, step, found)
    if isinstance(step.action, Answer):
        wrong = (one for one in found if one.what == THE_ANSWER)
        unmet = (one for one in wrong if one.kind is not DifferenceKind.AS_EXPECTED)
        yield from (f"it answered {one.found}, where {one.expected} is expected" for one in unmet)
    if label is Label.MISTAKE and because not in (None, _ENDED):
        yield str(because)
    elif label is Label.MISTAKE and because is None and not isinstance(step.action, Answer):
        yield "the verifier `steps` labels it a mistake"


def _counts(mistake: InjectedMistake, label: Label | None) -> bool:
    """Return whether a mistake made on purpose may have decided the attempt."""
    if label is Label.MISTAKE:
        return True
    return mistake not in _HARMLESS and label is not Label.RECOVERY


def _wrong_writes(
    expect: Expectation | None, step: Step, found: Sequence[Difference]
) -> Iterator[str]:
    """Yield what a step changed on the server that is wrong or extra at the end."""
    if expect is None or step.delta is None or step.delta.is_empty:
        return
    kinds = (DifferenceKind.WRONG, DifferenceKind.EXTRA)
    at_the_end = {one.what for one in found if one.kind in kinds}
    for one in differences(expect, delta=step.delta, answer=None):
        if one.kind in kinds and one.what in at_the_end:
            yield f"on the server, {one}"


def _words_of_labels(latest: Mapping[str, Verdict]) -> dict[int, str]:
    """Return why `steps` gave each step its label, by step."""
    verdict = latest.get("steps")
    rows = None if verdict is None else verdict.evidence.get("steps")
    out = dict[int, str]()
    for row in rows if isinstance(rows, list) else ():
        match row:
            case {"step": int(step), "because": str(because)}:
                out[step] = because
    return out


def _end(episode: Episode, last: Step, found: Sequence[Difference]) -> Mistake | None:
    """Return the last step as the mistake: nothing before it was wrong, and the task was not done."""
    if episode.failure_kind == "policy":
        return Mistake(step=last.step, why=f"the policy broke: {episode.failure_message}")
    if episode.reward is None:
        return None
    limit = _LIMITS.get(episode.stop_reason)
    missing = [str(one) for one in found if one.kind is DifferenceKind.MISSING]
    page = [f"the page's reward is {one.found}" for one in found if one.what == THE_REWARD]
    told = "; ".join(chain(missing[:_MAX_WHY], page))
    why = limit or "it ended the task before everything was done"
    return Mistake(step=last.step, why=f"{why}: {told}" if told else why)
