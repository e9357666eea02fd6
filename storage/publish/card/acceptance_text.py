"""The card's section on acceptance: the rule, what a pass proves, and its limits.

The card has a sentence about a check only if that check ran. Every figure comes from the selection, so
readers can count it again in the published rows. The bounds for pictures are those of the verifier
`replay`; a test compares them.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from schemas.configuration.sections import AcceptSection, ReviewRule
from schemas.verdicts.acceptance import AcceptanceStatus, deciding_reason
from schemas.verdicts.agreement import agreements
from schemas.verdicts.review import ReviewResult, review_result
from storage.publish.card.escape import markdown
from storage.publish.plan.selection import Selection

MAX_REASON_CHARS = 400
"""The maximum length of the reason why a template has a threshold of its own."""

PROOFS: Mapping[str, tuple[str, str]] = {
    "structure": (
        "no column contradicts the steps, the calls, the task or the capsule that it follows from",
        "that what was recorded happened",
    ),
    "outcome": (
        "the attempt did not fail, and the site reported it as done with a reward that reaches the threshold",
        "that the site rewards the right thing",
    ),
    "steps": (
        "nothing: it labels each step (`label`, `visible_change`) and passes every episode",
        "that a step was right",
    ),
    "novelty": (
        "no accepted episode of the run has the same pictures and the same actions",
        "that no accepted episode is like it: `near_duplicate_of` labels those that are near",
    ),
    "replay": (
        (
            "another browser process carried out the recorded actions on the same task from its start, and pages, "
            "elements, targets, errors and rewards were as recorded"
        ),
        (
            "that the task was done as a person would have it: it reads the reward that `outcome` read, "
            "from the same page"
        ),
    ),
    "seen": (
        "what was typed, answered or pointed at was in the goal, in a dialog or in sight before it",
        "that a person would have found it there",
    ),
}
"""For each verifier: the meaning of its pass, and its limits."""

EARLIER_REPLAYS = ("1", "2")
"""Versions of `replay` with wider bounds for pictures than the card states, or with none."""


def acceptance_lines(selection: Selection, rule: AcceptSection) -> Iterator[str]:
    """Yield the number of accepted episodes, the rule's conditions, and the reasons for rejection."""
    accepted, rejected, unjudged = (f"{selection.count(where):,}" for where in AcceptanceStatus)
    yield f"Of {len(selection.candidates):,} episodes {accepted} were accepted and {rejected} rejected;"
    yield f"{unjudged} were not judged to the end."
    if selection.include_rejected:
        yield "Those that were not accepted have trajectories here too: see `accepted` and `rejected_because`."
    else:
        yield "Only the accepted ones have trajectories and steps here; `attempts` has a row for each."
    passed = ", ".join(markdown(name) for name in rule.passed) or "none"
    yield f"An episode is accepted when these verifiers passed it: {passed};"
    yield _threshold(rule)
    for name, minimum in sorted(rule.min_scores.items()):
        yield f"The score of {markdown(name)} must be at least {minimum:g}."
    yield from _reviews(selection, rule)
    yield from _own_thresholds(selection)
    reasons = Counter(
        ": ".join(deciding_reason(item.acceptance.rejected_because).split(": ")[:2])  # who, and how
        for item in selection.candidates
        if item.acceptance.rejected_because
    )
    if reasons:
        yield ""
        yield "| what stood in the way | episodes |"
        yield "|---|---:|"
        for reason, count in sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0])):
            yield f"| {markdown(reason)} | {count:,} |"


def _threshold(rule: AcceptSection) -> str:
    """Return the reward that the rule requires of templates without a threshold of their own."""
    if "outcome" not in rule.passed:
        return "no reward is asked for, because `outcome` is not among them."
    return f"a raw reward of {rule.min_reward:g} or more counts as success."


def _reviews(selection: Selection, rule: AcceptSection) -> Iterator[str]:
    """Yield how many episodes people reviewed, how far two of them agree, and what the rule makes of it."""
    match rule.reviews:
        case ReviewRule.REQUIRE:
            yield "A reviewer must have accepted it, and none have rejected it."
        case ReviewRule.IGNORE if selection.reviews:
            yield "Reviews do not count."
        case ReviewRule.OBEY if selection.reviews:
            yield "One that a reviewer rejects is rejected, and one that reviewers disagree on is not judged."
    counts = Counter(map(review_result, selection.reviews.values()))
    reviewed = counts.total() - counts[None]
    if not reviewed:
        return
    people = {one.reviewer for found in selection.reviews.values() for one in found}
    yield f"People reviewed {reviewed:,} of the episodes ({len(people):,} reviewers): they accept"
    yield f"{counts[ReviewResult.ACCEPTED]:,}, reject {counts[ReviewResult.REJECTED]:,}, disagree on"
    yield f"{counts[ReviewResult.DISAGREED]:,} and are unsure of {counts[ReviewResult.UNSURE]:,}."
    for pair in agreements(selection.reviews)[:1]:
        kappa = "undefined" if pair.kappa is None else f"{pair.kappa:.2f}"
        yield f"The two who decided the most in common agree on {pair.agreed:,} of {pair.episodes:,}: Cohen's kappa {kappa}."


def _own_thresholds(selection: Selection) -> Iterator[str]:
    """Yield the templates that have a threshold of their own, with the reason."""
    own = {
        (item.template_id, item.acceptance.min_reward, item.acceptance.min_reward_reason)
        for item in selection.candidates
        if item.acceptance.min_reward is not None and item.acceptance.min_reward_reason is not None
    }
    if own:
        yield ""
        yield "Where a template's score is continuous its own threshold holds, whatever the run's"
        yield "`accept.min_reward` is; rows say so in `min_reward` and `min_reward_reason`:"
        yield ""
        yield "| template | success from | why |"
        yield "|---|---:|---|"
    for template, minimum, why in sorted(own):
        reason = markdown(why, max_chars=MAX_REASON_CHARS)
        yield f"| {markdown(template)} | {minimum:g} | {reason} |"


def proof_lines(selection: Selection, rule: AcceptSection) -> Iterator[str]:
    """Yield the evidence for the published episodes: the site, the verifiers, the replays, the pictures."""
    yield from _reward(selection, rule)
    yield ""
    if rule.passed:
        yield "| the rule asked | a pass says | it does not say |"
        yield "|---|---|---|"
    for name in rule.passed:
        says, silent = PROOFS.get(
            name, ("what that verifier's author says", "what Stepmill knows of")
        )
        yield f"| {markdown(name)} | {says} | {silent} |"
    if "replay" not in rule.passed:
        yield ""
        yield "The rule did not ask for a replay."
    yield ""
    yield from _replays(selection)
    yield from _pictures(selection)
    yield ""
    yield from _copies(selection)


def _reward(selection: Selection, rule: AcceptSection) -> Iterator[str]:
    """Yield the source of `reward`, and the verifiers that judged beside the site."""
    judged = {name for name, _ in selection.judges}
    yield "`reward` and `done` are what the site's page reported."
    foreign = sorted(judged - PROOFS.keys())
    if foreign:
        names = ", ".join(map(markdown, foreign))
        yield f"Verifiers that do not ship with Stepmill judged too: {names}. What they prove, their authors say."
    else:
        yield "No verifier judged whether the site rewards the right thing."
    readers = [f"`{name}`" for name in ("outcome", "replay") if name in judged]
    if len(readers) > 1:
        yield f"{' and '.join(readers)} read the same reward from the same page, so they are one source of it."
    unheard = sorted(judged - {*rule.passed, *rule.min_scores})
    if unheard:
        yield f"The rule did not ask these, which judged all the same: {', '.join(map(markdown, unheard))}."


def _replays(selection: Selection) -> Iterator[str]:
    """Yield the number of replays of the published episodes, and of disagreements."""
    found = [item.acceptance for item in selection.published if item.acceptance.replays]
    if not found:
        yield "None of these episodes was executed again."
        return
    executions = sum(one.replays or 0 for one in found)
    often = [one for one in found if (one.replays or 0) > 1]
    parted = sum((one.replays or 0) > (one.replays_agreed or 0) for one in found)
    yield f"{len(found):,} of these episodes were executed again, {executions:,} times in all: {len(often):,} of"
    yield f"them more than once, and for {parted:,} not every execution agreed. The last round counts;"
    yield "`replays` and `replays_agreed` of each row say how many there were and how many agreed."
    if often:
        tried = sum(one.replays or 0 for one in often)
        agreed = sum(one.replays_agreed or 0 for one in often)
        yield f"Of the {tried:,} executions of those that were tried more than once {agreed:,} agreed."


def _pictures(selection: Selection) -> Iterator[str]:
    """Yield the number of episodes with a picture that differs from the replay's, and the meaning of that."""
    published = [item.acceptance for item in selection.published]
    replayed = [one for one in published if one.replay == "reproduced"]
    if not replayed:
        return
    unequal = sum(one.replay_score is not None and one.replay_score < 1 for one in replayed)
    yield ""
    yield f"In {unequal:,} of the {len(replayed):,} episodes that a replay reproduced some picture was not equal,"
    yield "byte by byte, to that of the replay: `replay_score` is the share that was."
    early = sum(selection.judges["replay", version] for version in EARLIER_REPLAYS)
    if early < sum(count for (name, _), count in selection.judges.items() if name == "replay"):
        yield "A rasteriser promises no bytes, so such a picture is compared by its pixels: at most 0.01 % of its"
        yield "cells of 4 × 4 px and 2 of 255 levels in the mean may differ, and no other picture of the replay"
        yield "may be nearer. What is smaller, as a thin line moved by a pixel, is not told from a rasteriser's"
        yield "difference."
    if early:
        yield f"{early:,} of these episodes were replayed by an earlier version, which let pictures differ in more"
        yield "than today's or did not compare them."


def _copies(selection: Selection) -> Iterator[str]:
    """Yield whether a verifier looked for copies, and the numbers of rejected and published ones."""
    published = [item.acceptance for item in selection.published]
    looked = sum(count for (name, _), count in selection.judges.items() if name == "novelty")
    if looked < len(published):
        yield f"Episodes here that nothing compared with others, to find copies: {len(published) - looked:,}."
    copies = sum(
        reason.startswith("novelty: repeats")
        for item in selection.candidates
        for reason in item.acceptance.rejected_because
    )
    exact = sum(one.duplicate_of is not None for one in published)
    near = sum(one.near_duplicate_of is not None for one in published)
    if looked or copies:
        yield f"Episodes rejected as copies of another one: {copies:,}. Near copies among those here: {near:,}; they"
        yield "have the goal of another, its actions on the same targets, and near pictures."
    if exact:
        yield f"Exact copies among those here, with equal pictures and actions: {exact:,} (see `duplicate_of`)."
