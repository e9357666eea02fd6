"""The rows of a run, held against each other: ids, counts, references.

Fed file by file, `episodes` first and `steps` after it, each in the order the unit was written
in. What is kept in memory is one small record an episode, and the rows of the episode whose
steps are coming in, without their pictures.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from schemas import ids
from schemas.episode import Episode, StopReason
from schemas.tables import Row, from_row
from schemas.task import Task
from schemas.verdict import Review, Verdict
from storage.audit.report import Notes
from storage.run_file import RunFile

ORDER = ("episodes", "tasks", "prompts", "steps", "observations", "calls", "verdicts", "reviews")
"""The order in which tables are to be fed."""


@dataclass(slots=True)
class Head:
    """What is remembered of an episode."""

    key: str
    """Where its row lies."""
    unit_id: str
    task_id: str
    attempt: int
    n_steps: int
    content_sha256: str
    broke: bool
    """Its rollout failed, so its last picture may be missing."""
    rows: int = 0
    """Rows of `steps` seen."""

    @property
    def complete(self) -> frozenset[int]:
        """How many rows of `steps` it may have."""
        whole = self.n_steps + 1
        return frozenset({whole - 1, whole} if self.broke else {whole})


class Unread:
    """The units that may have rows in files that could not be read."""

    def __init__(self) -> None:
        self._spans: set[tuple[str, str]] = set()

    def add(self, first: str, last: str) -> None:
        """Add the units from `first` to `last`."""
        self._spans.add((first, last))

    def __contains__(self, unit_id: str) -> bool:
        """Say whether a unit is one of them."""
        return any(first <= unit_id <= last for first, last in self._spans)

    def __bool__(self) -> bool:
        """Say whether there are any."""
        return bool(self._spans)


class Rows:
    """Every row that was seen, and what follows from them together."""

    def __init__(self, run: RunFile | None, notes: Notes) -> None:
        self.notes = notes
        self.heads: dict[str, Head] = {}
        self.prompts: set[str] = set()
        self.unread = Unread()
        self._run = run
        self._tasks: set[str] = set()
        self._units: defaultdict[str, dict[str, set[int]]] = defaultdict(dict)
        self._where: dict[str, str] = {}
        self._verdicts: set[int] = set()
        self._wanted: dict[str, str] = {}
        self._takers: Mapping[str, Callable[[str, Row], None]] = {
            "episodes": self._episode,
            "tasks": self._task,
            "prompts": self._prompt,
            "verdicts": self._verdict,
            "reviews": self._review,
        }

    def take(self, table: str, key: str, row: Row) -> None:
        """Take a row of the file `key`, of any table but those that belong to an episode."""
        try:
            self._takers[table](key, row)
        except ValueError as error:
            self.notes.finding(key, f"holds a row that is none of {table}: {error}")

    def refer(self, key: str, prompt_sha256: str | None) -> None:
        """Remember that a row of `key` refers to a prompt."""
        if prompt_sha256 is not None:
            self._wanted.setdefault(prompt_sha256, key)

    def owner(self, key: str, row: Row) -> Head | None:
        """Return the episode a row of `key` belongs to; None, noted, if there is none."""
        head = self.heads.get(row["episode_id"])
        if head is None:
            if row["unit_id"] in self._units:
                self.notes.finding(key, f"holds a row of episode {row['episode_id']}, which is not")
            elif row["unit_id"] not in self.unread:
                self.notes.leftover(key, f"holds rows of unit {row['unit_id']}, not committed yet")
        elif head.unit_id != row["unit_id"]:
            self.notes.finding(
                key, f"says episode {row['episode_id']} is of another unit than {head.key} says"
            )
        return head

    def close(self) -> None:
        """Note what only all rows together show."""
        for unit_id, attempts in self._units.items():
            self._close_unit(unit_id, attempts)
        for episode_id, head in self.heads.items():
            if head.task_id not in self._tasks and head.unit_id not in self.unread:
                self.notes.finding(
                    head.key, f"episode {episode_id}: its task {head.task_id} has no row"
                )
        for prompt, key in self._wanted.items():
            if prompt not in self.prompts and not self.unread:
                self.notes.finding(key, f"refers to the prompt {prompt}, which has no row")

    def _close_unit(self, unit_id: str, attempts: Mapping[str, set[int]]) -> None:
        if self._run is None or unit_id in self.unread:
            return
        number = self._run.identity.get("tasks.attempts")
        expected = ids.unit_id(
            self._run.run_id, list(attempts), number if isinstance(number, int) else 1
        )
        where = self._where[unit_id]
        if expected != unit_id:
            self.notes.finding(where, f"unit {unit_id}: its id is not that of its tasks")
        for task_id, made in attempts.items():
            if isinstance(number, int) and made != set(range(number)):
                self.notes.finding(
                    where, f"unit {unit_id}: task {task_id} has the attempts {sorted(made)}"
                )

    def _episode(self, key: str, row: Row) -> None:
        episode = from_row(Episode, row)
        name = f"episode {episode.episode_id}"
        made = self._units[episode.unit_id].setdefault(episode.task_id, set())
        self._where.setdefault(episode.unit_id, key)
        if episode.episode_id in self.heads or episode.attempt in made:
            self.notes.finding(key, f"{name}: is there a second time")
        made.add(episode.attempt)
        address = (episode.run_id, episode.task_id)
        if ids.episode_id(*address, episode.attempt) != episode.episode_id:
            self.notes.finding(key, f"{name}: its id is not that of its run, task and attempt")
        if ids.group_id(*address) != episode.group_id:
            self.notes.finding(key, f"{name}: its group is not that of its run and task")
        if self._run is not None and episode.run_id != self._run.run_id:
            self.notes.finding(key, f"{name}: is of another run, {episode.run_id}")
        self.refer(key, episode.prompt_sha256)
        self.heads[episode.episode_id] = Head(
            key=key,
            unit_id=episode.unit_id,
            task_id=episode.task_id,
            attempt=episode.attempt,
            n_steps=episode.n_steps,
            content_sha256=episode.content_sha256,
            broke=episode.stop_reason is StopReason.FAILED,
        )

    def _task(self, key: str, row: Row) -> None:
        task = from_row(Task, row)
        if task.task_id in self._tasks:
            self.notes.finding(key, f"task {task.task_id}: is there a second time")
        self._tasks.add(task.task_id)

    def _prompt(self, key: str, row: Row) -> None:
        del key
        self.prompts.add(row["prompt_sha256"])

    def _verdict(self, key: str, row: Row) -> None:
        verdict = from_row(Verdict, row)
        name = f"{verdict.verifier}'s verdict on episode {verdict.episode_id}"
        if verdict.episode_id in self.heads:
            self.owner(key, row)
        elif verdict.unit_id not in self.unread:
            self.notes.finding(key, f"{name}: there is no such episode")
        address = (verdict.episode_id, verdict.verifier, verdict.verifier_version, verdict.round)
        if hash(address) in self._verdicts:
            self.notes.finding(key, f"{name}: is there a second time in round {verdict.round}")
        self._verdicts.add(hash(address))

    def _review(self, key: str, row: Row) -> None:
        review = from_row(Review, row)
        if review.episode_id not in self.heads and not self.unread:
            self.notes.finding(key, f"reviews episode {review.episode_id}, which is not")
