"""Every row of a unit by table, for tests that have its episodes and neither spool nor shards."""

from collections.abc import Sequence

from schemas.episodes.episode import Episode
from schemas.tables.tables import UNIT_TABLES, Row, episode_rows, to_row
from schemas.tasks.task import Task


def unit_rows(tasks: Sequence[Task], episodes: Sequence[Episode]) -> dict[str, list[Row]]:
    """Return every row that a unit of `episodes` commits, by table.

    A pure function of its arguments in their order; a prompt used twice is one row.
    """
    rows: dict[str, list[Row]] = {table: [] for table in UNIT_TABLES}
    rows["tasks"] = [to_row(task) for task in tasks]
    prompts = {p.prompt_sha256: p for episode in episodes for p in episode.prompts}
    rows["prompts"] = [to_row(prompts[key]) for key in sorted(prompts)]
    for episode in episodes:
        for table, more in episode_rows(episode).items():
            rows[table] += more
    return rows
