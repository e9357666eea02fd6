"""Reads complete episodes of a version, for rows that are made of whole episodes.

A few episodes are read at a time, with their rows of five tables, so one piece of the tables is in
memory. A missing step, or a picture that is not the recorded one, is an error.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from schemas.base import sha256_hex
from schemas.episodes.episode import Episode
from schemas.errors import Damaged
from schemas.tables.tables import Row, arrow_schema, from_row
from schemas.tasks.task import Task
from schemas.verdicts.full_episode import FullEpisode
from storage.lake.readers import build_episode, read_prompts, rows_by_episode
from storage.publish.plan.candidate import Candidate
from storage.publish.plan.rows import PIECE_BYTES, Tables, table_errors

_PIECE_EPISODES = 64

_EPISODE_TABLES = ("steps", "observations", "calls")
"""The tables of which an episode has any number of rows."""


class EpisodeReader:
    """Reads the episodes of one version."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        keys = {"tasks": "task_id", "episodes": "episode_id"}
        keys |= dict.fromkeys(_EPISODE_TABLES, "episode_id")
        self._indexes = tables.row_indexes(keys)
        self._prompts: dict[str, Row] = {}

    def read(self, candidates: Iterable[Candidate]) -> Iterator[FullEpisode]:
        """Yield the episodes of `candidates`, in order.

        Raises:
            Damaged: rows of an episode are missing, or differ from the record.
        """
        for piece in _pieces(candidates):
            ids = [candidate.episode_id for candidate in piece]
            episode_rows = {row["episode_id"]: row for row in self._rows("episodes", ids)}
            rows_of = {table: rows_by_episode(self._rows(table, ids)) for table in _EPISODE_TABLES}
            task_ids = sorted({candidate.task_id for candidate in piece})
            tasks = {row["task_id"]: from_row(Task, row) for row in self._rows("tasks", task_ids)}
            for candidate in piece:
                id_ = candidate.episode_id
                rows = {table: by_episode.pop(id_, []) for table, by_episode in rows_of.items()}
                episode = self._episode(candidate, episode_rows.pop(id_), rows)
                task = tasks[candidate.task_id]
                yield FullEpisode(episode, task, candidate.acceptance, candidate.labels)

    def _rows(self, table: str, ids: Sequence[str]) -> list[Row]:
        """Return the rows of those of `ids` that `table` has."""
        index = self._indexes.get(table)
        existing = [] if index is None else [id_ for id_ in ids if id_ in index]
        if index is None or not existing:
            return []
        with table_errors(f"the rows of {table}"):
            rows: list[Row] = index.read(existing, arrow_schema(table).names).to_pylist()
            return rows

    def _episode(
        self, candidate: Candidate, row: Row, rows: Mapping[str, Sequence[Row]]
    ) -> Episode:
        used = {row["prompt_sha256"] for row in (row, *rows["calls"])} - {None}
        missing = used - self._prompts.keys()
        self._prompts |= read_prompts(self._tables.datasets.get("prompts"), missing)
        episode = build_episode(row, rows, self._prompts)
        check_episode(episode, whole=candidate.whole)
        return episode


def _pieces(candidates: Iterable[Candidate]) -> Iterator[list[Candidate]]:
    """Yield lists of episodes that are read together: few, or small enough."""
    piece: list[Candidate] = []
    size = 0
    for candidate in candidates:
        more = (candidate.n_steps + 1) * candidate.picture_bytes
        if piece and (size + more > PIECE_BYTES or len(piece) >= _PIECE_EPISODES):
            yield piece
            piece, size = [], 0
        piece.append(candidate)
        size += more
    if piece:
        yield piece


def check_episode(episode: Episode, *, whole: bool) -> None:
    """Check that an episode has all its steps, with the pictures that were recorded.

    Raises:
        Damaged: it does not.
    """
    for number, step in enumerate(episode.steps):
        if step.step != number:
            raise Damaged(
                f"episode {episode.episode_id}: step {number} is missing, or exists twice"
            )
        if sha256_hex(step.screenshot.bytes) != step.screenshot_sha256:
            raise Damaged(
                f"episode {episode.episode_id}, step {number}: the picture is not the recorded one"
            )
    if whole and len(episode.steps) != episode.n_steps + 1:
        raise Damaged(
            f"episode {episode.episode_id}: expected {episode.n_steps + 1} steps, "
            f"got {len(episode.steps)}"
        )
