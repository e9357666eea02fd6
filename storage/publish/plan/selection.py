"""Selects the episodes that a version of a run publishes, and their order.

`select` joins every committed episode with its task and its verdicts and asks the run's rule whether it
accepts the episode. It reads narrow columns only: no pictures, and only the evidence that `judged`
reads. The order depends on the episodes alone: units by when their last episode ended, then task and
attempt. Units that are committed later ended later, so a later version adds its episodes at the end,
however the tables were compacted.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from sys import intern
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from schemas.configuration.sections import AcceptSection
from schemas.configuration.select_section import SelectKey, SelectSection
from schemas.episodes.episode import StopReason
from schemas.errors import Damaged, NotFound
from schemas.tables.tables import arrow_schema
from schemas.verdicts.acceptance import (
    AcceptanceStatus,
    RunJudgement,
    accept_all,
)
from schemas.verdicts.review import Review
from storage.publish.plan.candidate import Candidate
from storage.publish.plan.choice import choose
from storage.publish.plan.published_before import PublishedBefore
from storage.publish.plan.rows import Tables, row_dicts
from storage.publish.plan.splits import Splits, published_splits
from storage.publish.plan.verdict_reader import Judged, judged_episodes, read_standing_reviews

BYTES_PER_PIXEL = 0.15
"""The usual maximum for a JPEG of a web page; it decides only where files are split."""

ORIGINS = (
    "site",
    "policy",
    "policy_kind",
    "privileged",
    "model",
    "browser",
    "browser_version",
    "code_version",
)
"""Columns of `episodes` that say where an episode comes from."""

_EPISODE_COLUMNS = (
    "episode_id",
    "unit_id",
    "task_id",
    "attempt",
    "n_steps",
    "stop_reason",
    "viewport_width",
    "viewport_height",
    "device_scale_factor",
    "trainable",
    "prompt_sha256",
    "started_at",
    "ended_at",
    "content_sha256",
    *ORIGINS,
)


@dataclass(frozen=True, slots=True)
class Selection:
    """All committed episodes of a version, in the order of publication."""

    candidates: tuple[Candidate, ...]
    """Every episode, accepted or not."""
    include_rejected: bool
    """Whether episodes that are not accepted are published too, labelled."""
    splits: Splits
    """The split of every template."""
    origins: Mapping[str, Counter[str]]
    """By column of `ORIGINS`: the number of published episodes with each value, empty for None."""
    judges: Counter[tuple[str, str]]
    """The number of published episodes that each version of a verifier judged, where its verdict counts."""
    section: SelectSection
    """What may be published of the episodes."""
    reviews: Mapping[str, Sequence[Review]] = field(default_factory=dict)
    """The reviews of these episodes that stand, by episode."""
    seconds: float = 0.0
    """Seconds from the start of the first episode to the end of the last one."""

    @property
    def published(self) -> Iterator[Candidate]:
        """The episodes that are published, in order."""
        return (item for item in self.candidates if self.publishes(item))

    def publishes(self, candidate: Candidate) -> bool:
        """Return whether `candidate` is published."""
        return candidate.left_out_by is None and self.may_publish(candidate)

    def may_publish(self, candidate: Candidate) -> bool:
        """Return whether `candidate` is published if the selection does not leave it out."""
        wanted = self.include_rejected or candidate.acceptance.accepted
        return wanted and not self.leaves_out(candidate)

    def leaves_out(self, candidate: Candidate) -> bool:
        """Return whether `candidate` is in no split because its task is held back."""
        return candidate.task_id in self.splits.held_back

    def count(self, status: AcceptanceStatus) -> int:
        """Return how many episodes have a status."""
        return sum(item.status is status for item in self.candidates)

    @property
    def left_out(self) -> Mapping[str, int]:
        """The number of episodes that each key of the selection leaves out, without those that leave out none."""
        counts = Counter(one.left_out_by for one in self.candidates if one.left_out_by is not None)
        return {key.value: counts[key] for key in SelectKey if counts[key]}

    def statuses_by_template(self) -> list[tuple[str, Counter[AcceptanceStatus]]]:
        """Return the number of episodes by status for each template, the lowest yield first."""
        statuses: defaultdict[str, Counter[AcceptanceStatus]] = defaultdict(Counter)
        for item in self.candidates:
            statuses[item.template_id][item.status] += 1
        return sorted(
            statuses.items(),
            key=lambda pair: (pair[1][AcceptanceStatus.ACCEPTED] / pair[1].total(), pair[0]),
        )


def select(
    tables: Tables,
    rule: AcceptSection,
    *,
    include_rejected: bool,
    before: PublishedBefore | None = None,
    withdrawn: Collection[str] = (),
    section: SelectSection | None = None,
) -> Selection:
    """Return every episode of `tables` with the result of `rule`, in publication order.

    `before` is what the other nights of a collection published; None: the dataset is that of one run. Episodes of
    `withdrawn` are left out, and those that were withdrawn from the run, as if they had never been made. `section`
    selects among those that may be published; None: all of them.

    Raises:
        BadConfig: the selection cannot be evaluated, or selects nothing.
        NotFound: the version has no episodes.
        Damaged: an episode's task has no row.
        BadTasks: two versions of the registry of splits disagree on the split of a template.
    """
    table = _episodes_of(tables, withdrawn)
    before = before or PublishedBefore()
    before.check(tables)
    templates = _templates_of(tables, table)
    known_splits = {**tables.known_splits, **before.splits}
    splits = before.hold_back(published_splits(tables, templates, known_splits))
    split_of = {id_: splits.by_template[template] for id_, template in templates.items()}
    owners = {
        row["episode_id"]: row["task_id"]
        for row in row_dicts(table.select(["episode_id", "task_id"]))
    }
    judged: dict[str, Judged] = {}
    known = judged_episodes(tables, owners, split_of, to=judged)
    reviews = read_standing_reviews(tables, owners)
    judgements = before.judge(rule, accept_all(rule, known, reviews))
    ends = table.group_by("unit_id").aggregate([("ended_at", "max")])
    ended = {row["unit_id"]: row["ended_at_max"] for row in row_dicts(ends)}
    candidates = [
        _candidate(
            row,
            templates[row["episode_id"]],
            judgements[row["episode_id"]],
            judged.get(row["episode_id"], Judged()),
            ended[row["unit_id"]],
        )
        for row in row_dicts(table)
    ]
    every = Selection(
        tuple(sorted(candidates, key=_order)),
        include_rejected=include_rejected,
        splits=splits,
        seconds=_span(table),
        origins={name: Counter() for name in ORIGINS},
        judges=Counter(),
        section=section or SelectSection(),
        reviews=reviews,
    )
    _count(chosen := _choose(every, tables, before), table, judged)
    return chosen


def _order(one: Candidate) -> tuple[datetime, str, str, int]:
    """Return what the order of publication goes by."""
    return one.unit_ended_at, one.unit_id, one.task_id, one.attempt


def _choose(every: Selection, tables: Tables, before: PublishedBefore) -> Selection:
    """Return the same episodes, each with what leaves it out."""
    offered = [*filter(every.may_publish, every.candidates)]
    left_out = choose(tables, offered, every.section, before.capped)
    return replace(every, candidates=tuple(_without(every.candidates, left_out)))


def _without(
    candidates: Iterable[Candidate], left_out: Mapping[str, SelectKey]
) -> Iterator[Candidate]:
    """Yield the candidates, those that are left out with what does so."""
    for one in candidates:
        key = left_out.get(one.episode_id)
        yield one if key is None else replace(one, left_out_by=key)


def _count(selection: Selection, episodes: pa.Table, judged: Mapping[str, Judged]) -> None:
    """Count where the published episodes come from, and who judged them."""
    published = {one.episode_id for one in selection.published}
    for row in row_dicts(episodes):
        if row["episode_id"] in published:
            for name in ORIGINS:
                selection.origins[name]["" if row[name] is None else str(row[name])] += 1
            selection.judges.update(judged.get(row["episode_id"], Judged()).judges)


def _episodes_of(tables: Tables, withdrawn: Collection[str]) -> pa.Table:
    """Return the columns to read of the episodes that were not withdrawn.

    Raises:
        NotFound: there is none.
    """
    episodes = tables.datasets.get("episodes")
    table = None if episodes is None else _narrow(episodes)
    gone = tables.withdrawn | {*withdrawn}
    if table is not None and gone:
        listed = pa.array(sorted(gone), pa.string())
        table = table.filter(pc.invert(pc.is_in(table["episode_id"], value_set=listed)))
    if table is None or table.num_rows == 0:
        raise NotFound(
            f"version {tables.version} of the run holds no episode: nothing to publish. "
            "Run `stepmill generate` first."
        )
    return table


def _span(episodes: pa.Table) -> float:
    """Return the seconds from the start of the first episode to the end of the last one."""
    first, last = pc.min(episodes["started_at"]).as_py(), pc.max(episodes["ended_at"]).as_py()
    return 0.0 if first is None or last is None else max(0.0, (last - first).total_seconds())


def _narrow(episodes: ds.Dataset) -> pa.Table:
    """Return the columns to read of `episodes`; columns that an earlier version lacks are null."""
    schema = arrow_schema("episodes")
    known = [name for name in _EPISODE_COLUMNS if name in episodes.schema.names]
    table = episodes.to_table(columns=known)
    for name in _EPISODE_COLUMNS:
        if name not in known:
            nulls = pa.nulls(table.num_rows, schema.field(name).type)
            table = table.append_column(name, nulls)
    return table


def _templates_of(tables: Tables, episodes: pa.Table) -> dict[str, str]:
    """Return the template of every episode's task."""
    tasks = tables.datasets.get("tasks")
    known: dict[str, str] = {}
    if tasks is not None:
        table = tasks.to_table(columns=["task_id", "template_id"])
        known = {row["task_id"]: row["template_id"] for row in row_dicts(table)}
    out: dict[str, str] = {}
    for row in row_dicts(episodes.select(["episode_id", "task_id"])):
        if row["task_id"] not in known:
            raise Damaged(
                f"episode {row['episode_id']}: its task {row['task_id']} has no row in `tasks`; "
                "`stepmill audit` says what else is missing"
            )
        out[row["episode_id"]] = known[row["task_id"]]
    return out


def _candidate(
    row: Mapping[str, Any],
    template_id: str,
    judgement: RunJudgement,
    judged: Judged,
    unit_ended_at: datetime,
) -> Candidate:
    pixels = row["viewport_width"] * row["viewport_height"] * row["device_scale_factor"] ** 2
    return Candidate(
        episode_id=row["episode_id"],
        unit_id=row["unit_id"],
        task_id=row["task_id"],
        attempt=row["attempt"],
        template_id=template_id,
        site=intern(row["site"]),
        policy=intern(row["policy"]),
        policy_kind=intern(row["policy_kind"]),
        model=None if row["model"] is None else intern(row["model"]),
        trainable=row["trainable"],
        content_sha256=row["content_sha256"],
        prompt_sha256=row["prompt_sha256"],
        n_steps=row["n_steps"],
        whole=row["stop_reason"] != StopReason.FAILED.value,
        picture_bytes=int(pixels * BYTES_PER_PIXEL),
        status=judgement.status,
        acceptance=judgement.acceptance,
        labels=judgement.labels,
        success=judgement.success,
        verdicts_hash=judged.content_hash,
        statuses=judged.statuses,
        unit_ended_at=unit_ended_at,
    )
