"""The published configs: their columns, the size of their rows, and their columns from verdicts.

Tables come first, then training rows, which are made of whole episodes.
"""

from collections.abc import Callable, Mapping
from functools import partial

import pyarrow as pa

from schemas.configuration.sections import RowKind
from schemas.tables.published import Attempt, Result
from schemas.tables.tables import (
    arrow_schema,
    published_step_schema,
    record_schema,
    trajectory_schema,
)
from storage.lake.row_batch import picture_columns
from storage.publish.plan.candidate import Candidate
from storage.publish.training.schema import row_schema

TRAINING_CONFIGS = tuple(kind.value for kind in RowKind)
"""Configs with training rows."""

TABLE_CONFIGS = (
    "trajectories",
    "steps",
    "tasks",
    "attempts",
    "results",
    "verdicts",
    "observations",
    "calls",
    "prompts",
)
"""Configs with rows of a run's tables and columns from verdicts."""

DATASET_CONFIGS = (*TABLE_CONFIGS, *TRAINING_CONFIGS)
"""All configs, in the order of the card."""

_ROW_BYTES = {
    "trajectories": 2_048,
    "steps": 1_024,
    "attempts": 512,
    "verdicts": 1_024,
    "observations": 2_048,
    "calls": 4_096,
    "sft": 4_096,
    "preference": 4_096,
    "kto": 4_096,
    "step_labels": 4_096,
    "grounding": 2_048,
}
"""Estimated bytes of a row in a file, without its pictures; of `verdicts`, of all that judge a step."""

TASK_BYTES = {"tasks": 512, "results": 256}
"""Estimated bytes of the rows of a task in a file, in configs that are not by episode."""

_PICTURES = {"steps": 1, "sft": 3, "preference": 3, "kto": 3, "step_labels": 3, "grounding": 1}
"""Estimated pictures of a row."""


def config_schema(config: str) -> pa.Schema:
    """Return the columns of a published config."""
    more: Mapping[str, Callable[[], pa.Schema]] = {
        "trajectories": trajectory_schema,
        "steps": published_step_schema,
        "attempts": partial(record_schema, Attempt),
        "results": partial(record_schema, Result),
    }
    if config in TRAINING_CONFIGS:
        own = row_schema(RowKind(config))
    else:
        own = more[config]() if config in more else arrow_schema(config)
    pictures = picture_columns(own)
    # `datasets` recognises an image by the footer only if the column is nullable, as its own are
    return pa.schema([f.with_nullable(nullable=True) if f.name in pictures else f for f in own])


def row_bytes(config: str, episode: Candidate) -> int:
    """Return the estimated bytes of the rows of `episode` in `config`."""
    pictures = _PICTURES.get(config, 0) * episode.picture_bytes
    one = config in ("trajectories", "attempts", "preference")
    return (1 if one else episode.n_steps + 1) * (_ROW_BYTES[config] + pictures)


def judgement(config: str, episode: Candidate) -> list[object]:
    """Return all that verdicts decide of the rows of `episode` in `config`."""
    columns = episode.acceptance.model_dump_json(exclude={"sketch"})
    sketch = (episode.acceptance.sketch or b"").hex()
    labels: list[object] = [[one.label, one.visible_change] for one in episode.labels or ()]
    decided: Mapping[str, list[object]] = {
        "trajectories": [columns, sketch],
        "steps": [] if episode.labels is None else labels,
        "attempts": [
            *(columns, sketch, episode.status, episode.success),
            *([episode.left_out_by] if episode.left_out_by else []),
        ],
        "results": [episode.acceptance.accepted, episode.success],
        "verdicts": [episode.verdicts_hash],
    }
    return [columns, labels] if config in TRAINING_CONFIGS else decided.get(config, [])
