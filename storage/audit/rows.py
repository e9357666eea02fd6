"""The rows of a run, checked against each other: ids, counts, references, steps, pictures.

The caller passes them file by file: table by table in `ORDER`, and each table in the order in
which its units were written. In memory are one small record for each episode, and the steps,
without pictures, of the episodes that are not complete yet.

The steps of an episode are checked as soon as the last one has come: they are numbered from 0 and
one more than its actions, each picture has the size and hash that its row states, and together they
have the hash in the episode's row. Each step has one observation, and calls are numbered from 0.

Rows of withdrawn episodes may be there or not, and are not looked at; their units are whole by the record of them.
"""

import io
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from PIL import Image, UnidentifiedImageError

from schemas import ids
from schemas.base import content_hash, parse_json, sha256_hex
from schemas.episodes.action import action_columns
from schemas.episodes.call import Call
from schemas.episodes.episode import Episode, Step, StopReason, steps_sha256
from schemas.tables.tables import Row, from_row
from schemas.tasks.task import Task
from schemas.verdicts.review import Review, is_own, review_id
from schemas.verdicts.verdict import Verdict
from storage.audit.report import Notes
from storage.lake.withdrawals import KEY as WITHDRAWN
from storage.lake.withdrawals import Withdrawals
from storage.run_file import RunFile

ORDER = ("episodes", "tasks", "prompts", "steps", "observations", "calls", "verdicts", "reviews")
"""The order in which the tables must be passed."""

_NO_PICTURE = {"bytes": b"", "path": ""}


@dataclass(slots=True)
class EpisodeHead:
    """The part of an episode's row that later rows are checked against."""

    key: str
    """The key of the file with its row."""
    unit_id: str
    task_id: str
    n_steps: int
    content_sha256: str
    failed: bool
    """Its rollout failed, so its last picture may be missing."""
    rows: int = 0
    """Rows of `steps` so far."""


class RowChecks:
    """Checks each row of a run, but for those of withdrawn episodes, and then all of them together."""

    def __init__(
        self, run: RunFile | None, notes: Notes, withdrawn: Withdrawals | None = None
    ) -> None:
        self.unread: set[tuple[str, str]] = set()
        """The first and the last unit that may have rows in each file that could not be read."""
        self._run = run
        self._notes = notes
        self._episodes: dict[str, EpisodeHead] = {}
        self._attempts: defaultdict[str, dict[str, set[int]]] = defaultdict(dict)  # by unit, task
        self._unit_keys: dict[str, str] = {}
        gone = withdrawn or Withdrawals()
        self._withdrawn = gone.ids
        self._tasks: dict[str, tuple[str, str]] = {}  # to the hash of the row, and its goal
        self._repeated: dict[str, str] = {}  # tasks with several rows, to the key of a later one
        self._prompts: set[str] = set()
        self._prompt_uses: dict[str, str] = {}  # to the key of a file that refers to it
        self._steps: defaultdict[str, list[Step]] = defaultdict(list)
        self._step_keys: dict[str, str] = {}
        self._observed: defaultdict[str, set[int]] = defaultdict(set)
        self._calls: defaultdict[str, set[int]] = defaultdict(set)
        self._verdicts: set[int] = set()
        self._reviews: dict[str, tuple[str, Review]] = {}  # to the key of its file
        self._checks: Mapping[str, Callable[[str, Row], None]] = {
            "episodes": self._check_episode,
            "tasks": self._check_task,
            "prompts": lambda _, row: self._prompts.add(row["prompt_sha256"]),
            "steps": self._check_step,
            "observations": self._check_observation,
            "calls": self._check_call,
            "verdicts": self._check_verdict,
            "reviews": self._check_review,
        }
        for unit_id, tasks in gone.units.items():
            self._attempts[unit_id] = {task_id: set() for task_id in tasks}
            self._unit_keys[unit_id] = WITHDRAWN
        for one in gone.episodes:
            self._attempts[one.unit_id][one.task_id].add(one.attempt)

    def check(self, table: str, key: str, row: Row) -> None:
        """Check a row of the file `key`."""
        if row.get("episode_id") in self._withdrawn:
            return
        try:
            self._checks[table](key, row)
        except ValueError as error:
            self._notes.finding(key, f"a row is not one of {table}: {error}")

    def end_table(self, table: str) -> None:
        """Check what all rows of a table show together; it has no more."""
        if table == "steps":
            for episode_id in list(self._steps):
                self._check_steps(episode_id, self._episodes[episode_id])
        for episode_id, head in self._episodes.items():
            complete, problem = True, ""
            if table == "steps":
                whole = head.n_steps + 1
                complete = head.rows == whole or (head.failed and head.rows == whole - 1)
                problem = f"{head.rows} rows of steps for {head.n_steps} actions"
            elif table == "observations":
                observed = self._observed.pop(episode_id, set())
                complete = observed == set(range(head.rows))
                problem = f"{len(observed)} observations for {head.rows} steps"
            elif table == "calls":
                made = self._calls.pop(episode_id, set())
                complete = made == set(range(len(made)))
                problem = "calls are missing"
            if not complete and not self._is_unread(head.unit_id):
                self._notes.finding(head.key, f"episode {episode_id}: {problem}")

    def end(self) -> None:
        """Check what the rows of all tables show together."""
        for unit_id, attempts in self._attempts.items():
            self._check_unit(unit_id, attempts)
        for episode_id, head in self._episodes.items():
            if head.task_id not in self._tasks and not self._is_unread(head.unit_id):
                self._notes.finding(
                    head.key, f"episode {episode_id}: its task {head.task_id} has no row"
                )
        served = {
            task_id
            for attempts in self._attempts.values()
            for task_id, made in attempts.items()
            if min(made, default=0) >= ids.SERVED_ATTEMPTS
        }
        for task_id, key in self._repeated.items():  # each unit of served episodes has its tasks
            if task_id not in served:
                self._notes.finding(key, f"task {task_id}: has a second row")
        self._check_undone()
        for prompt, key in self._prompt_uses.items():
            if prompt not in self._prompts and not self.unread:
                self._notes.finding(key, f"refers to the prompt {prompt}, which has no row")

    def _check_unit(self, unit_id: str, attempts: Mapping[str, set[int]]) -> None:
        if self._run is None or self._is_unread(unit_id):
            return
        if min(min(made, default=0) for made in attempts.values()) >= ids.SERVED_ATTEMPTS:
            self._check_served(unit_id, attempts)
            return
        number = self._run.identity.get("tasks.attempts")
        expected = ids.unit_id(
            self._run.run_id, list(attempts), number if isinstance(number, int) else 1
        )
        key = self._unit_keys[unit_id]
        if expected != unit_id:
            self._notes.finding(key, f"unit {unit_id}: its id is not that of its tasks")
        for task_id, made in attempts.items():
            if isinstance(number, int) and made != set(range(number)):
                self._notes.finding(
                    key, f"unit {unit_id}: task {task_id} has the attempts {sorted(made)}"
                )

    def _check_served(self, unit_id: str, attempts: Mapping[str, set[int]]) -> None:
        """Check a unit of served episodes: it is named after one of them, and one server made them all."""
        run_id, key = self._run.run_id if self._run is not None else "", self._unit_keys[unit_id]
        made = [(task_id, number) for task_id, numbers in attempts.items() for number in numbers]
        named = {ids.served_unit_id(run_id, ids.episode_id(run_id, *one)) for one in made}
        if unit_id not in named:
            self._notes.finding(
                key, f"unit {unit_id}: its id is not that of a served episode of it"
            )
        servers = {number // ids.SERVED_ATTEMPTS for _, number in made}
        if len(servers) > 1:
            self._notes.finding(key, f"unit {unit_id}: servers {sorted(servers)} made it together")

    def _check_episode(self, key: str, row: Row) -> None:
        episode = from_row(Episode, row)
        name = f"episode {episode.episode_id}"
        made = self._attempts[episode.unit_id].setdefault(episode.task_id, set())
        self._unit_keys.setdefault(episode.unit_id, key)
        if episode.episode_id in self._episodes or episode.attempt in made:
            self._notes.finding(key, f"{name}: has a second row")
        made.add(episode.attempt)
        address = (episode.run_id, episode.task_id)
        if ids.episode_id(*address, episode.attempt) != episode.episode_id:
            self._notes.finding(key, f"{name}: its id is not that of its run, task and attempt")
        if ids.group_id(*address) != episode.group_id:
            self._notes.finding(key, f"{name}: its group is not that of its run and task")
        if self._run is not None and episode.run_id != self._run.run_id:
            self._notes.finding(key, f"{name}: is of another run, {episode.run_id}")
        self._add_prompt_use(key, episode.prompt_sha256)
        self._episodes[episode.episode_id] = EpisodeHead(
            key=key,
            unit_id=episode.unit_id,
            task_id=episode.task_id,
            n_steps=episode.n_steps,
            content_sha256=episode.content_sha256,
            failed=episode.stop_reason is StopReason.FAILED,
        )

    def _check_task(self, key: str, row: Row) -> None:
        task = from_row(Task, row)
        told = content_hash(task.model_dump(mode="json", exclude={"instruction"}))
        known = self._tasks.get(task.task_id)
        if known is None:
            self._tasks[task.task_id] = told, task.instruction
            return
        self._repeated[task.task_id] = key
        goals = {known[1], task.instruction} - {""}  # a unit whose episodes saw no page has none
        if known[0] != told or len(goals) > 1:
            self._notes.finding(key, f"task {task.task_id}: has a second row, which differs")
        self._tasks[task.task_id] = told, known[1] or task.instruction

    def _check_step(self, key: str, row: Row) -> None:
        head = self._episode_of(key, row)
        episode_id = row["episode_id"]
        name = f"episode {episode_id}, step {row['step']}"
        for problem in _picture_problems(row):
            self._notes.finding(key, f"{name}: {problem}")
        self._notes.count("pictures")
        if head is None:
            return
        try:
            step = from_row(Step, row | {"screenshot": _NO_PICTURE})
        except ValueError as error:
            self._notes.finding(key, f"{name}: is not a step: {error}")
            return
        parts = {"action_type": step.action.type, **dict(action_columns(step.action))}
        for column in sorted(parts):
            if column in row and row[column] != parts[column]:
                self._notes.finding(key, f"{name}: {column} is not its action's")
        self._steps[episode_id].append(step)
        self._step_keys[episode_id] = key
        head.rows += 1
        if head.rows > head.n_steps and not head.failed:
            self._check_steps(episode_id, head)

    def _check_steps(self, episode_id: str, head: EpisodeHead) -> None:
        """Check the steps of an episode together, and forget them."""
        steps = sorted(self._steps.pop(episode_id, []), key=lambda step: step.step)
        key = self._step_keys.pop(episode_id, head.key)
        if self._is_unread(head.unit_id):
            return
        name = f"episode {episode_id}"
        if [step.step for step in steps] != list(range(len(steps))):
            self._notes.finding(key, f"{name}: its steps are not numbered 0, 1, 2, …")
        elif steps_sha256(tuple(steps)) != head.content_sha256:
            self._notes.finding(key, f"{name}: its steps do not have the hash in {head.key}")

    def _check_observation(self, key: str, row: Row) -> None:
        if self._episode_of(key, row) is None:
            return
        name = f"episode {row['episode_id']}, step {row['step']}"
        for column in ("elements", "sights"):
            try:
                parse_json(row.get(column) or "null")
            except ValueError:
                self._notes.finding(key, f"{name}: its {column} are not JSON")
        observed = self._observed[row["episode_id"]]
        if row["step"] in observed:
            self._notes.finding(key, f"{name}: has a second observation")
        observed.add(row["step"])

    def _check_call(self, key: str, row: Row) -> None:
        head = self._episode_of(key, row)
        if head is None:
            return
        name = f"episode {row['episode_id']}, call {row['call']}"
        try:
            call = from_row(Call, row)
        except ValueError as error:
            self._notes.finding(key, f"{name}: is not a call: {error}")
            return
        if not 0 <= call.step <= head.n_steps:
            self._notes.finding(key, f"{name}: is of step {call.step}, which does not exist")
        made = self._calls[row["episode_id"]]
        if call.call in made:
            self._notes.finding(key, f"{name}: has a second row")
        made.add(call.call)
        self._add_prompt_use(key, call.prompt_sha256)

    def _check_verdict(self, key: str, row: Row) -> None:
        verdict = from_row(Verdict, row)
        name = f"{verdict.verifier}'s verdict on episode {verdict.episode_id}"
        if verdict.episode_id in self._episodes:
            self._episode_of(key, row)
        elif not self._is_unread(verdict.unit_id):
            self._notes.finding(key, f"{name}: there is no such episode")
        address = (verdict.episode_id, verdict.verifier, verdict.verifier_version, verdict.round)
        if hash(address) in self._verdicts:
            self._notes.finding(key, f"{name}: has a second row in round {verdict.round}")
        self._verdicts.add(hash(address))

    def _check_review(self, key: str, row: Row) -> None:
        review = from_row(Review, row)
        id_ = review_id(review)
        if id_ in self._reviews:
            self._notes.finding(key, f"review {id_}: has a second row")
        self._reviews[id_] = key, review
        if review.episode_id not in self._episodes and not self.unread:
            self._notes.finding(key, f"reviews episode {review.episode_id}, which does not exist")

    def _check_undone(self) -> None:
        """Check that each review that withdraws another one may do so."""
        for id_, (key, review) in self._reviews.items():
            if review.undoes is None:
                continue
            found = self._reviews.get(review.undoes)
            if found is None:
                if not self.unread:
                    self._notes.finding(key, f"review {id_}: withdraws one that does not exist")
            elif not is_own(found[1], review):
                self._notes.finding(key, f"review {id_}: withdraws one that is not its reviewer's")

    def _is_unread(self, unit_id: str) -> bool:
        return any(first <= unit_id <= last for first, last in self.unread)

    def _add_prompt_use(self, key: str, prompt_sha256: str | None) -> None:
        if prompt_sha256 is not None:
            self._prompt_uses.setdefault(prompt_sha256, key)

    def _episode_of(self, key: str, row: Row) -> EpisodeHead | None:
        """Return the episode of a row of `key`; None, with a note, if it does not exist."""
        episode_id, unit_id = row["episode_id"], row["unit_id"]
        head = self._episodes.get(episode_id)
        if head is None:
            if unit_id in self._attempts:
                self._notes.finding(key, f"has a row of episode {episode_id}, which does not exist")
            elif not self._is_unread(unit_id):
                self._notes.leftover(key, f"has rows of unit {unit_id}, which is not committed yet")
        elif head.unit_id != unit_id:
            self._notes.finding(
                key, f"a row of episode {episode_id} is of another unit than in {head.key}"
            )
        return head


def _picture_problems(row: Row) -> Iterator[str]:
    """Yield the defects of the picture in a row of `steps`."""
    data = (row["screenshot"] or {}).get("bytes") or b""
    if sha256_hex(data) != row["screenshot_sha256"]:
        yield "the picture's hash is not the one in its row"
    try:
        with Image.open(io.BytesIO(data)) as image:
            image.load()
            if image.size != (row["width"], row["height"]):
                yield f"the picture is {image.width}×{image.height}, its row says otherwise"
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
        yield f"the picture does not decode: {error}"
