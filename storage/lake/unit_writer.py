"""A unit on its way into the tables, episode by episode.

However many episodes a unit has, one of them is in memory and one row group of each table. The
episodes come in the unit's order, so that its bytes are the same whoever writes it; the tasks come
last, for it may be the episodes that tell their goals. Nothing counts before `commit`.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Self

from schemas.base import content_hash
from schemas.episode import Episode, Prompt
from schemas.errors import Conflict
from schemas.tables import UNIT_TABLES, episode_rows, row
from schemas.task import Task
from storage.lake.delta_table import Entry, Table
from storage.lake.shard_commit import Commits

_TOKEN_CHARS = 15
"""Hex characters of a hash that fit Delta's signed 64-bit transaction version."""


class UnitWriter:
    """Takes the episodes of one unit, in its order."""

    def __init__(self, unit_id: str, commits: Commits, tables: Mapping[str, Table]) -> None:
        self._unit_id = unit_id
        self._commits = commits
        self._tables = tables
        self._stack = ExitStack()
        self._fillings = {
            table: self._stack.enter_context(commits.filling(table, unit_id))
            for table in UNIT_TABLES
        }
        self._prompts: dict[str, Prompt] = {}
        self._told: list[tuple[object, ...]] = []
        self._addresses: list[tuple[str, int]] = []

    async def __aenter__(self) -> Self:
        """Begin with nothing."""
        return self

    async def __aexit__(self, *error: object) -> None:
        """Let go what was not put."""
        self._stack.close()

    async def add(self, episode: Episode) -> None:
        """Take the unit's next episode.

        Raises:
            Unwritable: the run cannot be written.
        """
        if episode.unit_id != self._unit_id:
            raise ValueError(f"episode {episode.episode_id} is not of unit {self._unit_id}")
        self._addresses.append((episode.task_id, episode.attempt))
        self._told.append((episode.episode_id, episode.content_sha256, episode.started_at))
        self._prompts |= {prompt.prompt_sha256: prompt for prompt in episode.prompts}
        for table, rows in episode_rows(episode).items():
            await self._fillings[table].add(rows)

    async def commit(self, tasks: Sequence[Task]) -> bool:
        """Commit the unit once, of `tasks` in their order; False if it was there before.

        Raises:
            Conflict: the unit was begun with other episodes than these: read the spool again.
            Unwritable: the run cannot be written.
        """
        self._check(tasks)
        await self._fillings["tasks"].add([row(task) for task in tasks])
        prompts = [self._prompts[key] for key in sorted(self._prompts)]
        await self._fillings["prompts"].add([row(prompt) for prompt in prompts])
        added = {table: await self._fillings[table].end() for table in UNIT_TABLES}
        token = token_of(self._told)
        for table, files in added.items():
            if not files:
                continue
            there = await self._commits.commit(table, Entry(self._unit_id, token, files))
            if there != token:
                if await self._tables["episodes"].ask(self._unit_id) is not None:
                    return False
                raise Conflict(f"unit {self._unit_id}: {table} was committed with other episodes")
        return True

    def _check(self, tasks: Sequence[Task]) -> None:
        """Refuse a unit that is not whole, or that came in another order than its own."""
        order = {task.task_id: number for number, task in enumerate(tasks)}
        known = [(order[task], attempt) for task, attempt in self._addresses if task in order]
        whole = {task for task, _ in self._addresses} == order.keys()
        if not tasks or len(order) < len(tasks) or not whole:
            raise ValueError(f"unit {self._unit_id}: no task, one twice, or one without an episode")
        if known != sorted(set(known)):
            raise ValueError(f"unit {self._unit_id}: an episode is there twice, or out of order")


def token_of(told: Sequence[Sequence[object]]) -> int:
    """Return what tells what one worker made from what any other made under the same address."""
    texts = [[str(value) for value in one] for one in told]
    return int(content_hash(["token", texts])[:_TOKEN_CHARS], 16)
