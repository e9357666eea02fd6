"""Builds a planned Parquet file from the rows of the tables and from the verdicts.

Every row is checked on its way: an episode's steps are contiguous and complete, pictures are the ones
recorded, and no episode has two rows. The plan and the tables alone decide the bytes.
"""

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from schemas.configuration.sections import RowKind
from schemas.episodes.episode import PolicyKind
from schemas.errors import Damaged
from schemas.proportion import wilson
from schemas.tables.published import Result, pass_at_k
from schemas.tables.tables import Row, arrow_schema, to_row
from schemas.tables.training_renderer import Renderer
from schemas.verdicts.step_label import StepLabel
from storage.lake.parquet_writer import Shard, shards
from storage.lake.row_batch import picture_columns
from storage.objects.temp_object import Draft
from storage.publish.plan.candidate import Candidate, judged_row
from storage.publish.plan.config_columns import TRAINING_CONFIGS, config_schema, row_bytes
from storage.publish.plan.episode_reader import EpisodeReader
from storage.publish.plan.plan import PlannedFile
from storage.publish.plan.rows import (
    RowRequest,
    Tables,
    check_pictures,
    check_steps,
    drop_repeats,
    read_rows,
    table_errors,
)
from storage.publish.training.preference import PairMaker
from storage.publish.training.rows import RowMaker

GROUP_BYTES = 16 << 20
"""The maximum size of a published row group: a remote reader of one row reads one group."""

_KEYS = {"tasks": "task_id", "prompts": "prompt_sha256"}
"""The column that identifies a row, in configs that are not by episode."""

_FROM_EPISODES = ("trajectories", "attempts")
"""Configs with the rows of `episodes` and columns from their verdicts."""

_BATCH_ROWS = 1_024


def build(
    tables: Tables,
    planned: PlannedFile,
    *,
    shard_bytes: int,
    begin: Callable[[], Draft] = Draft.in_memory,
    nulls: "NullColumns | None" = None,
    renderer: Renderer | None = None,
) -> Generator[Shard]:
    """Yield the Parquet files of `planned`: one, unless its estimated size was too low, or it has no row.

    Each is written to a draft that `begin` returns, group by group. The plan and the tables alone decide
    its bytes. `nulls` gets all rows. Training rows of replies need the plan's `renderer`.

    Raises:
        Damaged: the tables lack a row, or hold one that differs from the record.
            Unwritable: a draft cannot be written, or the run's store refuses to be read.
    """
    if planned.config in TRAINING_CONFIGS:
        rows = _training_rows(tables, planned, renderer)
    else:
        rows = table_rows(tables, planned, config_schema(planned.config))
    with table_errors(f"version {tables.version} of the run's `{planned.config}`"):
        yield from shards(
            config_schema(planned.config),
            rows if nulls is None else nulls.watch(rows),
            shard_bytes=shard_bytes,
            group_bytes=GROUP_BYTES,
            begin=begin,
        )


class NullColumns:
    """The columns of a planned file in which no row has a value, once it has seen all rows."""

    def __init__(self, config: str) -> None:
        self.names = tuple(config_schema(config).names)
        """The columns in which no row that was seen has a value."""

    def watch(self, rows: Iterator[pa.Table]) -> Iterator[pa.Table]:
        """Yield `rows`, and note their columns that have a value."""
        for table in rows:
            self.names = tuple(n for n in self.names if table[n].null_count == table.num_rows)
            yield table


def null_columns(tables: Tables, planned: PlannedFile) -> tuple[str, ...]:
    """Return the columns in which no row of `planned` has a value, without building it; reads no picture.

    Raises:
        Damaged: the tables lack a row, or hold one that differs from the record.
            Unwritable: the run's store refuses to be read.
    """
    schema = config_schema(planned.config)
    pictures = picture_columns(schema)  # of each step there is one
    nulls = NullColumns(planned.config)
    nulls.names = tuple(name for name in nulls.names if name not in pictures)
    plain = pa.schema([field for field in schema if field.name not in pictures])
    with table_errors(f"version {tables.version} of the run's `{planned.config}`"):
        for _ in nulls.watch(table_rows(tables, planned, plain)):
            if not nulls.names:
                break
    return nulls.names


def table_rows(tables: Tables, planned: PlannedFile, schema: pa.Schema) -> Iterator[pa.Table]:
    """Yield the rows of a file of one of `TABLE_CONFIGS` in order.

    Every step is checked, and every picture that `schema` has.

    Raises:
        Damaged: the tables lack a row, or hold one that differs from the record.
    """
    config, episodes = planned.config, planned.episodes
    if config == "results":
        yield from _results(planned)
        return
    wanted = RowRequest(
        table="episodes" if config in _FROM_EPISODES else config,
        key=_KEYS.get(config, "episode_id"),
        ids=planned.ids,
        weigh=lambda place: row_bytes(config, episodes[place]) if episodes else 0,
    )
    if config in _FROM_EPISODES:
        yield from _judged_episodes(tables, wanted, planned)
        return
    expected = {c.episode_id: c.n_steps + 1 for c in episodes if c.whole}
    labels = {c.episode_id: c.labels or () for c in episodes}
    for table in read_rows(tables, wanted, schema):
        if config == "steps":
            check_steps(table, expected)
            if picture_columns(schema):
                check_pictures(table)
            yield _add_labels(table, labels)
        elif config == "tasks":
            yield drop_repeats(_in_split(table, planned.split), wanted.key, stated="instruction")
        else:
            yield table if episodes else drop_repeats(table, wanted.key)


def _training_rows(
    tables: Tables, planned: PlannedFile, renderer: Renderer | None
) -> Iterator[pa.Table]:
    """Yield the training rows of the file's episodes, those of an episode or of a group together."""
    schema, kind = config_schema(planned.config), RowKind(planned.config)
    episodes = EpisodeReader(tables).read(planned.episodes)
    counts: Counter[str] = Counter()
    made: Iterator[Iterator[Row]]
    if renderer is None:
        raise ValueError(f"rows of `{kind}` are made with a renderer")
    if kind is RowKind.GROUNDING:
        made = (renderer.grounding_rows(episode, counts) for episode in episodes)
    elif kind is RowKind.PREFERENCE:
        groups = groupby(episodes, key=lambda source: source.episode.group_id)
        pairs = PairMaker(renderer)
        made = (pairs.rows(list(group), counts) for _, group in groups)
    else:
        replies = RowMaker(kind, renderer)
        made = (replies.rows(episode, counts) for episode in episodes)
    for rows in map(list, made):
        if rows:
            yield pa.Table.from_pylist(rows, schema=schema)


def _add_labels(steps: pa.Table, labels: Mapping[str, Sequence[StepLabel]]) -> pa.Table:
    """Return `steps` with the labels of their actions, if known."""
    known: list[StepLabel] = []
    for row in steps.select(["episode_id", "step"]).to_pylist():
        of_episode, number = labels[row["episode_id"]], row["step"]
        known.append(of_episode[number] if number < len(of_episode) else StepLabel())
    columns = [to_row(label) for label in known]
    for name in StepLabel.model_fields:
        place = steps.schema.get_field_index(name)
        field = steps.schema.field(place)
        column = pa.array([row[name] for row in columns], field.type)
        steps = steps.set_column(place, field, column)
    return steps


def _in_split(tasks: pa.Table, split: str) -> pa.Table:
    """Return `tasks` with their split; where they were planned for another one, no version of the registry says so."""
    is_own = pc.equal(tasks["split"], pa.scalar(split))
    columns = {
        "split": pa.array([split] * tasks.num_rows, pa.string()),
        "split_version": pc.if_else(is_own, tasks["split_version"], pa.scalar(None, pa.int32())),
    }
    for name, column in columns.items():
        place = tasks.schema.get_field_index(name)
        tasks = tasks.set_column(place, tasks.schema.field(place), column)
    return tasks


def _judged_episodes(
    tables: Tables, wanted: RowRequest, planned: PlannedFile
) -> Iterator[pa.Table]:
    """Yield the rows of `episodes` with additional columns from their verdicts."""
    schema, stored = config_schema(planned.config), arrow_schema("episodes").names
    own = pa.schema([field for field in schema if field.name in stored])
    added = pa.schema([field for field in schema if field.name not in stored])
    remaining = iter(planned.episodes)
    for table in read_rows(tables, wanted, own):
        judged = list(islice(remaining, table.num_rows))
        if table["episode_id"].to_pylist() != [c.episode_id for c in judged]:
            raise Damaged(
                f"version {tables.version}: an episode has more than one row in `episodes`"
            )
        columns = pa.Table.from_pylist([judged_row(c) for c in judged], schema=added)
        both = {name: part[name] for part in (table, columns) for name in part.column_names}
        yield pa.Table.from_arrays([both[name] for name in schema.names], schema=schema)


class Outcome(NamedTuple):
    """What a result needs to know of an attempt."""

    task_id: str
    """The task."""
    template_id: str
    """Its template."""
    split: str
    """Its split."""
    policy: str
    """The policy's name."""
    policy_kind: str
    """The kind of the policy."""
    model: str | None
    """The model's name; None without a model."""
    trainable: bool
    """Whether it did not fail for reasons outside the policy."""
    success: bool | None
    """Whether the site reported success; None if no verifier judged it."""
    accepted: bool
    """Whether the rule accepts it."""

    @property
    def key(self) -> tuple[str, ...]:
        """What the attempts of one result share."""
        return self.task_id, self.policy, self.policy_kind, self.model or ""


def _outcome(one: Candidate) -> Outcome:
    return Outcome(
        task_id=one.task_id,
        template_id=one.template_id,
        split=one.acceptance.split,
        policy=one.policy,
        policy_kind=one.policy_kind,
        model=one.model,
        trainable=one.trainable,
        success=one.success,
        accepted=one.acceptance.accepted,
    )


def _results(planned: PlannedFile) -> Iterator[pa.Table]:
    """Yield a row for each policy at each of the file's tasks, in the order of the tasks."""
    made: dict[tuple[str, ...], list[Outcome]] = {}
    for one in map(_outcome, planned.episodes):
        made.setdefault(one.key, []).append(one)
    order = {task_id: place for place, task_id in enumerate(planned.ids)}
    keys = sorted(made, key=lambda key: (order[key[0]], key))
    for start in range(0, len(keys), _BATCH_ROWS):
        rows = [to_row(result_of(made[key])) for key in keys[start : start + _BATCH_ROWS]]
        yield pa.Table.from_pylist(rows, schema=config_schema("results"))


def result_of(attempts: Sequence[Outcome]) -> Result:
    """Return the result of a policy at a task over all its attempts, of which there is one at least."""
    first = attempts[0]
    own = [one for one in attempts if one.trainable]
    counted = [one for one in own if one.success is not None]
    successes = sum(bool(one.success) for one in counted)
    estimates = pass_at_k(len(counted), successes)
    low, high = wilson(successes, len(counted)) if counted else (None, None)
    return Result(
        task_id=first.task_id,
        template_id=first.template_id,
        split=first.split,
        policy=first.policy,
        policy_kind=PolicyKind(first.policy_kind),
        model=first.model,
        attempts=len(counted),
        successes=successes,
        accepted=sum(one.accepted for one in counted),
        pass_at_1=estimates[0] if estimates else None,
        pass_at_k=estimates,
        success_low=low,
        success_high=high,
        outside_failures=len(attempts) - len(own),
        unjudged=len(own) - len(counted),
    )
