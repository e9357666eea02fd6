"""Pairs of replies to one prompt, an accepted attempt's and a rejected one's, where the two diverge.

All attempts of a group begin on the same page. As long as two of them were shown the same and said the
same, their prompts are equal, message by message and picture by picture; the first step at which their
replies differ under equal prompts is the pair. Each rejected attempt gives at most one pair, with the
accepted attempt that shares the most steps with it, so a group of many attempts does not outweigh the
others. A rejected attempt that gives none is counted by the reason, and so is a group that has nothing
to compare. A step gives no pair if `steps` labels it bad in the accepted attempt or good in the rejected
one: two boxes ticked in another order are no pair.

An attempt counts as rejected if the verifier `outcome` found that its task was not done. An attempt that
was rejected for another reason (a copy, a picture that replay did not reproduce, a failure outside the
policy) or is not judged yet gives no evidence about its replies.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from schemas.episodes.episode import StopReason
from schemas.tables.tables import Row
from schemas.tables.training_renderer import Renderer
from schemas.verdicts.acceptance import deciding_reason
from schemas.verdicts.full_episode import FullEpisode
from schemas.verdicts.step_label import GOOD_STEPS
from storage.publish.training.messages import NoRow, spell
from storage.publish.training.options import SystemPrompt
from storage.publish.training.source import Reply, replies_of

_NOT_DONE = ("outcome: failed", "outcome: below the threshold")
"""How the rule's reasons begin where the task was not done; others of `outcome` are not final."""


class NoPair(StrEnum):
    """Why a group, or a rejected attempt of one, gives no pair, as it is counted."""

    ONE_ATTEMPT = "groups_of_one_attempt"
    """Nothing to compare with."""
    NO_FAILED = "groups_without_failed_attempt"
    """No attempt was rejected, or none because its task was not done."""
    NO_ACCEPTED = "groups_without_accepted_attempt"
    """No attempt was accepted."""
    OTHER_SIZE = "shown_in_another_size"
    """Viewport or scale differ, as in runs of an earlier version, whose attempts drew their own."""
    OTHER_PAGE = "shown_another_page"
    """The prompts differ before the replies do: the attempts were shown different things."""
    NEVER_PART = "replies_never_part"
    """One of the two ends, or cannot be said in the dialect any more, before they diverge."""
    SAME_ACTION = "same_action"
    """The replies part in words alone; from there on their prompts differ."""
    NOT_LEARNT = "chosen_not_learnt"
    """The accepted attempt's reply is masked, or the rejected one's was given by a person."""
    NOT_GOOD = "chosen_step_not_good"
    """The label of the accepted attempt's step says that it was a mistake, or redundant."""
    NOT_BAD = "rejected_step_good"
    """The label of the rejected attempt's step says that it was of use."""
    REPEATED = "repeated"
    """Another rejected attempt of the group gave the same pair."""


@dataclass(frozen=True, slots=True)
class _Attempt:
    """An attempt with its replies."""

    source: FullEpisode
    replies: tuple[Reply, ...]


@dataclass(frozen=True, slots=True)
class _Parting:
    """Where two attempts diverge, or why they do not."""

    chosen: _Attempt
    place: int
    """The number of replies that they share."""
    reason: NoPair | None
    """None if they diverge under the same prompt."""


@dataclass(frozen=True, slots=True)
class PairMaker:
    """Makes the rows of a group of attempts."""

    renderer: Renderer
    """Renders episodes in the dialect."""
    system: SystemPrompt = SystemPrompt.ROW
    """Where the system prompt stands."""

    def rows(self, group: Sequence[FullEpisode], counts: Counter[str]) -> Iterator[Row]:
        """Yield the pairs of a group, and count the attempts without a pair."""
        if len(group) < 2:  # noqa: PLR2004 - a pair
            counts[NoPair.ONE_ATTEMPT.value] += 1
            return
        accepted = [source for source in group if source.acceptance.accepted]
        rejected = [source for source in group if failed_its_task(source)]
        if not accepted or not rejected:
            counts[(NoPair.NO_FAILED if accepted else NoPair.NO_ACCEPTED).value] += 1
            return
        chosen = [self._attempt(source) for source in accepted]
        seen: set[tuple[str, int, str]] = set()
        for source in rejected:
            attempt = self._attempt(source)
            parting = max(
                (_part(one, attempt) for one in chosen),
                key=lambda found: (found.reason is None, found.place),
            )
            made = parting.reason or self._row(parting, attempt)
            if not isinstance(made, dict):
                counts[made.value] += 1
                continue
            key = (made["chosen_episode_id"], made["step"], made["rejected_response"])
            if key in seen:
                counts[NoPair.REPEATED.value] += 1
                continue
            seen.add(key)
            counts["rows"] += 1
            yield made

    def _attempt(self, source: FullEpisode) -> _Attempt:
        return _Attempt(
            source, tuple(replies_of(self.renderer.render(source.episode, source.task.expect)))
        )

    def _row(self, parting: _Parting, rejected: _Attempt) -> Row | NoPair | NoRow:
        chosen, place = parting.chosen, parting.place
        good, bad = chosen.replies[place], rejected.replies[place]
        if not good.turn.learnt or not (bad.turn.learnt or bad.is_bad):
            return NoPair.NOT_LEARNT
        step = good.step
        labels = (chosen.source.label(step), rejected.source.label(step))
        if labels[0] not in (None, *GOOD_STEPS):
            return NoPair.NOT_GOOD
        if labels[1] in GOOD_STEPS:
            return NoPair.NOT_BAD
        ours, theirs = spell(good, self.system), spell(bad, self.system)
        if isinstance(ours, NoRow):
            return ours
        if isinstance(theirs, NoRow):
            return theirs
        episode, other = chosen.source.episode, rejected.source.episode
        return {
            "id": f"{episode.episode_id}-{other.episode_id}-{step}",
            "prompt": ours.prompt,
            "chosen": [ours.reply],
            "rejected": [theirs.reply],
            "conversation": ours.strings,
            "chosen_message": ours.reply_string,
            "rejected_message": theirs.reply_string,
            "messages": [*ours.strings, ours.reply_string],
            "rejected_response": theirs.text,
            "images": ours.images(episode.episode_id),
            "tools": None,
            "system": ours.system,
            "dialect": str(self.renderer.about["dialect"]),
            "chosen_label": None if labels[0] is None else labels[0].value,
            "rejected_label": None if labels[1] is None else labels[1].value,
            "step": step,
            "chosen_episode_id": episode.episode_id,
            "rejected_episode_id": other.episode_id,
            "group_id": episode.group_id,
            "task_id": episode.task_id,
            "template_id": chosen.source.task.template_id,
        }


def failed_its_task(source: FullEpisode) -> bool:
    """Return whether an attempt was rejected because its task was not done."""
    because = source.acceptance.rejected_because
    broke = source.episode.stop_reason in (StopReason.FAILED, StopReason.CANCELLED)
    return (
        not source.acceptance.accepted
        and not broke
        and bool(because)
        and deciding_reason(because).startswith(_NOT_DONE)
    )


def _part(chosen: _Attempt, rejected: _Attempt) -> _Parting:
    """Return where two attempts diverge: the first replies that differ, under prompts that do not."""
    place = 0
    if _size(chosen) != _size(rejected):
        return _Parting(chosen, place, NoPair.OTHER_SIZE)
    for place, (good, bad) in enumerate(zip(chosen.replies, rejected.replies, strict=False)):
        if good.step != bad.step or good.shown != bad.shown:
            return _Parting(chosen, place, NoPair.OTHER_PAGE)
        if good.text == bad.text:
            continue
        actions = [one.source.episode.steps[good.step].action for one in (chosen, rejected)]
        same = actions[0] == actions[1]
        return _Parting(chosen, place, NoPair.SAME_ACTION if same else None)
    return _Parting(chosen, place, NoPair.NEVER_PART)


def _size(attempt: _Attempt) -> tuple[int, int, float]:
    """Return the viewport and scale of an attempt, which decide the size of its pictures."""
    episode = attempt.source.episode
    return episode.viewport_width, episode.viewport_height, episode.device_scale_factor
