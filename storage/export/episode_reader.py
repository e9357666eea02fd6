"""Whole episodes out of a sealed version, a bounded piece at a time, in the order of publication.

Rows of an episode lie in five tables. Each is located once (see `storage.publish.plan.row_index`),
and then read for a few episodes together, as many as fit a piece. What leaves here is complete: an
episode that lacks a step, or a picture that is not the one recorded, stops the export.
"""

from collections.abc import Iterator, Mapping, Sequence

from schemas.base import sha256_hex
from schemas.episode import Episode
from schemas.errors import Damaged
from schemas.tables import Row, arrow_schema, episode_from_rows, from_row
from schemas.task import Task
from storage.export.protocol import ExportedEpisode
from storage.lake.readers import read_prompts, rows_by_episode
from storage.publish.plan.row_index import RowIndex
from storage.publish.plan.rows import PIECE_BYTES, Tables, table_errors
from storage.publish.plan.selection import Candidate, Selection

_PIECE_EPISODES = 64

_OWNED = ("steps", "observations", "calls")


class Reader:
    """Reads the episodes of one version."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._located = {
            name: RowIndex(tables.datasets[name], "task_id" if name == "tasks" else "episode_id")
            for name in ("tasks", "episodes", *_OWNED)
            if name in tables.datasets
        }
        self._prompts: dict[str, Row] = {}

    def read(self, selection: Selection) -> Iterator[ExportedEpisode]:
        """Yield every published episode of `selection`, in order.

        Raises:
            Damaged: rows of one are missing, or are not what was written.
        """
        for piece in _pieces(selection.published):
            heads = {row["episode_id"]: row for row in self._rows("episodes", piece)}
            owned = {name: rows_by_episode(self._rows(name, piece)) for name in _OWNED}
            tasks = self._tasks(piece)
            for candidate in piece:
                own = {name: rows.pop(candidate.episode_id, []) for name, rows in owned.items()}
                episode = self._episode(candidate, heads.pop(candidate.episode_id), own)
                yield ExportedEpisode(episode, tasks[candidate.task_id], candidate.acceptance)

    def _rows(self, table: str, piece: Sequence[Candidate]) -> list[Row]:
        located = self._located.get(table)
        if located is None:
            return []
        ids = [item.episode_id for item in piece if item.episode_id in located]
        with table_errors(f"the rows of {table}"):
            return located.read(ids, arrow_schema(table).names).to_pylist() if ids else []

    def _tasks(self, piece: Sequence[Candidate]) -> dict[str, Task]:
        ids = sorted({item.task_id for item in piece})
        with table_errors("the rows of tasks"):
            rows = self._located["tasks"].read(ids, arrow_schema("tasks").names).to_pylist()
        return {row["task_id"]: from_row(Task, row) for row in rows}

    def _episode(
        self, candidate: Candidate, head: Row, own: Mapping[str, Sequence[Row]]
    ) -> Episode:
        used = {row["prompt_sha256"] for row in (head, *own["calls"])} - {None}
        missing = used - self._prompts.keys()
        self._prompts |= read_prompts(self._tables.datasets.get("prompts"), missing)
        try:
            episode = episode_from_rows(
                head,
                own["steps"],
                observations=own["observations"],
                calls=own["calls"],
                prompts=[self._prompts[key] for key in sorted(used & self._prompts.keys())],
            )
        except ValueError as error:
            raise Damaged(f"episode {candidate.episode_id}: its rows are none: {error}") from error
        _check(episode, whole=candidate.whole)
        return episode


def _pieces(candidates: Iterator[Candidate]) -> Iterator[list[Candidate]]:
    """Yield episodes that are read together: few, or small enough."""
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


def _check(episode: Episode, *, whole: bool) -> None:
    """Prove that an episode's steps are all there, with the pictures that were recorded."""
    for number, step in enumerate(episode.steps):
        if step.step != number:
            raise Damaged(
                f"episode {episode.episode_id}: step {number} is missing, or is there twice"
            )
        if sha256_hex(step.screenshot.bytes) != step.screenshot_sha256:
            raise Damaged(
                f"episode {episode.episode_id}, step {number}: the picture is not the recorded one"
            )
    if whole and len(episode.steps) != episode.n_steps + 1:
        raise Damaged(
            f"episode {episode.episode_id}: {len(episode.steps)} of its {episode.n_steps + 1} "
            "steps are there"
        )
