"""Rows of one reply each: `sft`, `kto` and `step_labels`.

A row is made of a reply and the prompt that it answers; earlier replies stand in its prompt and are
learnt in rows of their own, so a trainer that learns every assistant turn of `messages` must be set to
learn the last one alone (see `docs/storing.md`). A reply that gives no row is counted by its reason.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from schemas.configuration.sections import RowKind
from schemas.episodes.conversation import MaskReason
from schemas.tables.tables import Row
from schemas.tables.training_renderer import Renderer
from schemas.verdicts.full_episode import FullEpisode
from schemas.verdicts.step_label import GOOD_STEPS, Label
from storage.publish.training.messages import NoRow, Spelt, spell
from storage.publish.training.options import SystemPrompt
from storage.publish.training.source import Reply, replies_of

_LABELLED_ANYWAY = (MaskReason.FAILED, MaskReason.MISTAKE, MaskReason.UNTRUE_NOTE)
"""Replies that are not learnt but labelled: an action that could not be carried out, a mistake on purpose and a note that lies are bad examples."""


@dataclass(frozen=True, slots=True)
class RowMaker:
    """Makes the rows of an episode."""

    kind: RowKind
    """The kind of rows: one reply each, so not `preference`."""
    renderer: Renderer
    """Renders episodes in the dialect."""
    system: SystemPrompt = SystemPrompt.ROW
    """Where the system prompt stands."""
    only_good: bool = False
    """Only replies of steps that were of use, by their label."""

    def spell_replies(
        self, source: FullEpisode, counts: Counter[str]
    ) -> Iterator[tuple[Reply, Spelt, bool]]:
        """Yield each reply that gives a row with its spellings and its label; count the others."""
        rendered = self.renderer.render(source.episode, source.task.expect)
        if rendered.ended is not None:
            counts["cut" if rendered.segments else "skipped"] += 1
            counts[rendered.ended] += 1
        for reply in replies_of(rendered):
            label = self._label(source, reply)
            if isinstance(label, str):
                counts[label] += 1
                continue
            spelt = spell(reply, self.system)
            if isinstance(spelt, NoRow):
                counts[spelt.value] += 1
                continue
            counts["rows"] += 1
            yield reply, spelt, label

    def rows(self, source: FullEpisode, counts: Counter[str]) -> Iterator[Row]:
        """Yield the rows of an episode, and count the replies that give none."""
        episode = source.episode
        for reply, spelt, label in self.spell_replies(source, counts):
            row: Row = {
                "prompt": spelt.prompt,
                "completion": [spelt.reply],
                "messages": [*spelt.strings, spelt.reply_string],
                "images": spelt.images(episode.episode_id),
                "system": spelt.system,
                "label": label,
            }
            if self.kind is RowKind.STEP_LABELS:
                known = source.columns(reply.step)
                row["step_label"] = None if known.label is None else known.label.value
                row["visible_change"] = known.visible_change
            yield row | origin(source, reply.step, self.renderer)

    def _label(self, source: FullEpisode, reply: Reply) -> bool | str:
        """Return the row's label, or the reason why the reply has no label."""
        found = source.label(reply.step)
        accepted = source.acceptance.accepted
        reason = reply.turn.mask_reason
        if not reply.turn.learnt and not (
            self.kind is not RowKind.SFT and reason in _LABELLED_ANYWAY
        ):
            return "masked" if reason is None else reason.value
        match self.kind:
            case RowKind.KTO if reason in (MaskReason.MISTAKE, MaskReason.UNTRUE_NOTE):
                return False
            case RowKind.KTO:
                return _is_wanted(found, accepted=accepted)
            case RowKind.STEP_LABELS if found is None:
                return "without_label"
            case RowKind.SFT if self.only_good and found not in GOOD_STEPS:
                return "without_label" if found is None else f"step_{found.value}"
        return accepted


def _is_wanted(found: Label | None, *, accepted: bool) -> bool | str:
    """Return whether a reply is wanted, or the reason why that is undecided; its own step counts first.

    A step of use in an attempt that failed is neither: whether it led anywhere, nothing shows.
    """
    if found is None:
        return "without_label"
    if found not in GOOD_STEPS:
        return False
    return True if accepted else "good_step_of_rejected"


def origin(source: FullEpisode, step: int, renderer: Renderer) -> Row:
    """Return the columns that say where a row of one reply comes from."""
    episode = source.episode
    return {
        "id": f"{episode.episode_id}-{step}",
        "tools": None,
        "dialect": str(renderer.about["dialect"]),
        "reward": episode.reward,
        "step": step,
        "episode_id": episode.episode_id,
        "group_id": episode.group_id,
        "task_id": episode.task_id,
        "template_id": source.task.template_id,
    }
