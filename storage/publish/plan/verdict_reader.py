"""The verdicts of a version, read episode by episode for the rule.

Only evidence that becomes columns is read: that of `outcome` (the reward), `replay` (its tries),
`novelty` (the fingerprints) and `steps` (the labels). Publication keeps little of an episode's verdicts:
the verifiers, and a hash over all verdicts, by which a later publication detects a new one.
"""

from collections.abc import Container, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from schemas.base import content_hash
from schemas.tables.tables import Row, arrow_schema, from_row
from schemas.verdicts.acceptance import JudgedEpisode, latest_verdicts
from schemas.verdicts.review import Review, standing_reviews
from schemas.verdicts.verdict import Verdict
from storage.lake.readers import read_reviews
from storage.publish.plan.rows import VERDICT_ORDER, Tables, row_dicts

_EVIDENCE_OF = ("outcome", "novelty", "replay", "steps")
"""Verifiers whose evidence becomes columns."""


class Judged(NamedTuple):
    """The facts kept of an episode's verdicts, beside the rule's result."""

    judges: frozenset[tuple[str, str]] = frozenset()
    """The version of each verifier whose verdict counts."""
    statuses: frozenset[tuple[str, str]] = frozenset()
    """Of each verifier whose verdict counts, its name and the status."""
    content_hash: str | None = None
    """Hash over all verdicts, with the evidence that becomes columns; None without a verdict."""


def judged_episodes(
    tables: Tables,
    owners: Mapping[str, str],
    splits: Mapping[str, str],
    *,
    to: dict[str, Judged],
) -> Iterator[JudgedEpisode]:
    """Yield every episode without verdicts, and again with all of them if it has any; put the facts to keep into `to`.

    `owners` has each episode's task and `splits` its split.
    """
    yield from (JudgedEpisode(id_, task_id, (), splits[id_]) for id_, task_id in owners.items())
    shared: dict[frozenset[tuple[str, str]], frozenset[tuple[str, str]]] = {}
    for id_, found in groupby(_rows(tables), key=itemgetter("episode_id")):
        if id_ not in splits:
            continue
        rows = list(found)
        verdicts = tuple(from_row(Verdict, row) for row in rows)
        latest = latest_verdicts(verdicts).values()
        judges = frozenset((verdict.verifier, verdict.verifier_version) for verdict in latest)
        statuses = frozenset((verdict.verifier, verdict.status.value) for verdict in latest)
        digest = content_hash([[str(value) for value in row.values()] for row in rows])
        to[id_] = Judged(
            shared.setdefault(judges, judges), shared.setdefault(statuses, statuses), digest
        )
        yield JudgedEpisode(id_, owners[id_], verdicts, splits[id_])


def read_standing_reviews(tables: Tables, episodes: Container[str]) -> dict[str, list[Review]]:
    """Return the reviews of some episodes that stand, by episode.

    Raises:
        Damaged: they cannot be read.
    """
    standing = standing_reviews(read_reviews(tables.datasets.get("reviews")))
    return {id_: found for id_, found in standing.items() if id_ in episodes}


def _rows(tables: Tables) -> Iterator[Row]:
    """Yield the rows of `verdicts` by episode, in an order that does not depend on how they lie."""
    dataset = tables.datasets.get("verdicts")
    if dataset is None:
        return
    columns: dict[str, ds.Expression] = {
        name: pc.field(name) for name in arrow_schema("verdicts").names
    }
    columns["evidence"] = pc.if_else(
        pc.field("verifier").isin(_EVIDENCE_OF), pc.field("evidence"), pa.scalar("{}")
    )
    order = ("episode_id", *VERDICT_ORDER)
    table = dataset.to_table(columns=columns)
    yield from row_dicts(table.sort_by([(key, "ascending") for key in order]))
