"""What a collection published before a night: its splits, what they show, and the trajectories that may be repeated.

What was published keeps its split and stays. A task of the new night whose goal, first picture or world is in another
split is held back; an episode that is a copy of a published one is rejected where the rule asks for `novelty`, and
a near copy says of what.
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cached_property

import pyarrow as pa

from registries.splits.groups import Key
from schemas.base import content_hash
from schemas.configuration.sections import AcceptSection
from schemas.errors import BadTasks
from schemas.verdicts.acceptance import NOVELTY, AcceptanceStatus, RunJudgement
from storage.publish.plan.repeats import Repeat, repeats_of
from storage.publish.plan.rows import Tables
from storage.publish.plan.splits import Splits, task_rows

KEY_CHARS = 16
"""The hexadecimal digits of a key in an index: of a million, two are the same with odds of 1 to 37 million."""


def key_hash(key: Key) -> str:
    """Return a key of a task, as an index has it."""
    return content_hash([*key])[:KEY_CHARS]


@dataclass(frozen=True)
class PublishedBefore:
    """What the other nights of a collection published.

    Where a run renews its night, `later` is what the nights after it published: what it had published before them is
    no copy of theirs, and is not held back for them.
    """

    splits: Mapping[str, str] = field(default_factory=dict)
    """The split of each template."""
    shown: Mapping[str, str] = field(default_factory=dict)
    """The split in which each key is shown, by its hash."""
    sketches: pa.Table | None = None
    """`episode_id` and `sketch` of each trajectory; None without any."""
    capped: Mapping[str, int] = field(default_factory=dict)
    """How many episodes of each template count for the caps of a selection, in all other nights."""
    later: "PublishedBefore | None" = None
    """What the nights after the one that is renewed published; None: a new night."""
    own_episodes: AbstractSet[str] = frozenset()
    """The trajectories of the night that is renewed."""
    own_tasks: AbstractSet[str] = frozenset()
    """Their tasks."""

    @cached_property
    def episodes(self) -> AbstractSet[str]:
        """The ids of the trajectories."""
        return (
            set()
            if self.sketches is None
            else set(map(str, self.sketches["episode_id"].to_pylist()))
        )

    def check(self, tables: Tables) -> None:
        """Refuse a run that was planned with another split of a template.

        Raises:
            BadTasks: a version of the registry of splits, or another publication of the run, put it into another split
                than it is published in.
        """
        for template, split in tables.known_splits.items():
            there = self.splits.get(template, split)
            if split != there:
                raise BadTasks(
                    f"{template}: the run was published with it in '{split}', and the collection has it in '{there}': "
                    "what was published keeps its split; publish the run to another place"
                )
        for row in task_rows(tables, ("template_id", "site", "split", "split_version")):
            template, split, version = row["template_id"], row["split"], row["split_version"]
            there = self.splits.get(template, split)
            if version is not None and split and split != there:
                raise BadTasks(
                    f"{template} of {row['site']} is in '{split}' by version {version} of the registry of splits, by "
                    f"which this run was planned, and the collection has it in '{there}': what was published keeps its "
                    "split; leave the template out (tasks.exclude), or publish the run to another place"
                )

    def hold_back(self, splits: Splits) -> Splits:
        """Return the splits of a night without the tasks that show what another split of the collection shows."""
        met = {task for task in splits.shown if self._is_met(task, splits)}
        return replace(splits, held_back=splits.held_back | met)

    def _is_met(self, task: str, splits: Splits) -> bool:
        split = splits.by_template[splits.owners[task]]
        keys = {key_hash(key) for key in splits.shown[task]}
        if any(self.shown.get(key, split) != split for key in keys):
            return True
        later = None if task in self.own_tasks else self.later
        return later is not None and later._is_met(task, splits)  # noqa: SLF001 - of this class

    def judge(
        self, rule: AcceptSection, judgements: Mapping[str, RunJudgement]
    ) -> Mapping[str, RunJudgement]:
        """Return the judgements on a night's episodes, with what they repeat of other nights.

        As in one run, a copy is rejected where the rule asks for `novelty`, and a near copy says of what.
        """
        out = self._mark(rule, judgements, frozenset())
        return out if self.later is None else self.later._mark(rule, out, self.own_episodes)  # noqa: SLF001

    def _mark(
        self,
        rule: AcceptSection,
        judgements: Mapping[str, RunJudgement],
        but: AbstractSet[str],
    ) -> Mapping[str, RunJudgement]:
        """Return the judgements with what episodes, all but some, repeat of these trajectories."""
        accepted = [
            (episode, one.acceptance.sketch)
            for episode, one in judgements.items()
            if one.status is AcceptanceStatus.ACCEPTED
            and one.acceptance.sketch is not None
            and episode not in but
        ]
        if self.sketches is None or not accepted:
            return judgements
        ids, sketches = zip(*accepted, strict=True)
        new = pa.table(
            {"episode_id": pa.array(ids, pa.string()), "sketch": pa.array(sketches, pa.binary())}
        )
        out = dict(judgements)
        for episode, repeat in repeats_of(self.sketches, new).items():
            if (
                repeat.original in self.episodes
            ):  # what it repeats of its own run the rule has judged
                out[episode] = _judge_repeat(rule, out[episode], repeat)
        return out


def _judge_repeat(rule: AcceptSection, judgement: RunJudgement, repeat: Repeat) -> RunJudgement:
    """Return the judgement on an episode that repeats a published one."""
    columns = judgement.acceptance
    if repeat.is_near:
        changes: dict[str, object] = {"near_duplicate_of": repeat.original}
        return judgement._replace(acceptance=columns.model_copy(update=changes))
    changes = {"duplicate_of": repeat.original}
    if NOVELTY in rule.passed:
        because = f"{NOVELTY}: repeats: a copy of {repeat.original}, which another night published"
        changes |= {"accepted": False, "rejected_because": (because,)}
        judgement = judgement._replace(status=AcceptanceStatus.REJECTED)
    return judgement._replace(acceptance=columns.model_copy(update=changes))
